"""The engine: what goes with what, and sinks and runners that Kleene itself does not have."""

from __future__ import annotations

import inspect
import pickle
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from computed_grid import ComputedGrid
from farthest import Farthest

import kleene as kl
from kleene.calls import execution
from kleene.calls.arguments import check_call
from kleene.engine import pieces
from kleene.engine.call import Call, Sink
from kleene.engine.fit import (
    NOT_BOTH,
    REFUSED,
    RUNNERS,
    SINKS,
    Refusal,
    require_fit,
    runner_of,
    sink_of,
)
from kleene.engine.reduce import Reduction
from kleene.engine.solve import solve
from kleene.engine.work import Work
from kleene.planning.ask import Ask
from kleene.planning.plan import Plan
from kleene.stores import sink as store_sink
from kleene.stores.store import Store
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


class PathCall(NamedTuple):
    """A call for paths, with its own arguments and those for each sink."""

    call: Callable[..., Any]
    more: dict[str, Any]
    keywords: dict[str, dict[str, Any]]
    forms: tuple[str, ...] = ("arcs", "prepared")
    gathered: bool = False  # what several devices compute, and is kept there, is brought together
    of: str = "sssp"  # searches with the same distances


def turning(search: str) -> Callable[..., Any]:
    """Return a search of a TurnGraph: no shortest path turns back, whatever that costs."""
    turns = {"from": [0], "via": [1], "to": [0], "delay": [7]}
    return lambda graph, **keywords: getattr(kl.TurnGraph(graph, turns), search)(**keywords)


_SOME = {name: own for name, own in KEYWORDS.items() if name != "row"}
_ALL = {
    name: {key: value for key, value in own.items() if key != "sources"}
    for name, own in _SOME.items()
}
_MATRIX = ("rows", "array", "device", "block", "store")  # closures take no pairs
_TURNS = ("row", "rows", "device", "block")
_STAR: dict[str, Any] = {"semiring": "min_plus"}

PATHS = {
    "sssp": PathCall(kl.sssp, {}, keywords=KEYWORDS),
    "bfs": PathCall(kl.bfs, {}, keywords=KEYWORDS, of="bfs"),
    "apsp": PathCall(kl.apsp, {}, _ALL, gathered=True),
    "apsp of some": PathCall(kl.apsp, {}, _SOME, ("arcs",), gathered=True),
    "apsp in tiles": PathCall(kl.apsp, {"method": "tiled"}, _ALL, ("arcs",), gathered=True),
    "closure": PathCall(kl.closure, _STAR, {name: _ALL[name] for name in _MATRIX}, gathered=True),
    "closure of some": PathCall(
        kl.closure, _STAR, {name: _SOME[name] for name in _MATRIX}, ("arcs",), gathered=True
    ),
    "turns sssp": PathCall(
        turning("sssp"), {}, {name: KEYWORDS[name] for name in _TURNS}, ("arcs",)
    ),
    "turns apsp": PathCall(
        turning("apsp"), {}, {name: _SOME[name] for name in _TURNS[1:]}, ("arcs",), gathered=True
    ),
}

