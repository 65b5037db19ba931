"""Street geometry: a polyline per edge, from objects of Shapely or from well-known text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import GraphError
from kleene.graph.labels import is_missing
from kleene.graph.rows import Lines

__all__ = ["LINESTRING", "lines_of", "oriented"]

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
