"""Coordinates of vertices in the plane."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import GraphError
from kleene.graph.checks import FILL_IN, require_unmasked
from kleene.graph.foreign_columns import as_numpy
from kleene.graph.frozen import adopt
from kleene.graph.table_index import in_order_of_vertices

if TYPE_CHECKING:
    from kleene.graph.core import Graph

__all__ = ["as_positions", "crs_of", "in_crs"]

_CRS = "_crs"  # in a graph's __dict__


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
        raise GraphError(f"the position of a vertex is {tuple(array[vertex].tolist())}")
    if given is None:
        return adopt(array)  # type: ignore[no-any-return]
    given[places] = array
    return adopt(given)  # type: ignore[no-any-return]


def crs_of(graph: Graph) -> str | None:
    """Return the coordinate reference system of the positions and lines; None if it is unknown."""
    crs: str | None = graph.__dict__.get(_CRS)
    return crs


def in_crs(graph: Graph, crs: str | None) -> Graph:
    """Return a new graph, whose positions are in this system."""
    graph.__dict__[_CRS] = crs
    return graph
