"""Closeness and harmonic centrality: what is left of the distances between each vertex and sources.

A proof takes some vertices, searches from each in the other direction, proves these rows, and adds
up what they hold for the sources.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kleene.engine.call import Timings
from kleene.engine.searched_rows import SearchedRows
from kleene.graph import Graph
from kleene.graph.no_path import NO_HOPS, no_path
from kleene.measures.measure import Measure
from kleene.planning.plan import Plan
from kleene.proofs.claim import require_numbers
from kleene.proofs.paths import Proof
from kleene.proofs.rows import ProvedRow, verify_rows

__all__ = ["Closeness", "DistanceMeasure", "DistanceSums", "Harmonic", "Measured"]

Array = NDArray[Any]


@dataclass(frozen=True)
class Measured:
    """Which distances are measured: those from some sources to every vertex."""

    graph: Graph
    sources: Array  # positions, each once
    hops: bool
    reverse: bool  # from every vertex to the sources instead
    limit: int | float | None  # in the type of the distances
    dtype: np.dtype[Any]

    @property
    def no_path(self) -> Any:
        """The distance of a vertex that is not reached."""
        return NO_HOPS if self.hops else no_path(self.dtype)

    @property
    def others(self) -> Array:
        """For each vertex, how many sources are another vertex."""
        counts = np.full(self.graph.n, len(self.sources), np.int64)
        counts[self.sources] -= 1
        return counts

    def rows(self) -> tuple[Graph, SearchedRows]:
        """Return what searches from a vertex for its distances to all others, and its graph."""
        found = SearchedRows(self.graph, "min_plus", self.dtype, not self.reverse, self.hops, None)
        return self.graph if self.reverse else self.graph.transpose(), found


@dataclass(frozen=True)
class DistanceSums:
    """For each vertex, over all other vertices among the sources that a path joins it with."""

    reached: Array  # how many
    #: Of the distances. Integers are exact, and beyond int64 those of Python; beside inverses,
    #: float64 where they may be beyond.
    sums: Array
    inverses: Array | None  # the sum of 1 / distance, without distances of zero
    pairs_by_hops: Array | None = None  # how many pairs have each number of hops


class DistanceMeasure(Measure):
    """A number for each vertex that follows from its distances to some sources.

    Attributes
    ----------
    reached : array
        For each vertex, how many other vertices among the sources a path joins it with.
    totals : array
        For each vertex, the sum that its number follows from. Sums of integers are exact: int64,
        or Python's integers (dtype object) where one does not fit.
    """

    reached: Array
    totals: Array
    _name: ClassVar[str]

    def __init__(
        self, measured: Measured, reached: Array, totals: Array, plan: Plan, stats: Timings
    ) -> None:
        self._measured, self.reached, self.totals = measured, reached, totals
        super().__init__(measured.graph, self._name, self._numbers(), plan, stats)

    def _numbers(self) -> Array:
        """Return the numbers that follow from counts and totals."""
        raise NotImplementedError  # untestable: every measure has its own

    @staticmethod
    def _terms(distances: Array) -> Array:
        """Return what is added up, of distances as float64."""
        raise NotImplementedError  # untestable: every measure has its own

    def verify(self, sample: int | None = None, seed: int = 0) -> Proof:
        """Prove the numbers of a sample of vertices right, or raise VerificationError.

        Whole rows of these vertices are searched, proved, added up and compared.

        Parameters
        ----------
        sample : int, optional
            How many vertices to check; None for as many as take some seconds.
        seed : int
            Chooses the sample.

        Examples
        --------
        >>> import kleene as kl
        >>> kl.closeness(kl.generate.grid(9, 9)).verify(sample=3).rows
        3
        """
        graph, searched = self._measured.rows()
        vertices = np.arange(graph.n)
        for held, name in ((self.values, self.name), (self.totals, "totals")):
            require_numbers(held, name, (graph.n,))
        require_numbers(self.reached, "numbers of vertices", (graph.n,), "i")
        numbers = self._numbers()
        return verify_rows(
            graph, "min_plus", vertices, lambda which: searched.rows(vertices[which]),
            lambda row, proved: self._compare(row, proved, numbers), sample, seed,
            not self._measured.reverse, self._measured.hops,
        )  # fmt: skip

    def _compare(self, row: int, proved: ProvedRow, numbers: Array) -> bool:
        """Compare the number of a vertex with that of its row."""
        sources = self._measured.sources
        sources = sources[(sources != row) & (proved.values[sources] != proved.no_path)]
        whole = self.totals.dtype.kind != "f"
        compare = self._compare_integers if whole else self._compare_floats
        same = compare(row, proved, sources)
        if self.values[row] != numbers[row]:
            proved.refuse(f"has {self.name} {self.values[row]:.15g}, expected {numbers[row]:.15g}")
        return same

    def _compare_integers(self, row: int, proved: ProvedRow, sources: Array) -> bool:
        """Compare the total of a vertex with the sum of integers, which has no rounding."""
        distances, limit = proved.values[sources], self._measured.limit
        if limit is not None:
            distances = distances[distances <= limit]
        held, total = int(self.totals[row]), sum(distances.tolist())
        if self.reached[row] != len(distances):
            _refuse_count(proved, int(self.reached[row]), len(distances))
        if held != total:
            proved.refuse(f"has the total {held}, expected {total}")
        return True

    @np.errstate(over="ignore", invalid="ignore")  # totals may be infinite, and their errors nan
    def _compare_floats(self, row: int, proved: ProvedRow, sources: Array) -> bool:
        """Compare the total of a vertex with a sum of floats, up to rounding."""
        limit = self._measured.limit
        distances = proved.values[sources].astype(np.float64)
        slack = proved.slack[sources].astype(np.float64)
        within = np.ones(len(distances), np.bool_) if limit is None else distances <= limit
        unsure = np.zeros(len(distances), np.bool_)
        if limit is not None and not proved.exact:  # so near the limit that rounding may decide
            unsure = (np.abs(distances - limit) <= slack) & ~(within & proved.short[sources])
        sure = within & ~unsure
        terms = self._terms(distances)
        least, most = int(sure.sum()), int((sure | unsure).sum())
        total, more = float(terms[sure].sum()), float(terms[unsure].sum())
        loose = float(np.max(slack / np.maximum(distances, 1e-300), initial=0.0))
        error = (1e-9 + 2 * loose) * (total + more)
        held, count = float(self.totals[row]), int(self.reached[row])
        if not least <= count <= most:
            _refuse_count(proved, count, least)
        if held != total and not total - error <= held <= total + more + error:
            proved.refuse(f"has the total {held!r}, expected {total!r}")
        return held == float(terms[within].sum()) and count == int(within.sum())


def _refuse_count(proved: ProvedRow, count: int, right: int) -> None:
    proved.refuse(f"has {count:,} vertices in reach, expected {right:,}")


class Closeness(DistanceMeasure):
    """The closeness of each vertex; see :func:`kleene.closeness`."""

    _name = "closeness"

    def __init__(
        self, measured: Measured, found: DistanceSums, improved: bool, plan: Plan, stats: Timings
    ) -> None:
        self._improved = improved
        super().__init__(measured, found.reached, found.sums, plan, stats)

    @np.errstate(over="ignore")  # distances may be tiny
    def _numbers(self) -> Array:
        reached = self.reached.astype(np.float64)
        totals = self.totals.astype(np.float64)
        numbers = np.divide(reached, totals, out=np.zeros_like(totals), where=totals > 0)
        if self._improved:
            numbers *= reached / np.maximum(1, self._measured.others)
        return numbers

    @staticmethod
    def _terms(distances: Array) -> Array:
        return distances


class Harmonic(DistanceMeasure):
    """The harmonic centrality of each vertex; see :func:`kleene.harmonic`."""

    _name = "harmonic"

    def __init__(self, measured: Measured, found: DistanceSums, plan: Plan, stats: Timings) -> None:
        assert found.inverses is not None
        super().__init__(measured, found.reached, found.inverses, plan, stats)

    def _numbers(self) -> Array:
        return self.totals

    @staticmethod
    def _terms(distances: Array) -> Array:
        return np.divide(1.0, distances, out=np.zeros_like(distances), where=distances > 0)
