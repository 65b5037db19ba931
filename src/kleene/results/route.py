"""Routes: paths with their arcs, the table rows that these come from, and coordinates."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kleene.backends.common.walks import Walks
from kleene.errors import Code, GraphError
from kleene.graph import Graph
from kleene.graph.forms import arcs_between
from kleene.results.display import route_html, routes_html
from kleene.results.files import to_degrees
from kleene.system.cached_property import cached_property

__all__ = ["Route", "Routes", "make_route", "make_routes", "plain"]

Array = NDArray[Any]


class Route:
    """One path through a graph, and where it runs.

    Attributes
    ----------
    graph : Graph
        The graph.
    distance : number
        The length of the path; infinity if there is none.
    arcs : array of int64
        The arcs of the path, as places in ``graph.coo``.

    Examples
    --------
    >>> import kleene as kl
    >>> streets = {"source": ["a", "b", "a"], "target": ["b", "c", "c"], "km": [1, 2, 9]}
    >>> r = kl.sssp(kl.Graph.from_table(streets, weight="km"), "a")
    >>> route = r.route("c")
    >>> route.vertices, route.distance, route.weights.tolist(), route.rows.tolist()
    (['a', 'b', 'c'], 3, [1, 2], [0, 1])
    """

    def __init__(self, graph: Graph, positions: Array, arcs: Array, distance: Any) -> None:
        self.graph, self.arcs, self.distance = graph, arcs, distance
        self._positions = positions

    @property
    def vertices(self) -> list[Any]:
        """The vertices from the first to the last: labels where the graph has labels."""
        vertices: list[Any] = self.graph.label(self._positions).tolist()
        return vertices

    @property
    def weights(self) -> Array:
        """The weights of the arcs; ones in an unweighted graph."""
        weights = self.graph.weights
        return np.ones(len(self.arcs), np.int32) if weights is None else weights[self.arcs]

    @property
    def rows(self) -> NDArray[np.int64] | None:
        """The rows of the table that the arcs come from; None if the graph came from no table."""
        if self.graph.rows is None:
            return None
        return self.graph.arc_rows.rows[self.arcs]

    @cached_property
    def coordinates(self) -> NDArray[np.float64]:
        """The points along the route, x and y (longitude and latitude), of shape (points, 2).

        An arc whose table row has a geometry follows it; others are straight lines between the
        positions of their ends.
        """
        ends = self._positions
        if len(ends) < 2:
            return self._points(ends)
        start, count, against, coordinates = self._lines()
        drawn = count > 1
        count[~drawn] = 2  # straight from tail to head
        first = np.cumsum(count) - count
        arc = np.repeat(np.arange(len(count)), count)  # of each point
        place = np.arange(len(arc)) - first[arc]
        place = np.where(against[arc], count[arc] - 1 - place, place)
        points = np.empty((len(arc), 2))
        on_line = drawn[arc]
        if on_line.any():
            points[on_line] = coordinates[(start[arc] + place)[on_line]]
        if not on_line.all():
            points[~on_line] = self._points(ends[(arc + place)[~on_line]])
        kept = np.ones(len(points), bool)
        joints = first[1:]
        kept[joints] = (points[joints] != points[joints - 1]).any(axis=1)
        return points[kept]

    def _lines(self) -> tuple[Array, Array, Array, Array]:
        """Return where each arc's line starts, its number of points, if it runs back, and all."""
        rows = self.graph.rows
        start, count = np.zeros((2, len(self.arcs)), np.int64)
        against = np.zeros(len(self.arcs), bool)
        points = np.empty((0, 2))
        if rows is not None and rows.lines is not None:
            points = rows.lines.coordinates
            row = self.graph.arc_rows.rows[self.arcs]
            known = row >= 0
            start[known] = rows.lines.offsets[row[known]]
            count[known] = rows.lines.offsets[row[known] + 1] - start[known]
            against = self.graph.arc_rows.against[self.arcs] & (count > 1)
        return start, count, against, points

    def _points(self, places: Array) -> NDArray[np.float64]:
        """Return the positions of vertices in the plane."""
        positions = self.graph.positions
        if positions is None:
            raise GraphError(
                "the graph has neither geometry nor positions: give its vertices coordinates with ",
                Code("graph.with_positions(xy)"),
            )
        points: NDArray[np.float64] = positions[places]
        return points

    def to_geojson(self) -> dict[str, Any]:
        """Return the route as a GeoJSON Feature (RFC 7946), a plain dict.

        Its geometry is a LineString, a Point for a path of one vertex, and null if there is no
        path. Coordinates are longitude and latitude (WGS 84), which GeoJSON prescribes: pyproj
        converts those of an OSMnx graph in another system, others that cannot be degrees are a
        GraphError.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.Graph.from_edges([0], [1], [7]).with_positions([[12.5, 41.9], [12.3, 41.7]])
        >>> feature = kl.sssp(g, 0).route(1).to_geojson()
        >>> feature["geometry"]
        {'type': 'LineString', 'coordinates': [[12.5, 41.9], [12.3, 41.7]]}
        >>> feature["properties"]
        {'source': 0, 'target': 1, 'distance': 7}
        """
        points = to_degrees(self.graph)(self.coordinates).tolist()
        geometry: dict[str, Any] | None = None
        if len(points) == 1:
            geometry = {"type": "Point", "coordinates": points[0]}
        elif points:
            geometry = {"type": "LineString", "coordinates": points}
        vertices = self.vertices
        ends = {"source": plain(vertices[0]), "target": plain(vertices[-1])} if vertices else {}
        distance = plain(self.distance)
        if isinstance(distance, float) and not math.isfinite(distance):
            distance = None
        properties = {**ends, "distance": distance}
        return {"type": "Feature", "geometry": geometry, "properties": properties}

    def __len__(self) -> int:
        """Return the number of vertices; 0 if there is no path."""
        return len(self._positions)

    def _repr_html_(self) -> str:
        return route_html(self)

    def __repr__(self) -> str:
        if not len(self):
            return "Route(no path)"
        first, *_, last = self.vertices if len(self) > 1 else self.vertices * 2
        arcs = f"{len(self.arcs):,} arc{'s' * (len(self.arcs) != 1)}"
        return f"Route({first!r} to {last!r}, {arcs}, distance {self.distance})"


