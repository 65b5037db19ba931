"""What is explained is what runs: the plan of the call itself, before anything is computed."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kleene as kl
from kleene.calls.explain import EXPLAINED
from kleene.engine.planned import explained
from kleene.planning.plan import Plan
from kleene.registry import Method

GRID = kl.generate.grid(30, 30, weights=(1, 9), seed=3).with_positions(
    [(9 + 0.001 * (v % 30), 0.001 * (v // 30)) for v in range(900)]
)
LINKS = kl.generate.rmat(scale=9, edge_factor=8, seed=2)
LABELLED = kl.Graph.from_edges(
    [0, 1, 2, 3], [1, 2, 3, 4], [2, 2, 5, 1], directed=False, labels=["a", "b", "c", "d", "e"]
)
READY = kl.prepare(GRID, threads=1)
TRIPS = [(0, 5, 2.0), (9, 80, 1.0)]
MATRIX = np.array([[0, 4, 9.0], [np.inf, 0, 3], [np.inf, np.inf, 0]])

#: Calls whose results have a plan.
CALLS: list[tuple[str, Any, tuple[Any, ...], dict[str, Any]]] = [
    ("bfs", GRID, (0,), {}),
    ("bfs", LINKS, (), {"sources": range(99), "predecessors": False}),
    ("sssp", GRID, (3,), {"reverse": True, "limit": 20}),
    ("sssp", LABELLED, ("b",), {"deterministic": True}),
    ("sssp", GRID, (), {"sources": range(9), "targets": [3, 4], "device": "emulated"}),
    ("sssp", GRID, (), {"pairs": [(0, 5), (7, 5)]}),
    ("sssp", READY, (), {"pairs": [(0, 5), (7, 5)]}),
    ("sssp", READY, (0,), {}),
    ("sssp", READY, (0,), {"limit": 9}),
    ("apsp", GRID, (), {}),
    ("apsp", GRID, (), {"method": "tiled", "device": "cpu", "options": {"block": 48}}),
    ("apsp", GRID, (), {"pairs": [(v, 899 - v) for v in range(900)]}),
    ("apsp", READY, (), {}),
    ("closure", LINKS, ("boolean",), {"targets": [3]}),
    ("closure", READY, (), {}),
    ("nearest", GRID, ([3, 500],), {}),
    ("nearest", LINKS, ([3, 500],), {"device": "emulated"}),
    ("nearest", GRID, ([3, 500, 8, 9],), {"k": 2, "limit": 50}),
    ("nearest", READY, ([3, 500, 8, 9], 2), {}),
    ("nearest", LABELLED, ("a",), {"hops": True}),
    ("within", GRID, (0, 12), {}),
    ("within", READY, ([0, 5], 12), {"predecessors": False}),
    ("betweenness", LINKS, (), {"sources": range(9), "edges": True}),
    ("betweenness", LINKS, (), {"error": 0.1}),
    ("loads", GRID, (TRIPS,), {}),
    ("loads", GRID, (), {"demand": TRIPS, "split": True, "hops": True}),
    ("loads", READY, (TRIPS,), {}),
    ("closeness", LINKS, (), {"sources": range(70)}),
    ("closeness", GRID, (), {}),
    ("harmonic", GRID, (), {"samples": 20}),
    ("distance_histogram", GRID, (), {"sources": range(9)}),
    ("reduce_distances", GRID, (), {"sources": range(9), "bins": [0, 5, 50]}),
    ("reduce_distances", LINKS, (), {"hops": True}),
    ("reduce_distances", kl.generate.complete(80, weights=(1, 9), seed=1), (), {}),
    ("path_counts", LINKS, (0,), {}),
]

#: Calls whose results have no plan, and the problem and method of the first one.
OTHERS: list[tuple[str, Any, tuple[Any, ...], dict[str, Any], str]] = [
    ("isochrones", GRID, (435, [30, 60]), {}, "within by bounded_dijkstra"),
    ("ego", GRID, (435, 9), {}, "within by bounded_dijkstra"),
    ("k_shortest", GRID, (0, 99, 3), {}, "k_shortest by yen"),
    ("k_shortest", GRID, (), {"k": 3, "pairs": [(0, 9), (5, 9)]}, "k_shortest by yen"),
    ("efficiency", GRID, (), {}, "apsp by "),
    ("wiener_index", LINKS, (), {}, "bfs by multi_source"),
    ("diameter", GRID, (), {"hops": True}, "bfs by queue"),
    ("radius", GRID, (), {}, "sssp by "),
    ("center", LINKS, (), {"unreachable": "ignore"}, "bfs by "),
    ("periphery", GRID, (), {}, "sssp by "),
    ("components", LINKS, ("strong",), {}, "strong_components by forward_backward"),
    ("prepare", GRID, (), {"semiring": "max_min", "threads": 1}, "prepare by elimination"),
    ("distance_encodings", [LABELLED], (), {"max_distance": 9}, "distance_encodings by "),
    ("close_distances", MATRIX, (), {}, "apsp by tiled"),
    ("product", MATRIX, (MATRIX, "max_min"), {"argmin": True}, "product by tiled"),
    ("spmv", LINKS, (np.ones(LINKS.n),), {"form": "csc"}, "spmv by csc"),
]  # fmt: skip


def own(plan: Plan) -> Plan:
    """Return what a plan decides: a small call does not ask how much memory is free."""
    return replace(plan, available=None)


def computes(*_: object, **__: object) -> Any:
    raise AssertionError("something is computed")


def let_nothing_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every way to compute fail."""
    for name in ("load", "load_in_place", "load_rounds"):
        monkeypatch.setattr(Method, name, computes)
    monkeypatch.setattr("kleene.prepared.cache.Preparation.eliminate", computes)
    monkeypatch.setattr("kleene.prepared.cache.Preparation.customize", computes)
    monkeypatch.setattr("kleene.prepared.sweeps.PreparedRows.values", computes)
    monkeypatch.setattr("kleene.prepared.sweeps.PreparedRows.matrix", computes)
    monkeypatch.setattr("kleene.engine.prepared.answer_by_climbs", computes)
    monkeypatch.setattr("kleene._native.hop_sums", computes)


