"""Coordinates of vertices in the plane."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import GraphError
from kleene.graph.checks import FILL_IN, require_unmasked
from kleene.graph.foreign_columns import as_numpy
from kleene.graph.forms import adopt
from kleene.graph.labels import is_missing
from kleene.graph.rows import Lines, in_order_of_vertices

if TYPE_CHECKING:
    from kleene.graph.core import Graph

__all__ = [
    "LINESTRING",
    "as_crs",
    "as_positions",
    "crs_of",
    "in_crs",
    "lines_of",
    "narrowing",
    "oriented",
]

_CRS = "_crs"  # in a graph's __dict__


def narrowing(positions: NDArray[np.float64]) -> float:
    """Return the length of a degree of longitude over one of latitude; 1 for other coordinates."""
    inside = (np.abs(positions) <= [180, 90]).all()
    if not len(positions) or not inside or (positions == np.round(positions)).all():
        return 1.0
    low, high = positions[:, 1].min(), positions[:, 1].max()
    return float(max(0.01, np.cos(np.radians((low + high) / 2))))


def as_positions(graph: Graph, positions: Any) -> NDArray[np.float64]:
    """Return (x, y) of each vertex as a frozen array, from an array or a dict by vertex."""
    if isinstance(positions, Mapping):
        places = graph.index(list(positions))
        if len(places) != graph.n:
            raise GraphError(f"got positions of {len(places)} vertices; the graph has {graph.n}")
        given: Any = np.empty((graph.n, 2))
        values = list(positions.values())
    else:
        given, places = None, slice(None)
        values = in_order_of_vertices(positions, graph, "positions")
    require_unmasked(values, "positions", FILL_IN)
    try:
        with np.errstate(over="ignore"):  # infinite, which is refused below
            array = np.array(as_numpy(values, "positions"), dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise GraphError(f"positions must be pairs of numbers (x, y): {error}") from None
    if array.size == 0:
        array = array.reshape(-1, 2)
    if array.shape != (graph.n, 2):
        raise GraphError(
            f"positions must have shape ({graph.n}, 2), one (x, y) per vertex, not {array.shape}"
        )
    if not np.isfinite(array).all():
        vertex = int(np.argmin(np.isfinite(array).all(axis=1)))
        raise GraphError(
            f"positions must be finite, but that of vertex {graph.label(vertex)!r} is "
            f"{tuple(array[vertex].tolist())}"
        )
    if given is None:
        return adopt(array)  # type: ignore[no-any-return]
    given[places] = array
    return adopt(given)  # type: ignore[no-any-return]


def crs_of(graph: Graph) -> str | None:
    """Return the coordinate reference system of the positions and lines; None if it is unknown."""
    crs: str | None = graph.__dict__.get(_CRS)
    return crs


def as_crs(crs: Any) -> str | None:
    """Return a coordinate reference system as text: a name, a code of EPSG, or one of pyproj."""
    if isinstance(crs, int) and not isinstance(crs, bool):
        return f"EPSG:{crs}"
    return None if crs is None else str(crs)


def in_crs(graph: Graph, crs: str | None) -> Graph:
    """Return a new graph, whose positions are in this system."""
    graph.__dict__[_CRS] = crs
    return graph


# ---- Street geometry: a polyline per edge, from objects of Shapely or from well-known text ------

Array = NDArray[Any]

#: A line in well-known text; its group is None if the line is empty.
LINESTRING = re.compile(r"\s*LINESTRING\s*Z?M?\s*(?:EMPTY|\(([^()]*)\))\s*", re.IGNORECASE)


def lines_of(geometries: Iterable[Any]) -> Lines:
    """Return the lines of geometries: objects with ``coords``, well-known text, or None."""
    parts = [_coordinates(row, geometry) for row, geometry in enumerate(geometries)]
    offsets = np.zeros(len(parts) + 1, np.int64)
    np.cumsum([len(part) for part in parts], out=offsets[1:])
    return Lines(offsets, np.concatenate([np.empty((0, 2)), *parts]))


def _coordinates(row: int, geometry: Any) -> Array:
    if is_missing(geometry):
        return np.empty((0, 2))
    try:
        if isinstance(geometry, str):
            matched = LINESTRING.fullmatch(geometry)
            if matched is None:
                raise ValueError(geometry)
            points: Any = [point.split() for point in (matched[1] or "").split(",") if matched[1]]
        else:
            points = geometry.coords
        array = np.array(points, np.float64)
        if array.size and (array.ndim != 2 or array.shape[1] < 2 or not np.isfinite(array).all()):
            raise ValueError(geometry)
    except (AttributeError, NotImplementedError, TypeError, ValueError):
        shown = str(geometry)[:60]
        raise GraphError(f"the geometry of edge {row} is {shown!r}, not a line") from None
    return array[:, :2] if array.size else np.empty((0, 2))


def oriented(lines: Lines, positions: Array, sources: Array, targets: Array) -> Lines:
    """Return the lines so that each runs from its row's source to its target.

    A line that begins nearer to the target is turned round: undirected edges of NetworkX have no
    order of their ends.
    """
    offsets, coordinates = lines
    lengths = np.diff(offsets)
    some = np.flatnonzero(lengths)
    starts = coordinates[offsets[some]]
    from_source, from_target = (
        np.square(starts - positions[ends[some]]).sum(axis=1) for ends in (sources, targets)
    )
    turned = np.zeros(len(lengths), bool)
    turned[some] = from_target < from_source
    if not turned.any():
        return lines
    row = np.repeat(np.arange(len(lengths)), lengths)
    places = np.arange(len(coordinates))
    mirrored = offsets[row] + offsets[row + 1] - 1 - places
    return Lines(offsets, coordinates[np.where(turned[row], mirrored, places)])
