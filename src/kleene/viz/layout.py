"""Places in the plane for the vertices of a graph, from shortest-path distances alone.

Pivot MDS (Brandes and Pich 2007): measure the distance from every vertex to a few dozen pivots,
square it, centre rows and columns, and keep the two directions in which the result varies most.
The cost is one search per pivot and the singular values of a matrix that is tall and thin. Each
pivot is the vertex farthest from the pivots before it, so they spread over the whole graph.

On a road network, where distance in the network follows distance on the ground, the result looks
like the map.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.api.bfs import bfs
from kleene.api.sssp import sssp
from kleene.graph import Graph

__all__ = ["component", "pivot_mds"]

Array = NDArray[Any]

#: The drawing of a road network changes little past some 50 pivots (Brandes and Pich 2007).
_PIVOTS = 64


def component(graph: Graph, vertex: int) -> Array:
    """Return the vertices joined to ``vertex``, whatever the direction of the arcs, in order.

    Examples
    --------
    >>> import kleene as kl
    >>> from kleene.viz.layout import component
    >>> component(kl.Graph.from_edges([1, 2], [0, 3]), 0).tolist()
    [0, 1]
    """
    undirected = graph.symmetrise() if graph.directed else graph
    return np.flatnonzero(bfs(undirected, vertex, predecessors=False).reached)


def pivot_mds(graph: Graph, pivots: int = _PIVOTS) -> NDArray[np.float64]:
    """Return one (x, y) per vertex of a connected graph; arc directions are not looked at.

    Units are those of the weights, or hops where there are none or some are negative. The same
    graph always gets the same places: x is the longer side, and signs are fixed.

    Examples
    --------
    >>> import kleene as kl
    >>> from kleene.viz.layout import pivot_mds
    >>> abs(pivot_mds(kl.Graph.from_edges([0, 1], [1, 2]))[:, 0]).round(6).tolist()
    [1.0, 0.0, 1.0]
    """
    if graph.n == 0:
        return np.zeros((0, 2))
    squares = _pivot_distances(graph, min(pivots, graph.n)) ** 2
    by_vertex, by_pivot = squares.mean(axis=1, keepdims=True), squares.mean(axis=0)
    centred = -0.5 * (squares - by_vertex - by_pivot + squares.mean())
    axes, variation, _ = np.linalg.svd(centred, full_matrices=False)
    # The singular values of all columns would be larger than those of the sampled ones.
    variation *= np.sqrt(graph.n / centred.shape[1])
    places = np.zeros((graph.n, 2))
    kept = min(2, len(variation))
    places[:, :kept] = axes[:, :kept] * np.sqrt(variation[:kept])
    if np.ptp(places[:, 1]) > np.ptp(places[:, 0]):
        places = places[:, ::-1]
    peaks = places[np.abs(places.round(9)).argmax(axis=0), [0, 1]]
    return places * np.where(peaks > 0, -1.0, 1.0)


def _pivot_distances(graph: Graph, pivots: int) -> NDArray[np.float64]:
    """Measure from every vertex to each pivot; the first of them lies on the rim."""
    undirected = graph.symmetrise() if graph.directed else graph
    search = bfs if graph.weights is None or graph.stats.negative else sssp

    def measure(pivot: int) -> Array:
        return search(undirected, pivot, predecessors=False).to_numpy()

    distances = np.empty((graph.n, pivots))
    nearest = np.full(graph.n, np.inf)
    pivot = int(measure(0).argmax())
    for column in range(pivots):
        distances[:, column] = measure(pivot)
        nearest = np.minimum(nearest, distances[:, column])
        pivot = int(nearest.argmax())
    return distances
