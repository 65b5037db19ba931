"""What a reader gives each rank: some arcs of a graph, not always those of its own vertices."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.graph.checks import id_dtype
from kleene.graph.weight_names import NumbersLeft
from kleene.io.source import Source

__all__ = ["PartArcs", "check_offsets", "tails_of_rows"]

Array = NDArray[Any]


class PartArcs(NamedTuple):
    """The arcs that a rank read.

    Attributes
    ----------
    n : int
        Vertices of the whole graph.
    tails, heads : array
        The ends of the arcs.
    weights : array or None
    directed : bool
    in_rows : bool
        Whether these are the rows of this rank's vertices: tails then count from the first of them,
        and both arcs of an undirected edge were read.
    labels : array or None
        The labels of the vertices of this rank's part, or None if vertices are their positions.
    name : str
    left : NumbersLeft or None
        The columns of numbers that might have been the weights, where there are none.
    """

    n: int
    tails: Array
    heads: Array
    weights: Array | None
    directed: bool
    in_rows: bool
    labels: Array | None = None
    name: str = ""
    left: NumbersLeft | None = None


def check_offsets(source: Source, offsets: Array, first: int, n: int, arcs: int) -> None:
    """Raise unless these are offsets of rows, from row ``first`` on, among ``arcs`` arcs."""
    rises = bool((offsets[1:] >= offsets[:-1]).all())
    inside = rises and offsets[0] >= 0 and offsets[-1] <= arcs
    starts = first > 0 or offsets[0] == 0
    ends = first + len(offsets) - 1 < n or offsets[-1] == arcs
    if not (inside and starts and ends):
        rows = f"rows {first:,} to {first + len(offsets) - 1:,}"
        source.fail(f"found wrong offsets of {rows}, expected them to rise from 0 to {arcs:,} arcs")


def tails_of_rows(offsets: Array) -> Array:
    """Return the row of every arc of some rows, counted from the first of them."""
    rows = len(offsets) - 1
    return np.repeat(np.arange(rows, dtype=id_dtype(rows)), np.diff(offsets))
