"""Graphs that are prepared by themselves: when, what they keep, and the same answers as before."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any

import numpy as np
import pytest
from prepared_streets import ONE, copy_of, is_eliminated, streets

import kleene as kl
from kleene.errors import RequestError
from kleene.graph.forms import CSR
from kleene.planning.facts import graph_facts
from kleene.prepared import cache
from kleene.prepared import elimination as fill
from kleene.prepared.cache import Preparation

CALLS = {
    "sssp": lambda g, **o: kl.sssp(g, sources=range(g.n), **o),
    "apsp": kl.apsp,
    "closure": lambda g, **o: kl.closure(g, "min_plus", **o),
}


# ---- calls that prepare their graph -------------------------------------------------------------


@pytest.mark.parametrize("problem", CALLS)
@pytest.mark.parametrize("directed", [True, False])
def test_auto_prepares_where_it_pays(problem: str, directed: bool) -> None:
    g = streets(directed=directed)
    result = CALLS[problem](g, predecessors=False, **ONE)
    assert result.plan.method == "prepared"
    assert is_eliminated(g)
    note = result.plan.reasons[-1]
    assert note.startswith("prepared: ")
    assert " pairs counted, about " in note
    plain = kl.apsp(copy_of(g), predecessors=False, method="batched")
    assert np.array_equal(result.distances, plain.distances)


def test_the_second_call_finds_the_graph_prepared() -> None:
    g = streets()
    kl.apsp(g, **ONE)
    preparation = Preparation.of(g)
    elimination = preparation.eliminate(g)
    few = kl.sssp(g, sources=range(16), **ONE)
    assert few.plan.method == "prepared", "only the rows count"
    assert " pairs eliminated, about " in few.plan.reasons[-1]
    assert "to prepare" not in few.plan.reasons[-1], "that was done"
    assert preparation.eliminate(g) is elimination
    assert kl.sssp(g, 3).plan.method != "prepared", "one source is searched from"
    assert kl.sssp(g, sources=range(16), limit=50, **ONE).plan.method != "prepared"
    fresh = kl.sssp(copy_of(g), sources=range(16), **ONE)
    assert fresh.plan.method != "prepared", "for 16 rows alone it does not pay"
    assert np.array_equal(few.distances, fresh.distances)
    few.verify()


def test_paths_and_deterministic_trees() -> None:
    g = streets()
    kl.apsp(g, predecessors=False, **ONE)
    prepared = kl.sssp(g, sources=range(20), deterministic=True, **ONE)
    assert prepared.plan.method == "prepared"
    plain = kl.sssp(copy_of(g), sources=range(20), method="dijkstra", deterministic=True)
    assert np.array_equal(prepared.predecessors, plain.predecessors)
    assert prepared.path(3, 1999) == plain.path(3, 1999)


def test_pairs_and_reverse() -> None:
    g = streets()
    kl.apsp(g, predecessors=False, **ONE)
    rng = np.random.default_rng(2)
    pairs = rng.integers(0, g.n, (300, 2))
    found = kl.sssp(g, pairs=pairs, **ONE)
    assert found.plan.method == "prepared"
    assert np.array_equal(found.distances, kl.sssp(copy_of(g), pairs=pairs).distances)
    found.verify()
    back = kl.sssp(g, sources=range(0, g.n, 50), reverse=True, **ONE)
    assert back.plan.method == "prepared"
    plain = kl.sssp(copy_of(g), sources=range(0, g.n, 50), reverse=True)
    assert np.array_equal(back.distances, plain.distances)
    back.verify()


def test_negative_weights() -> None:
    g = streets()
    heights = np.random.default_rng(3).integers(0, 500, g.n)
    tails, heads, weights = g.coo
    hilly = kl.Graph.from_edges(tails, heads, weights + heights[heads] - heights[tails], n=g.n)
    assert hilly.stats.negative
    result = kl.sssp(hilly, sources=range(g.n), predecessors=False, **ONE)
    assert result.plan.method == "prepared"
    flat = kl.sssp(g, sources=range(g.n), predecessors=False).distances.astype(np.int64)
    reached = result.reached
    moved = flat + heights[None, :] - heights[:, None]
    assert np.array_equal(result.distances[reached], moved[reached])


def test_a_negative_cycle_counts_if_a_source_leads_to_it() -> None:
    """Two more vertices, which no arc leads to, form a negative cycle."""
    g = streets()
    tails, heads, weights = g.coo
    grown = kl.Graph.from_edges(
        [*tails.tolist(), g.n, g.n + 1, g.n], [*heads.tolist(), g.n + 1, g.n, 0],
        [*weights.tolist(), 3, -5, 1], n=g.n + 2,
    )  # fmt: skip
    far = kl.sssp(grown, sources=range(100), method="prepared", predecessors=False)
    plain = kl.sssp(g, sources=range(100), method="delta_stepping", predecessors=False)
    assert np.array_equal(far.reached[:, : g.n], plain.reached)
    assert np.array_equal(far.distances[far.reached], plain.distances[plain.reached])
    assert not far.reached[:, g.n :].any()
    with pytest.raises(kl.NegativeCycleError) as caught:
        kl.sssp(grown, sources=[0, g.n], method="prepared")
    assert sorted(caught.value.cycle) == [g.n, g.n + 1]


# ---- refusals -----------------------------------------------------------------------------------


def test_graphs_without_small_separators_are_searched() -> None:
    g = kl.generate.uniform(2500, 7500, weights=(1, 99), seed=1)
    assert kl.explain(g, "apsp", predecessors=False, **ONE).method == "batched", "it looks, too"
    result = kl.apsp(g, predecessors=False, **ONE)
    assert result.plan.method == "batched"
    assert result.plan.reasons[-1].startswith("not prepared: ")
    assert " pairs counted, about " in result.plan.reasons[-1]
    assert not is_eliminated(g)


def test_what_is_asked_for_and_cannot_be_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fill, "MOST_TRIANGLES", 1000)
    with pytest.raises(RequestError, match=r"would join [\d,]+ pairs of vertices and relax"):
        kl.sssp(streets(), sources=[0], method="prepared")


def test_pairs_that_memory_cannot_hold_are_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "available_memory", lambda: 2**20)
    result = kl.apsp(streets(), predecessors=False, **ONE)
    assert result.plan.method == "batched"
    assert "pairs take" in result.plan.reasons[-1]


# ---- what a graph keeps -------------------------------------------------------------------------


def test_new_weights_share_the_elimination() -> None:
    g = streets()
    h = g.reweight(arcs=g.weights * 3)
    assert h.neighbors is g.neighbors
    kl.apsp(g, predecessors=False, **ONE)
    assert is_eliminated(h)
    assert Preparation.of(h) is Preparation.of(g)
    facts = graph_facts(h).prepared
    assert facts is not None
    assert not facts.customized, "its weights are others"
    result = kl.sssp(h, sources=range(200), **ONE)
    assert result.plan.method == "prepared"
    assert np.array_equal(result.distances, kl.sssp(copy_of(h), sources=range(200)).distances)
    assert not is_eliminated(g.reweight(lambda s, t: np.where(s == 0, np.inf, 1.0))), "fewer arcs"


def test_the_transposed_graph_shares_the_elimination() -> None:
    g = streets()
    assert is_eliminated(g) is False
    transposed = g.transpose()
    kl.apsp(g, predecessors=False, **ONE)
    assert Preparation.of(transposed) is Preparation.of(g)
    assert is_eliminated(transposed)


def test_old_values_give_way_to_new_ones() -> None:
    g = streets()
    preparation = Preparation.of(g)
    elimination = preparation.eliminate(g)
    kept = []
    for factor in range(1, 8):
        h = g.reweight(arcs=g.weights * factor)
        preparation.customize(h, elimination, "min_plus", np.dtype(np.int32))
        kept.append(h)
    held = [bool(Preparation.of(h).known(h).customized) for h in kept]  # type: ignore[union-attr]
    assert held == [False] * 3 + [True] * 4
    del kept, h
    gc.collect()
    preparation.customize(g, elimination, "min_plus", np.dtype(np.int32))
    assert len(preparation._values) == 1, "graphs that are gone need none"


def test_it_goes_with_the_graph() -> None:
    g = streets()
    kl.apsp(g, predecessors=False, **ONE)
    elimination = weakref.ref(Preparation.of(g).eliminate(g))
    h = g.unlabelled().reweight(arcs=g.weights + 1)
    kl.sssp(h, sources=range(20), **ONE)
    del g
    assert elimination() is not None, "another graph has the same arcs"
    del h
    gc.collect()
    assert elimination() is None


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = streets(1), streets(2)
    kl.apsp(first, predecessors=False, **ONE)
    taken = Preparation.of(first).nbytes
    assert taken > 8 * first.m
    # A quarter of what is free and taken holds one of them, and not two.
    monkeypatch.setattr(cache, "_ALL", weakref.WeakSet([Preparation.of(first)]))
    free = 4 * Preparation.of(first).eliminate(first).fill.bytes + 2**16
    monkeypatch.setattr(cache, "available_memory", lambda: free)
    result = kl.apsp(second, predecessors=False, **ONE)
    assert result.plan.method == "prepared"
    assert is_eliminated(second)
    assert not is_eliminated(first)
    assert graph_facts(first).prepared.step == "counted"  # type: ignore[union-attr]
    monkeypatch.setattr(cache, "available_memory", lambda: 0)
    third = streets(3)
    again = kl.sssp(third, sources=range(50), method="prepared", predecessors=False)
    assert not is_eliminated(third), "an answer, but nothing kept"
    assert np.array_equal(again.distances, kl.sssp(third, sources=range(50)).distances)


def test_several_threads_prepare_at_once() -> None:
    g = streets()
    plain = kl.apsp(copy_of(g), method="batched", predecessors=False).distances
    with ThreadPoolExecutor(4) as pool:
        calls = [pool.submit(kl.apsp, g, predecessors=False, **ONE) for _ in range(8)]  # type: ignore[arg-type]
        answers = [call.result() for call in calls]
    assert {answer.plan.method for answer in answers} == {"prepared"}
    assert all(np.array_equal(answer.distances, plain) for answer in answers)


def test_a_small_call_imports_nothing_of_it() -> None:
    program = """
