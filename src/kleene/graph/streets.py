"""Graphs of lines: a street is a line of points, and streets meet where their ends do.

A line makes a row of the graph's table, with its geometry; its first point is the source, its last
the target. Ends with the same coordinates are one vertex; ``snap`` also joins those that are close
to each other, by a k-d tree, since rounding to digits separates points on the two sides of a border
between digits. Lines that cross elsewhere do not meet: bridges do not, and streets that do are
split there by programs that make networks.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.errors import Code, GraphError, GraphWarning, RequestError, Text
from kleene.graph.checks import as_name, require_memory
from kleene.graph.construct import from_directions
from kleene.graph.convert import no_such_weight
from kleene.graph.derive import as_directions
from kleene.graph.earth import (
    are_degrees,
    chord_of_arc,
    distances_between,
    in_space,
    lengths_of_lines,
)
from kleene.graph.positions import in_crs
from kleene.graph.rows import Lines, index_digest
from kleene.graph.tables import as_lengths, column, column_names
from kleene.graph.weight_names import GEOMETRY, level_of_user, named_weight
from kleene.system.formatting import counted

if TYPE_CHECKING:
    from kleene.graph.core import Graph

__all__ = [
    "JoinedEnds",
    "LinesOfFeatures",
    "as_snap",
    "from_geopandas",
    "graph_of_lines",
    "street_weight",
    "warn_of_directions",
]

Array = NDArray[Any]

_ONEWAY = ("oneway", "one_way")
_PAIR_BYTES = 48  # of ends that are close to each other
_TABLE = 24  # bits of a hash of coordinates


@dataclass(frozen=True, eq=False)
class JoinedEnds:
    """The ends of streets that ``snap`` joined with ends at another place.

    Attributes
    ----------
    rows : array of int64
        The row of each such end.
    vertices : array
        The vertex that it became an end at.
    distances : array of float64
        How far it is from the position of that vertex: metres of longitude and latitude, else in
        the units of the coordinates.

    Examples
    --------
    >>> import io, json, kleene as kl
    >>> lines = [[[9, 50], [9, 51]], [[9, 51.00001], [8, 51]]]
    >>> streets = [{"type": "LineString", "coordinates": line} for line in lines]
    >>> file = json.dumps({"type": "FeatureCollection", "features": streets})
    >>> kl.read(io.BytesIO(file.encode()), snap=2).joined_ends
    JoinedEnds(1 end at 1 vertex, up to 1.11 away)
    """

    rows: NDArray[np.int64]
    vertices: Array
    distances: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        vertices = counted(len(np.unique(self.vertices)), "vertex", "vertices")
        far = f", up to {self.distances.max():.3g} away" if len(self) else ""
        return f"JoinedEnds({counted(len(self), 'end')} at {vertices}{far})"


class LinesOfFeatures(NamedTuple):
    """The lines among the features of a file or table, none of them empty."""

    lines: Lines
    features: NDArray[np.int64]  # of each line, in increasing order
    total: int  # of all features
    others: Mapping[str, int]  # how many features of each kind have no line


def graph_of_lines(
    cls: type[Graph],
    found: LinesOfFeatures,
    weights: Array | Literal["geometry"] | None,
    directed: bool | Array,
    crs: str | None,
    snap: float,
    name: str = "",
    keep_rows: bool = True,
    threads: int | None = None,
    index: int | None = None,
) -> Graph:
    """Return the graph of lines; weights and directions are those of the features.

    ``index`` is the digest of the index of a pandas table that has a row for each feature.
    """
    lines, features = found.lines, found.features
    numbers, count = _rows_of(found)
    several = np.bincount(features, minlength=found.total)[features] > 1
    by_length = isinstance(weights, str) or (weights is not None and bool(several.any()))
    degrees = (by_length or snap > 0) and are_degrees(crs, lines.coordinates)
    lengths = lengths_of_lines(lines, degrees) if by_length else None
    values = lengths if isinstance(weights, str) else _shared(weights, lengths, features, several)
    meeting = _meet(lines, snap, degrees)
    sources, targets = meeting.vertices.reshape(-1, 2).T
    n = len(meeting.positions)
    if isinstance(directed, np.ndarray):
        graph = from_directions(
            cls, sources, targets, values, n, directed[features], None, name, keep_rows, threads
        )
    else:
        graph = cls.from_edges(
            sources, targets, values, n, directed, name=name, keep_rows=keep_rows, threads=threads
        )
    graph = in_crs(graph.with_positions(meeting.positions), crs)
    if graph.rows is not None:
        index = index if count == found.total else None
        rows = replace(graph.rows, numbers=numbers, count=count, index=index)
        rows = rows.with_lines(_lines_of_rows(lines, numbers, count))
        graph = graph._derived(graph.csr, rows=rows)
    if snap:
        row = meeting.moved // 2
        graph.__dict__["_joined_ends"] = JoinedEnds(
            row if numbers is None else numbers[row],
            meeting.vertices[meeting.moved],
            meeting.distances,
        )
    return graph


def _rows_of(found: LinesOfFeatures) -> tuple[Array | None, int]:
    """Return the numbers of the rows (None: in order), and how many rows the table has.

    Rows are features, unless some have several lines: then they are lines.
    """
    _, features, count, others = found
    several = np.flatnonzero(np.bincount(features, minlength=count) > 1)
    if not len(features):
        raise GraphError(
            f"found no line in {counted(count, 'feature')}{_listed(others)}; expected streets, "
            "each a LineString or MultiLineString"
        )
    if others:
        _warn(
            f"found no line, and so no street, in {sum(others.values()):,} of "
            f"{counted(count, 'feature')}{_listed(others)}"
        )
    if len(several):
        _warn(
            f"{counted(len(several), 'feature')} with several lines, the first of them feature "
            f"{several[0]}: each line is a street and a row of its own, so rows are numbered 0 to "
            f"{len(features) - 1:,} by line, and the lines of a feature share its weight"
        )
        return None, len(features)
    return None if len(features) == count else features, count


def _listed(others: Mapping[str, int]) -> str:
    return (
        f" ({', '.join(f'{count:,} {kind}' for kind, count in others.items())})" if others else ""
    )


def _warn(*said: str) -> None:
    warnings.warn(GraphWarning(Text(*said)), stacklevel=level_of_user())


def _lines_of_rows(lines: Lines, numbers: Array | None, count: int) -> Lines:
    """Return the lines by the number of the row; rows without a line have an empty one."""
    if numbers is None:
        return lines
    offsets = np.zeros(count + 1, np.int64)
    offsets[1 + numbers] = np.diff(lines.offsets)
    return Lines(np.cumsum(offsets), lines.coordinates)


def _shared(
    weights: Array | None, lengths: Array | None, features: Array, several: Array
) -> Array | None:
    """Return the weight of each line; the lines of a feature share its weight, by their lengths."""
    if weights is None or lengths is None:
        return None if weights is None else weights[features]
    whole = np.bincount(features, lengths)[features]
    share = np.divide(lengths, whole, out=np.zeros_like(lengths), where=whole > 0)
    values = weights[features]
    shared: Array = np.multiply(
        values, share, out=values.astype(np.float64), where=several & np.isfinite(values)
    )
    return shared


# ---- where streets meet -------------------------------------------------------------------------


class _Meeting(NamedTuple):
    """The vertices at the ends of lines: of each line the first end, then the last."""

    vertices: Array
    positions: Array  # of each vertex
    moved: Array  # the ends that are elsewhere than their vertex
    distances: Array  # how far


def _meet(lines: Lines, snap: float, degrees: bool) -> _Meeting:
    """Return where lines meet; vertices are numbered as their places appear."""
    bounds = np.stack([lines.offsets[:-1], lines.offsets[1:] - 1], axis=1)
    ends = lines.coordinates[bounds.reshape(-1)]
    _, first, of_key = np.unique(_keys(ends), return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    places, place = ends[first[order]], rank[of_key.reshape(-1)]
    _warn_of_passed_ends(lines, places)
    if snap == 0:
        return _Meeting(place, places, np.empty(0, np.int64), np.empty(0))
    leader = _leaders(places, snap, degrees)
    chosen, vertex = np.unique(leader, return_inverse=True)
    moved = np.flatnonzero(leader[place] != place)
    distances = distances_between(ends[moved], places[leader[place[moved]]], degrees)
    return _Meeting(vertex.reshape(-1)[place], places[chosen], moved, distances)


def _leaders(places: Array, snap: float, degrees: bool) -> Array:
    """Return, for each place, the first of those that it is joined with, also by way of others."""
    from scipy.sparse import coo_array  # SciPy takes time to import
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    tree, radius = cKDTree(in_space(places, degrees)), chord_of_arc(snap, degrees)
    close = (tree.count_neighbors(tree, radius) - len(places)) // 2
    require_memory(
        _PAIR_BYTES * int(close),
        f"joining ends, of which {close:,} pairs are within {snap:g},",
        Text("pass a smaller ", Code("snap=")),
    )
    pairs = tree.query_pairs(radius, output_type="ndarray").astype(np.int32)
    ones = np.ones(len(pairs), np.int8)
    joined = coo_array((ones, (pairs[:, 0], pairs[:, 1])), shape=(len(places), len(places)))
    parts = connected_components(joined, directed=False)[1]
    leaders: Array = np.unique(parts, return_index=True)[1][parts]
    return leaders


def _warn_of_passed_ends(lines: Lines, places: Array) -> None:
    """Warn where an end of a street is a point inside another: they look joined, and are not."""
    offsets, points = lines
    inner = np.ones(len(points), bool)
    inner[offsets[:-1]] = inner[offsets[1:] - 1] = False
    inside = np.flatnonzero(inner)
    table = np.zeros(1 << _TABLE, bool)
    table[_hashes(places)] = True
    inside = inside[table[_hashes(points[inside])]]
    line = np.searchsorted(offsets, inside, side="right") - 1
    own = [
        (points[inside] == points[end]).all(axis=1)
        for end in (offsets[line], offsets[line + 1] - 1)
    ]
    inside = inside[~(own[0] | own[1])]
    keys, ends = (_keys(each) for each in (points[inside], places))
    passed = np.unique(keys[np.isin(keys, ends)])
    if len(passed):
        x, y = passed[0].real, passed[0].imag
        _warn(
            f"at {counted(len(passed), 'place')}, such as ({x:.10g}, {y:.10g}), a street ends "
            "inside another one, which passes without an end of its own: the two do not meet. "
            "Split streets where they meet, as OSMnx and QGIS (Split with lines) do"
        )


def _keys(points: Array) -> Array:
    """Return one number for each point; -0 is 0."""
    keys: Array = np.ascontiguousarray(points + 0.0).view(np.complex128).reshape(-1)
    return keys


def _hashes(points: Array) -> Array:
    """Return a number of few bits for each point."""
    bits = np.ascontiguousarray(points + 0.0).view(np.uint64)
    mixed = bits[:, 0] * np.uint64(0x9E3779B97F4A7C15) ^ bits[:, 1] * np.uint64(0xC2B2AE3D27D4EB4F)
    return (mixed * np.uint64(0xD6E8FEB86659FD93)) >> np.uint64(64 - _TABLE)


# ---- which columns count ------------------------------------------------------------------------


def street_weight(weight: Any, names: Sequence[Any]) -> Any:
    """Return which column holds the weights, ``GEOMETRY`` for the lengths of lines, or None."""
    name = as_name(weight, "weight")
    if name == "auto" and name not in names:
        return named_weight(names) or GEOMETRY
    if name not in (None, GEOMETRY, *names):
        raise no_such_weight(name, "column", [*map(str, names), GEOMETRY])
    return name


def warn_of_directions(names: Sequence[Any]) -> None:
    """Warn of a column of one-way streets that was not named."""
    for name in names:
        if isinstance(name, str) and name.lower() in _ONEWAY:
            _warn(
                f"the streets have a column {name!r}, and all of them are taken to go both ways: "
                "pass ",
                Code(f"directed={name!r}"),
                ", or ",
                Code("directed=False"),
                " if that is meant",
            )


def as_snap(snap: Any) -> float:
    """Return a tolerance that is a number from 0 on."""
    try:
        tolerance = float(snap)
    except (TypeError, ValueError):
        tolerance = -1
    if not 0 <= tolerance < np.inf:
        raise RequestError(Code("snap"), f" must be a number from 0 on, not {snap!r}")
    return tolerance


# ---- tables of GeoPandas ------------------------------------------------------------------------


def from_geopandas(cls: type[Graph], streets: Any, weight: Any, directed: Any, snap: Any) -> Graph:
    geometry = getattr(streets, "geometry", None)
    if geometry is None or not hasattr(geometry, "geom_type"):
        raise GraphError(
            "expected a GeoDataFrame with a column of geometry, or a GeoSeries, not "
            f"{type(streets).__name__}"
        )
    names = [name for name in _names(streets) if name != geometry.name]
    chosen = street_weight(weight, names)
    found = _lines_in(geometry)
    of_streets = np.unique(found.features)
    weights: Any = chosen
    if chosen not in (None, GEOMETRY):
        given = column(streets, chosen)[of_streets]
        values = as_lengths(given, chosen, ("drop these streets", "fill them in"))
        assert values is not None
        weights = np.zeros(found.total, values.dtype)
        weights[of_streets] = values
    direction: bool | Array = bool(directed)
    if isinstance(directed, str):
        direction = as_directions(column(streets, directed), directed)
    elif directed is None:
        warn_of_directions(names)
    crs = None if geometry.crs is None else geometry.crs.to_string()
    return graph_of_lines(
        cls, found, weights, direction, crs, as_snap(snap), index=index_digest(streets)
    )


def _names(streets: Any) -> list[Any]:
    return column_names(streets) if hasattr(streets, "columns") else []


def _lines_in(geometry: Any) -> LinesOfFeatures:
    """Return the lines in a column of geometry."""
    import shapely  # which GeoPandas has imported

    shapes = np.asarray(geometry.array, dtype=object)
    parts, feature = shapely.get_parts(shapes, return_index=True)
    while (shapely.get_type_id(parts) > _POLYGON).any():  # collections of collections
        parts, part = shapely.get_parts(parts, return_index=True)
        feature = feature[part]
    which = np.isin(shapely.get_type_id(parts), _LINES) & ~shapely.is_empty(parts)
    points, line = shapely.get_coordinates(parts[which], return_index=True)
    finite = np.isfinite(points).all(axis=1)
    if not finite.all():
        at = int(np.argmin(finite))
        raise GraphError(
            f"row {feature[which][line[at]]} has a point at {tuple(points[at].tolist())}; expected "
            "finite coordinates"
        )
    offsets = np.append(0, np.cumsum(np.bincount(line, minlength=np.count_nonzero(which))))
    without = np.setdiff1d(np.arange(len(shapes)), feature[which])
    others: dict[str, int] = {}
    for shape in shapes[without]:
        kind = (
            "without geometry" if shape is None else "empty" if shape.is_empty else shape.geom_type
        )
        others[kind] = others.get(kind, 0) + 1
    return LinesOfFeatures(Lines(offsets, points), feature[which], len(shapes), others)


_POLYGON, _LINES = 3, (1, 2)  # types of Shapely: LineString and LinearRing
