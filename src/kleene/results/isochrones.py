"""Isochrones: how far one comes within some limits, on the map."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from kleene.backends.task import WithinAnswer
from kleene.errors import RequestError
from kleene.graph import Graph
from kleene.proofs.paths import Proof
from kleene.results.display import each_html, isochrones_html
from kleene.results.files import save_geojson, to_degrees
from kleene.results.long_table import LongTable
from kleene.results.reach import Reach
from kleene.results.route import plain
from kleene.results.tables import Block, label_column
from kleene.system.cached_property import cached_property

__all__ = [
    "Isochrones",
    "IsochronesEach",
    "Streets",
    "outline",
    "streets_of",
]

Array = NDArray[Any]

#: Sides of triangles that are left out of an area: longer than so many times the length that nine
#: of ten streets do not exceed. Blocks of buildings have diagonals of 1.4 to 2 streets.
_LONGER = 3.0

_KINDS = ("area", "streets")

_MOST_NAMED = 5  # sources that are named in a line of text


Features = list[dict[str, Any]]
Convert = Callable[[Array], Array]


class GeoTable(LongTable):
    """A table whose rows lie on a map."""

    _graph: Graph

    def _features(self, kinds: Sequence[str], convert: Convert) -> Features:
        """Return features of the map, the largest first."""
        raise NotImplementedError

    def to_geojson(self, kinds: Iterable[str] = _KINDS) -> dict[str, Any]:
        """Return a GeoJSON FeatureCollection (RFC 7946), a plain dict.

        For each limit, the largest first so that smaller ones are drawn on top, it has a feature
        of each kind, with the properties source, limit, kind and vertices (how many are reached);
        source is a list where several sources have one area together.
        Coordinates are longitude and latitude (WGS 84), which GeoJSON prescribes: pyproj converts
        those of an OSMnx graph in another system, others that cannot be degrees are a GraphError.
        (``__geo_interface__`` has any coordinates, for libraries that know of others.)

        Parameters
        ----------
        kinds : sequence of {"area", "streets"}
            ``"area"`` is the outline, a Polygon or MultiPolygon, and null where there is no area;
            ``"streets"`` a MultiLineString.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.Graph.from_edges([0], [1], [4]).with_positions([(0, 0), (8, 0)])
        >>> kl.isochrones(g, 0, 3).to_geojson(["streets"])["features"][0]["geometry"]
        {'type': 'MultiLineString', 'coordinates': [[[0.0, 0.0], [6.0, 0.0]]]}
        """
        convert = to_degrees(self._graph)
        convert(_positions(self._graph))
        return self._collection(kinds, convert)

    def _collection(self, kinds: Iterable[str], convert: Convert = np.asarray) -> dict[str, Any]:
        chosen = [kinds] if isinstance(kinds, str) else list(kinds)
        for kind in chosen:
            if not isinstance(kind, str) or kind not in _KINDS:
                raise RequestError(f"kinds may be 'area' and 'streets', not {kind!r}")
        return {"type": "FeatureCollection", "features": self._features(chosen, convert)}

    @property
    def __geo_interface__(self) -> dict[str, Any]:
        """The same in the coordinates of the graph, for GeoPandas, Shapely and Folium."""
        return self._collection(_KINDS)

    def save(self, path: str | Path) -> None:
        """Write a file; it is replaced only when it is complete.

        Parameters
        ----------
        path : str or Path
            The name. ``.geojson`` holds :meth:`to_geojson`; ``.csv``, ``.tsv``, ``.json`` (a list
            of objects) and ``.parquet`` the table of :meth:`to_frame`.

        Examples
        --------
        >>> import kleene as kl, json, tempfile
        >>> from pathlib import Path
        >>> g = kl.Graph.from_edges([0], [1], [4]).with_positions([(0, 0), (8, 0)])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     kl.isochrones(g, 0, 3).save(f"{folder}/zones.geojson")
        ...     json.loads(Path(folder, "zones.geojson").read_text())["type"]
        'FeatureCollection'
        """
        if isinstance(path, (str, Path)) and Path(path).suffix.lower() == ".geojson":
            save_geojson(self.to_geojson(), path)
        else:
            super().save(path)


class Reached(NamedTuple):
    """What is reached from the nearest of some sources: vertices in order, and how far they are."""

    vertices: Array
    distances: Array
    rows: Array  # the nearest source of each; of equally near ones the first


class Isochrones(GeoTable):
    """The part of a network within each of several limits from a source, or from any of several.

    Attributes
    ----------
    source : vertex, or list of vertices
        The source, or the sources.
    limits : tuple of numbers
        The limits, in increasing order.
    reach : Reach
        What the search reached within the largest limit, from each source.
    longest : float
        The longest side of a triangle that counts as area, in units of the positions.

    Examples
    --------
    >>> import kleene as kl
    >>> g = kl.generate.grid(9, 9)
    >>> g = g.with_positions([divmod(v, 9) for v in range(81)])
    >>> zones = kl.isochrones(g, 40, [1, 2])
    >>> zones.vertices(1).tolist()
    [40, 31, 39, 41, 49]
    >>> [f["geometry"]["type"] for f in zones.to_geojson()["features"]]
    ['Polygon', 'MultiLineString', 'Polygon', 'MultiLineString']
    """

    def __init__(
        self,
        reach: Reach,
        limits: tuple[float, ...],
        bounds: tuple[float, ...],
        longest: float | None,
        several: bool = False,
    ) -> None:
        self.reach, self.limits = reach, limits
        self._graph, self._several = reach.graph, several
        self._bounds = bounds  # the limits in the type of the weights
        self._longest = longest

    @property
    def source(self) -> Any:
        """The source, or the list of the sources if several were given."""
        sources = self.reach.sources.tolist()
        return sources if self._several else sources[0]

    # ---- what was reached -------------------------------------------------------------------

    def vertices(self, limit: float) -> Any:
        """Return the vertices within one of the limits, the nearest first.

        Parameters
        ----------
        limit : number
            One of the limits.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.Graph.from_edges([0, 1], [1, 2], [2, 2]).with_positions([(0, 0), (1, 0), (2, 0)])
        >>> kl.isochrones(g, 0, [2, 4]).vertices(2).tolist()
        [0, 1]
        """
        vertices, distances, _ = self._reached
        near = distances <= self._bound(limit)
        order = np.argsort(distances[near], kind="stable")
        return self._graph.label(vertices[near][order])

    def _blocks(self) -> Iterator[Block]:
        """Yield the vertices reached, the nearest first: vertex, distance, smallest limit.

        Of several sources, it says which is the nearest.
        """
        vertices, distances, rows = self._reached
        order = np.argsort(distances, kind="stable")
        distances = distances[order]
        block = {
            "vertex": label_column(self._graph, vertices[order]),
            "distance": distances,
            "limit": np.array(self.limits)[self._bands(distances)],
        }
        if self._several:
            block["source"] = label_column(self._graph, self.reach._sources[rows[order]])
        yield block

    # ---- on the map -------------------------------------------------------------------------

    def streets(self, limit: float) -> list[Array]:
        """Return the parts of streets within one of the limits, each as points (x, y).

        Streets that are reached in part are cut where the limit ends, in proportion to their
        weight. They have the geometry of the table (``graph.rows.lines``), if there is one.

        Parameters
        ----------
        limit : number
            One of the limits.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.Graph.from_edges([0], [1], [4]).with_positions([(0, 0), (8, 0)])
        >>> kl.isochrones(g, 0, 3).streets(3)[0].tolist()
        [[0.0, 0.0], [6.0, 0.0]]
        """
        bound = self._bound(limit)
        if limit not in self._covered:
            end = math.floor(bound) if self.reach.hops else bound
            self._covered[limit] = self._streets.covered(self._distances, self._lengths, end)
        return self._covered[limit]

    def area(self, limit: float) -> list[list[Array]]:
        """Return the outline of what lies within one of the limits, as polygons.

        It is an alpha shape of the ends and bends of the streets: Delaunay's triangles, without
        those that have a side longer than :attr:`longest`. A polygon is a list of closed rings,
        the outer one first, then holes. A single road has no area.

        Parameters
        ----------
        limit : number
            One of the limits.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.generate.grid(3, 3).with_positions([divmod(v, 3) for v in range(9)])
        >>> [polygon] = kl.isochrones(g, 4, 1).area(1)
        >>> len(polygon), len(polygon[0])
        (1, 5)
        """
        return outline(np.vstack([np.empty((0, 2)), *self.streets(limit)]), self.longest)

    @cached_property
    def longest(self) -> float:
        """The longest side of a triangle that counts as area, in units of the positions."""
        if self._longest is not None:
            return self._longest
        positions = _positions(self._graph)
        ends = positions[self._streets.low], positions[self._streets.high]
        lengths = np.hypot(*(ends[0] - ends[1]).T)
        return _LONGER * float(np.quantile(lengths, 0.9)) if len(lengths) else 0.0

    def _features(self, kinds: Sequence[str], convert: Convert) -> Features:
        source = list(map(plain, self.source)) if self._several else plain(self.source)
        return [
            {
                "type": "Feature",
                "geometry": self._area_geometry(limit, convert)
                if kind == "area"
                else {
                    "type": "MultiLineString",
                    "coordinates": [convert(line).tolist() for line in self.streets(limit)],
                },
                "properties": {"source": source, "limit": limit, "kind": kind, "vertices": count},
            }
            for limit, count in zip(self.limits[::-1], self._counts[::-1], strict=True)
            for kind in kinds
        ]

    def _area_geometry(self, limit: float, convert: Convert) -> dict[str, Any] | None:
        polygons = [[convert(ring).tolist() for ring in polygon] for polygon in self.area(limit)]
        if not polygons:
            return None
        if len(polygons) == 1:
            return {"type": "Polygon", "coordinates": polygons[0]}
        return {"type": "MultiPolygon", "coordinates": polygons}

    # ---- proof, and inside ------------------------------------------------------------------

    def verify(self) -> Proof:
        """Prove the distances that everything here follows from; see :meth:`Reach.verify`.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.generate.grid(3, 3).with_positions([divmod(v, 3) for v in range(9)])
        >>> kl.isochrones(g, 4, 1).verify().tolerance
        'exact'
        """
        return self.reach.verify()

    def _repr_html_(self) -> str:
        return isochrones_html(self)

    def __repr__(self) -> str:
        zones = zip(self._counts, self.limits, strict=True)
        parts = [f"{count:,} within {limit:g}" for count, limit in zones]
        return f"Isochrones({self._ends}: {', '.join(parts)})"

    @property
    def _ends(self) -> str:
        """Say where it is from, or to."""
        way, count = "to" if self.reach.reverse else "from", len(self.reach._sources)
        named = repr(self.source) if count <= _MOST_NAMED else f"{count:,} sources"
        return f"{way} {named}"

    def _bound(self, limit: float) -> float:
        """Return one of the limits in the type of the weights."""
        if limit not in self.limits:
            known = ", ".join(f"{x:g}" for x in self.limits)
            raise RequestError(f"{limit!r} is not one of the limits, which are {known}")
        return self._bounds[self.limits.index(limit)]

    @property
    def _counts(self) -> list[int]:
        """How many vertices are within each limit."""
        distances = self._reached.distances
        return [int(np.count_nonzero(distances <= bound)) for bound in self._bounds]

    def _bands(self, distances: Array) -> Array:
        """Return the position of the smallest limit that each distance is within."""
        bands: Array = np.searchsorted(np.array(self._bounds), distances)
        return bands

    @cached_property
    def _reached(self) -> Reached:
        answer = self.reach._answer
        rows = np.repeat(np.arange(len(self.reach._sources)), np.diff(answer.offsets))
        if len(self.reach._sources) == 1:
            return Reached(answer.vertices, answer.distances, rows)
        order = np.lexsort((rows, answer.distances, answer.vertices))
        vertices, first = np.unique(answer.vertices[order], return_index=True)
        return Reached(vertices, answer.distances[order[first]], rows[order[first]])

    @cached_property
    def _covered(self) -> dict[float, list[Array]]:
        return {}

    @cached_property
    def _streets(self) -> Streets:
        graph = self._graph
        searched = graph.transpose() if self.reach.reverse else graph
        return streets_of(searched, self._reached.vertices)

    @cached_property
    def _distances(self) -> Array:
        """The distance of every vertex, infinite where it was not reached."""
        distances = np.full(self._graph.n, np.inf)
        distances[self._reached.vertices] = self._reached.distances
        return distances

    @cached_property
    def _lengths(self) -> Array:
        """The length of every arc of the graph as it was searched."""
        graph = self._streets.graph
        unit = self.reach.hops or graph.weights is None
        return np.ones(graph.m) if unit else np.asarray(graph.weights, dtype=np.float64)


class IsochronesEach(GeoTable, Sequence[Isochrones]):
    """The isochrones of each of several sources, in the order of the sources.

    As a table it has a row for each source and vertex reached; as GeoJSON, features for each
    source, those of the largest limit first.

    Examples
    --------
    >>> import kleene as kl
    >>> g = kl.generate.grid(9, 9).with_positions([divmod(v, 9) for v in range(81)])
    >>> each = kl.isochrones(g, [20, 60], [1, 2], each=True)
    >>> each
    IsochronesEach(from [20, 60]: 10 within 1, 26 within 2)
    >>> [zones.source for zones in each], each[1].vertices(1).tolist()
    ([20, 60], [60, 51, 59, 61, 69])
    """

    def __init__(self, whole: Isochrones) -> None:
        self._whole, self._graph = whole, whole.reach.graph
        self.limits = whole.limits

    def __len__(self) -> int:
        return len(self._whole.reach._sources)

    @overload
    def __getitem__(self, index: int) -> Isochrones: ...
    @overload
    def __getitem__(self, index: slice) -> list[Isochrones]: ...
    def __getitem__(self, index: int | slice) -> Isochrones | list[Isochrones]:
        return self._parts[index]

    @cached_property
    def _parts(self) -> list[Isochrones]:
        whole = self._whole
        reach, answer = whole.reach, whole.reach._answer
        parts = []
        for row in range(len(self)):
            held = reach._held(row)
            links = None if answer.predecessors is None else answer.predecessors[held]
            offsets = np.array([0, held.stop - held.start])
            one = WithinAnswer(offsets, answer.vertices[held], answer.distances[held], links)
            of_one = Reach(
                reach.graph, reach.plan, reach.stats, one, reach._sources[row : row + 1],
                reach.limit, reach.k, reach.hops, reach.reverse,
            )  # fmt: skip
            parts.append(Isochrones(of_one, whole.limits, whole._bounds, whole._longest))
        return parts

    def verify(self) -> Proof:
        """Prove the distances that everything here follows from; see :meth:`Reach.verify`.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.generate.grid(3, 3).with_positions([divmod(v, 3) for v in range(9)])
        >>> kl.isochrones(g, [0, 4], 1, each=True).verify().rows
        2
        """
        return self._whole.verify()

    def _features(self, kinds: Sequence[str], convert: Convert) -> Features:
        found = [feature for zones in self for feature in zones._features(kinds, convert)]
        return sorted(found, key=lambda feature: -feature["properties"]["limit"])

    def _blocks(self) -> Iterator[Block]:
        for zones in self:
            [block] = zones._blocks()
            source = np.repeat(zones.reach._sources, len(block["distance"]))
            yield {"source": label_column(self._graph, source), **block}

    def _repr_html_(self) -> str:
        return each_html(self)

    def __repr__(self) -> str:
        counts = np.array([zones._counts for zones in self]).reshape(len(self), len(self.limits))
        found = zip(counts.sum(axis=0).tolist(), self.limits, strict=True)
        parts = [f"{count:,} within {limit:g}" for count, limit in found]
        return f"IsochronesEach({self._whole._ends}: {', '.join(parts)})"


def _positions(graph: Graph) -> Array:
    assert graph.positions is not None
    return graph.positions


# ---- The outline of points in the plane: an alpha shape -----------------------------------------
# The points are joined by Delaunay's triangulation, triangles with a long side are left out, and
# the rest is outlined: where points lie close there is area, across rivers and around villages
# there is none. Triangles that share sides make one polygon, with the holes that they leave.
#
# H. Edelsbrunner, D. Kirkpatrick and R. Seidel, "On the shape of a set of points in the plane",
# 1983. (There, triangles are left out by the radius of their circle.)

Polygon = list[Array]


def outline(points: Array, longest: float) -> list[Polygon]:
    """Return polygons around points: rings, each closed, the outer one first and then holes.

    Outer rings run counterclockwise. Points on one line have no area, and no polygon.
    """
    points = np.unique(points, axis=0)
    triangles, neighbors = _triangulate(points)
    corners = np.vstack([points, [np.nan, np.nan]])  # Qhull's point at infinity, and no side to it
    sides = corners[triangles] - corners[np.roll(triangles, -1, axis=1)]
    kept = (np.hypot(*np.moveaxis(sides, -1, 0)) <= longest).all(axis=1)
    component = _components(kept, neighbors)
    # The side opposite corner i joins the other two; outside of it is no triangle that is kept.
    open_side = kept[:, None] & ((neighbors < 0) | ~kept[neighbors])
    which, corner = np.nonzero(open_side)
    starts, ends = triangles[which, corner - 2], triangles[which, corner - 1]
    polygons = []
    for number in np.unique(component[kept]):
        own = component[which] == number
        rings = _rings(points, starts[own].tolist(), ends[own].tolist())
        rings.sort(key=_area, reverse=True)  # the outer one is positive, holes are negative
        polygons.append(rings)
    return polygons


def _triangulate(points: Array) -> tuple[Array, Array]:
    """Return triangles, their corners counterclockwise, and the neighbour opposite each corner."""
    from scipy.spatial import Delaunay, QhullError

    none: Array = np.empty((0, 3), dtype=np.int64)
    if len(points) < 3:
        return none, none
    try:
        made = Delaunay(points - points.mean(axis=0))
    except QhullError:  # all on one line
        return none, none
    return made.simplices.astype(np.int64), made.neighbors.astype(np.int64)


def _cross(a: Array, b: Array) -> Array:
    product: Array = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return product


def _components(kept: Array, neighbors: Array) -> Array:
    """Number the parts in which triangles share sides."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    tails, side = np.nonzero(kept[:, None] & (neighbors >= 0))
    heads = neighbors[tails, side]
    joined = kept[heads]
    ends = tails[joined], heads[joined]
    links = csr_array((np.ones(len(ends[0]), np.int8), ends), shape=(len(kept), len(kept)))
    numbers: Array = connected_components(links, directed=False)[1]
    return numbers


