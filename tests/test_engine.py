"""The engine: what goes with what, and sinks and runners that Kleene itself does not have."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from computed_grid import ComputedGrid
from test_dask import client  # noqa: F401

import kleene as kl
from kleene.api.arguments import check_call
from kleene.distributed import store_sink
from kleene.distributed.store import Store
from kleene.engine import pieces
from kleene.engine.call import Call, Part, Sink, Writer
from kleene.engine.fit import NOT_BOTH, REFUSED, RUNNERS, SINKS, runner_of, sink_of
from kleene.engine.pieces import Piece, split
from kleene.engine.reduce import Reduction
from kleene.engine.solve import solve
from kleene.engine.work import Work
from kleene.planning.ask import Ask
from kleene.planning.plan import Plan
from kleene.system.machine import this_machine

GRID = kl.generate.grid(12, 12, weights=(1, 9), seed=3)
SOCIAL = kl.generate.rmat(scale=7, edge_factor=6, seed=2, weights=(0.5, 2.0))
PAIRS = [(0, 143), (7, 7), (100, 3), (0, 12), (55, 54)]
SOURCES, TARGETS = [0, 5, 77], [3, 140, 3]

#: The keywords of a call for each sink.
KEYWORDS: dict[str, dict[str, Any]] = {
    "row": {"source": 5},
    "rows": {"sources": SOURCES},
    "array": {"sources": SOURCES},  # and out
    "device": {"sources": SOURCES, "keep": "device", "device": "emulated"},
    "block": {"sources": SOURCES, "targets": TARGETS},
    "store": {"sources": SOURCES},  # and out
    "pairs": {"pairs": PAIRS},
}

#: Calls for each of the other sinks, and the numbers that they return.
FACILITIES = [3, 140, 77, 12]
TRIPS = [(a, b, 1 + a % 7) for a in range(0, 144, 5) for b in (0, 61, 143, a)]
MEASURES: dict[str, tuple[str, Callable[..., Any]]] = {
    "reduce_distances": ("numbers", lambda g, **on: kl.reduce_distances(g, **on).sums),
    "closeness": ("sums", lambda g, **on: kl.closeness(g, **on).values),
    "harmonic": ("sums", lambda g, **on: kl.harmonic(g, **on).values),
    "distance_histogram": ("sums", lambda g, **on: kl.distance_histogram(g, **on).counts),
    "efficiency": ("sums", kl.efficiency),
    "wiener_index": ("sums", kl.wiener_index),
    "betweenness": ("sums", lambda g, **on: kl.betweenness(g, **on).values),
    "samples": ("sums", lambda g, **on: kl.betweenness(g, samples=40, **on).values),
    "error": ("estimate", lambda g, **on: kl.betweenness(g, error=0.2, **on).values),
    "loads": ("flows", lambda g, **on: kl.loads(g, TRIPS, **on).total_cost),
    "nearest": ("nearest", lambda g, **on: kl.nearest(g, FACILITIES, **on).which),
    "k nearest": ("best", lambda g, **on: kl.nearest(g, FACILITIES, 3, **on).distances),
}

#: What has no keyword: there are no methods of loads but on the CPU.
NOT_ASKED = {("flows", "devices")}

#: The keywords of calls that ask for too much.
BOTH: dict[tuple[str, str], dict[str, Any]] = {
    ("pairs", "device"): {"pairs": PAIRS, "keep": "device"},
    ("out", "device"): {"keep": "device", "out": np.empty((GRID.n, GRID.n), np.int32)},
    ("block", "tiles"): {"method": "tiled", "targets": TARGETS, "on": "tcp://127.0.0.1:1"},
}
EMULATED = "emulated" in this_machine().devices


def keywords_of(sink: str, folder: Path) -> dict[str, Any]:
    """Return the keywords of a call with a sink of its own."""
    own = dict(KEYWORDS[sink])
    if sink == "array":
        own["out"] = np.empty((len(SOURCES), GRID.n), np.int32)
    if sink == "store":
        own["out"] = folder / "d.zarr"
    return own


# ---- the table ----------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["arcs", "prepared"])
@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("sink", KEYWORDS)
def test_what_goes_with_what(
    client: Any,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    form: str,
    sink: str,
    runner: str,
) -> None:
    monkeypatch.setenv("KLEENE_EMULATOR_DEVICES", "2")
    keywords = keywords_of(sink, tmp_path)
    if not EMULATED and (sink == "device" or runner == "devices"):
        pytest.skip("no emulator")
    if runner == "devices":
        keywords |= {"device": "emulated", "devices": [0, 1]}
    if runner == "cluster":
        keywords["on"] = client
    graph = kl.prepare(GRID) if form == "prepared" else GRID
    why = REFUSED.get((sink, runner))
    if why is not None:
        if runner == "cluster":
            keywords["on"] = "tcp://127.0.0.1:1"  # no worker is asked
        with pytest.raises(kl.RequestError) as raised:
            kl.sssp(graph, **keywords)
        assert str(raised.value) == why
        return
    call = check_call("sssp", graph, **keywords)
    assert (sink_of(call), runner_of(call)) == (sink, runner)
    found = kl.sssp(graph, **keywords)
    rows = kl.sssp(GRID, sources=range(GRID.n), method="dijkstra").distances
    wanted = {
        "row": rows[5],
        "block": rows[np.ix_(SOURCES, TARGETS)],
        "pairs": rows[tuple(zip(*PAIRS, strict=True))],
    }.get(sink, rows[SOURCES])
    values = found.device_arrays.distances.to_numpy() if sink == "device" else found.distances
    assert np.array_equal(values, wanted)
    assert sink != "array" or np.shares_memory(found.distances, keywords["out"])
    found.verify()


@pytest.mark.parametrize("form", ["arcs", "prepared"])
@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("name", MEASURES)
def test_which_measures_go_with_what(
    client: Any,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    form: str,
    name: str,
    runner: str,
) -> None:
    monkeypatch.setenv("KLEENE_EMULATOR_DEVICES", "2")
    monkeypatch.setenv("KLEENE_PIECE_SECONDS", "1e-4")
    monkeypatch.setattr(pieces, "_LEAST", 8)
    sink, measure = MEASURES[name]
    if (sink, runner) in NOT_ASKED:
        assert {row.device for row in kl.methods(name)} == {"cpu", "reference"}
        with pytest.raises(TypeError, match="devices"):
            measure(GRID, devices=[0, 1])
        return
    keywords: dict[str, Any] = {}
    if runner == "devices":
        if not EMULATED:
            pytest.skip("no emulator")
        keywords = {"device": "emulated", "devices": [0, 1]}
    why = REFUSED.get((sink, runner))
    if runner == "cluster":
        keywords["on"] = client if why is None else "tcp://127.0.0.1:1"  # no worker is asked
    graph = kl.prepare(GRID) if form == "prepared" else GRID
    if form == "prepared" and name in ("betweenness", "samples", "error"):
        with pytest.raises(kl.GraphError, match=r"pass prepared\.graph"):
            measure(graph, **keywords)
        return
    if why is not None:
        with pytest.raises(kl.RequestError) as raised:
            measure(graph, **keywords)
        assert str(raised.value) == why
        return
    found, right = measure(graph, **keywords), measure(GRID)
    if np.asarray(right).dtype.kind == "f":
        assert np.allclose(found, right, rtol=1e-12, atol=0)
    else:
        assert np.array_equal(found, right)


@pytest.mark.parametrize("both", NOT_BOTH, ids="-".join)
def test_what_is_not_asked_for_together(both: tuple[str, str]) -> None:
    with pytest.raises(kl.RequestError) as raised:
        kl.apsp(GRID, **BOTH[both])
    assert str(raised.value) == NOT_BOTH[both]


def test_the_table_names_what_there_is() -> None:
    assert {*KEYWORDS, *(sink for sink, _ in MEASURES.values())} == set(SINKS)
    assert REFUSED.keys() <= {(sink, runner) for sink in SINKS for runner in RUNNERS}
    assert len(set(REFUSED.values())) == len(REFUSED)


def test_the_page_shows_the_table() -> None:
    page = (Path(__file__).parents[1] / "docs" / "concepts.md").read_text()
    lines = page.partition("## What goes with what")[2].partition("\n## ")[0].splitlines()
    rows = [[cell.strip() for cell in line.split("|")[2:-1]] for line in lines if "|" in line][2:]
    for sink, cells in zip(SINKS, rows, strict=True):
        refused = [(sink, runner) in {*REFUSED, *NOT_ASKED} for runner in RUNNERS]
        assert [cell.startswith("no") for cell in cells] == refused, sink


# ---- pairs on a cluster -------------------------------------------------------------------------


@pytest.mark.parametrize("graph", [GRID, SOCIAL], ids=["grid", "social"])
@pytest.mark.parametrize(
    "keywords",
    [{}, {"limit": 6}, {"predecessors": False}, {"method": "dijkstra"}, {"deterministic": True}],
    ids=str,
)
@pytest.mark.parametrize("problem", ["bfs", "sssp", "apsp"])
def test_pairs_on_a_cluster(
    client: Any,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    graph: kl.Graph,
    keywords: dict[str, Any],
    problem: str,
) -> None:
    if problem == "bfs" and "method" in keywords:
        pytest.skip("not a method of bfs")
    monkeypatch.setattr("kleene.engine.entries._SMALL", 0)
    monkeypatch.setattr("kleene.engine.entries._BATCH", 16 * graph.n * 3)  # three roots
    chance = np.random.default_rng(4)
    pairs = chance.integers(0, graph.n, (40, 2))
    call = getattr(kl, "sssp" if "method" in keywords else problem)
    there = call(graph, pairs=pairs, on=client, **keywords)
    here = call(graph, pairs=pairs, **keywords)
    assert np.array_equal(there.distances, here.distances)
    assert "2 workers" in str(there.plan)
    there.verify()
    if keywords.get("predecessors", True):
        assert [path[:1] for path in there.paths()] == [path[:1] for path in here.paths()]


def test_pairs_of_a_prepared_graph_climb_on_workers(
    client: Any,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kleene.engine.entries._CLIMBS", 2)
    prepared = kl.prepare(GRID)
    there = kl.sssp(prepared, pairs=PAIRS, on=client)
    here = kl.sssp(GRID, pairs=PAIRS)
    assert there.plan.method == "prepared"
    assert "3 pieces" in str(there.plan) or "2 pieces" in str(there.plan)
    assert np.array_equal(there.distances, here.distances)
    assert [len(path) > 0 for path in there.paths()] == [True] * len(PAIRS)
    there.verify()


@pytest.mark.parametrize("graph", [GRID, kl.prepare(GRID)], ids=["graph", "prepared"])
@pytest.mark.parametrize("predecessors", [True, False])
def test_no_pairs_on_a_cluster(graph: Any, predecessors: bool, client: Any) -> None:  # noqa: F811
    found = kl.sssp(graph, pairs=[], predecessors=predecessors, on=client)
    assert len(found.distances) == found.verify().rows == 0
    assert found.distances.dtype == kl.sssp(graph, pairs=[]).distances.dtype


def test_pairs_without_a_path_on_a_cluster(client: Any) -> None:  # noqa: F811
    two = kl.Graph.from_edges([0, 2], [1, 3], [4, 5], n=5)
    found = kl.sssp(two, pairs=[(0, 1), (1, 0), (4, 4)], on=client)
    assert found.distances.tolist() == [4, found.no_path, 0]
    assert list(found.paths()) == [[0, 1], [], [4]]


# ---- a sink and a runner of one's own -----------------------------------------------------------


class FarthestWriter(Writer):
    """Returns the farthest vertex of each row."""

    def write(self, piece: Piece, part: Part, rows: slice, call: Call) -> list[int]:
        values = part.answer.values[rows]
        return values.argmax(axis=1).tolist()


class Farthest(Sink):
    """The farthest vertex from each source, of two rows at a time."""

    def __init__(self) -> None:
        self.writer = FarthestWriter()
        self.found: dict[int, list[int]] = {}
        self.failed: BaseException | None = None

    def open(self, call: Call, plan: Plan) -> Sequence[Piece]:
        return split(len(call.sources), 2)

    def record(self, piece: Piece, receipt: list[int]) -> None:
        self.found[piece.index] = receipt

    def finish(self) -> list[int]:
        return [vertex for index in sorted(self.found) for vertex in self.found[index]]

    def abandon(self, error: BaseException) -> None:
        self.failed = error


def backwards(work: Work, sink: Sink, report: Any) -> Plan:
    """Run pieces one by one, from the last, each as it would travel."""
    for piece in reversed(work.pieces):
        own = work.call.sources[piece.first : piece.stop]
        bare = work._replace(
            call=work.call._replace(graph=None, sources=own),  # type: ignore[arg-type]
            pieces=(piece,), writer=work.writer.share((piece,), None), first=piece.first,
        )  # fmt: skip
        there = pickle.loads(pickle.dumps(bare))
        there = there._replace(call=there.call._replace(graph=work.call.graph))
        there.run(sink.record)
    return work.plan


@pytest.mark.parametrize("runner", [None, backwards], ids=["here", "backwards"])
@pytest.mark.parametrize("problem", ["sssp", "bfs"])
@pytest.mark.parametrize("reverse", [False, True])
def test_a_new_sink_takes_what_any_runner_gives(runner: Any, problem: str, reverse: bool) -> None:
    call = check_call(problem, GRID, sources=range(5), reverse=reverse)
    found = solve(call, Farthest(), None, runner)
    rows = getattr(kl, problem)(GRID, sources=range(5), reverse=reverse).distances
    assert found.answer == rows.argmax(axis=1).tolist()
    assert found.stats.total > 0


@pytest.mark.parametrize("runner", [None, backwards], ids=["here", "backwards"])
def test_reductions_and_pairs_run_anywhere(runner: Any) -> None:
    from kleene.api.pairs import solve_pairs

    call = check_call("sssp", GRID, sources=range(9), predecessors=False)
    sums: dict[int, int] = {}
    rows = Reduction.of(call)._replace(step=4)
    rows.run(_total, lambda first, total: sums.__setitem__(first, total), runner)
    wanted = kl.sssp(GRID, sources=range(9)).distances.astype(int)
    assert sums == {first: wanted[first : first + 4].sum() for first in (0, 4, 8)}
    pairs = solve_pairs(check_call("sssp", GRID, pairs=PAIRS, method="dijkstra"), runner)
    assert np.array_equal(pairs.distances, kl.sssp(GRID, pairs=PAIRS).distances)
    pairs.verify()


def _total(first: int, rows: Any) -> int:
    return int(rows.sum())


def test_an_error_abandons_the_sink_and_names_vertices() -> None:
    graph = kl.Graph.from_edges([0, 1], [1, 0], [-1, -2], labels=["a", "b"])
    sink = Farthest()
    with pytest.raises(kl.NegativeCycleError) as raised:
        solve(check_call("sssp", graph, sources=["a", "b"]), sink)
    assert set(raised.value.cycle) == {"a", "b"}
    assert isinstance(sink.failed, kl.NegativeCycleError)


# ---- a form of one's own ------------------------------------------------------------------------

SIDE = 7
STORED = kl.generate.grid(SIDE, SIDE)


def call_on(form: ComputedGrid, **more: Any) -> Call:
    """Return the call for rows of a form, from five of its vertices."""
    sources = np.array([0, 8, 48, 30, 3], np.int32)
    ask = Ask.of("sssp", sources=len(sources), **more.pop("asked", {}))
    return Call(ask, form, sources, None, None, None, None, False, form=form)._replace(**more)  # type: ignore[arg-type]


WANTED = kl.bfs(STORED, sources=[0, 8, 48, 30, 3]).distances


@pytest.fixture(params=["here", "backwards", "cluster"])
def anywhere(request: pytest.FixtureRequest) -> Any:
    """Return each runner, and the client that it needs."""
    if request.param != "cluster":
        yield (None if request.param == "here" else backwards), None
        return
    from kleene.api.on_cluster import on_workers

    dask = pytest.importorskip("dask.distributed")
    with (  # workers in this process know what tests define
        dask.LocalCluster(n_workers=2, processes=False, dashboard_address=None) as cluster,
        dask.Client(cluster, set_as_default=False) as made,
    ):
        yield on_workers, made


def test_a_new_form_answers_rows_into_any_sink(anywhere: Any, tmp_path: Path) -> None:
    runner, on = anywhere
    form = ComputedGrid(SIDE)
    assert np.array_equal(solve(call_on(form)).answer.answer.values, WANTED)
    farthest = solve(call_on(form, on=on), Farthest(), None, runner)
    assert farthest.answer == WANTED.argmax(axis=1).tolist()
    assert farthest.plan.method == "computed"
    sums: dict[int, int] = {}
    rows = Reduction.of(call_on(form, on=on, asked={"predecessors": False}))._replace(step=2)
    rows.run(_total, sums.__setitem__, runner)
    assert sums == {first: WANTED[first : first + 2].sum() for first in (0, 2, 4)}


@pytest.mark.parametrize("suffix", ["npy", "zarr"])
def test_a_new_form_goes_to_a_store(
    anywhere: Any, tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner, on = anywhere
    monkeypatch.setattr(store_sink, "choose_block_rows", lambda *_: 2)
    call = call_on(ComputedGrid(SIDE), out=tmp_path / f"d.{suffix}", on=on)
    for _ in range(2):  # the second call reads what the first one wrote
        found = store_sink.store_sink(call)
        assert found is not None
        answer = solve(call, *found, runner).answer.answer
        assert np.array_equal(answer.values[:], WANTED)
        assert np.array_equal(answer.predecessors[0][:3], [-1, 0, 1])
    assert len(Store.find(call.out).done) == 3  # type: ignore[arg-type]
    other = call._replace(graph=ComputedGrid(SIDE + 1), form=ComputedGrid(SIDE + 1))
    with pytest.raises(kl.StoreError, match="graph"):
        solve(other, *store_sink.store_sink(other), runner)  # type: ignore[misc]


@pytest.mark.parametrize("paths", [True, False])
def test_pairs_of_a_new_form(anywhere: Any, paths: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    from kleene.api.pairs import solve_pairs

    runner, on = anywhere
    monkeypatch.setattr("kleene.engine.entries._SMALL", 0)
    monkeypatch.setattr("kleene.engine.entries._BATCH", 16 * SIDE * SIDE * 2)  # two roots
    ends = np.array([0, 8, 48, 48, 3], np.int32), np.array([48, 8, 1, 2, 40], np.int32)
    call = call_on(
        ComputedGrid(SIDE), sources=np.empty(0, np.int32), pairs=ends, on=on,
        asked={"predecessors": paths},
    )  # fmt: skip
    found = solve_pairs(call, runner)
    wanted = kl.bfs(STORED, pairs=list(zip(*ends, strict=True)))
    assert np.array_equal(found.distances, wanted.distances)
    if paths:
        walked = list(found.paths())
        assert [path[0] for path in walked] == ends[0].tolist()
        assert [path[-1] for path in walked] == ends[1].tolist()
        assert [len(path) - 1 for path in walked] == found.distances.tolist()
