"""Betweenness by Brandes' algorithm, in plain Python.

From each source: distances by Dijkstra's algorithm, then the number of shortest paths along the
arcs that are tight, then the parts of paths that lead through each vertex, backward. Counts are
Python integers, so they never overflow, and a quotient of two is rounded once.

Brandes 2001, "A faster algorithm for betweenness centrality", Journal of Mathematical Sociology 25.
"""

from __future__ import annotations

import heapq
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.common.native_search import swallowed_weights
from kleene.backends.task import BetweennessTask
from kleene.graph import Graph

__all__ = ["brandes"]

Array = NDArray[Any]
Arc = tuple[int, int, Any]  # its head, number and length


def brandes(task: BetweennessTask) -> tuple[Array, Array | None]:
    """Return the sums of each vertex and arc: one search from each source, and a pass backward."""
    graph = task.graph
    arcs = _Rows(graph, task.hops)
    weight = [task.targets is None] * graph.n
    if task.targets is not None:
        for target in task.targets.tolist():
            weight[target] = True
    through, along = [0.0] * graph.n, [0.0] * graph.m
    limit = math.inf if task.limit is None else task.limit
    for done, source in enumerate(task.sources.tolist(), 1):
        distance = _distances(arcs, source, limit)
        tight = {
            u: [arc for arc in arcs[u] if distance.get(arc[0]) == distance[u] + arc[2]]
            for u in distance
        }
        order = _topological(graph, tight, source)
        count = dict.fromkeys(order, 0)
        count[source] = 1
        for u in order:
            for v, _, _ in tight[u]:
                count[v] += count[u]
        delta = dict.fromkeys(order, 0.0)  # the parts of paths that go on from here
        for u in reversed(order):
            for v, arc, _ in tight[u]:
                part = count[u] / count[v] * (weight[v] + delta[v])
                delta[u] += part
                along[arc] += part
            if u != source:
                through[u] += delta[u] + (task.endpoints and weight[u])
        if task.endpoints:
            through[source] += sum(weight[v] for v in order if v != source)
        if task.progress is not None:
            task.progress(done, len(task.sources))
    return np.array(through), np.array(along) if task.arcs else None


class _Rows:
    """The arcs that leave each vertex, made when they are asked for."""

    def __init__(self, graph: Graph, hops: bool) -> None:
        self._offsets, self._heads = graph.offsets.tolist(), graph.neighbors
        self._lengths = None if hops else graph.weights

    def __getitem__(self, tail: int) -> list[Arc]:
        own = range(self._offsets[tail], self._offsets[tail + 1])
        part = slice(own.start, own.stop)
        lengths = [1] * len(own) if self._lengths is None else self._lengths[part].tolist()
        return list(zip(self._heads[part].tolist(), own, lengths, strict=True))


def _distances(arcs: _Rows, source: int, limit: Any) -> dict[int, Any]:
    """Return the distance of each vertex in reach, by Dijkstra's algorithm."""
    distance: dict[int, Any] = {}
    heap = [(0, source)]
    while heap:
        length, u = heapq.heappop(heap)
        if u in distance:
            continue
        distance[u] = length
        for v, _, more in arcs[u]:
            if v not in distance and length + more <= limit:
                heapq.heappush(heap, (length + more, v))
    return distance


def _topological(graph: Graph, tight: dict[int, list[Arc]], source: int) -> list[int]:
    """Return the vertices in reach, each after those that tight arcs lead to it from."""
    missing = dict.fromkeys(tight, 0)
    for u in tight:
        for v, _, _ in tight[u]:
            missing[v] += 1
    order = [source] if not missing[source] else []
    for u in order:
        for v, _, _ in tight[u]:
            missing[v] -= 1
            if not missing[v]:
                order.append(v)
    if len(order) < len(tight):
        u, v = next(
            (u, v) for u in tight if missing[u] for v, _, _ in tight[u] if missing[v]
        )  # on a cycle, or after one
        raise swallowed_weights(graph, u, v)
    return order
