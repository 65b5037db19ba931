"""Named test graphs for every method."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from kleene import Graph

_MAKERS: dict[str, Callable[[], Graph]] = {}

#: Graphs in which vertex 0 leads to a negative cycle.
WITH_NEGATIVE_CYCLE = {"negative_cycle", "negative_loop", "negative_cycle_far"}


def named(make: Callable[[], Graph]) -> Callable[[], Graph]:
    _MAKERS[make.__name__] = make
    return make


@cache
def graph(name: str) -> Graph:
    return _MAKERS[name]()


def names() -> list[str]:
    return list(_MAKERS)


def arcs_of(g: Graph) -> dict[tuple[int, int], Any]:
    """Return {(source, target): weight}, in the order of the graph."""
    weights = [1] * g.m if g.weights is None else g.weights.tolist()
    ends = zip(g.coo.sources.tolist(), g.coo.targets.tolist(), strict=True)
    return dict(zip(ends, weights, strict=True))


@named
def no_vertices() -> Graph:
    return Graph.from_edges([], [])


@named
def one_vertex() -> Graph:
    return Graph.from_edges([], [], n=1)


@named
def no_arcs() -> Graph:
    return Graph.from_edges([], [], np.empty(0), n=4)


@named
def one_arc() -> Graph:
    return Graph.from_edges([0], [1], [2.5])


@named
def disconnected() -> Graph:
    return Graph.from_edges([0, 1, 4, 5], [1, 2, 5, 4], [3, 4, 1, 1], n=7)


@named
def self_loops() -> Graph:
    return Graph.from_edges([0, 0, 1, 1, 2], [0, 1, 1, 2, 2], [5, 1, 0, 2, 7])


@named
def parallel_arcs() -> Graph:
    return Graph.from_edges([0, 0, 0, 1, 1], [1, 1, 1, 2, 2], [9, 2, 5, 4, 4])


@named
def zero_weights() -> Graph:
    return Graph.from_edges([0, 1, 2, 0], [1, 2, 3, 3], [0, 0, 0, 1])


@named
def zero_cycle() -> Graph:
    return Graph.from_edges([0, 1, 2, 3, 2], [1, 2, 3, 1, 4], [1, 0, 0, 0, 0])


@named
def negative_acyclic() -> Graph:
    return Graph.from_edges([0, 0, 1, 2, 1], [1, 2, 2, 3, 3], [4, 9, -3, -2, 7])


@named
def negative_zero_cycle() -> Graph:
    return Graph.from_edges([0, 1, 2, 3, 2], [1, 2, 3, 1, 4], [5, -4, 1, 3, -1])


@named
def negative_floats() -> Graph:
    rng = np.random.default_rng(7)
    s, t = rng.integers(0, 30, 120), rng.integers(0, 30, 120)
    height = rng.random(30)  # lengths from heights: no cycle can be negative
    return Graph.from_edges(s, t, rng.random(120) + height[t] - height[s], n=30)


@named
def negative_cycle() -> Graph:
    return Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 1], [2, -3, 1, 1])


@named
def negative_loop() -> Graph:
    return Graph.from_edges([0, 1, 1], [1, 1, 2], [2, -1, 3])


@named
def negative_cycle_far() -> Graph:
    chain = np.arange(60)
    s, t = np.append(chain, [60, 59]), np.append(chain + 1, [59, 60])
    return Graph.from_edges(s, t, np.append(np.ones(60), [-5.0, 1.0]))


@named
def negative_cycle_elsewhere() -> Graph:
    return Graph.from_edges([0, 3, 4, 3], [1, 4, 3, 1], [2, -3, 1, 1], n=6)


@named
def float32_weights() -> Graph:
    rng = np.random.default_rng(1)
    weights = rng.random(200, dtype=np.float32)
    return Graph.from_edges(rng.integers(0, 40, 200), rng.integers(0, 40, 200), weights, n=40)


@named
def float64_weights() -> Graph:
    rng = np.random.default_rng(2)
    return Graph.from_edges(rng.integers(0, 40, 200), rng.integers(0, 40, 200), rng.random(200))


@named
def probabilities() -> Graph:
    rng = np.random.default_rng(3)
    weights = rng.integers(0, 17, 150) / 16
    return Graph.from_edges(rng.integers(0, 25, 150), rng.integers(0, 25, 150), weights, n=25)


@named
def int32_near_its_end() -> Graph:
    weights = np.array([2**29, 2**29 - 1, 1], dtype=np.int32)
    return Graph.from_edges([0, 1, 2], [1, 2, 3], weights)


@named
def int64_weights() -> Graph:
    return Graph.from_edges([0, 1, 2, 0], [1, 2, 3, 3], [2**40, 2**41, 5, 2**44])


@named
def long_path() -> Graph:
    return Graph.from_edges(np.arange(256), np.arange(1, 257), np.arange(256) % 3)


@named
def hub_out() -> Graph:
    return Graph.from_edges(np.zeros(100, int), np.arange(1, 101))


@named
def hub_in() -> Graph:
    return Graph.from_edges(np.arange(1, 101), np.zeros(100, int), directed=False)


@named
def complete() -> Graph:
    weights = np.random.default_rng(4).integers(1, 1000, (33, 33))
    return Graph.from_dense(weights)


@named
def grid() -> Graph:
    at = np.arange(12 * 9).reshape(12, 9)
    s = np.concatenate([at[:-1].ravel(), at[:, :-1].ravel()])
    t = np.concatenate([at[1:].ravel(), at[:, 1:].ravel()])
    weights = np.random.default_rng(5).integers(1, 256, len(s)).astype(np.int32)
    return Graph.from_edges(s, t, weights, directed=False)


@named
def unweighted_random() -> Graph:
    rng = np.random.default_rng(6)
    return Graph.from_edges(rng.integers(0, 129, 500), rng.integers(0, 129, 500), n=129)


@named
def nine_vertices() -> Graph:
    """The worked example of a textbook chapter on graph traversal (PMPP, chapter 15)."""
    rows = {0: [1, 2], 1: [3, 4], 2: [5, 6, 7], 3: [4, 8], 4: [5, 8], 5: [6], 6: [8], 7: [0, 6]}
    s = [u for u, row in rows.items() for _ in row]
    return Graph.from_edges(s, [v for row in rows.values() for v in row], n=9)
