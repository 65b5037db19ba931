"""Graph layout in the plane, from shortest-path distances alone.

Pivot MDS (Brandes and Pich 2007): compute the distances from a few dozen pivots to every vertex,
square them, centre rows and columns, and keep the two principal axes. The cost is one search per
pivot and the singular value decomposition of a tall, thin matrix. Each pivot is the vertex farthest
from the pivots before it, so they spread over the whole graph.

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
    """Return the vertices of the weakly connected component of ``vertex``, in order.

    Examples
    --------
    >>> import kleene as kl
    >>> from kleene.viz.layout import component
    >>> component(kl.Graph.from_edges([1, 2], [0, 3]), 0).tolist()
    [0, 1]
    """
    undirected = (graph.symmetrise() if graph.directed else graph).unlabelled()
    return np.flatnonzero(bfs(undirected, vertex, predecessors=False).reached)


def pivot_mds(graph: Graph, pivots: int = _PIVOTS) -> NDArray[np.float64]:
    """Return (x, y) for every vertex of a connected graph; arc directions are ignored.

    Units are those of the weights, or hops if the graph is unweighted or some weight is negative.
    The layout is deterministic: x is the longer side, and signs are fixed.

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
    positions = np.zeros((graph.n, 2))
    kept = min(2, len(variation))
    positions[:, :kept] = axes[:, :kept] * np.sqrt(variation[:kept])
    if np.ptp(positions[:, 1]) > np.ptp(positions[:, 0]):
        positions = positions[:, ::-1]
    peaks = positions[np.abs(positions.round(9)).argmax(axis=0), [0, 1]]
    return positions * np.where(peaks > 0, -1.0, 1.0)


def _pivot_distances(graph: Graph, pivots: int) -> NDArray[np.float64]:
    """Return the distance of every vertex from each pivot; the first pivot is peripheral."""
    undirected = (graph.symmetrise() if graph.directed else graph).unlabelled()
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
