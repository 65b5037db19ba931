"""What is left of rows of distances: how many, how far in all, how far at most, how they spread."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.engine.call import Timings
from kleene.engine.searched_rows import SearchedRows
from kleene.graph import Graph
from kleene.graph.no_path import NO_HOPS, no_path
from kleene.planning.plan import Plan
from kleene.proofs.claim import require_edges, require_numbers
from kleene.proofs.counts import CountBounds, edges_in
from kleene.proofs.paths import Proof
from kleene.proofs.rows import ProvedRow, verify_rows
from kleene.results.display import reduction_html
from kleene.system.formatting import counted

__all__ = ["DistanceReduction", "Reduced", "reduce_rows"]

Array = NDArray[Any]


class Reduced(NamedTuple):
    """Numbers for each of some rows; a row of counts each, if there are bins."""

    sums: Array
    maxima: Array
    reached: Array
    histogram: Array | None

    @staticmethod
    def empty(rows: int, dtype: np.dtype[Any], edges: Array | None) -> Reduced:
        """Return arrays for so many rows of distances of a type."""
        return Reduced(
            np.zeros(rows, np.int64 if dtype == np.int32 else np.float64),
            np.zeros(rows, dtype),
            np.zeros(rows, np.int64),
            None if edges is None else np.zeros((rows, len(edges) - 1), np.int64),
        )

    def put(self, first: int, part: Reduced) -> None:
        """Enter the numbers of some rows, from this one on."""
        for whole, some in zip(self, part, strict=True):
            if whole is not None and some is not None:
                whole[first : first + len(some)] = some


def reduce_rows(values: Array, hops: bool, edges: Array | None, threads: int = 1) -> Reduced:
    """Return the numbers of some rows of distances, on so many threads.

    Parameters
    ----------
    values : array
        One row for each source, a column for each vertex.
    hops : bool
        Whether -1 says "no path".
    edges : array, optional
        The edges of the bins, ascending; distances below the first, and from the last on, are not
        counted.
    threads : int
    """
    found = Reduced.empty(len(values), values.dtype, edges)
    none = NO_HOPS if hops else no_path(values.dtype)
    own = None if edges is None else edges_in(edges, values.dtype)
    _native.reduce_rows(values, none, own, *found, threads)
    return found


class DistanceReduction:
    """Sums, maxima and counts of the distances from some sources; see :func:`reduce_distances`.

    Attributes
    ----------
    graph : Graph
        The graph that was asked about.
    sums : array
        For each source, the sum of the distances to all vertices that it reaches: int64 where
        distances are int32, else float64, which rounds integers beyond 2^53.
    maxima : array
        For each source, the distance to the farthest vertex that it reaches.
    reached : array
        For each source, how many vertices it reaches, itself included.
    histogram : array or None
        For each source, how many vertices are in each bin: ``histogram[i, j]`` counts distances
        from ``edges[j]`` up to, but not including, ``edges[j + 1]``.
    edges : array or None
        The edges of the bins.
    hops : bool
        Whether arcs were counted instead of weights.
    reverse : bool
        Whether distances are those to the sources.
    plan : Plan
        What ran, and why.
    stats : Timings
        How many seconds it took.

    Examples
    --------
    >>> import kleene as kl
    >>> r = kl.reduce_distances(kl.generate.path(4), bins=4)
    >>> r.sums.tolist(), r.eccentricity.tolist(), r.histogram.sum(axis=0).tolist()
    ([6, 4, 4, 6], [3, 2, 2, 3], [4, 6, 4, 2])
    """

    def __init__(
        self,
        graph: Graph,
        plan: Plan,
        stats: Timings,
        sources: Array,
        reduced: Reduced,
        edges: Array | None,
        limit: int | float | None,
        hops: bool,
        reverse: bool,
    ) -> None:
        self.graph, self.plan, self.stats = graph, plan, stats
        self.hops, self.reverse, self.edges = hops, reverse, edges
        self._sources, self._limit, self._reduced = sources, limit, reduced
        self.sums, self.maxima, self.reached, self.histogram = reduced

    @property
    def sources(self) -> Array:
        """The sources: labels where the graph has labels."""
        sources: Array = self.graph.label(self._sources)
        return sources

    @property
    def eccentricity(self) -> Array:
        """The distance to the farthest vertex that each source reaches: :attr:`maxima`."""
        return self.maxima

    @property
    def closeness(self) -> Array:
        """The closeness of each source, by the formula of Wasserman and Faust.

        With r other vertices in reach, of n - 1, it is r / (n - 1) times r over the sum of their
        distances; 0 where nothing is in reach. NetworkX measures distances to a vertex: that is
        ``reverse=True``.
        """
        others, n = self.reached - 1.0, max(2, self.graph.n)
        sums = np.asarray(self.sums, np.float64)
        return np.divide(others**2, (n - 1) * sums, out=np.zeros_like(sums), where=sums > 0)

    @property
    def mean_distance(self) -> float:
        """The mean distance of all pairs with a path, without those of a vertex and itself."""
        pairs = int(self.reached.sum()) - len(self.reached)
        return float(np.sum(self.sums, dtype=np.float64) / pairs) if pairs else float("nan")

    def verify(self, sample: int | None = 8, seed: int = 0) -> Proof:
        """Prove the numbers of a sample of sources right, or raise VerificationError.

        Whole rows of these sources are searched and proved, then reduced and compared.

        Parameters
        ----------
        sample : int, optional
            How many sources to check; None for as many as take some seconds.
        seed : int
            Chooses the sample.

        Examples
        --------
        >>> import kleene as kl
        >>> kl.reduce_distances(kl.generate.grid(9, 9)).verify(sample=3).rows
        3
        """
        self._require_shapes()
        rows = SearchedRows(
            self.graph, "min_plus", self.maxima.dtype, self.reverse, self.hops, self._limit
        )
        return verify_rows(
            self.graph.transpose() if self.reverse else self.graph, "min_plus", self._sources,
            lambda which: rows.rows(self._sources[which]), self._compare, sample, seed,
            self.reverse, self.hops, self._limit,
        )  # fmt: skip

    def _require_shapes(self) -> None:
        """Raise VerificationError unless there is a number for each source, and bin."""
        count = len(self._sources)
        require_numbers(self.sums, "sums", (count,))
        require_numbers(self.maxima, "maxima", (count,), "if")
        require_numbers(self.reached, "numbers of vertices", (count,), "i")
        if self.histogram is not None and self.edges is not None:
            require_edges(self.edges)
            require_numbers(self.histogram, "counts", (count, len(self.edges) - 1), "i")

    def _compare(self, row: int, proved: ProvedRow) -> bool:
        """Compare the numbers of a source with those of its row."""
        right = reduce_rows(proved.values[None], self.hops, self.edges)
        there = proved.values != proved.no_path
        slack = 0.0 if proved.exact else float(proved.slack[there].sum())
        rounding = 0.0 if proved.exact else 1e-9 * abs(float(right.sums[0]))  # of the sum itself
        same = True
        for name, numbers, wanted, most in (
            ("sum", self.sums, right.sums, slack + rounding),
            ("maximum", self.maxima, right.maxima, slack),
            ("number of vertices", self.reached, right.reached, 0.0),
        ):
            same &= bool(numbers[row] == wanted[0])
            if proved.differs(numbers[row], wanted[0], most):
                proved.refuse(f"has the {name} {numbers[row]}, expected {wanted[0]}")
        # untestable (or to and): both have one, or none
        if self.histogram is None or right.histogram is None:
            return same
        assert self.edges is not None
        held, counts = self.histogram[row], right.histogram[0]
        bounds = CountBounds(self.edges)
        bounds.add(proved, own=True)
        if (at := bounds.first_wrong(held)) is not None:
            proved.refuse(f"has {held[at]:,} vertices in bin {at}, expected {counts[at]:,}")
        return same and np.array_equal(held, counts)

    def _repr_html_(self) -> str:
        return reduction_html(self)

    def __repr__(self) -> str:
        what = "hops" if self.hops else "lengths"
        many = counted(len(self._sources), "source")
        return (
            f"DistanceReduction({what} {'to' if self.reverse else 'from'} {many} of "
            f"{counted(self.graph.n, 'vertex', 'vertices')}, {self.maxima.dtype}, "
            f"{self.stats.total:.3g} s)"
        )
