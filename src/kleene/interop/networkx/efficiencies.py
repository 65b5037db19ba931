"""Efficiency: the mean of 1/distance, over a graph or over neighbourhoods of its nodes."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from kleene.calls import closeness as api
from kleene.interop.networkx.exact_measures import measured, suits_measures
from kleene.interop.networkx.generic import shortest_path_length
from kleene.interop.networkx.graph import Arcs, KleeneGraph
from kleene.interop.networkx.measures import inverse_sum
from kleene.interop.networkx.search import chunks, distance_rows

__all__ = ["efficiency", "global_efficiency", "local_efficiency"]


def efficiency(G: KleeneGraph, u: Any, v: Any) -> float:
    try:
        return float(1 / shortest_path_length(G, u, v))
    except nx.NetworkXNoPath:
        return 0


def _efficiency(arcs: Arcs) -> float:
    pairs = arcs.n * (arcs.n - 1)
    if pairs == 0:
        return 0
    return sum(inverse_sum(distance_rows(arcs, some), arcs) for some in chunks(arcs)) / pairs


def global_efficiency(G: KleeneGraph) -> float:
    arcs = G.unweighted_arcs
    if arcs.n > 1 and suits_measures(arcs):
        found: float = measured(arcs, api.efficiency)
        return found
    return _efficiency(arcs)


def local_efficiency(G: KleeneGraph) -> float:
    links = G.unweighted_arcs
    inside = np.full(links.n, -1, dtype=np.int32)
    total = 0.0
    for v in range(links.n):
        around = links.neighbors[links.offsets[v] : links.offsets[v + 1]]
        inside[around] = np.arange(len(around), dtype=np.int32)
        total += _efficiency(_induced(links, around, inside))
        inside[around] = -1
    return total / links.n


def _induced(links: Arcs, nodes: Any, number: Any) -> Arcs:
    """Return the arcs among some nodes; ``number`` holds their new ids, and -1 for others."""
    begins, ends = links.offsets[nodes], links.offsets[nodes + 1]
    counts = ends - begins
    where = np.repeat(begins - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
    targets = number[links.neighbors[where]]
    kept = targets >= 0
    tails = np.repeat(np.arange(len(nodes)), counts)[kept]
    offsets = np.zeros(len(nodes) + 1, dtype=np.int64)
    np.cumsum(np.bincount(tails, minlength=len(nodes)), out=offsets[1:])
    return Arcs(offsets, targets[kept], directed=False)
