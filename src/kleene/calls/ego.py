"""The part of a graph around a vertex."""

from __future__ import annotations

import numbers
from collections.abc import Hashable
from typing import Any

import numpy as np

from kleene.calls.arguments import require_graph, require_not_negative
from kleene.calls.within import within
from kleene.errors import Code, RequestError
from kleene.graph import Graph
from kleene.graph.checks import as_flag
from kleene.graph.labels import is_one_vertex
from kleene.planning.facts import graph_facts

__all__ = ["ego"]


def ego(
    graph: Graph,
    vertex: Hashable,
    radius: float,
    *,
    hops: bool = False,
    reverse: bool = False,
    undirected: bool = False,
    center: bool = True,
) -> Graph:
    """Return the subgraph of the vertices within a radius of one vertex.

    It has all arcs of the graph between these vertices, also those that no shortest path takes. The
    search costs what lies within the radius, not the size of the graph, unless ``undirected`` asks
    for the undirected form of a directed one.

    Parameters
    ----------
    graph : Graph
        The graph; its weights must not be negative.
    vertex : vertex
        The vertex in the middle, by label, or by position if the graph has no labels.
    radius : number
        How far a vertex may be, by the weights of a path, or by its arcs where the graph has no
        weights. ``math.inf`` takes all that is reached.
    hops : bool
        Count arcs instead of adding weights.
    reverse : bool
        Take the vertices from which ``vertex`` is reached, instead of those that it reaches.
    undirected : bool
        Measure distances as if every arc led both ways, by the smaller weight; the arcs of the
        subgraph keep their directions.
    center : bool
        Whether ``vertex`` itself is part of the subgraph.

    Returns
    -------
    Graph
        The subgraph, its vertices in the order of ``graph``. It keeps labels, positions and table
        rows; without labels, the old positions become the labels.

    See Also
    --------
    within : The distances of these vertices, for many sources at once.
    Graph.subgraph : The subgraph of vertices that are known.

    Examples
    --------
    >>> import kleene as kl
    >>> g = kl.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], [2, 2, 2, 5])
    >>> near = kl.ego(g, 1, radius=4)
    >>> near.labels.tolist(), near.m
    ([1, 2, 3], 2)
    >>> kl.ego(g, 1, radius=1, hops=True, undirected=True, center=False).labels.tolist()
    [0, 2]
    """
    require_graph(graph)
    _require_radius(radius)
    undirected, center = as_flag(undirected, "undirected"), as_flag(center, "center")
    if undirected and as_flag(reverse, "reverse"):
        raise RequestError("undirected=True measures distances both ways: leave out reverse")
    if vertex is None or not is_one_vertex(vertex):
        raise RequestError(Code("vertex"), f" must be one vertex, not {vertex!r}")
    middle = int(graph.index(vertex))
    searched = graph.symmetrise() if undirected and graph.directed else graph
    require_not_negative(graph_facts(searched, as_flag(hops, "hops")), "ego")
    reach = within(
        searched, [graph.label(middle)], radius, hops=hops, reverse=reverse, predecessors=False
    )
    found = np.sort(reach.distances.indices)
    return graph.subgraph(graph.label(found if center else found[found != middle]))


def _require_radius(radius: Any) -> None:
    real = isinstance(radius, numbers.Real) and not isinstance(radius, (bool, np.bool_))
    if not real or not radius >= 0:
        raise RequestError(Code("radius"), f" must be a non-negative number, not {radius!r}")
