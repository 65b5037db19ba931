"""Shortest paths from single sources: Dijkstra's algorithm and Bellman-Ford.

Dijkstra (1959) settles vertices in order of distance; it needs non-negative weights. Bellman-Ford
improves all distances at once, round after round; if round n still improves something, some
predecessor chain closes on itself, and that circle is a negative cycle.
"""

from __future__ import annotations

import heapq
import math
from ctypes import c_float
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import NegativeCycleError
from kleene.graph import Graph
from kleene.reference.chains import hung_on_sources
from kleene.semiring import SEMIRINGS
from kleene.task import Answer, Task

__all__ = ["arc_weights", "bellman_ford", "dijkstra", "dijkstra_rows", "potentials"]

Array = NDArray[Any]


def arc_weights(graph: Graph, dtype: np.dtype[Any]) -> Array:
    """Return one weight per arc: ones for an unweighted graph, and where only arcs matter."""
    weights = graph.weights
    return (
        np.ones(graph.m, dtype) if weights is None or dtype.kind == "b" else weights.astype(dtype)
    )


def dijkstra(task: Task) -> Answer:
    """Settle vertices in order of distance, from each source in turn."""
    lengths = arc_weights(task.graph, task.dtype).tolist()
    return dijkstra_rows(task, lengths, lengths)


def dijkstra_rows(task: Task, costs: list[Any], lengths: list[Any]) -> Answer:
    """Search by the non-negative ``costs``, and report distances in ``lengths``.

    The two differ only for Johnson's algorithm, where costs order the search and lengths are what
    the user asked for.
    """
    offsets, neighbors = task.graph.offsets.tolist(), task.graph.neighbors.tolist()
    values, predecessors = task.new_values(), task.new_predecessors()
    horizons = task.new_horizons()
    # Sums are rounded to the type of the values, so that they compare with limits as values do.
    rounded = (lambda x: c_float(x).value) if task.dtype == np.float32 else lambda x: x
    for row, source in enumerate(task.sources.tolist()):
        missing = None if task.targets is None else set(task.targets.tolist())
        horizon = horizons[row].item() if task.limit is None else task.limit
        cost: dict[int, Any] = {source: 0}
        length: dict[int, Any] = {source: 0}
        parent = {source: -1}
        settled: set[int] = set()
        heap = [(0, source)]
        while heap:
            c, u = heapq.heappop(heap)
            if u in settled:
                continue
            if c > horizon:
                break
            settled.add(u)
            if missing is not None:
                missing.discard(u)
                if not missing:  # everything as near as the last target still counts
                    horizon = min(horizon, c)
            for arc in range(offsets[u], offsets[u + 1]):
                v = neighbors[arc]
                through = rounded(c + costs[arc])
                if v not in cost or through < cost[v]:
                    cost[v] = through
                    length[v] = rounded(length[u] + lengths[arc])
                    parent[v] = u
                    heapq.heappush(heap, (cost[v], v))
        horizons[row] = horizon
        order = list(settled)
        values[row, order] = [length[v] for v in order]
        if predecessors is not None:
            predecessors[row, order] = [parent[v] for v in order]
        task.report(row + 1, len(task.sources))
    return Answer(values, predecessors, horizons)


def bellman_ford(task: Task) -> Answer:
    """Improve all distances at once until nothing improves, from each source in turn."""
    values, predecessors = task.new_values(), task.new_predecessors()
    for row, source in enumerate(task.sources.tolist()):
        values[row, source] = 0
        parents = _relax_rounds(task.graph, values[row])
        values[row, source], parents[source] = 0, -1  # so it is, but for rounding
        if predecessors is not None:
            predecessors[row] = parents
        task.report(row + 1, len(task.sources))
    lengths = arc_weights(task.graph, task.dtype)
    return hung_on_sources(task, Answer(values, predecessors), lengths)


def _relax_rounds(graph: Graph, distances: Array) -> Array:
    """Lower ``distances``, in place, until every arc is satisfied; return the predecessors.

    Raises NegativeCycleError for a negative cycle that the finite distances lead to.
    """
    plus = SEMIRINGS["min_plus"].times
    offsets, sources, weights = graph.csc
    lengths = np.ones(graph.m) if weights is None else weights
    lengths = lengths.astype(distances.dtype)
    parents = np.full(graph.n, -1, dtype=graph.neighbors.dtype)
    entered = np.flatnonzero(np.diff(offsets))  # vertices with an arc into them
    starts, arcs_into = offsets[entered], np.diff(offsets)[entered]
    if len(entered) == 0:
        return parents
    # Integers must not wrap while a negative cycle goes round. The plan chose a type that holds
    # every path twice over, so whatever falls below half its range has gone round already.
    too_low = -np.inf if distances.dtype.kind == "f" else np.iinfo(distances.dtype).min // 2
    for round_number in range(graph.n + 1):
        through = plus(distances[sources], lengths)
        best = np.minimum.reduceat(through, starts)
        improved = best < distances[entered]
        if not improved.any():
            return parents
        attains = np.flatnonzero(through == np.repeat(best, arcs_into))
        first = attains[np.searchsorted(attains, starts)]  # the first arc that attains the best
        changed = entered[improved]
        parents[changed] = sources[first[improved]]
        distances[changed] = best[improved]
        lowest = changed[distances[changed].argmin()]
        if round_number == graph.n or distances[lowest] < too_low:
            cycle = _circle(parents, int(lowest))
            if _length(graph, cycle) < 0:
                raise NegativeCycleError(cycle)
            return parents  # the cycle is negative by rounding only: what is left is noise
    raise AssertionError("round n either improves nothing or shows a cycle")


def potentials(task: Task) -> Array:
    """Return, for every vertex, its distance from the nearest source of the task.

    Raises NegativeCycleError for a negative cycle that some source leads to.
    """
    distances = np.full(task.graph.n, task.semiring.zero(task.dtype), dtype=task.dtype)
    distances[task.sources] = 0
    _relax_rounds(task.graph, distances)
    return distances


def _length(graph: Graph, cycle: list[int]) -> Any:
    """Return the length of a cycle, without rounding."""
    weights = []
    for u, v in zip(cycle, cycle[1:] + cycle[:1], strict=True):
        row = graph.neighbors[graph.offsets[u] : graph.offsets[u + 1]]
        arc = graph.offsets[u] + np.searchsorted(row, v)
        weights.append(1 if graph.weights is None else graph.weights[arc].item())
    return math.fsum(weights) if isinstance(weights[0], float) else sum(weights)


def _circle(parents: Array, vertex: int) -> list[int]:
    """Walk back from ``vertex`` until the walk repeats itself; return the circle in arc order."""
    seen: dict[int, int] = {}
    walk: list[int] = []
    while vertex not in seen:
        seen[vertex] = len(walk)
        walk.append(vertex)
        vertex = int(parents[vertex])
    return walk[seen[vertex] :][::-1]
