"""Layouts from positions that the graph has, with the course of its streets."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.graph import Graph
from kleene.graph.rows import Lines

__all__ = ["Layout", "map_layout", "street_courses"]

Array = NDArray[Any]


class Layout(NamedTuple):
    """Where vertices are in the plane, NaN for those not drawn; and lines of the table rows."""

    points: NDArray[np.float64]
    lines: Lines | None = None


def map_layout(graph: Graph) -> Layout:
    """Return the layout of a graph with positions; longitudes are narrowed to their true width.

    Examples
    --------
    >>> import kleene as kl
    >>> from kleene.viz.maps import map_layout
    >>> g = kl.Graph.from_edges([0], [1]).with_positions([(10.5, 59.9), (11.5, 60.1)])
    >>> map_layout(g).points[:, 0].round(3).tolist()
    [5.25, 5.75]
    """
    assert graph.positions is not None
    scale = np.array([_narrowing(graph.positions), 1.0])
    lines = None if graph.rows is None else graph.rows.lines
    if lines is not None:
        lines = lines._replace(coordinates=lines.coordinates * scale)
    return Layout(graph.positions * scale, lines)


def _narrowing(positions: Array) -> float:
    """Return the length of a degree of longitude over one of latitude; 1 for other coordinates."""
    inside = (np.abs(positions) <= [180, 90]).all()
    if not len(positions) or not inside or (positions == np.round(positions)).all():
        return 1.0
    low, high = positions[:, 1].min(), positions[:, 1].max()
    return float(max(0.01, np.cos(np.radians((low + high) / 2))))


def street_courses(graph: Graph, layout: Layout, arcs: Array, tails: Array) -> list[Array | None]:
    """Return the line of each arc from its tail on, None where only the ends are known."""
    if layout.lines is None:
        return [None] * len(arcs)
    offsets, coordinates = layout.lines
    courses: list[Array | None] = []
    for row, tail in zip(graph.arc_rows.rows[arcs].tolist(), layout.points[tails], strict=True):
        line = coordinates[offsets[row] : offsets[row + 1]] if row >= 0 else coordinates[:0]
        if len(line) < 2:
            courses.append(None)
            continue
        begins, ends = np.hypot(*(line[[0, -1]] - tail).T)
        courses.append(line[::-1] if ends < begins else line)
    return courses
