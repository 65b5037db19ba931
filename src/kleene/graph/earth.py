"""Distances between coordinates: metres on the Earth for longitude and latitude, else in the plane.

The Earth is a sphere of its mean radius, as in OSMnx; distances on an ellipsoid differ by up to
0.6 %. Points of the sphere are points in space, where a k-d tree finds the nearest: a chord grows
with its arc, so the order is the same.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import GraphError
from kleene.graph.rows import Lines

__all__ = [
    "BEYOND_DEGREES",
    "DEGREES",
    "are_degrees",
    "chord_of_arc",
    "distances_between",
    "in_space",
    "lengths_of_lines",
]

Array = NDArray[Any]

RADIUS = 6_371_009.0  # metres, as in OSMnx

#: Longitude and latitude of WGS 84, which are GeoJSON's, as coordinate reference systems are
#: written.
DEGREES = ("epsg:4326", "4326", "wgs84", "ogc:crs84")

#: Systems of longitude and latitude that are often met; pyproj knows the others.
_GEOGRAPHIC = {
    f"epsg:{code}"
    for code in (4148, 4167, 4171, 4230, 4258, 4267, 4269, 4277, 4283, 4289, 4312, 4314, 4490,
                 4612, 4617, 4674, 4759, 4979, 6318, 6668, 7844)
}  # fmt: skip
_WKT = ("geogcs", "geogcrs", "geodcrs")
_PLANE = ("projcs", "projcrs", "local_cs", "engcrs", "engineeringcrs")

#: No longitude or latitude is larger: east of the antimeridian, some count on.
BEYOND_DEGREES = np.array([360.0, 90.0])


def are_degrees(crs: str | None, points: Array) -> bool:
    """Return whether points in this system are longitude and latitude.

    Raises GraphError if only pyproj could know, and is not there.
    """
    if crs is None or not len(points):
        return False
    name = crs.strip().lower()
    if name in DEGREES or name in _GEOGRAPHIC or name.startswith(_WKT):
        return True
    beyond = bool((np.abs(points) > BEYOND_DEGREES).any())
    return not beyond and not name.startswith(_PLANE) and _is_geographic(crs)


@cache
def _is_geographic(crs: str) -> bool:
    """Return what pyproj knows of a system."""
    try:
        import pyproj  # an optional dependency
    except ImportError:
        raise GraphError(
            f"distances are metres if {crs[:40]} is longitude and latitude, which only pyproj "
            "knows: install it"
        ) from None
    try:
        return bool(pyproj.CRS.from_user_input(crs).is_geographic)
    except pyproj.exceptions.ProjError as error:
        raise GraphError(f"the coordinates are in {crs[:40]!r}, which pyproj refuses") from error


def lengths_of_lines(lines: Lines, degrees: bool) -> Array:
    """Return the length of each line: metres of longitude and latitude, else in the plane."""
    offsets, points = lines
    steps = distances_between(points[:-1], points[1:], degrees)
    lengths = np.zeros(len(offsets) - 1)
    some = np.flatnonzero(np.diff(offsets) > 1)
    if len(some):  # steps from the last point of a line to the next line are left out
        bounds = np.stack([offsets[some], offsets[some + 1] - 1], axis=1).reshape(-1)
        lengths[some] = np.add.reduceat(np.append(steps, 0.0), bounds)[::2]
    return lengths


def distances_between(a: Array, b: Array, degrees: bool) -> Array:
    """Return how far points are from others: great circles, or straight lines in the plane."""
    distances: Array
    if not degrees:
        distances = np.hypot(*(a - b).T)
        return distances
    (lon, lat), (other_lon, other_lat) = np.radians(a).T, np.radians(b).T
    haversine = (
        np.sin((other_lat - lat) / 2) ** 2
        + np.cos(lat) * np.cos(other_lat) * np.sin((other_lon - lon) / 2) ** 2
    )
    distances = 2 * RADIUS * np.arcsin(np.sqrt(np.minimum(haversine, 1)))
    return distances


def in_space(points: Array, degrees: bool) -> Array:
    """Return points as a k-d tree takes them: longitude and latitude as points of the sphere."""
    if not degrees:
        return points
    lon, lat = np.radians(points).T
    flat = np.cos(lat)
    return RADIUS * np.stack([flat * np.cos(lon), flat * np.sin(lon), np.sin(lat)], axis=1)


def chord_of_arc(distance: float, degrees: bool) -> float:
    """Return the distance in space of points that are so far apart."""
    if not degrees:
        return distance
    return float(2 * RADIUS * np.sin(min(distance / (2 * RADIUS), np.pi / 2)))