import sys, numpy as np, kleene as kl
g = kl.generate.grid(100, 100, weights=(1, 9))
kl.bfs(g, 0), kl.sssp(g, 0), kl.sssp(g, sources=range(20)), kl.explain(g, "apsp", sources=[1])
loaded = [m for m in sys.modules if m.startswith("kleene.prepared.") or "metis" in m]
assert loaded == ["kleene.prepared.known"], loaded
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=600)


# ---- other libraries ----------------------------------------------------------------------------


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The plans of calls of ``apsp`` from other libraries' interfaces, on one thread."""
    import networkx  # noqa: F401

    from kleene.interop.csgraph import solve
    from kleene.interop.networkx import search

    seen: list[Any] = []

    def recorded(call: Any) -> Any:
        def run(*arguments: Any, **options: Any) -> Any:
            result = call(*arguments, **options | ONE)
            seen.append(result.plan)
            return result

        return run

    for module in (solve, search):
        monkeypatch.setattr(module, "apsp", recorded(module.apsp))
    return seen


def test_csgraph(plans: list[Any]) -> None:
    import scipy.sparse.csgraph as theirs

    from kleene import csgraph as ours

    g = streets()
    matrix = g.to_scipy().astype(np.float64)
    for name in ("dijkstra", "johnson", "shortest_path"):
        mine, trees = getattr(ours, name)(matrix, return_predecessors=True)
        assert plans.pop().method == "prepared", name
        assert np.array_equal(mine, theirs.dijkstra(matrix))
        some = np.flatnonzero(trees[0] >= 0)
        assert np.array_equal(mine[0, some], mine[0, trees[0, some]] + matrix[trees[0, some], some])
    ours.dijkstra(matrix, indices=range(3000))
    assert plans.pop().method == "prepared"
    ours.dijkstra(matrix, indices=range(100))
    assert plans.pop().method == "batched", "for 100 rows it does not pay"


