"""The subgraph around a node: the function of networkx's ``generators.ego``."""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.interop.networkx.convert import subgraph_to_nx
from kleene.interop.networkx.graph import KleeneGraph, Weight
from kleene.interop.networkx.unweighted import single_source_shortest_path_length
from kleene.interop.networkx.weighted import single_source_dijkstra_path_length

__all__ = ["ego_graph"]


def ego_graph(
    G: KleeneGraph,
    n: Any,
    radius: float | None = 1,
    center: bool = True,
    undirected: bool = False,
    distance: Weight | None = None,
) -> Any:
    searched = _both_ways(G, distance) if undirected and G.is_directed() else G
    if distance is not None:
        near = single_source_dijkstra_path_length(searched, n, cutoff=radius, weight=distance)
    else:
        near = single_source_shortest_path_length(searched, n, cutoff=radius)
    kept = np.zeros(len(G), dtype=bool)
    kept[[G.ids[node] for node in near]] = True
    if not center:
        kept[G.ids[n]] = False
    return subgraph_to_nx(G, kept)


def _both_ways(G: KleeneGraph, distance: Weight | None) -> KleeneGraph:
    """Return the same nodes with edges without a direction."""
    if distance is not None:
        raise NotImplementedError(
            "where two arcs join the same nodes, the weight depends on NetworkX's order of edges"
        )
    arcs = G.unweighted_arcs
    tails = np.concatenate([arcs.tails, arcs.neighbors])
    heads = np.concatenate([arcs.neighbors, arcs.tails])
    pairs = np.unique(tails.astype(np.int64) * arcs.n + heads)
    offsets = np.searchsorted(pairs, np.arange(arcs.n + 1, dtype=np.int64) * arcs.n)
    neighbors = (pairs % arcs.n).astype(np.int32)
    return KleeneGraph(G.nodes, offsets, neighbors, directed=False, multigraph=False)
