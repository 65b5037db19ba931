"""Graph layout in the plane, from shortest-path distances alone.

`place` lays out every component and packs them side by side.

Pivot MDS (Brandes and Pich 2007): compute the distances from a few dozen pivots to every vertex,
square them, centre rows and columns, and keep the two principal axes. The cost is one search per
pivot and the singular value decomposition of a tall, thin matrix. Each pivot is the vertex farthest
from the pivots before it, so they spread over the whole graph.

On a road network, where distance in the network follows distance on the ground, the result looks
like the map. Vertices with the same distances to all pivots coincide, so small graphs, where every
vertex is to be seen, are refined by stress majorization (Gansner, Koren and North 2004): each pair
of vertices is pulled to its distance in hops, near pairs more than far ones.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.calls.bfs import bfs
from kleene.calls.components import components
from kleene.calls.sssp import sssp
from kleene.graph import Graph
from kleene.graph.positions import narrowing
from kleene.graph.rows import Lines

__all__ = [
    "Layout",
    "component",
    "map_layout",
    "pivot_mds",
    "place",
    "separate",
    "street_courses",
]

Array = NDArray[Any]

#: The drawing of a road network changes little past some 50 pivots (Brandes and Pich 2007).
_PIVOTS = 64

_SMALL = 400  # vertices up to which every pair is placed by its distance
_ROUNDS = 80  # of stress majorization; later ones move vertices by less than a pixel

#: More components are not drawn: each would be a few pixels wide.
_MOST_COMPONENTS = 200


def component(graph: Graph, vertex: int) -> Array:
    """Return the vertices of the weakly connected component of ``vertex``, by position, in order.

    Examples
    --------
    >>> import kleene as kl
    >>> from kleene.viz.layout import component
    >>> component(kl.Graph.from_edges([1, 2], [0, 3]), 0).tolist()
    [0, 1]
    """
    number = components(graph).component
    return np.flatnonzero(number == number[vertex])


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
    return _principal_axes(_pivot_distances(graph, min(pivots, graph.n)))


def _principal_axes(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a place for each row of distances to pivots."""
    squares, n = distances**2, len(distances)
    by_vertex, by_pivot = squares.mean(axis=1, keepdims=True), squares.mean(axis=0)
    centred = -0.5 * (squares - by_vertex - by_pivot + squares.mean())
    axes, variation, _ = np.linalg.svd(centred, full_matrices=False)
    # The singular values of all columns would be larger than those of the sampled ones.
    variation *= np.sqrt(n / centred.shape[1])
    positions = np.zeros((n, 2))
    kept = min(2, len(variation))
    positions[:, :kept] = axes[:, :kept] * np.sqrt(variation[:kept])
    if np.ptp(positions[:, 1]) > np.ptp(positions[:, 0]):
        positions = positions[:, ::-1]
    peaks = positions[np.abs(positions.round(9)).argmax(axis=0), [0, 1]]
    return positions * np.where(peaks > 0, -1.0, 1.0)


def place(graph: Graph) -> NDArray[np.float64]:
    """Return (x, y) for every vertex, components side by side, the largest first.

    NaN for the vertices of the smallest components, if there are hundreds of components.

    Examples
    --------
    >>> import kleene as kl
    >>> from kleene.viz.layout import place
    >>> place(kl.Graph.from_edges([0, 2], [1, 3])).shape
    (4, 2)
    """
    graph = graph.unlabelled()
    found = components(graph)
    parts = [found.members(number) for number in range(min(found.count, _MOST_COMPONENTS))]
    boxes = []
    for part in parts:
        whole = len(part) == graph.n
        points = _place_component(graph if whole else graph.subgraph(part).unlabelled())
        boxes.append(points - points.min(axis=0))
    sizes = np.array([np.ptp(box, axis=0) for box in boxes]).reshape(-1, 2)
    positions = np.full((graph.n, 2), np.nan)
    for part, box, corner in zip(
        parts, boxes, _pack(sizes, 0.05 + 0.6 / (graph.n or 1) ** 0.5), strict=True
    ):
        positions[part] = box + corner
    return positions


def separate(points: NDArray[np.float64], gap: float, within: float) -> NDArray[np.float64]:
    """Return the points, with those that coincide (within a distance) moved apart in a spiral.

    Examples
    --------
    >>> import numpy as np
    >>> from kleene.viz.layout import separate
    >>> len(np.unique(separate(np.zeros((5, 2)), 1.0, 0.1), axis=0))
    5
    """
    if not len(points):
        return points
    cells = np.round(points / within)
    _, place_of, counts = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
    place_of = place_of.reshape(-1)
    order = np.argsort(place_of, kind="stable")
    number = np.empty(len(points))  # of each point among those in its place
    number[order] = np.arange(len(points)) - np.repeat(np.cumsum(counts) - counts, counts)
    angle = number * np.pi * (3 - np.sqrt(5))  # the golden angle: even at every distance
    spread = gap * np.minimum(1, 8 / np.sqrt(counts))[place_of]  # crowds stay in their place
    away = np.sqrt(number) * spread
    return points + np.stack([np.cos(angle), np.sin(angle)], axis=1) * away[:, None]