def _rings(points: Array, starts: list[int], ends: list[int]) -> list[Array]:
    """Join directed sides into rings that visit no point twice."""
    following: dict[int, list[int]] = {}
    for start, end in zip(starts, ends, strict=True):
        following.setdefault(start, []).append(end)
    rings = []
    while following:
        first = next(iter(following))
        walk, place = [first], {first: 0}
        while walk:
            at = walk[-1]
            exits = following.get(at)
            if not exits:
                break
            back = walk[-2] if len(walk) > 1 else None
            to = exits.pop(_next_exit(points, back, at, exits))
            if not exits:
                del following[at]
            if to in place:  # back at a point of the walk: what lies between is a ring
                begin = place[to]
                rings.append(points[[*walk[begin:], to]])
                for passed in walk[begin + 1 :]:
                    del place[passed]
                del walk[begin + 1 :]
            else:
                place[to] = len(walk)
                walk.append(to)
    return rings


def _next_exit(points: Array, back: int | None, at: int, exits: list[int]) -> int:
    """Choose the side that bounds the same fan of triangles: the first one clockwise."""
    if back is None or len(exits) == 1:
        return 0
    came = points[back] - points[at]
    ways = points[exits] - points[at]
    turns = np.arctan2(_cross(ways, came), ways @ came) % (2 * np.pi)
    return int(np.argmin(np.where(turns == 0, 2 * np.pi, turns)))


