"""How distances spread: how many pairs of vertices are how far apart."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.engine.call import Timings
from kleene.engine.searched_rows import SearchedRows
from kleene.errors import VerificationError
from kleene.graph import Graph
from kleene.graph.forms import adopt
from kleene.measures.display import histogram_html
from kleene.measures.distance_measure import Measured
from kleene.planning.plan import Plan
from kleene.proofs.claim import require_edges, require_numbers
from kleene.proofs.counts import CountBounds
from kleene.proofs.paths import Proof
from kleene.proofs.rows import ProvedRow, verify_rows
from kleene.results.distance_reduction import reduce_rows
from kleene.results.long_table import LongTable
from kleene.results.tables import Block
from kleene.system.formatting import counted

__all__ = ["Bins", "DistanceHistogram"]

Array = NDArray[Any]

#: Lengths without bins are counted in at most so many, whose width is a power of two.
_MOST_BINS = 128

#: Numbers of rows and bins that are counted together, at most, unless a row has more.
_COUNTED = 2**20


class Bins:
    """Counts of distances, in bins that are given or that grow with the distances.

    Hops have a bin each. Bins of lengths are twice as wide whenever one lies beyond the last, and
    neighbours are added up. So the width follows from the largest length, whatever came first.
    """

    def __init__(self, edges: Array | None, hops: bool, whole: bool) -> None:
        self._given, self._hops = edges, hops
        self._width: Any = 1 if whole else 0.0
        self._counts = np.zeros(0 if edges is None else len(edges) - 1, np.int64)

    @property
    def edges(self) -> Array:
        """The edges of the bins, one more than bins."""
        if self._given is not None:
            return self._given
        return np.arange(len(self._counts) + 1) * (self._width or 1.0)

    @property
    def counts(self) -> Array:
        """How many distances were counted, by bin."""
        return self._counts

    def add_levels(self, pairs: Array) -> None:
        """Count pairs by their number of hops."""
        self.reach(len(pairs) - 1)
        where = np.searchsorted(self.edges, np.arange(len(pairs)), "right") - 1
        inside = (where >= 0) & (where < len(self._counts))
        np.add.at(self._counts, where[inside], pairs[inside])

    def add_rows(self, rows: Array, hops: bool, threads: int) -> None:
        """Count the distances of whole rows, but not those of a source and itself."""
        if self._given is None:
            self.reach(reduce_rows(rows, hops, None, threads).maxima.max(initial=0).item())
        # untestable: how many rows are counted together
        together = max(1, _COUNTED // max(1, len(self._counts)))
        for first in range(0, len(rows), together):
            some = reduce_rows(rows[first : first + together], hops, self.edges, threads)
            assert some.histogram is not None
            self._counts += some.histogram.sum(axis=0)
        own = int(np.searchsorted(self.edges, 0, "right")) - 1
        if 0 <= own < len(self._counts):
            self._counts[own] -= len(rows)

    def add(self, other: Bins) -> Bins:
        """Add the counts of other sources."""
        width = max(self._width, other._width)
        for bins in (self, other):
            bins._widen_to(width)
        own, more = self._counts, other._counts
        self._counts = np.zeros(max(len(own), len(more)), np.int64)
        self._counts[: len(own)] += own
        self._counts[: len(more)] += more
        return self

    def reach(self, most: Any) -> None:
        """Make bins for distances up to this one."""
        if self._given is not None:
            return
        if not self._hops and most >= _MOST_BINS * self._width:
            self._widen(most)
        needed = math.floor(most / self._width) + 1 if self._width else 1
        if needed > len(self._counts):  # untestable (> to >=): appends no bins
            self._counts = np.append(self._counts, np.zeros(needed - len(self._counts), np.int64))

    def _widen(self, most: Any) -> None:
        if not self._width:  # the first length of all: the smallest power of two that will do
            # untestable (1 to 2): a smaller width is doubled until it will do
            self._width = 2.0 ** (math.frexp(most / _MOST_BINS)[1] - 1) if most else 0.0
        width = self._width
        while width and most >= _MOST_BINS * width:
            width *= 2
        self._widen_to(width)

    def _widen_to(self, width: Any) -> None:
        """Make bins so wide; without a width they have counted nothing but distances of zero."""
        while self._width and self._width < width:
            self._width *= 2
            even = np.append(self._counts, np.zeros(len(self._counts) % 2, np.int64))
            self._counts = even.reshape(-1, 2).sum(axis=1)
        self._width = width


class DistanceHistogram(LongTable):
    """How many pairs of a source and another vertex are how far apart.

    Bin j counts the distances from edge j up to, but not including, edge j + 1. It is a table:
    ``to_frame()`` and ``save("x.csv")`` have the columns ``from``, ``to`` and ``pairs``.

    Attributes
    ----------
    graph : Graph
        The graph.
    counts : array
        The number of ordered pairs in each bin.
    edges : array
        The edges of the bins, one more than bins.
    plan : Plan
        What ran, and why.
    stats : Timings
        How many seconds it took.
    """

    graph: Graph
    counts: Array
    edges: Array
    plan: Plan
    stats: Timings

    def __init__(self, measured: Measured, bins: Bins, plan: Plan, stats: Timings) -> None:
        self._measured = measured
        self.graph, self.plan, self.stats = measured.graph, plan, stats
        self.counts, self.edges = adopt(bins.counts), adopt(bins.edges)

    @property
    def sources(self) -> Array:
        """The sources: labels where the graph has labels."""
        named: Array = self.graph.label(self._measured.sources)
        return named

    def verify(self, sample: int | None = None, seed: int = 0) -> Proof:
        """Prove the counts right, or raise VerificationError.

        Whole rows of the sources are searched, proved and counted. Where that takes too long, a
        sample of them is, and no bin may hold fewer pairs than theirs.

        Parameters
        ----------
        sample : int, optional
            How many sources to check; None for as many as take some seconds.
        seed : int
            Chooses the sample.

        Examples
        --------
        >>> import kleene as kl
        >>> kl.distance_histogram(kl.generate.grid(5, 5)).verify().rows
        25
        """
        require_edges(self.edges)
        require_numbers(self.counts, "counts", (len(self.edges) - 1,), "i")
        m = self._measured
        rows = SearchedRows(m.graph, "min_plus", m.dtype, m.reverse, m.hops, m.limit)
        bounds = CountBounds(self.edges)

        def compare(_: int, proved: ProvedRow) -> bool:
            bounds.add(proved, own=False)
            return True

        proof = verify_rows(
            m.graph.transpose() if m.reverse else m.graph, "min_plus", m.sources,
            lambda which: rows.rows(m.sources[which]), compare, sample, seed, m.reverse, m.hops,
            m.limit,
        )  # fmt: skip
        some = proof.rows < proof.of
        at = bounds.first_wrong(self.counts, some)
        if at is not None:
            raise VerificationError(
                f"bin {at} has {self.counts[at]:,} pairs, but {proof.rows:,} of {proof.of:,} "
                f"sources have {bounds.in_words(at)}"
            )
        rounded = bounds.rounded(self.counts, some)
        return replace(proof, tolerance="up to rounding") if rounded else proof

    def _blocks(self) -> Iterator[Block]:
        yield {"from": self.edges[:-1], "to": self.edges[1:], "pairs": self.counts}

    def _repr_html_(self) -> str:
        return histogram_html(self)

    def __repr__(self) -> str:
        what = "hops" if self._measured.hops else "lengths"
        return (
            f"DistanceHistogram({what} of {counted(int(self.counts.sum()), 'pair')} in "
            f"{counted(len(self.counts), 'bin')}, from "
            f"{counted(len(self._measured.sources), 'source')})"
        )
