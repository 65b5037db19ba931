"""Distances of all pairs by the plainest search there is, for measures to be compared with."""

from __future__ import annotations

import heapq
import math
from typing import Any

import graphs
import numpy as np

import kleene as kl

__all__ = ["ZOO", "measured_graphs", "plain_rows"]

#: Graphs whose weights are not negative; many of them are not connected.
ZOO = [name for name in graphs.names() if not graphs.graph(name).stats.negative]


def measured_graphs(name: str) -> list[kl.Graph]:
    """Return a graph as it is, without directions, and its largest strong component."""
    g = graphs.graph(name)
    return [g, g.symmetrise(), g.subgraph(kl.components(g, "strong").largest)] if g.n else [g]


def plain_rows(g: kl.Graph, hops: bool = False, limit: float = math.inf) -> Any:
    """Return a matrix of floats, infinite where there is no path of that length or less."""
    arcs: list[list[tuple[int, Any]]] = [[] for _ in range(g.n)]
    for (tail, head), weight in graphs.arcs_of(g).items():
        arcs[tail].append((head, 1 if hops else weight))
    rows = np.full((g.n, g.n), math.inf)
    for source in range(g.n):
        waiting = [(0.0, source)]
        while waiting:
            distance, u = heapq.heappop(waiting)
            if distance >= rows[source, u] or distance > limit:
                continue
            rows[source, u] = distance
            for v, weight in arcs[u]:
                heapq.heappush(waiting, (distance + float(weight), v))
    return rows