def _area(ring: Array) -> float:
    """Return twice the area, positive for a ring that runs counterclockwise."""
    moved = ring - ring[0]
    return float(_cross(moved[:-1], moved[1:]).sum())


# ---- The parts of streets that lie within a limit -----------------------------------------------
# A street joins two vertices. Each of its arcs covers a part of it, from the end that a search came
# to: as much as remains of the limit, in proportion to the weight of the arc. What two arcs cover
# from both ends is put together. A street has the geometry of its table row, or is a straight line.


class Streets(NamedTuple):
    """Streets that a search came to: ends, the arcs from each end, and a line for each."""

    graph: Graph  # as it was searched
    low: Array
    high: Array
    from_low: Array  # arcs; -1 for none
    from_high: Array

    def covered(self, distances: Array, lengths: Array, limit: float) -> list[Array]:
        """Return the parts within a limit, each as points (x, y)."""
        low, high = (self._share(distances, lengths, arcs, limit) for arcs in self[3:])
        none, all_of_it = np.zeros(len(low)), np.ones(len(low))
        whole = low + high >= 1
        pieces = (
            (whole, none, all_of_it),
            (~whole & (low > 0), none, low),
            (~whole & (high > 0), 1 - high, all_of_it),
        )
        lines: list[Array] = []
        for which, begins, ends in pieces:
            chosen = np.flatnonzero(which)
            lines += self._lines(chosen, begins[chosen], ends[chosen])
        return lines

    def _share(self, distances: Array, lengths: Array, arcs: Array, limit: float) -> Array:
        """Return which part of each street an arc covers, from where it starts."""
        share = np.zeros(len(arcs))
        there = np.flatnonzero(arcs >= 0)
        tails = self.graph.coo.sources[arcs[there]]
        left, length = limit - distances[tails], lengths[arcs[there]]
        with np.errstate(divide="ignore", invalid="ignore"):
            part = np.clip(left / length, 0, 1)
        share[there] = np.where(left < 0, 0.0, np.where(length == 0, 1.0, part))
        return share

    def _lines(self, chosen: Array, begins: Array, ends: Array) -> list[Array]:
        """Return the parts of some streets from one fraction to another."""
        positions = self.graph.positions
        assert positions is not None
        a, b = positions[self.low[chosen]], positions[self.high[chosen]]
        straight = np.stack([a + begins[:, None] * (b - a), a + ends[:, None] * (b - a)], axis=1)
        rows = self.graph.rows
        if rows is None or rows.lines is None:
            return list(straight)
        arc = np.maximum(self.from_low, self.from_high)[chosen]  # any of the two: the same row
        at_low = self.graph.coo.sources[arc] == self.low[chosen]
        row, against = (values[arc] for values in self.graph.arc_rows)
        lines = []
        for i, line in enumerate(straight):
            first, last = rows.lines.offsets[row[i] : row[i] + 2] if row[i] >= 0 else (0, 0)
            points = rows.lines.coordinates[first:last]
            if len(points) > 1:
                line = _part(
                    points[::-1] if against[i] == at_low[i] else points, begins[i], ends[i]
                )
            lines.append(line)
        return lines


