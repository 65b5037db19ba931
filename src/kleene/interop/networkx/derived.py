"""Graphs made from graphs: the subgraph around a node, and transitive closures."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from kleene.interop.networkx.convert import convert_to_nx, subgraph_to_nx
from kleene.interop.networkx.graph import KleeneGraph, Weight
from kleene.interop.networkx.search import chunks, distance_rows
from kleene.interop.networkx.unweighted import single_source_shortest_path_length
from kleene.interop.networkx.weighted import single_source_dijkstra_path_length

__all__ = ["ego_graph", "transitive_closure", "transitive_closure_dag"]


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


# ---- transitive closures -------------------------------------------------------------------------


def transitive_closure(G: KleeneGraph, reflexive: bool | None = False) -> Any:
    if reflexive not in {None, True, False}:
        raise nx.NetworkXError("Incorrect value for the parameter `reflexive`")
    closed = convert_to_nx(G)
    for node, others in _new_edges(G, reflexive):
        closed.add_edges_from((node, other) for other in others)
    return closed


def transitive_closure_dag(G: KleeneGraph, topo_order: None = None) -> Any:
    closed = convert_to_nx(G)
    if len(G.unweighted_arcs.loops):
        raise _cyclic()
    for node, others in _new_edges(G, False):
        if node in others:
            raise _cyclic()
        closed.add_edges_from((node, other) for other in others)
    return closed


def _cyclic() -> Any:
    return nx.NetworkXUnfeasible("Graph contains a cycle or graph changed during iteration")


def _new_edges(G: KleeneGraph, reflexive: bool | None) -> Any:
    """Yield each node with the nodes it reaches but has no edge to."""
    links = G.unweighted_arcs
    for some in chunks(links):
        reached = distance_rows(links, some) >= 0
        for i, v in enumerate(some.tolist()):
            row, neighbors = reached[i], links.neighbors[links.offsets[v] : links.offsets[v + 1]]
            row[v] = reflexive is True
            if reflexive is False and G.is_directed():
                row[v] = _leads_back(G, row, v)
            row[neighbors] = False
            if not G.is_directed():  # the other endpoint has added it
                row[:v] = False
            yield G.nodes[v], G.names[np.flatnonzero(row)].tolist()


def _leads_back(G: KleeneGraph, reached: Any, v: int) -> bool:
    incoming = G.unweighted_arcs.reversed
    before = incoming.neighbors[incoming.offsets[v] : incoming.offsets[v + 1]]
    return bool(reached[before].any())