def plain(value: Any) -> Any:
    """Return what JSON can hold."""
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, (str, int, float, bool)) else str(value)


class Routes(Sequence[Route]):
    """Many routes.

    Examples
    --------
    >>> import kleene as kl
    >>> g = kl.Graph.from_edges([0, 1], [1, 2], [7, 2]).with_positions([[0, 0], [1, 0], [2, 1]])
    >>> routes = kl.sssp(g, 0).routes([2, 1])
    >>> routes[0], len(routes)
    (Route(0 to 2, 2 arcs, distance 9), 2)
    >>> collection = routes.to_geojson()
    >>> collection["type"], len(collection["features"])
    ('FeatureCollection', 2)
    """

    def __init__(self, graph: Graph, walks: Walks, arcs: Array, distances: Array) -> None:
        self._graph, self._arcs, self._distances = graph, arcs, distances
        self._positions, self._offsets = walks

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @overload
    def __getitem__(self, index: int) -> Route: ...
    @overload
    def __getitem__(self, index: slice) -> list[Route]: ...
    def __getitem__(self, index: int | slice) -> Route | list[Route]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        i = range(len(self))[index]
        start, end = self._offsets[i : i + 2].tolist()
        arcs = self._arcs[start : max(start, end - 1)]
        distance = self._distances[i].item() if start < end else math.inf
        return Route(self._graph, self._positions[start:end], arcs, distance)

    def __iter__(self) -> Iterator[Route]:
        return (self[i] for i in range(len(self)))

    def to_geojson(self) -> dict[str, Any]:
        """Return a GeoJSON FeatureCollection (RFC 7946), a plain dict with a Feature per route.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.Graph.from_edges([0], [1]).with_positions([[12.5, 41.9], [12.3, 41.7]])
        >>> kl.bfs(g, 0).routes().to_geojson()["features"][0]["geometry"]
        {'type': 'Point', 'coordinates': [12.5, 41.9]}
        """
        return {"type": "FeatureCollection", "features": [route.to_geojson() for route in self]}

    def _repr_html_(self) -> str:
        return routes_html(self)

    def __repr__(self) -> str:
        shown = [repr(route) for route in self[:3]] + ["..."] * (len(self) > 3)
        return f"Routes([{', '.join(shown)}])"


def make_route(graph: Graph, positions: ArrayLike, distance: Any) -> Route:
    """Return the route along these vertices, given by position.

    Parameters
    ----------
    graph : Graph
        The graph, which must have an arc from each vertex to the next.
    positions : array of integers
        The positions of the vertices, from the first to the last; empty if there is no path.
    distance : number
        The length of the path.

    Examples
    --------
    >>> import kleene as kl
    >>> from kleene.results.route import make_route
    >>> make_route(kl.Graph.from_edges([0, 1], [1, 2], [3, 4]), [0, 1, 2], 7).arcs.tolist()
    [0, 1]
    """
    walk = np.asarray(positions, dtype=graph.id_dtype)
    offsets = np.array([0, len(walk)], np.int64)
    return make_routes(graph, (walk, offsets), np.asarray([distance]))[0]


def make_routes(graph: Graph, walks: Walks, distances: Array) -> Routes:
    """Return the routes along many walks, which are given by position."""
    positions = walks[0]
    # The arc after each vertex; what joins the end of a walk to the next one is not used.
    arcs = arcs_between(graph, positions[:-1], positions[1:]) if len(positions) else positions
    return Routes(graph, walks, arcs, distances)
