"""Predecessors by rule: what ``deterministic=True`` promises, of every method."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from graphs import WITH_NEGATIVE_CYCLE, arcs_of, graph, names
from oracle import EXTEND
from test_methods import ROWS, admissible, label, solve

import kleene as kl
from kleene.registry import Method

#: Methods on matrices add in an order of their own, so fractions may keep a method's predecessors.
FRACTIONS = ("negative_floats", "float32_weights", "float64_weights")
EXACT = [
    n for n in names() if n not in {*FRACTIONS, *WITH_NEGATIVE_CYCLE, "negative_cycle_elsewhere"}
]


def by_rule(result: kl.Result, row: int) -> list[int]:
    """Grow one tree level by level along tight arcs, the smallest vertices first."""
    g, values = result.graph, np.atleast_2d(result.distances)[row].tolist()
    extend = EXTEND[result.plan.semiring]
    arcs = arcs_of(g.reweight(None) if result.problem == "bfs" else g)
    parents = [-1] * g.n
    source = int(result.sources[row])
    seen, level = {source}, [source]
    while level:
        below: dict[int, int] = {}
        for u in sorted(level):
            for v in g.neighbors[g.offsets[u] : g.offsets[u + 1]].tolist():
                if v in seen or v in below or values[v] == result.no_path:
                    continue
                if extend(values[u], arcs[u, v]) == values[v]:
                    below[v] = u
        for v, u in below.items():
            parents[v] = u
        seen |= below.keys()
        level = list(below)
    return parents


@pytest.mark.parametrize("row", ROWS, ids=label)
def test_rule(row: Method) -> None:
    cases = [(name, semiring) for name in EXACT for semiring in row.semirings]
    for name, semiring in cases:
        g = graph(name)
        if not admissible(row, semiring, g) or (row.device == "emulated" and g.n > 200):
            continue
        options = {"predecessors": True, "deterministic": True, "threads": 2}
        result = solve(row, g, semiring, sources=range(min(3, g.n)), **options)
        assert result.predecessors is not None
        wanted = [by_rule(result, i) for i in range(len(result.sources))]
        assert result.predecessors.tolist() == wanted, (name, semiring)


def many_ties(weights: Any = (0, 2)) -> kl.Graph:
    """A graph with many best paths, and with cycles of no weight."""
    return kl.generate.rmat(13, 16, seed=1, directed=False, weights=weights)


@pytest.mark.parametrize("weights", [(0, 2), (0.0, 1.0)], ids=["integers", "fractions"])
def test_searches_agree_on_any_number_of_threads(weights: Any) -> None:
    g = many_ties(weights)
    trees = [
        search(g, 3, method=row.name, device="cpu", threads=threads, deterministic=True)
        for search, problem in ((kl.sssp, "sssp"), (kl.bfs, "bfs"))
        for row in kl.methods(problem, "cpu")
        if row.name != "prepared"  # it adds in another order, and this graph is too dense for it
        for threads in (1, 2, 8)
    ]
    for problem in ("sssp", "bfs"):
        same = [tree.predecessors for tree in trees if tree.problem == problem]
        assert len(same) >= 12
        assert all(np.array_equal(same[0], other) for other in same[1:])


def test_without_it_methods_differ() -> None:
    """Or else the tests of the rule would test nothing."""
    g = many_ties()
    assert not np.array_equal(
        kl.sssp(g, 3, method="dijkstra").predecessors,
        kl.sssp(g, 3, method="delta_stepping", threads=2).predecessors,
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("method", [row.name for row in kl.methods("apsp", "cpu")])
def test_fractions_do_not_depend_on_threads(method: str, dtype: Any) -> None:
    """A row without tight arcs keeps its method's predecessors, which do not depend on threads."""
    g = kl.generate.uniform(300, 3000, seed=1, weights=(0.0, 1.0))
    g = g.reweight(arcs=g.weights.astype(dtype))  # type: ignore[union-attr]
    calls = [kl.apsp(g, method=method, deterministic=True, threads=t) for t in (1, 2, 8)]
    for other in calls[1:]:
        assert np.array_equal(calls[0].distances, other.distances)
        assert np.array_equal(calls[0].predecessors, other.predecessors)
    calls[0].verify()


@pytest.mark.parametrize("stop", [{"limit": 2}, {"targets": [5, 80]}], ids=["limit", "targets"])
def test_searches_that_stop_early(stop: dict[str, Any]) -> None:
    g = many_ties()
    for method in ("dijkstra", "delta_stepping"):
        calls = [
            kl.sssp(g, 3, method=method, deterministic=True, threads=t, **stop) for t in (1, 2, 8)
        ]
        for call in calls:
            assert np.array_equal(calls[0].predecessors, call.predecessors)
            call.verify()


def test_the_plan_knows() -> None:
    g = many_ties()
    plain, chosen = (kl.explain(g, "sssp", deterministic=d) for d in (False, True))
    assert chosen.memory > plain.memory
    assert "the same in every run" in str(chosen)
    without = kl.sssp(g, 3, predecessors=False, deterministic=True)
    assert without.predecessors is None
    assert without.plan.memory == kl.explain(g, "sssp", predecessors=False).memory