@pytest.fixture
def nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    let_nothing_run(monkeypatch)


def said(row: tuple[Any, ...]) -> str:
    return f"{row[0]}-{','.join(row[3])}"


@pytest.mark.parametrize(("name", "about", "given", "options"), CALLS, ids=map(said, CALLS))
def test_the_plan_is_that_of_the_result(
    name: str, about: Any, given: tuple[Any, ...], options: dict[str, Any]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        let_nothing_run(patch)
        plan = kl.explain(about, name, *given, **options)
    assert own(plan) == own(getattr(kl, name)(about, *given, **options).plan)
    assert plan.form != "arcs" or plan.available


@pytest.mark.usefixtures("nothing_runs")
@pytest.mark.parametrize(
    ("name", "about", "given", "options", "begins"), OTHERS, ids=map(said, OTHERS)
)
def test_calls_whose_results_have_no_plan(
    name: str, about: Any, given: tuple[Any, ...], options: dict[str, Any], begins: str
) -> None:
    assert str(kl.explain(about, name, *given, **options)).startswith(begins)


def test_bounds_are_noted_after_the_plan() -> None:
    plan, made = kl.explain(GRID, "eccentricity"), kl.eccentricity(GRID).plan
    assert own(plan) == own(replace(made, reasons=made.reasons[:-1]))
    assert "searches decide" in made.reasons[-1]


def test_every_call_is_explained() -> None:
    """A public function that plans nothing is named here, and one that makes its graph first."""
    functions = {name for name in kl.__all__ if inspect.isfunction(getattr(kl, name))}
    rest = {
        "draw", "explain", "geodesic_distances", "load_prepared", "methods", "patch_sklearn",
        "read", "unpatch_sklearn", "write",
    }  # fmt: skip
    assert functions - rest == set(EXPLAINED)
    tested = {row[0] for row in (*CALLS, *OTHERS)} | {"eccentricity"}
    assert tested == set(EXPLAINED)


@pytest.mark.usefixtures("nothing_runs")
def test_nothing_is_written_and_memory_of_the_caller_stays(tmp_path: Path) -> None:
    lengths, out = np.array([[5.0, 1.0], [2.0, 7.0]]), np.full((900, 900), 7, np.int32)
    before = lengths.copy()
    kl.explain(lengths, "close_distances")
    kl.explain(lengths, "product", lengths, out=(lost := np.zeros((2, 2))))
    kl.explain(GRID, "apsp", out=out)
    for name in ("d.npy", "d.zarr"):
        assert "store:" not in str(kl.explain(GRID, "apsp", out=tmp_path / name))
        kl.explain(READY, "apsp", out=tmp_path / name)
    assert (lengths == before).all()
    assert (out == 7).all()
    assert not lost.any()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("about", [GRID, LINKS, READY], ids=["grid", "links", "prepared"])
@pytest.mark.parametrize("name", ["d.npy", "d.zarr"])
def test_the_plan_of_an_answer_in_a_file(about: Any, name: str, tmp_path: Path) -> None:
    """Its memory is that of some rows, or of the file that is mapped."""
    out = tmp_path / name
    plan = kl.explain(about, "apsp", out=out, predecessors=False)
    assert own(plan) == own(kl.apsp(about, out=out, predecessors=False).plan)
    if name == "d.zarr":
        assert "read from d.zarr" in str(kl.explain(about, "apsp", out=out, predecessors=False))


def test_a_store_that_was_begun_says_how_it_is_resumed(tmp_path: Path) -> None:
    path = tmp_path / "d.zarr"
    first = kl.apsp(GRID, method="johnson", device="cpu", out=path, predecessors=False)
    assert first.plan.method == "johnson"
    assert kl.explain(GRID, "apsp", predecessors=False).method != "johnson"
    assert kl.explain(GRID, "apsp", out=path, predecessors=False).method == "johnson"


@pytest.mark.parametrize("finished", [True, False])
@pytest.mark.parametrize("name", ["d.npy", "d.zarr"])
def test_a_store_of_another_call_is_refused(
    name: str, finished: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kleene.stores.sink.choose_block_rows", lambda *_: 450)
    path, asked = tmp_path / name, {"method": "johnson", "device": "cpu", "predecessors": False}
    kl.apsp(GRID, out=path, **asked)
    if not finished:
        ledger = tmp_path / f"{name}.ledger"
        ledger.write_text("".join(ledger.read_text().splitlines(keepends=True)[:-1]))
    before = sorted(tmp_path.rglob("*"))
    assert kl.explain(GRID, "apsp", out=path, **asked).method == "johnson"
    resumed = kl.explain(GRID, "apsp", out=path, **{**asked, "method": "auto"})
    assert resumed.method == "johnson"
    assert ("johnson: the store was begun by it" in resumed.reasons) != finished
    for other in ({"limit": 3}, {"reverse": True}):
        with pytest.raises(kl.StoreError, match="belongs to other work") as foreseen:
            kl.explain(GRID, "apsp", out=path, **asked, **other)
        with pytest.raises(kl.StoreError) as made:
            kl.apsp(GRID, out=path, **asked, **other)
        assert str(foreseen.value) == str(made.value)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("name", ["d.npy", "d.zarr"])
def test_an_empty_store_stays(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The call itself begins it anew."""
    monkeypatch.setattr("kleene.stores.sink.choose_block_rows", lambda *_: 450)
    path, asked = tmp_path / name, {"method": "johnson", "device": "cpu", "predecessors": False}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Method, "load", computes)
        patch.setattr("kleene.stores.store.Store.leave", lambda store: store.close())
        with pytest.raises(AssertionError, match="computed"):
            kl.apsp(GRID, out=path, **asked)
    before = sorted(tmp_path.rglob("*"))
    assert before
    assert kl.explain(GRID, "apsp", out=path, predecessors=False).problem == "apsp"
    assert sorted(tmp_path.rglob("*")) == before


def test_calls_in_other_threads_are_not_explained() -> None:
    made = []

    def call() -> None:
        with ThreadPoolExecutor(1) as other:
            made.append(other.submit(kl.sssp, GRID, 0).result())
        made.append(kl.sssp(GRID, 0))

    assert own(explained(call)) == own(made[0].plan)
    assert len(made) == 1


def test_one_explanation_within_another() -> None:
    """A generator of sources explains; the call around it is explained all the same."""
    sources = (v for v in range(3) if kl.explain(GRID, "bfs", v).problem == "bfs")
    assert own(kl.explain(GRID, "sssp", sources=sources)) == own(
        kl.sssp(GRID, sources=range(3)).plan
    )


def test_what_may_be_left_out() -> None:
    assert own(kl.explain(LABELLED, "sssp")) == own(kl.sssp(LABELLED, "a").plan)
    assert kl.explain(kl.Graph.from_edges([], []), "bfs").problem == "bfs"
    zones = [(a, b) for a in range(4) for b in range(4)]
    assert own(kl.explain(GRID, "loads", sources=range(4))) == own(kl.loads(GRID, zones).plan)
    assert kl.explain(READY, "loads").method == "prepared"
    assert kl.explain(GRID, "loads", on="tcp://10.0.0.1:8786", progress=True).method == "searches"
    plain = kl.explain(GRID, "prepare")
    nothing = kl.explain(GRID, "prepare", method="auto", limit=None, deterministic=False)
    assert nothing.method == plain.method


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: kl.explain(GRID, "bfs", hops=True), "bfs does not take hops="),
        (lambda: kl.explain(GRID, "closure", limit=3), "closure does not take limit="),
        (lambda: kl.explain(GRID, "sssp", cutoff=3), "sssp does not take cutoff=; use limit="),
        (lambda: kl.explain(READY, "prepare", limit=3), "prepare does not take limit="),
        (lambda: kl.explain(GRID, "nearest"), "nearest: missing a required argument: 'facil"),
        (lambda: kl.explain(GRID, "nearest", []), "facilities is empty"),
        (lambda: kl.explain(GRID, "nearest", [3], k=2, device="cuda"), "k=2 needs device='cpu'"),
        (lambda: kl.explain(GRID, "neares", [3]), "did you mean 'nearest'"),
        (lambda: kl.explain(MATRIX, "sssp"), "expected a kleene.Graph"),
        (lambda: kl.explain(GRID, "sssp", 0, sources=[1]), "not both"),
    ],
)
def test_refusals_are_those_of_the_call(call: Callable[[], object], match: str) -> None:
    with pytest.raises(kl.KleeneError, match=match):
        call()
    kl.sssp(LABELLED, "a")  # and the next call computes


def test_a_memory_error_is_that_of_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KLEENE_MEMORY", "1K")
    graph = kl.generate.grid(31, 30, weights=(1, 9), seed=3)
    for name, given in (("betweenness", ()), ("nearest", ([0, 1], 2)), ("apsp", ())):
        with pytest.raises(kl.MemoryBudgetError) as foreseen:
            kl.explain(graph, name, *given)
        with pytest.raises(kl.MemoryBudgetError) as made:
            getattr(kl, name)(graph, *given)
        assert str(foreseen.value) == str(made.value)
