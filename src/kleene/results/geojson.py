"""GeoJSON (RFC 7946): longitude and latitude in degrees, WGS 84, and no other coordinates."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import GraphError
from kleene.graph import Graph
from kleene.graph.positions import crs_of

__all__ = ["to_degrees"]

Array = NDArray[Any]

_MOST = np.array([360.0, 90.0])  # east of the antimeridian, some count on
_DEGREES = ("epsg:4326", "4326", "wgs84", "ogc:crs84")  # coordinate reference systems, as written
_TABLE = "or save a table, .csv or .parquet"


def to_degrees(graph: Graph) -> Callable[[Array], Array]:
    """Return the function from coordinates of a graph to longitude and latitude.

    It raises GraphError for coordinates that cannot be these: on a map they would lie in the sea,
    since programs that read GeoJSON assume degrees.
    """
    crs = crs_of(graph)
    return _checked if crs is None or crs.lower() in _DEGREES else _from_crs(crs)


@cache
def _from_crs(crs: str) -> Callable[[Array], Array]:
    try:
        import pyproj  # an optional dependency
    except ImportError:
        raise GraphError(
            f"GeoJSON holds longitude and latitude in degrees, and the positions are in "
            f"{crs[:40]}: install pyproj, which converts them, {_TABLE}"
        ) from None
    try:
        transformer = pyproj.Transformer.from_crs(crs, "EPSG:4326", always_xy=True)
    except pyproj.exceptions.ProjError as error:
        raise GraphError(f"the positions are in {crs[:40]!r}, which pyproj refuses") from error
    return lambda points: _checked(np.column_stack(transformer.transform(*points.T)))


def _checked(points: Array) -> Array:
    if len(points) and (np.abs(points) > _MOST).any():
        x, y = points[(np.abs(points) > _MOST).any(axis=1).argmax()].tolist()
        raise GraphError(
            f"GeoJSON holds longitude and latitude in degrees, and a position is ({x:.6g}, "
            f"{y:.6g}): convert the positions to EPSG:4326 before, as pyproj's Transformer does, "
            f"{_TABLE}"
        )
    return points