# ---- inside -------------------------------------------------------------------------------------


def _place_component(graph: Graph) -> NDArray[np.float64]:
    """Return the layout of a connected graph."""
    if graph.n <= 2:
        return np.stack([np.arange(graph.n, dtype=float), np.zeros(graph.n)], axis=1)
    if graph.n > _SMALL:
        return pivot_mds(graph)
    undirected = graph.symmetrise() if graph.directed else graph
    hops = bfs(undirected, sources=np.arange(graph.n), predecessors=False).to_numpy().astype(float)
    return _majorize_stress(separate(_principal_axes(hops), 0.1, 0.02), hops)


def _majorize_stress(start: NDArray[np.float64], hops: Array) -> NDArray[np.float64]:
    """Return positions whose distances are near to ``hops``; each round lowers the stress."""
    apart = hops + np.eye(len(hops))
    weights = apart**-2.0 * (1 - np.eye(len(hops)))
    # The constant vector is the kernel of the Laplacian; centred layouts do not notice the mean.
    solve = np.linalg.inv(np.diag(weights.sum(axis=1)) - weights + 1 / len(hops))
    points = start
    for _ in range(_ROUNDS):
        drawn = np.hypot(*(points[:, None] - points).transpose(2, 0, 1)) + np.eye(len(hops))
        pull = -weights * hops / np.maximum(drawn, 1e-9)
        pull -= np.diag(pull.sum(axis=1))
        points = solve @ (pull @ points)
    return points


def _pack(sizes: Array, gap_share: float) -> Array:
    """Return the lower left corner of each box: rows of boxes, wider than high together."""
    gap = gap_share * float(sizes.max(initial=0)) or 1.0
    outer = sizes + gap
    width = max(float(outer[:, 0].max(initial=0)), 1.5 * float(np.sqrt(outer.prod(axis=1).sum())))
    corners = np.zeros_like(sizes)
    x = y = row = 0.0
    for i, (across, up) in enumerate(outer.tolist()):
        if x + across > width * 1.001:
            x, y, row = 0.0, y - row, 0.0
        row = max(row, up)
        corners[i] = x, y - sizes[i, 1]
        x += across
    return corners


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


# ---- Layouts from positions that the graph has, with the course of its streets ------------------


class Layout(NamedTuple):
    """Where vertices are in the plane, NaN for those not drawn.

    ``scale`` leads from the positions of the graph, and the lines of its table rows, to the plane;
    it is None where these are not used.
    """

    points: NDArray[np.float64]
    scale: NDArray[np.float64] | None = None


def map_layout(graph: Graph) -> Layout:
    """Return the layout of a graph with positions; longitudes are narrowed to their true width.

    Examples
    --------
    >>> import kleene as kl
    >>> from kleene.viz.layout import map_layout
    >>> g = kl.Graph.from_edges([0], [1]).with_positions([(10.5, 59.9), (11.5, 60.1)])
    >>> map_layout(g).points[:, 0].round(3).tolist()
    [5.25, 5.75]
    """
    assert graph.positions is not None
    scale = np.array([narrowing(graph.positions), 1.0])
    return Layout(graph.positions * scale, scale)


def _scaled_lines(graph: Graph, scale: Array) -> Lines | None:
    """Return the lines of the table rows in the plane."""
    lines = None if graph.rows is None else graph.rows.lines
    return lines and lines._replace(coordinates=lines.coordinates * scale)


def street_courses(graph: Graph, layout: Layout, arcs: Array, tails: Array) -> list[Array | None]:
    """Return the line of each arc from its tail on, None where only the ends are known."""
    lines = None if layout.scale is None else _scaled_lines(graph, layout.scale)
    if lines is None:
        return [None] * len(arcs)
    offsets, coordinates = lines
    courses: list[Array | None] = []
    for row, tail in zip(graph.arc_rows.rows[arcs].tolist(), layout.points[tails], strict=True):
        line = coordinates[offsets[row] : offsets[row + 1]] if row >= 0 else coordinates[:0]
        if len(line) < 2:
            courses.append(None)
            continue
        begins, ends = np.hypot(*(line[[0, -1]] - tail).T)
        courses.append(line[::-1] if ends < begins else line)
    return courses
