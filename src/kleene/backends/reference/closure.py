"""The closure of a matrix over a semiring, by the Floyd-Warshall-Kleene recurrence.

After step k, entry (i, j) holds the best path from i to j whose inner vertices are all at most k
(Kleene 1956, Roy 1959, Floyd 1962, Warshall 1962). An entry changes only for a strictly better
path, which is what keeps predecessor chains free of cycles when cycles of weight zero exist (but
for rounding: see chains.py).

A cycle that is negative by rounding only must not be followed: the recurrence would double its
length again and again (Hougardy 2010). Searches take over there.

S. Hougardy, "The Floyd-Warshall algorithm on graphs with negative cycles", 2010.
"""

from __future__ import annotations

import heapq
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.answer import Answer
from kleene.backends.common.johnson import exact_rows
from kleene.backends.reference.sssp import (
    arc_weights,
    bellman_ford,
    dijkstra,
    dijkstra_rows,
    potentials,
)
from kleene.backends.task import Task

__all__ = [
    "floyd_warshall",
    "johnson",
    "reattach_to_sources",
]

Array = NDArray[Any]


def floyd_warshall(task: Task) -> Answer:
    """Close the whole matrix, then keep the rows of the sources."""
    g, s = task.graph, task.semiring
    arcs, weights = g.coo, arc_weights(g, task.dtype)
    kept = weights != s.zero(task.dtype)  # an arc of probability zero is not an arc
    if s.name == "min_plus" and g.stats.negative:
        # Values would run away along a negative cycle, so look for one first. Past that, only
        # arcs that some source leads to matter, and no negative cycle is among them.
        kept &= potentials(task)[arcs.sources] != s.zero(task.dtype)
    rows, columns = arcs.sources[kept], arcs.targets[kept]

    matrix = np.full((g.n, g.n), s.zero(task.dtype), dtype=task.dtype)
    matrix[rows, columns] = weights[kept]
    np.fill_diagonal(matrix, s.one(task.dtype))
    predecessors = None
    if task.predecessors:
        predecessors = np.full((g.n, g.n), -1, dtype=g.neighbors.dtype)
        predecessors[rows, columns] = rows
        np.fill_diagonal(predecessors, -1)
    if not _close(task, matrix, predecessors):
        return johnson(task)

    values = task.new_values()
    values[...] = matrix[task.sources]
    answer = Answer(values, None if predecessors is None else predecessors[task.sources])
    return reattach_to_sources(task, answer, weights) if s.name == "min_plus" else answer


def _close(task: Task, matrix: Array, predecessors: Array | None) -> bool:
    """Close the matrix in place; False at a cycle that is better than the empty path."""
    s, n = task.semiring, len(matrix)
    one = s.one(task.dtype)
    for k in range(n):
        if s.better(matrix[k, k], one):
            return False
        through = s.times(matrix[:, k, None], matrix[None, k, :])
        improved = s.better(through, matrix)
        np.copyto(matrix, through, where=improved)
        if predecessors is not None:
            np.copyto(predecessors, predecessors[None, k, :], where=improved)
        task.report(k + 1, n)
    return not s.better(matrix.diagonal(), one).any()


# ---- all-pairs shortest paths on sparse graphs --------------------------------------------------
# All-pairs shortest paths on sparse graphs; those on dense ones are the closure over (min, +).
#
# Johnson (1977) gives every vertex a potential, so that each arc's cost, its length plus the
# difference of the potentials of its ends, is non-negative and shortest paths stay shortest; then
# Dijkstra's algorithm runs from every source.


def johnson(task: Task) -> Answer:
    """Make all arcs non-negative by potentials, then run Dijkstra's algorithm from each source."""
    if not task.graph.stats.negative:
        return dijkstra(task)
    heights = potentials(task)
    lengths = arc_weights(task.graph, task.dtype)
    s, t, _ = task.graph.coo
    reachable = heights[s] != task.semiring.zero(task.dtype)  # other arcs are never relaxed
    costs = np.zeros_like(lengths)
    costs[reachable] = lengths[reachable] + heights[s[reachable]] - heights[t[reachable]]
    np.maximum(costs, 0, out=costs)  # below zero by rounding only
    # Costs are not distances: the search cannot tell from them when it is past the targets.
    answer = dijkstra_rows(replace(task, targets=None), costs.tolist(), lengths.tolist())
    return exact_rows(task, answer, bellman_ford)


# ---- Predecessors that rounding closed into a cycle, attached to their source again -------------
# Where a cycle of floating-point weights sums to zero but for rounding, going round it may seem to
# improve a value by a last bit, and predecessors may then form a cycle. The values are right up to
# rounding all the same, so each vertex still has an arc that nearly attains its value, and chains
# of such arcs lead to the source: a search that always takes the arc with the least slack finds
# them.


def reattach_to_sources(task: Task, answer: Answer, lengths: Array) -> Answer:
    """Return the answer with every chain of predecessors ending at its source."""
    if answer.predecessors is not None and task.dtype.kind == "f":
        for row, source in enumerate(task.sources.tolist()):
            if _has_cycle(answer.predecessors[row]):
                tree = _least_slack_tree(task, answer.values[row], lengths.tolist(), source)
                answer.predecessors[row] = tree
    return answer


def _has_cycle(predecessors: Array) -> bool:
    """Follow all chains at once, doubling the stride; those that end, end within n steps."""
    # The last entry stands for "ended", and so does index -1.
    ancestor = np.append(predecessors, -1)
    for _ in range(len(predecessors).bit_length() + 1):
        ancestor = ancestor[ancestor]
    return bool((ancestor != -1).any())


def _least_slack_tree(task: Task, values: Array, lengths: list[Any], source: int) -> Array:
    """Grow a tree from the source, always by the arc that misses its target's value by least."""
    offsets, neighbors = task.graph.offsets.tolist(), task.graph.neighbors.tolist()
    held = values.tolist()
    predecessors = np.full(task.graph.n, -1, dtype=task.graph.neighbors.dtype)
    attached: set[int] = set()
    heap = [(0.0, source, -1)]
    while heap:
        _, u, predecessor = heapq.heappop(heap)
        if u in attached:
            continue
        attached.add(u)
        predecessors[u] = predecessor
        for arc in range(offsets[u], offsets[u + 1]):
            v = neighbors[arc]
            if v not in attached and values[v] != task.no_path:
                heapq.heappush(heap, (abs(held[u] + lengths[arc] - held[v]), v, u))
    return predecessors