def test_networkx(plans: list[Any]) -> None:
    import networkx as nx

    from kleene.interop.networkx import convert_from_nx

    g = streets(directed=False)
    theirs = g.to_networkx()
    mine = convert_from_nx(theirs, edge_attrs={"weight": 1})
    lengths = dict(nx.all_pairs_dijkstra_path_length(mine))
    assert {plan.method for plan in plans} == {"prepared"}
    assert lengths[17] == nx.single_source_dijkstra_path_length(theirs, 17)
    plans.clear()
    node, paths = next(nx.all_pairs_dijkstra_path(mine))
    assert {plan.method for plan in plans} == {"prepared"}
    assert paths == nx.single_source_dijkstra_path(theirs, node)


def test_networkx_adds_floats_arc_by_arc() -> None:
    """To find NetworkX's choice among equal paths, sums must round as its own do."""
    import networkx as nx

    from kleene.interop.networkx import convert_from_nx

    g = streets(directed=False)
    theirs = g.reweight(arcs=g.weights / 7).to_networkx()
    mine = convert_from_nx(theirs, edge_attrs={"weight": 1})
    kl.apsp(mine.arcs("weight").graph, predecessors=False, **ONE)
    assert is_eliminated(mine.arcs("weight").graph)
    for source, (lengths, paths) in islice(nx.all_pairs_dijkstra(mine), 3):
        wanted, walks = nx.single_source_dijkstra(theirs, source)
        assert lengths == wanted
        assert paths == walks


def test_dense_graphs_have_no_arcs_made_for_a_look() -> None:
    g = kl.Graph.from_dense(np.where(np.eye(80, k=1), 1.0, np.inf))
    assert graph_facts(g).prepared is None
    assert "neighbors" not in g.__dict__
    assert isinstance(g.csr, CSR)
    small = kl.apsp(g, method="prepared", predecessors=False)
    assert np.array_equal(small.distances, kl.apsp(g, predecessors=False).distances)


@pytest.mark.parametrize("dtype", ["int64", "float64"])
@pytest.mark.parametrize("limit", [0, 2, 5])
def test_limits(dtype: str, limit: int) -> None:
    """Integers are swept in their own type, and converted after the limit is applied."""
    g = kl.Graph.from_edges([0, 1, 2], [1, 2, 3], [2, 3, 4])
    found = kl.apsp(g, method="prepared", limit=limit, dtype=dtype)
    searched = kl.apsp(g, method="batched", limit=limit, dtype=dtype)
    assert np.array_equal(found.distances, searched.distances)
    assert np.array_equal(found.predecessors, searched.predecessors)
    found.verify()


def test_an_order_that_is_kept_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    g = streets()
    preparation = Preparation.of(g)
    order, _ = preparation.order(g)
    monkeypatch.setattr(cache, "elimination_order", None)
    preparation.count(g)
    assert preparation.order(g) == (order, True)
    known = preparation.known(g)
    assert known is not None
    assert known.step == "counted"
