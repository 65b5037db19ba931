"""Eccentricities by few searches: bit for bit those of searches from all vertices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_distances import plain_rows

import kleene as kl
from kleene.measures.eccentricity_bounds import by_targets

LENGTHS = {
    "any": lambda rng, m: rng.random(m),
    "float32": lambda rng, m: rng.random(m, np.float32),
    "millimetres": lambda rng, m: np.round(rng.uniform(5, 200, m), 3),
    "tenths": lambda rng, m: rng.choice([0.1, 0.2, 0.3], m),
    "halves": lambda rng, m: rng.integers(0, 9, m) / 2,
    "large and small": lambda rng, m: 10.0 ** rng.uniform(-12, 12, m),
    "many of zero": lambda rng, m: rng.choice([0.0, -0.0, 0.1, 0.7], m, p=[0.3, 0.3, 0.2, 0.2]),
    "all of zero": lambda rng, m: np.zeros(m),
    "subnormal": lambda rng, m: rng.integers(1, 9, m) * 5e-324,
    "nearly too long": lambda rng, m: rng.uniform(1e304, 2e305, m),
    "integers": lambda rng, m: rng.integers(0, 99, m),
    "nothing": lambda rng, m: None,
}


def grid(rng: Any) -> Any:
    arcs = kl.generate.grid(10, 10).coo
    once = arcs.sources < arcs.targets
    return arcs.sources[once], arcs.targets[once]


def tree(rng: Any) -> Any:
    heads = np.arange(1, 110)
    return (heads * rng.random(109) ** 0.5).astype(int), heads


def sparse(rng: Any) -> Any:
    return rng.integers(0, 100, 190), rng.integers(0, 100, 190)


def circle(rng: Any) -> Any:
    return np.arange(90), np.roll(np.arange(90), -1)


def one_way(rng: Any) -> Any:
    """Two large strong components, one after the other, small ones, and vertices around them."""
    first, second = rng.integers(0, 70, (2, 260)), rng.integers(70, 140, (2, 260))
    small = np.array([[140, 141, 142], [141, 142, 140]])
    around = rng.integers(0, 180, (2, 90))
    around = around[:, (around >= 143).any(axis=0)]
    around.sort(axis=0)
    inwards = around[::-1, around[1] >= 160]  # to the two large ones, the others from them
    joined = np.array([[3, 75, 140, 69], [80, 140, 90, 71]])
    return np.hstack([first, second, small, inwards, around[:, around[1] < 160], joined])


SHAPES = [grid, tree, sparse, circle, one_way]


def searched(g: kl.Graph) -> Any:
    """Return all eccentricities by plain searches."""
    rows = plain_rows(g)
    return np.where(np.isfinite(rows), rows, 0).max(axis=1)


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("directed", [False, True])
def test_values_are_those_of_searches(shape: Any, lengths: str, directed: bool) -> None:
    rng = np.random.default_rng(len(lengths))
    tails, heads = shape(rng)
    if directed and shape in (grid, tree):
        tails, heads = np.hstack([[tails, heads], [heads, tails]])
    g = kl.Graph.from_edges(tails, heads, LENGTHS[lengths](rng, len(tails)), directed=directed)
    e = kl.eccentricity(g, unreachable="ignore")
    assert e.values.tolist() == searched(g).tolist()
    assert not np.signbit(e.values).any()
    back = kl.eccentricity(g, unreachable="ignore", reverse=True)
    assert back.values.tolist() == searched(g.transpose()).tolist()
    for measure in ("diameter", "radius"):
        right = getattr(e, measure)
        assert getattr(kl, measure)(g, unreachable="ignore") == right
    assert kl.center(g, unreachable="ignore").tolist() == e.center.tolist()
    assert kl.periphery(g, unreachable="ignore").tolist() == e.periphery.tolist()
    e.verify()


@st.composite
def some_graphs(draw: Any) -> kl.Graph:
    """A graph of some hundred arcs, most of which are drawn by a seed."""
    shape, lengths = draw(st.sampled_from(SHAPES)), draw(st.sampled_from(list(LENGTHS)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    tails, heads = shape(rng)
    kept = rng.random(len(tails)) < draw(st.sampled_from([1, 0.95, 0.5]))
    tails, heads = tails[kept], heads[kept]
    weights = LENGTHS[lengths](rng, len(tails))
    return kl.Graph.from_edges(tails, heads, weights, n=180, directed=draw(st.booleans()))


@given(some_graphs())
def test_any_graph(g: kl.Graph) -> None:
    assert kl.eccentricity(g, unreachable="ignore").values.tolist() == searched(g).tolist()


def farthest_rows(g: kl.Graph) -> Any:
    """Return all eccentricities by searches from all vertices."""
    every: Any = {"sources": range(g.n), "predecessors": False}
    if g.weight_dtype is None:
        return kl.bfs(g, **every).distances.max(axis=1)
    rows = kl.sssp(g, method="dijkstra", **every, dtype="float64").distances
    return np.where(np.isfinite(rows), rows, 0).max(axis=1)


def forbidden(_: Any) -> Any:
    raise AssertionError("few searches were to be enough")


def decide(g: kl.Graph, farthest: Any) -> Any:
    dtype = np.dtype(np.int32) if g.weight_dtype is None else g.weight_dtype
    parts = kl.components(g, "strong" if g.directed else "weak")
    closed = not g.directed or parts.count == 1
    arrays = parts.component, parts.sizes
    return by_targets(g, g.weight_dtype is None, dtype, arrays, closed, farthest, 2)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("lengths", ["any", "millimetres", "integers", "nothing"])
def test_few_searches_are_enough(lengths: str, directed: bool) -> None:
    rng = np.random.default_rng(5)
    arcs = kl.generate.grid(40, 40).coo
    weights = LENGTHS[lengths](rng, len(arcs.sources))
    g = kl.Graph.from_edges(arcs.sources, arcs.targets, weights, directed=directed)
    right = farthest_rows(g)
    found = decide(g, (lambda left: right[left]) if directed else forbidden)
    assert found.searches < g.n // (2 if directed else 8)
    assert np.array_equal(found.lower, right)


def test_sums_are_added_up_from_each_vertex() -> None:
    """Those of searches from the other end differ in the last bits, for some vertices."""
    arcs = kl.generate.grid(40, 40).coo
    lengths = np.random.default_rng(1).random(len(arcs.sources))
    g = kl.Graph.from_edges(arcs.sources, arcs.targets, lengths, directed=False)
    values = decide(g, forbidden).lower
    rows = kl.sssp(g, sources=range(g.n), method="dijkstra", predecessors=False).distances
    assert np.array_equal(values, rows.max(axis=1))
    assert not np.array_equal(values, rows.max(axis=0))


def test_vertices_before_a_large_component_take_its_bounds() -> None:
    """Of 400 vertices that lead to a component, few are searched from; and no sink is."""
    rng = np.random.default_rng(2)
    inner = rng.integers(0, 600, (2, 4000))
    before = np.array([np.arange(600, 1000), rng.integers(0, 600, 400)])
    before[1, 200:] = before[0, :200]  # half of them by another one
    after = np.array([rng.integers(0, 600, 200), np.arange(1000, 1200)])
    tails, heads = np.hstack([inner, before, after])
    g = kl.Graph.from_edges(tails, heads, rng.random(len(tails)))
    right, alone = farthest_rows(g), []
    found = decide(g, lambda left: alone.append(left) or right[left])
    assert found.alone == sum(map(len, alone)) < 200
    assert np.array_equal(found.lower, right)


def test_the_plan_says_what_was_searched_from() -> None:
    notes = str(kl.eccentricity(kl.generate.grid(30, 30)).plan)
    assert "searches decide 900 vertices" in notes
    assert "searched from" not in notes
    ring = kl.Graph.from_edges(*circle(None), np.full(90, 0.1), directed=False)
    assert "searched from" in str(kl.eccentricity(ring).plan)
    three, next_one = np.arange(3), np.array([1, 2, 0])
    small = np.hstack([[three, next_one], [three + 3, next_one + 3], [[0], [3]]])
    kept = kl.eccentricity(kl.Graph.from_edges(*small), unreachable="ignore")
    assert "bounds: none, 6 vertices are searched from" in str(kept.plan)
