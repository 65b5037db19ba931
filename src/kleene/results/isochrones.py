"""Isochrones: how far one comes within some limits, on the map."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import RequestError
from kleene.results.covered_streets import Streets, streets_of
from kleene.results.display import isochrones_html
from kleene.results.geojson import to_degrees
from kleene.results.long_table import LongTable
from kleene.results.outline import outline
from kleene.results.reach import Reach
from kleene.results.route import plain
from kleene.results.tables import Block, label_column
from kleene.results.verify import Proof
from kleene.system.atomic_file import atomic_path
from kleene.system.cached_property import cached_property

__all__ = ["Isochrones"]

Array = NDArray[Any]

#: Sides of triangles that are left out of an area: longer than so many times the length that nine
#: of ten streets do not exceed. Blocks of buildings have diagonals of 1.4 to 2 streets.
_LONGER = 3.0

_KINDS = ("area", "streets")


class Isochrones(LongTable):
    """The part of a network that lies within each of some limits of a source.

    Attributes
    ----------
    source : vertex
        The source.
    limits : tuple of numbers
        The limits, in increasing order.
    reach : Reach
        What the search reached within the largest limit.
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
    ) -> None:
        self.reach, self.limits = reach, limits
        self._bounds = bounds  # the limits in the type of the weights
        self.source = reach.graph.label(int(reach._sources[0]))
        self._longest = longest

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
        answer = self.reach._answer
        near = answer.distances <= self._bound(limit)
        order = np.argsort(answer.distances[near], kind="stable")
        return self.reach.graph.label(answer.vertices[near][order])

    def _blocks(self) -> Iterator[Block]:
        """Yield the vertices reached, the nearest first: vertex, distance, smallest limit."""
        answer = self.reach._answer
        order = np.argsort(answer.distances, kind="stable")
        distances = answer.distances[order]
        yield {
            "vertex": label_column(self.reach.graph, answer.vertices[order]),
            "distance": distances,
            "limit": np.array(self.limits)[self._bands(distances)],
        }

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
        ends = self._positions[self._streets.low], self._positions[self._streets.high]
        lengths = np.hypot(*(ends[0] - ends[1]).T)
        return _LONGER * float(np.quantile(lengths, 0.9)) if len(lengths) else 0.0

    def to_geojson(self, kinds: Iterable[str] = _KINDS) -> dict[str, Any]:
        """Return a GeoJSON FeatureCollection (RFC 7946), a plain dict.

        For each limit, the largest first so that smaller ones are drawn on top, it has a feature
        of each kind, with the properties source, limit, kind and vertices (how many are reached).
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
        convert = to_degrees(self.reach.graph)
        convert(self._positions)
        return self._collection(kinds, convert)

    def _collection(
        self, kinds: Iterable[str], convert: Callable[[Array], Array] = np.asarray
    ) -> dict[str, Any]:
        chosen = [kinds] if isinstance(kinds, str) else list(kinds)
        for kind in chosen:
            if not isinstance(kind, str) or kind not in _KINDS:
                raise RequestError(f"kinds may be 'area' and 'streets', not {kind!r}")
        features = [
            {
                "type": "Feature",
                "geometry": self._area_geometry(limit, convert)
                if kind == "area"
                else {
                    "type": "MultiLineString",
                    "coordinates": [convert(line).tolist() for line in self.streets(limit)],
                },
                "properties": {
                    "source": plain(self.source),
                    "limit": limit,
                    "kind": kind,
                    "vertices": count,
                },
            }
            for limit, count in zip(self.limits[::-1], self._counts[::-1], strict=True)
            for kind in chosen
        ]
        return {"type": "FeatureCollection", "features": features}

    def save(self, path: str | Path) -> None:
        """Write a file, which is whole or not there.

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
        if not isinstance(path, (str, Path)) or Path(path).suffix.lower() != ".geojson":
            super().save(path)
            return
        with atomic_path(path) as beside:
            text = json.dumps(self.to_geojson(), ensure_ascii=False)
            beside.write_text(text + "\n", encoding="utf-8")

    @property
    def __geo_interface__(self) -> dict[str, Any]:
        """The same in the coordinates of the graph, for GeoPandas, Shapely and Folium."""
        return self._collection(_KINDS)

    def _area_geometry(
        self, limit: float, convert: Callable[[Array], Array]
    ) -> dict[str, Any] | None:
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
        ends = "to" if self.reach.reverse else "from"
        return f"Isochrones({ends} {self.source!r}: {', '.join(parts)})"

    def _bound(self, limit: float) -> float:
        """Return one of the limits in the type of the weights."""
        if limit not in self.limits:
            known = ", ".join(f"{x:g}" for x in self.limits)
            raise RequestError(f"{limit!r} is not one of the limits, which are {known}")
        return self._bounds[self.limits.index(limit)]

    @property
    def _counts(self) -> list[int]:
        """How many vertices are within each limit."""
        distances = self.reach._answer.distances
        return [int(np.count_nonzero(distances <= bound)) for bound in self._bounds]

    def _bands(self, distances: Array) -> Array:
        """Return the position of the smallest limit that each distance is within."""
        bands: Array = np.searchsorted(np.array(self._bounds), distances)
        return bands

    @property
    def _positions(self) -> Array:
        positions = self.reach.graph.positions
        assert positions is not None
        return positions

    @cached_property
    def _covered(self) -> dict[float, list[Array]]:
        return {}

    @cached_property
    def _streets(self) -> Streets:
        graph = self.reach.graph
        searched = graph.transpose() if self.reach.reverse else graph
        return streets_of(searched, self.reach._answer.vertices)

    @cached_property
    def _distances(self) -> Array:
        """The distance of every vertex, infinite where it was not reached."""
        answer = self.reach._answer
        distances = np.full(self.reach.graph.n, np.inf)
        distances[answer.vertices] = answer.distances
        return distances

    @cached_property
    def _lengths(self) -> Array:
        """The length of every arc of the graph as it was searched."""
        graph = self._streets.graph
        unit = self.reach.hops or graph.weights is None
        return np.ones(graph.m) if unit else np.asarray(graph.weights, dtype=np.float64)
