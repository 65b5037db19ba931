"""Bins of distances: edges in the type of the distances, and bounds where rounding decides."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.proofs.rows import ProvedRow

__all__ = ["CountBounds", "edges_in"]

Array = NDArray[Any]


class CountBounds:
    """Bounds on the number of distances below each edge, of rows that were proved.

    A distance that is as close to an edge as rounding moves it may be on either side. So a bin may
    have a distance more or fewer, but its neighbour beyond that edge has one fewer or more.
    """

    def __init__(self, edges: Array) -> None:
        self._edges = edges
        self._least = np.zeros(len(edges), np.int64)  # that lie below each edge whatever rounding
        self._most = np.zeros(len(edges), np.int64)
        self._below = np.zeros(len(edges), np.int64)  # as the rows say, bit for bit

    def add(self, proved: ProvedRow, own: bool) -> None:
        """Add the distances of a row, with or without that of the source itself."""
        there = proved.values != proved.no_path
        there[proved.source] = own
        values = proved.values[there]
        if proved.exact:
            below = _below(values, edges_in(self._edges, values.dtype))
            self._least += below
            self._most += below
        else:
            values, slack = values.astype(np.float64), proved.slack[there]
            below = _below(values, self._edges)
            self._least += _below(values + np.where(proved.short[there], 0, slack), self._edges)
            self._most += _below(values - slack, self._edges)
        self._below += below

    def first_wrong(self, counts: Array, some: bool = False) -> int | None:
        """Return the first bin with a count that no rounding explains; None if there is none.

        With ``some``, counts are of more rows than were added, and may be larger.
        """
        if not len(counts):
            return None
        (least, *lower), (most, *upper) = self._least.tolist(), self._most.tolist()
        for j, count in enumerate(counts.tolist()):
            most = min(upper[j], most + count)
            least = lower[j] if some else max(lower[j], least + count)
            if count < 0 or least > most:
                return j
        return None

    def rounded(self, counts: Array, some: bool = False) -> bool:
        """Return whether counts that are not wrong need rounding to explain them."""
        bins = np.diff(self._below)
        return bool((counts < bins).any() or (not some and (counts > bins).any()))

    def in_words(self, j: int) -> str:
        """Return how many distances bin j has, by the rows that were added."""
        least = max(0, self._least[j + 1] - self._most[j])
        most = self._most[j + 1] - self._least[j]
        return f"{most:,}" if least == most else f"{least:,} to {most:,}"


def _below(values: Array, edges: Array) -> Array:
    """Return how many values are below each edge."""
    passed = np.searchsorted(edges, values, "right")  # edges up to the value
    # untestable (1 to 2): a count more than is taken
    below: Array = np.cumsum(np.bincount(passed, minlength=len(edges) + 1))[: len(edges)]
    return below


def edges_in(edges: Array, dtype: np.dtype[Any]) -> Array:
    """Return edges in the type of the distances: the smallest values that are not below them."""
    if dtype.kind == "f":
        rounded = edges.astype(dtype)
        return np.where(rounded < edges, np.nextafter(rounded, dtype.type(np.inf)), rounded)
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    whole = [min(max(math.ceil(edge), least), most) for edge in _finite(edges, least, most)]
    return np.array(whole, dtype)


def _finite(edges: Array, least: int, most: int) -> list[Any]:
    """Return edges as numbers, of which none is infinite."""
    # untestable (0 to 1, > to >=, > to <=): the edge is infinite, of either sign
    bounded: list[Any] = [
        edge if math.isfinite(edge) else (most if edge > 0 else least) for edge in edges.tolist()
    ]
    return bounded
