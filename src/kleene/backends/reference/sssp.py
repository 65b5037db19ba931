"""Shortest paths from single sources: Dijkstra's algorithm and Bellman-Ford.

Dijkstra (1959) settles vertices in order of distance; it needs non-negative weights. Bellman-Ford
improves all distances at once, round after round; if round n still improves something, some
predecessor chain closes on itself, and that circle is a negative cycle (but for rounding: see
cycles.py).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from ctypes import c_float
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.answer import Answer
from kleene.backends.common import johnson
from kleene.backends.semiring import SEMIRINGS
from kleene.backends.task import Task
from kleene.errors import NegativeCycleError
from kleene.graph import Graph

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
        predecessor = {source: -1}
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
                    predecessor[v] = u
                    heapq.heappush(heap, (cost[v], v))
        horizons[row] = horizon
        order = list(settled)
        values[row, order] = [length[v] for v in order]
        if predecessors is not None:
            predecessors[row, order] = [predecessor[v] for v in order]
        task.report(row + 1, len(task.sources))
    return Answer(values, predecessors, horizons)


def bellman_ford(task: Task) -> Answer:
    """Improve all distances at once until nothing improves, from each source in turn."""
    values, predecessors = task.new_values(), task.new_predecessors()
    for row, source in enumerate(task.sources.tolist()):
        values[row, source] = 0
        tree = _relax(task.graph, values[row])
        if predecessors is not None:
            predecessors[row] = tree
        task.report(row + 1, len(task.sources))
    return Answer(values, predecessors)


def potentials(task: Task) -> Array:
    """Return, for every vertex, its distance from the nearest source of the task.

    Raises NegativeCycleError for a negative cycle that some source leads to.
    """
    distances = np.full(task.graph.n, task.semiring.zero(task.dtype), dtype=task.dtype)
    distances[task.sources] = 0
    _relax(task.graph, distances)
    return distances


def _relax(graph: Graph, distances: Array) -> Array:
    """Lower ``distances``, in place, until every arc is satisfied; return the predecessors.

    Raises NegativeCycleError for a negative cycle that the finite distances lead to.
    """
    weights = graph.csc.weights
    lengths = np.ones(graph.m) if weights is None else weights
    lengths = lengths.astype(distances.dtype)
    begun = distances.copy()
    predecessors, closed = _rounds(graph, lengths, distances, lambda held: held)
    for cycle in closed:
        if johnson.is_negative(graph, cycle, distances.dtype):
            raise NegativeCycleError(cycle)
    if closed:  # by rounding only
        distances[...] = begun
        predecessors, closed = _rounds(graph, johnson.rising(lengths), distances, johnson.rising)
        for cycle in closed:
            raise NegativeCycleError(cycle)
        johnson.add_up(graph, lengths, predecessors, distances)
    return predecessors


def _rounds(
    graph: Graph, lengths: Array, distances: Array, seen: Callable[[Array], Array]
) -> tuple[Array, list[list[int]]]:
    """Lower ``distances``, as ``seen`` by their neighbours, until no arc improves one.

    Returns the predecessors and the cycles that they close: with some, the search is not done.
    """
    plus = SEMIRINGS["min_plus"].times
    offsets, sources, _ = graph.csc
    predecessors = np.full(graph.n, -1, dtype=graph.neighbors.dtype)
    entered = np.flatnonzero(np.diff(offsets))  # vertices with an arc into them
    starts, arcs_into = offsets[entered], np.diff(offsets)[entered]
    if len(entered) == 0:
        return predecessors, []
    # Integers must not wrap while a negative cycle goes round. The plan chose a type that holds
    # every path twice over, so a value below half its range has gone round a cycle.
    too_low = -np.inf if distances.dtype.kind == "f" else np.iinfo(distances.dtype).min // 2
    for round_number in count(1):
        through = plus(seen(distances)[sources], lengths)
        best = np.minimum.reduceat(through, starts)
        improved = best < distances[entered]
        if not improved.any():
            return predecessors, johnson.closed_chains(predecessors)
        attains = np.flatnonzero(through == np.repeat(best, arcs_into))
        first = attains[np.searchsorted(attains, starts)]  # the first arc that attains the best
        changed = entered[improved]
        predecessors[changed] = sources[first[improved]]
        distances[changed] = best[improved]
        # What improves in round n has gone round a cycle; most cycles show long before.
        now = round_number & (round_number - 1) == 0 or round_number == graph.n
        if now or distances[changed].min() < too_low:
            closed = johnson.closed_chains(predecessors)
            if closed:
                return predecessors, closed
            assert round_number < graph.n
    raise AssertionError("rounds end")