def _part(points: Array, begin: float, end: float) -> Array:
    """Return a polyline from one fraction of its length to another."""
    along = np.append(0, np.cumsum(np.hypot(*np.diff(points, axis=0).T)))
    if along[-1] == 0:
        return points
    cuts = np.array([begin, end]) * along[-1]
    inside = points[(along > cuts[0]) & (along < cuts[1])]
    first, last = (np.array([np.interp(cut, along, points[:, i]) for i in (0, 1)]) for cut in cuts)
    return np.vstack([first, inside, last])


def streets_of(graph: Graph, reached: Array) -> Streets:
    """Return the streets of the arcs that leave some vertices.

    Arcs in opposite directions are one street, unless they come from rows of a table with a
    geometry each.
    """
    degrees = np.diff(graph.offsets)[reached]
    shift = graph.offsets[reached] - np.append(0, np.cumsum(degrees))[: len(degrees)]
    arcs = np.arange(degrees.sum()) + np.repeat(shift, degrees)
    tails, heads = np.repeat(reached, degrees).astype(np.int64), graph.neighbors[arcs]
    low, high = np.minimum(tails, heads), np.maximum(tails, heads).astype(np.int64)
    drawn = graph.rows is not None and graph.rows.lines is not None
    row = graph.arc_rows.rows[arcs] if drawn else np.full(len(arcs), -1)
    order = np.lexsort((row, high, low))
    keys = np.stack([low, high, row], axis=1)[order]
    new = np.append(True, (keys[1:] != keys[:-1]).any(axis=1))[: len(keys)]
    street = np.cumsum(new) - 1
    ends = np.full((2, int(new.sum())), -1)
    upward = tails[order] == keys[:, 0]
    for side, chosen in enumerate((upward, ~upward)):
        ends[side][street[chosen]] = arcs[order][chosen]
    return Streets(graph, keys[new, 0], keys[new, 1], ends[0], ends[1])
