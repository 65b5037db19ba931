"""Lengths that say exactly which paths tie: integers without rounding, floats in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import RequestError
from kleene.graph import Graph
from kleene.graph.no_path import no_path

__all__ = ["comparable_lengths", "largest_length", "swallowed_weights"]

Array = NDArray[Any]


def comparable_lengths(graph: Graph, hops: bool) -> Array:
    """Return arc lengths as int32 or int64, where half of it holds every path, or float64."""
    if hops or graph.weights is None:
        return np.ones(graph.m, np.int32 if graph.n < 2**30 else np.int64)
    if graph.weights.dtype.kind == "f":
        return graph.weights.astype(np.float64, copy=False)
    narrow = graph.stats.path_bound <= largest_length(np.dtype(np.int32))
    return graph.weights.astype(np.int32 if narrow else np.int64, copy=False)


def largest_length(dtype: np.dtype[Any]) -> int | float:
    """Return the largest length of a path that searches compare."""
    return float(np.finfo(dtype).max) if dtype.kind == "f" else int(no_path(dtype)) // 2


def swallowed_weights(graph: Graph, tail: int, head: int) -> RequestError:
    """Return the error for a cycle whose arcs do not change the float sums that they add to."""
    arc = f"{graph.label(tail)!r} to {graph.label(head)!r}"
    return RequestError(
        f"the arc from {arc} adds nothing to a distance, and such arcs form a cycle: contract its "
        "vertices, or give its arcs larger weights"
    )
