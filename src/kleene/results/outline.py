"""The outline of points in the plane: an alpha shape.

The points are joined by Delaunay's triangulation, triangles with a long side are left out, and the
rest is outlined: where points lie close there is area, across rivers and around villages there is
none. Triangles that share sides make one polygon, with the holes that they leave.

H. Edelsbrunner, D. Kirkpatrick and R. Seidel, "On the shape of a set of points in the plane", 1983.
(There, triangles are left out by the radius of their circle.)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["outline"]

Array = NDArray[Any]
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
