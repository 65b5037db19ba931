"""Eccentricities as far as a question needs them: by few searches, then from many vertices at once.

The native core decides by single searches: all eccentricities by targets, which few vertices are
farthest from (``native/core/measures/eccentricity_targets.hpp``), diameter, radius, center and
periphery by bounds (``eccentricity_bounds.hpp``), until these decide too little. What is open then
is searched from in large batches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.graph import Graph

__all__ = ["Farthest", "Goal", "Known", "bound_dtype", "by_bounds", "by_targets"]

Array = NDArray[Any]
Goal = Literal["diameter", "radius", "periphery", "center"]
Farthest = Callable[[Array], Array]  # from some vertices, the distances to the farthest in reach

#: Vertices that are searched from together, of those that bounds have left.
_TOGETHER = 2**12


@dataclass(frozen=True)
class Known:
    """What is known of the eccentricities of a graph."""

    lower: Array
    upper: Array  # the same where the eccentricity is known
    known: Array  # bool
    largest: Any  # eccentricity that was found; of none, -1
    smallest: Any
    searches: int
    alone: int = 0  # vertices that were decided by no search but their own


def bound_dtype(graph: Graph, hops: bool, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type that searches compute in: floats are added up in float64."""
    if hops:
        return np.dtype(graph.id_dtype)
    if dtype.kind == "f":
        return np.dtype(np.float64)
    return np.dtype(np.int64) if graph.id_dtype == np.int64 else dtype


def by_bounds(
    graph: Graph,
    goal: Goal,
    hops: bool,
    dtype: np.dtype[Any],
    components: tuple[Array, Array],
    farthest: Farthest,
    threads: int,
) -> Known:
    """Return what the goal needs, for a graph whose components are strongly connected.

    Parameters
    ----------
    graph : Graph
    goal : str
        What must be known afterwards: the largest eccentricity, or the smallest, or all that are
        equal to these.
    hops : bool
        Whether arcs are counted instead of adding weights.
    dtype : dtype
        The type of distances in which every path fits.
    components : tuple of arrays
        The component of each vertex, and their sizes.
    farthest : function
        Searches from many vertices at once.
    threads : int
    """
    dtype = bound_dtype(graph, hops, dtype)
    lower, upper = np.zeros(graph.n, _wide(dtype)), np.zeros(graph.n, _wide(dtype))
    known = np.zeros(graph.n, np.uint8)
    largest, smallest, searches, undecided = _native.bound_eccentricities(
        goal, *_lengths(graph, hops, dtype, components), lower, upper, known, threads
    )
    found = Known(lower, upper, known.view(np.bool_), largest, smallest, searches)
    while undecided and len(left := np.flatnonzero(_matters(found, goal))):
        found = _search_more(found, goal, left, farthest)
    return found


def by_targets(
    graph: Graph,
    hops: bool,
    dtype: np.dtype[Any],
    components: tuple[Array, Array],
    closed: bool,
    farthest: Farthest,
    threads: int,
) -> Known:
    """Return all eccentricities; the arguments are those of :func:`by_bounds`.

    ``components`` are strong ones, ``closed`` if no arc leads from one to another.
    """
    dtype = bound_dtype(graph, hops, dtype)
    values, known = np.zeros(graph.n, _wide(dtype)), np.zeros(graph.n, np.uint8)
    searches = _native.target_eccentricities(
        closed, *_lengths(graph, hops, dtype, components), values, known, threads
    )
    left = np.flatnonzero(known == 0)
    if len(left):
        values[left] = farthest(left)
    return _all_known(values, searches + len(left), len(left))


def _all_known(values: Array, searches: int, alone: int) -> Known:
    largest, smallest = (values.max().item(), values.min().item()) if len(values) else (-1, -1)
    known = np.ones(len(values), np.bool_)
    return Known(values, values, known, largest, smallest, searches, alone)


def _wide(dtype: np.dtype[Any]) -> type[np.generic]:
    return np.int64 if dtype.kind == "i" else np.float64


def _lengths(
    graph: Graph, hops: bool, dtype: np.dtype[Any], components: tuple[Array, Array]
) -> tuple[Any, Any, Any, Any, Any, Any, Any, Any, Any]:
    """Return a graph as the native core takes it: arcs, incoming arcs, components."""
    weights = None if hops else graph.weights
    lengths = None if weights is None else weights.astype(dtype, copy=False)
    incoming: tuple[Any, Any, Any] = (None, None, None)
    if graph.directed:
        back = graph.csc
        lengths_in = (
            None if hops or back.weights is None else back.weights.astype(dtype, copy=False)
        )
        incoming = (back.offsets, back.neighbors, lengths_in)
    longest = 1.0 if hops else float(graph.stats.max_weight)
    parts: tuple[Any, Any] = (None, None) if len(components[1]) == 1 else components
    return (graph.offsets, graph.neighbors, lengths, *incoming, longest, *parts)


def _search_more(found: Known, goal: Goal, left: Array, farthest: Farthest) -> Known:
    """Search from the most promising of the vertices that are left."""
    promise = found.lower if goal in ("radius", "center") else -found.upper
    chosen = left[np.argsort(promise[left], kind="stable")[:_TOGETHER]]
    values = farthest(chosen)
    found.lower[chosen] = found.upper[chosen] = values
    found.known[chosen] = True
    return replace(
        found,
        largest=max(found.largest, values.max().item()),
        smallest=min(found.smallest, values.min().item()),
        searches=found.searches + len(chosen),
    )


def _matters(found: Known, goal: Goal) -> Array:
    """Return which eccentricities are not known, and may decide the goal."""
    matters: Array = ~found.known
    if goal == "diameter":
        matters &= found.upper > found.largest
    elif goal == "periphery":
        matters &= found.upper >= found.largest
    elif goal == "radius":
        matters &= found.lower < found.smallest
    elif goal == "center":
        matters &= found.lower <= found.smallest
    return matters
