"""Transitive closures: an edge for every path."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from kleene.interop.networkx.convert import convert_to_nx
from kleene.interop.networkx.graph import KleeneGraph
from kleene.interop.networkx.search import chunks, distance_rows

__all__ = ["transitive_closure", "transitive_closure_dag"]


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