#: What the table allows and these calls refuse, which close a whole matrix on a cluster: they say
#: what to do, too.
WHOLE_ONLY = {
    ("apsp in tiles", "block"): r"give out='d\.zarr'",
    ("closure", "block"): r"give out='d\.zarr'",
    ("closure of some", "block"): "leave out sources; or use apsp",
    ("closure of some", "store"): "leave out sources; or use apsp",
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


@cache
def rows_of(problem: str) -> Any:
    """Return the distances between all vertices, by searches one after another."""
    method = "queue" if problem == "bfs" else "dijkstra"
    return getattr(kl, problem)(GRID, sources=range(GRID.n), method=method).distances


# ---- the table ----------------------------------------------------------------------------------


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize(
    ("form", "name", "sink"),
    [
        (form, name, sink)
        for name, path in PATHS.items()
        for sink in path.keywords
        for form in path.forms
    ],
)
def test_what_goes_with_what(
    client: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    form: str,
    name: str,
    sink: str,
    runner: str,
) -> None:
    monkeypatch.setenv("KLEENE_EMULATOR_DEVICES", "2")
    path, turns = PATHS[name], name.startswith("turns")
    if not EMULATED and (sink == "device" or runner == "devices"):
        pytest.skip("no emulator")
    rows, own = rows_of(path.of), path.keywords[sink]
    rows = rows[own.get("sources", slice(None))]
    keywords = {**own, **path.more}
    if sink == "array":
        keywords["out"] = np.empty(rows.shape, np.int32)
    if sink == "store":
        keywords["out"] = tmp_path / "d.zarr"
    if runner == "devices":
        keywords |= {"device": "emulated", "devices": [0, 1]}
    if runner == "cluster":
        keywords["on"] = client
    graph = kl.prepare(GRID) if form == "prepared" else GRID
    why = REFUSED.get((sink, runner))
    if why is not None and not (sink == "device" and runner == "devices" and path.gathered):
        if runner == "cluster":
            keywords["on"] = "tcp://127.0.0.1:1"  # no worker is asked
        with pytest.raises(kl.RequestError) as raised:
            path.call(graph, **keywords)
        if turns and runner == "cluster":  # it has no store to advise
            assert "give targets=[...], or leave out on=" in str(raised.value)
        else:
            assert str(raised.value) == str(why.error)
        return
    sweeps = form == "prepared" and name == "closure"
    if runner == "cluster" and (name, sink) in WHOLE_ONLY and not sweeps:
        with pytest.raises(kl.RequestError, match=WHOLE_ONLY[name, sink]):
            path.call(graph, **keywords)
        return
    if not turns:
        call = check_call(path.call.__name__, graph, **keywords)
        assert (sink_of(call), runner_of(call)) == (sink, runner)
    found = path.call(graph, **keywords)
    if sink == "row":
        rows = rows_of(path.of)[5]
    elif sink == "block":
        rows = rows[:, TARGETS]
    elif sink == "pairs":
        rows = rows_of(path.of)[tuple(zip(*PAIRS, strict=True))]
    kept = sink == "device" and not turns
    values = found.device_arrays.distances.to_numpy() if kept else found.distances
    assert np.array_equal(values, rows)
    assert sink != "array" or np.shares_memory(found.distances, keywords["out"])
    found.verify()


def test_a_turn_graph_is_not_prepared() -> None:
    with pytest.raises(kl.GraphError, match=r"pass prepared\.graph"):
        kl.TurnGraph(kl.prepare(GRID))
    with pytest.raises(kl.GraphError, match=r"turn_graph\.sssp"):
        kl.within(kl.TurnGraph(GRID), 0, 3)


@pytest.mark.parametrize("search", ["sssp", "apsp"])
@pytest.mark.parametrize(
    ("option", "value"),
    [("out", np.empty((1, GRID.n))), ("out", "d.zarr"), ("pairs", [(0, 1)]), ("reverse", True)],
)
def test_a_turn_graph_says_what_it_has_no_answer_for(search: str, option: str, value: Any) -> None:
    with pytest.raises(kl.RequestError, match=f"a TurnGraph does not take {option}="):
        turning(search)(GRID, **{"sources": [5], option: value})


@pytest.mark.parametrize("form", ["arcs", "prepared"])
@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("name", MEASURES)
def test_which_measures_go_with_what(
    client: Any,
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
        assert str(raised.value) == str(why.error)
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
    assert str(raised.value) == str(NOT_BOTH[both].error)


def test_the_table_names_what_there_is() -> None:
    assert {*KEYWORDS, *(sink for sink, _ in MEASURES.values())} == set(SINKS)
    assert REFUSED.keys() <= {(sink, runner) for sink in SINKS for runner in RUNNERS}
    assert len(set(REFUSED.values())) == len(REFUSED)


@pytest.mark.parametrize("why", [*REFUSED.values(), *NOT_BOTH.values()], ids=lambda why: why.option)
def test_a_refusal_has_fields(why: Refusal) -> None:
    error = why.error
    assert (error.problem, error.option) == (why.problem, why.option)
    assert [text for _, text in error.advice] == [*why.advice] != []
    assert str(error) == f"{why.problem}: {', or '.join(why.advice)}"


#: Calls that run in this process, on one device: what they are called with, and what comes of it.
HERE = {
    "within": lambda g: kl.within(g, SOURCES, 9).distances.toarray(),
    "k_shortest": lambda g: kl.k_shortest(g, 0, 140, 3).distances.tolist(),
    "eccentricity": lambda g: kl.eccentricity(g).values,
}

#: Calls whose rows are no distances, and whose ``out`` is an array.
PRODUCTS = {"product", "geodesic_distances"}


def test_every_call_with_a_sink_or_a_runner_is_walked() -> None:
    walked = {call.call.__name__ for call in PATHS.values()} - {"<lambda>"}
    walked |= {name for name in MEASURES if hasattr(kl, name)} | PRODUCTS
    walks = {"on", "devices", "out", "keep"}
    calls = {
        name
        for name in kl.__all__
        if inspect.isfunction(call := getattr(kl, name))
        and inspect.signature(call).parameters.keys() & walks
    }
    assert calls == walked
    assert not calls & HERE.keys()


@pytest.mark.parametrize("form", ["arcs", "prepared"])
def test_calls_that_run_here(form: str) -> None:
    graph = kl.prepare(GRID) if form == "prepared" else GRID
    rows = rows_of("sssp")
    near = rows[SOURCES]
    assert np.array_equal(HERE["within"](graph), np.where(near <= 9, near, 0))
    assert np.array_equal(HERE["eccentricity"](graph), rows.max(axis=1))
    if form == "prepared":
        with pytest.raises(kl.GraphError, match=r"pass prepared\.graph"):
            HERE["k_shortest"](graph)
        return
    first, *others = HERE["k_shortest"](graph)
    assert first == rows[0, 140]
    assert others == sorted(others)
    assert others[0] >= first


#: How the table on the page names sinks that no call is named for, and the runners.
NAMED = {
    "row": "`source`", "rows": "`sources`", "array": "`out=array`", "device": '`keep="device"`',
    "block": "`targets`", "store": '`out="d.zarr"`', "pairs": "`pairs`", "estimate": "`error`",
    "best": "`nearest(k=3)`",
}  # fmt: skip
COLUMNS = ["in this process", "`devices=[0, 1]`", "`on=client`"]


def test_the_page_shows_the_table() -> None:
    page = (Path(__file__).parents[2] / "docs" / "concepts.md").read_text()
    lines = page.partition("## What goes with what")[2].partition("\n## ")[0].splitlines()
    table = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if "|" in line]
    assert table[0][1:] == COLUMNS
    for sink, (name, *cells) in zip(SINKS, table[2:], strict=True):
        calls = [measure for measure, (own, _) in MEASURES.items() if own == sink]
        calls = [call for call in calls if hasattr(kl, call)] or [NAMED[sink]]
        assert all(call in name for call in calls), sink
        for runner, cell in zip(RUNNERS, cells, strict=True):
            why = {**REFUSED, **dict.fromkeys(NOT_ASKED, "")}.get((sink, runner))
            assert cell.startswith("no" if why is not None else "yes"), (sink, runner)
            advised = re.findall(r"`(\w+)`", cell)
            said = "" if not why else str(why.error)
            assert all(word in said for word in advised), (sink, runner)


# ---- pairs on a cluster -------------------------------------------------------------------------


@pytest.mark.parametrize("graph", [GRID, SOCIAL], ids=["grid", "social"])
@pytest.mark.parametrize(
    "keywords",
    [{}, {"limit": 6}, {"predecessors": False}, {"method": "dijkstra"}, {"deterministic": True}],
    ids=str,
)
@pytest.mark.parametrize("problem", ["bfs", "sssp", "apsp"])
def test_pairs_on_a_cluster(
    client: Any,
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
    client: Any,
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
def test_no_pairs_on_a_cluster(graph: Any, predecessors: bool, client: Any) -> None:
    found = kl.sssp(graph, pairs=[], predecessors=predecessors, on=client)
    assert len(found.distances) == found.verify().rows == 0
    assert found.distances.dtype == kl.sssp(graph, pairs=[]).distances.dtype


def test_no_pairs_run_nothing_here(
    client: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kleene.engine.work.compute", lambda *_: pytest.fail("it ran here"))
    found = kl.sssp(GRID, pairs=[], device="cuda", on=client)
    assert found.plan.device == "cuda"
    assert found.distances.tolist() == list(found.paths()) == []


def test_pairs_without_a_path_on_a_cluster(client: Any) -> None:
    two = kl.Graph.from_edges([0, 2], [1, 3], [4, 5], n=5)
    found = kl.sssp(two, pairs=[(0, 1), (1, 0), (4, 4)], on=client)
    assert found.distances.tolist() == [4, found.no_path, 0]
    assert list(found.paths()) == [[0, 1], [], [4]]


# ---- a sink and runners of one's own ------------------------------------------------------------


def backwards(work: Work, sink: Sink, report: Any) -> Plan:
    """Run pieces one by one, from the last, each as it would travel."""
    for piece in reversed(work.pieces):
        own = work.call.sources[piece.first : piece.stop]
        bare = work._replace(
            call=work.call._replace(graph=None, sources=own, form=None),  # type: ignore[arg-type]
            pieces=(piece,), writer=work.writer.share((piece,), None), first=piece.first,
        )  # fmt: skip
        there = pickle.loads(pickle.dumps(bare))
        there = there._replace(call=there.call._replace(graph=work.call.graph, form=work.call.form))
        there.run(sink.record)
    return work.plan


class Anywhere:
    """Where a call runs: the runner, what a public call says for it, and a request."""

    def __init__(self, name: str, client: Any) -> None:
        self.name, self.on = name, client if name == "cluster" else None
        self.runner: Any = backwards if name == "backwards" else None
        self.keywords: dict[str, Any] = {} if self.on is None else {"on": client}
        self.asked: dict[str, Any] = {}
        if name == "cluster":
            from kleene.clusters.dask.calls import on_workers

            self.runner = on_workers
        if name == "devices":
            if not EMULATED:
                pytest.skip("no emulator")
            self.keywords = {"device": "emulated", "devices": [0, 1]}
            self.asked = {"device": "emulated", "devices": ("emulated:0", "emulated:1")}

    @property
    def sinks(self) -> list[Farthest]:
        """New sinks: devices share the rows of each piece, or each takes pieces of its own."""
        return [Farthest(apart) for apart in (False, True)[: 1 + (self.name == "devices")]]

    def says_so(self, plan: Plan) -> bool:
        """Return whether a plan says that the call ran there."""
        return {"cluster": "2 workers", "devices": "split: "}.get(self.name, "") in str(plan)


@pytest.fixture(params=["here", "backwards", "devices", "cluster"])
def anywhere(
    request: pytest.FixtureRequest,
    client: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> Anywhere:
    """Return each runner; the workers of the cluster are other processes."""
    monkeypatch.setenv("KLEENE_EMULATOR_DEVICES", "2")
    return Anywhere(request.param, client)


@pytest.mark.parametrize("form", ["arcs", "prepared"])
@pytest.mark.parametrize("problem", ["sssp", "bfs"])
@pytest.mark.parametrize("reverse", [False, True])
def test_a_new_sink_takes_what_any_runner_gives(
    anywhere: Anywhere, form: str, problem: str, reverse: bool
) -> None:
    graph = kl.prepare(GRID) if form == "prepared" else GRID
    call = check_call(problem, graph, sources=range(5), reverse=reverse, **anywhere.keywords)
    rows = getattr(kl, problem)(GRID, sources=range(5), reverse=reverse).distances
    for sink in anywhere.sinks:
        found = solve(call, sink, None, anywhere.runner)
        assert found.answer == rows.argmax(axis=1).tolist()
        assert found.stats.total > 0
        assert anywhere.says_so(found.plan)


def test_reductions_and_pairs_run_anywhere(anywhere: Anywhere) -> None:
    from kleene.calls.pairs import solve_pairs

    own = anywhere.keywords
    call = check_call("sssp", GRID, sources=range(9), predecessors=False, **own)
    sums: dict[int, int] = {}
    rows = Reduction.of(call)._replace(step=4)
    rows.run(_total, sums.__setitem__, anywhere.runner)
    wanted = kl.sssp(GRID, sources=range(9)).distances.astype(int)
    assert sums == {first: wanted[first : first + 4].sum() for first in (0, 4, 8)}
    method = "near_far" if "devices" in own else "dijkstra"
    call = check_call("sssp", GRID, pairs=PAIRS, method=method, **own)
    pairs = solve_pairs(call, anywhere.runner)
    assert np.array_equal(pairs.distances, kl.sssp(GRID, pairs=PAIRS).distances)
    pairs.verify()


def _total(first: int, rows: Any) -> int:
    return int(rows.sum())


def test_an_error_abandons_the_sink_and_names_vertices(anywhere: Anywhere) -> None:
    graph = kl.Graph.from_edges([0, 1], [1, 0], [-1, -2], labels=["a", "b"])
    call = check_call("sssp", graph, sources=["a", "b"], **anywhere.keywords)
    for sink in anywhere.sinks:
        with pytest.raises(kl.NegativeCycleError) as raised:
            solve(call, sink, None, anywhere.runner)
        assert set(raised.value.cycle) == {"a", "b"}
        assert isinstance(sink.failed, kl.NegativeCycleError)


# ---- a form of one's own ------------------------------------------------------------------------

SIDE = 7
STORED = kl.generate.grid(SIDE, SIDE)
STARTS = np.array([0, 8, 48, 30, 3], np.int32)
ENDS = np.array([48, 8, 1, 2, 40], np.int32)
WANTED = kl.bfs(STORED, sources=STARTS).distances


def call_on(form: ComputedGrid, **more: Any) -> Call:
    """Return the call for rows of a form, from five of its vertices."""
    ask = Ask.of("sssp", **{"sources": len(STARTS), **more.pop("asked", {})})
    return Call(ask, form, STARTS, None, None, None, None, False, form=form)._replace(**more)  # type: ignore[arg-type]


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("sink", KEYWORDS)
def test_a_new_form_goes_with_what_others_go_with(
    client: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    sink: str,
    runner: str,
) -> None:
    """The road of the public calls, for a form that they do not know."""
    monkeypatch.setenv("KLEENE_EMULATOR_DEVICES", "2")
    where = Anywhere(runner, client)
    asked, more = where.asked, dict[str, Any](on=where.on)
    wanted = WANTED
    if sink == "row":
        asked |= {"sources": 1}
        more |= {"sources": STARTS[:1], "single": True}
        wanted = WANTED[0]
    elif sink == "array":
        more["out"] = np.empty(WANTED.shape, np.int32)
    elif sink == "device":
        asked = {"device": "emulated", **asked, "keep": "device"}
    elif sink == "block":
        more["targets"] = ENDS
        wanted = WANTED[:, ENDS]
    elif sink == "store":
        more["out"] = tmp_path / "d.zarr"
    elif sink == "pairs":
        more |= {"sources": STARTS[:0], "pairs": (STARTS, ENDS)}
        wanted = WANTED[np.arange(len(STARTS)), ENDS]
    call = call_on(ComputedGrid(SIDE), asked=asked, **more)
    assert (sink_of(call), runner_of(call)) == (sink, runner)
    if (sink, runner) in REFUSED:
        with pytest.raises(kl.RequestError) as raised:
            require_fit(call)
        assert str(raised.value) == str(REFUSED[sink, runner].error)
        return
    if not EMULATED and sink == "device":
        pytest.skip("no emulator")
    found: Any = execution.solve(call)
    values = found.device_arrays.distances.to_numpy() if sink == "device" else found.distances
    assert np.array_equal(values, wanted)
    assert sink != "array" or np.shares_memory(values, more["out"])
    assert found.plan.method == "computed"
    assert where.says_so(found.plan)


def test_a_new_form_answers_rows_into_any_sink(anywhere: Anywhere) -> None:
    form, own = ComputedGrid(SIDE), {"on": anywhere.on}
    for farthest in anywhere.sinks:
        found = solve(call_on(form, asked=anywhere.asked, **own), farthest, None, anywhere.runner)
        assert found.answer == WANTED.argmax(axis=1).tolist()
        assert found.plan.method == "computed"
        assert anywhere.says_so(found.plan)
    sums: dict[int, int] = {}
    asked = {**anywhere.asked, "predecessors": False}
    rows = Reduction.of(call_on(form, asked=asked, **own))._replace(step=2)
    rows.run(_total, sums.__setitem__, anywhere.runner)
    assert sums == {first: WANTED[first : first + 2].sum() for first in (0, 2, 4)}


def test_a_new_form_that_counts_hops_has_no_incoming_arcs() -> None:
    form = ComputedGrid(SIDE)
    form.m = 2**20  # arcs that searches would gain by
    call = call_on(form, reverse=True)
    call = call._replace(ask=call.ask.but(problem="bfs"))
    assert np.array_equal(solve(call).answer.answer.values, WANTED)


@pytest.mark.parametrize("suffix", ["npy", "zarr"])
def test_a_new_form_goes_to_a_store(
    anywhere: Anywhere, tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_sink, "choose_block_rows", lambda *_: 2)
    call = call_on(
        ComputedGrid(SIDE), asked=anywhere.asked, out=tmp_path / f"d.{suffix}", on=anywhere.on
    )
    for _ in range(2):  # the second call reads what the first one wrote
        found = store_sink.store_sink(call)
        assert found is not None
        answer = solve(call, *found, anywhere.runner).answer.answer
        assert np.array_equal(answer.values[:], WANTED)
        assert np.array_equal(answer.predecessors[0][:3], [-1, 0, 1])
    assert len(Store.find(call.out).done) == 3  # type: ignore[arg-type]
    other = call._replace(graph=ComputedGrid(SIDE + 1), form=ComputedGrid(SIDE + 1))
    with pytest.raises(kl.StoreError, match="graph"):
        solve(other, *store_sink.store_sink(other), anywhere.runner)  # type: ignore[misc]


@pytest.mark.parametrize("paths", [True, False])
def test_pairs_of_a_new_form(
    anywhere: Anywhere, paths: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kleene.calls.pairs import solve_pairs

    monkeypatch.setattr("kleene.engine.entries._SMALL", 0)
    monkeypatch.setattr("kleene.engine.entries._BATCH", 16 * SIDE * SIDE * 2)  # two roots
    ends = np.array([0, 8, 48, 48, 3], np.int32), ENDS
    call = call_on(
        ComputedGrid(SIDE), sources=STARTS[:0], pairs=ends, on=anywhere.on,
        asked={**anywhere.asked, "predecessors": paths},
    )  # fmt: skip
    found = solve_pairs(call, anywhere.runner)
    wanted = kl.bfs(STORED, pairs=list(zip(*ends, strict=True)))
    assert np.array_equal(found.distances, wanted.distances)
    if paths:
        walked = list(found.paths())
        assert [path[0] for path in walked] == ends[0].tolist()
        assert [path[-1] for path in walked] == ends[1].tolist()
        assert [len(path) - 1 for path in walked] == found.distances.tolist()
