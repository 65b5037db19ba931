"""Eccentricities and what follows from them: by bounds, or by rows of distances.

Kleene's own measures give the same numbers as searches from all nodes, from few of them. NetworkX
compares distances with the source's own first, which is the integer 0, so an eccentricity of 0.0
is that.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

import networkx as nx
import numpy as np

from kleene.calls import eccentricity as measures
from kleene.interop.networkx.exact_measures import measured, suits_measures
from kleene.interop.networkx.graph import KleeneGraph, Weight
from kleene.interop.networkx.measures import connected_rows

__all__ = ["center", "diameter", "eccentricity", "periphery", "radius"]


def eccentricity(
    G: KleeneGraph, v: Any = None, sp: None = None, weight: Weight | None = None
) -> Any:
    nodes = list(dict.fromkeys(G.nbunch_iter(v)))
    result = _eccentricities(G, weight, _message(G, False), nodes)
    return result[v] if v in G else result


def _eccentricities(
    G: KleeneGraph, weight: Weight | None, message: str, nodes: list[Any] | None = None
) -> dict[Any, Any]:
    arcs = G.arcs(weight, allow_hidden=True)
    if (nodes is None or len(nodes) == len(G)) and suits_measures(arcs, floats=True):
        found = measured(arcs, measures.eccentricity, nx.NetworkXError(message)).values.tolist()
        by_node = dict(zip(G.nodes, (value or 0 for value in found), strict=True))
        return by_node if nodes is None else {node: by_node[node] for node in nodes}
    nodes = G.nodes if nodes is None else nodes
    sources = np.fromiter((G.ids[node] for node in nodes), dtype=np.int32, count=len(nodes))
    parts = connected_rows(arcs, nx.NetworkXError(message), sources=sources)
    farthest = chain.from_iterable(values.max(axis=1).tolist() for values in parts)
    return {node: value or 0 for node, value in zip(nodes, farthest, strict=True)}


def _message(G: KleeneGraph, usebounds: bool) -> str:
    if usebounds is True and not G.is_directed():
        return "Cannot compute metric because graph is not connected."
    kind = "digraph is not strongly" if G.is_directed() else "graph is not"
    return f"Found infinite path length because the {kind} connected"


def _number(G: KleeneGraph, usebounds: bool, weight: Weight | None, measure: Any, best: Any) -> Any:
    """Return the number that one of Kleene's measures gives, or the best of all eccentricities."""
    arcs, message = G.arcs(weight, allow_hidden=True), _message(G, usebounds)
    if suits_measures(arcs, floats=True):
        return measured(arcs, measure, nx.NetworkXError(message)) or 0
    return best(_eccentricities(G, weight, message).values())


def _nodes(G: KleeneGraph, usebounds: bool, weight: Weight | None, measure: Any, best: Any) -> Any:
    """Return the nodes that one of Kleene's measures gives, or those of the best eccentricity."""
    arcs, message = G.arcs(weight, allow_hidden=True), _message(G, usebounds)
    if suits_measures(arcs, floats=True):
        found = measured(arcs, measure, nx.NetworkXError(message))
        return [G.nodes[position] for position in found.tolist()]
    result = _eccentricities(G, weight, message)
    wanted = best(result.values())
    return [node for node, value in result.items() if value == wanted]


def diameter(
    G: KleeneGraph, e: None = None, usebounds: bool = False, weight: Weight | None = None
) -> Any:
    return _number(G, usebounds, weight, measures.diameter, max)


def radius(
    G: KleeneGraph, e: None = None, usebounds: bool = False, weight: Weight | None = None
) -> Any:
    return _number(G, usebounds, weight, measures.radius, min)


def periphery(
    G: KleeneGraph, e: None = None, usebounds: bool = False, weight: Weight | None = None
) -> list[Any]:
    nodes: list[Any] = _nodes(G, usebounds, weight, measures.periphery, max)
    return nodes


def center(
    G: KleeneGraph, e: None = None, usebounds: bool = False, weight: Weight | None = None
) -> list[Any]:
    nodes: list[Any] = _nodes(G, usebounds, weight, measures.center, min)
    return nodes
