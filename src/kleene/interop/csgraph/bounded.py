"""SciPy's ``limit`` and ``min_only``: searches that end early, or begin at the nearest source."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.graph import Graph
from kleene.graph.derive import with_root
from kleene.graph.no_path import no_path
from kleene.interop.csgraph.solve import NULL, Ours, solve

__all__ = ["nearest_source", "within_limit"]

Array = NDArray[Any]
Arrays = Array | tuple[Array, ...]


def within_limit(
    graph: Graph, sources: Array | None, keep_predecessors: bool, limit: float, ours: Ours
) -> tuple[Array, Array | None]:
    """Solve within a limit that no part of a path may exceed, not even to come back under it."""
    if limit == np.inf or not graph.stats.negative:
        return solve(graph, sources, keep_predecessors, ours, limit)
    chosen = np.arange(graph.n, dtype=np.int32) if sources is None else sources
    distances, predecessors = solve(graph, chosen, keep_predecessors, ours)
    for i in range(len(chosen)):
        row, own = _row_within(graph, chosen[i : i + 1], keep_predecessors, limit, ours)
        distances[i] = row[0]
        if predecessors is not None and own is not None:
            predecessors[i] = own[0]
    return distances, predecessors


def _row_within(
    graph: Graph, source: Array, keep_predecessors: bool, limit: float, ours: Ours
) -> tuple[Array, Array | None]:
    """Take out the vertices beyond the limit, until those that are left keep to it."""
    sources, targets, weights = graph.coo
    while True:
        distances, predecessors = solve(graph, source, keep_predecessors, ours)
        beyond = (distances[0] > limit) & (distances[0] < no_path(distances.dtype))
        if not beyond.any():
            return distances, predecessors
        kept = ~beyond[targets]
        sources, targets = sources[kept], targets[kept]
        weights = None if weights is None else weights[kept]
        graph = Graph.from_edges(sources, targets, weights, n=graph.n)


def nearest_source(
    graph: Graph, sources: Array, keep_predecessors: bool, limit: float, ours: Ours
) -> Arrays:
    """Return distances from the nearest source, and with predecessors also which source that is."""
    n = graph.n
    if n == 0 or len(sources) == 0:
        dtype = np.dtype(np.float64 if ours.dtype is None else ours.dtype)
        far = np.full(n, no_path(dtype), dtype)
        none = np.full(n, NULL, np.int32)
        return (far, none, none.copy()) if keep_predecessors else far
    root = np.array([n], np.int32)
    distances, predecessors = within_limit(
        with_root(graph, sources), root, keep_predecessors, limit, ours
    )
    lengths = distances[0, :n]
    if predecessors is None:
        return lengths
    tree = predecessors[0, :n].copy()
    # A source may hang on another by arcs of no length; it is its own nearest all the same.
    starts = np.unique(sources)
    starts = starts[lengths[starts] == 0]
    tree[starts] = NULL
    tree[tree == n] = NULL
    origins = _origins(tree)
    origins[lengths == no_path(lengths.dtype)] = NULL
    return lengths, tree, origins


def _origins(tree: Array) -> Array:
    """Return the vertex at which each chain of predecessors begins."""
    above = np.where(tree == NULL, np.arange(len(tree), dtype=tree.dtype), tree)
    while True:  # each round looks back twice as far
        further = above[above]
        if np.array_equal(further, above):
            return further
        above = further
