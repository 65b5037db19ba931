"""The vertices nearest to points on a map, by a k-d tree that the graph keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.errors import Code, GraphError, RequestError, Text
from kleene.graph.checks import FILL_IN, require_unmasked
from kleene.graph.earth import (
    BEYOND_DEGREES,
    are_degrees,
    chord_of_arc,
    distances_between,
    in_space,
)
from kleene.graph.foreign_columns import as_numpy
from kleene.graph.positions import crs_of
from kleene.system.cached_property import cached
from kleene.system.machine import as_threads, cores
from kleene.system.threads import or_alone

if TYPE_CHECKING:
    from kleene.graph.core import Graph

__all__ = ["NearestVertices", "nearest_vertex"]

Array = NDArray[Any]

_ALONE = 1 << 14  # points that one thread finds


class NearestVertices(NamedTuple):
    """The vertices nearest to points, and how far they are.

    For arrays of points these are arrays; with ``max_distance`` the vertices are a masked array, in
    which points without a vertex are masked. For one point they are a label, or None, and a number.
    """

    vertices: Any
    distances: Any


class _Tree(NamedTuple):
    """A k-d tree of the places of vertices, and the first vertex at each place."""

    tree: Any
    vertices: Array
    degrees: bool


def nearest_vertex(
    graph: Graph, x: Any, y: Any, max_distance: float | None, threads: int | None
) -> NearestVertices:
    points, single = _points(x, y)
    limit = _as_limit(max_distance)
    held: _Tree = cached(graph, "_nearest_tree", lambda: _make_tree(graph))
    if held.degrees and len(points) and (np.abs(points) > BEYOND_DEGREES).any():
        at = int((np.abs(points) > BEYOND_DEGREES).any(axis=1).argmax())
        raise RequestError(
            f"point {at} is at {tuple(points[at].tolist())}, which is not longitude and latitude "
            "in degrees; x is the longitude"
        )
    bound = chord_of_arc(limit, held.degrees) * (1 + 1e-9)
    team = 1 if len(points) < _ALONE else as_threads(threads) or cores()
    _, place = or_alone(
        lambda workers: held.tree.query(
            in_space(points, held.degrees), distance_upper_bound=bound, workers=workers
        ),
        team,
    )
    found = place < len(held.vertices)  # a place beyond the last one is none
    vertices = held.vertices[np.where(found, place, 0)]
    assert graph.positions is not None
    distances = distances_between(points, graph.positions[vertices], held.degrees)
    found &= distances <= limit
    distances[~found] = np.inf
    labels = graph.label(vertices)
    if single:
        label = labels.tolist()[0] if labels.dtype != object else labels[0]
        return NearestVertices(label if found[0] else None, float(distances[0]))
    if max_distance is not None:
        labels = np.ma.MaskedArray(labels, ~found)
    return NearestVertices(labels, distances)


def _points(x: Any, y: Any) -> tuple[Array, bool]:
    """Return points as an array of shape (points, 2), and whether they were one point."""
    columns = []
    for name, given in (("x", x), ("y", y)):
        require_unmasked(given, name, FILL_IN, RequestError)
        try:
            columns.append(np.asarray(as_numpy(given, name), dtype=np.float64))
        except (TypeError, ValueError, OverflowError) as error:
            raise RequestError(Code(name), f" must be numbers: {error}") from None
    if columns[0].shape != columns[1].shape or columns[0].ndim > 1:
        shapes = " and ".join(str(column.shape) for column in columns)
        raise RequestError(
            f"x and y must be two numbers, or two columns of one length, not {shapes}"
        )
    points = np.stack(columns, axis=-1).reshape(-1, 2)
    finite = np.isfinite(points).all(axis=1)
    if not finite.all():
        at = int(np.argmin(finite))
        raise RequestError(
            f"point {at} is at {tuple(points[at].tolist())}; leave out points without finite "
            "coordinates"
        )
    return points, columns[0].ndim == 0


def _as_limit(max_distance: float | None) -> float:
    try:
        limit = np.inf if max_distance is None else float(max_distance)
    except (TypeError, ValueError):
        limit = np.nan
    if not limit >= 0:
        raise RequestError(
            Code("max_distance"), f" must be a number from 0 on, not {max_distance!r}"
        )
    return limit


def _make_tree(graph: Graph) -> _Tree:
    from scipy.spatial import cKDTree  # SciPy takes time to import

    positions = graph.positions
    if positions is None:
        raise GraphError(
            "the graph has no positions",
            advice=[
                Text("give its vertices coordinates with ", Code("graph.with_positions(xy)")),
                Text("read them from a file, ", Code("positions=")),
            ],
        )
    if not len(positions):
        raise GraphError("the graph has no vertices, so none is the nearest")
    _, vertices = np.unique(positions, axis=0, return_index=True)
    degrees = are_degrees(crs_of(graph), positions)
    return _Tree(cKDTree(in_space(positions[vertices], degrees)), vertices, degrees)
