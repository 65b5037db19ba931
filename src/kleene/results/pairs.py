"""The answer for a list of pairs: a distance and a path for each, without rows of the matrix."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from kleene.backends.answer import Answer
from kleene.backends.common.walks import Walks, select_walks
from kleene.engine.call import Call, Outcome, Timings
from kleene.errors import RequestError
from kleene.graph import Graph
from kleene.planning.plan import Plan
from kleene.proofs.pairs import PairValues, verify_pairs
from kleene.proofs.paths import Proof
from kleene.results.display import pairs_table, result_html
from kleene.results.paths import Paths
from kleene.results.result import Result
from kleene.results.route import Route, Routes, make_routes
from kleene.results.saved import SavedPairs, save_pairs
from kleene.results.tables import BLOCK, Block, label_column
from kleene.system.formatting import counted

__all__ = ["PairsResult"]

Array = NDArray[Any]


class PairsResult(Result):
    """The answer to a call with ``pairs``, in the order of the pairs.

    Arrays have one entry per pair; :attr:`sources` and :attr:`targets` are the origins and the
    destinations. Where pairs have fewer destinations than origins, searches started at the
    destinations, and floats were added from there.

    Examples
    --------
    >>> import kleene as kl
    >>> g = kl.Graph.from_table({"source": ["a", "b", "a"], "target": ["b", "c", "d"]})
    >>> r = kl.bfs(g, pairs=[("a", "c"), ("b", "b"), ("c", "a")])
    >>> r.distances.tolist(), r.path(0), r.path(2)
    ([2, 0, -1], ['a', 'b', 'c'], [])
    """

    def __init__(
        self,
        graph: Graph,
        plan: Plan,
        stats: Timings,
        pairs: tuple[Array, Array],
        values: Array,
        walks: Walks | None,
        limit: int | float | None,
        by_target: bool,
    ) -> None:
        super().__init__(graph, plan, stats, Answer(values[None], None), *pairs, limit, False)
        self._stored_walks, self._by_target = walks, by_target

    @classmethod
    def _of_pairs(cls, call: Call, made: Outcome, by_target: bool = False) -> PairsResult:
        """Return the result of a call with pairs that the engine answered."""
        assert call.pairs is not None
        part, plan, stats, limit = made
        values, (origins, destinations) = part.answer.values[0], call.pairs
        pairs = origins, destinations
        return cls(call.graph, plan, stats, pairs, values, part.walks, limit, by_target)

    @property
    def distances(self) -> Array:
        """The path value of each pair; :attr:`no_path` where there is no path."""
        values: Array = self._answer.values[0]
        return values

    @property
    def _count(self) -> int:
        return len(self._sources)

    def _value_rows(self) -> Iterator[Array]:
        yield self.distances

    @property
    def predecessors(self) -> None:
        """None: paths are kept whole, see :meth:`paths`."""
        return None

    @property
    def next_hops(self) -> Array:
        """The position of the second vertex of each pair's path; -1 where there is none."""
        (positions, offsets), _ = self._walks_of(None)
        hops = np.full(len(self._sources), -1, dtype=positions.dtype)
        longer = np.flatnonzero(np.diff(offsets) > 1)
        hops[longer] = positions[offsets[longer] + 1]
        return hops

    # ---- paths ----------------------------------------------------------------------------

    def path(self, *ends: Hashable) -> list[Any]:
        """Return the vertices of the path of a pair; empty if there is none.

        Parameters
        ----------
        *ends : int
            The number of the pair, from 0: ``path(i)``.

        Examples
        --------
        >>> import kleene as kl
        >>> r = kl.bfs(kl.Graph.from_edges([0, 1], [1, 2]), pairs=[(1, 2), (0, 2)])
        >>> r.path(1)
        [0, 1, 2]
        """
        return self.paths([self._pair(ends, "path")])[0]

    def paths(self, pairs: Iterable[int] | None = None) -> Paths:  # type: ignore[override]
        """Return the paths of the pairs.

        Parameters
        ----------
        pairs : sequence of int, optional
            The numbers of the pairs; all by default.

        Examples
        --------
        >>> import kleene as kl
        >>> kl.bfs(kl.Graph.from_edges([0, 1], [1, 2]), pairs=[(1, 2), (0, 2)]).paths()
        Paths([[1, 2], [0, 1, 2]])
        """
        return Paths(self.graph, *self._walks_of(pairs)[0])

    def route(self, *ends: Hashable) -> Route:
        """Return the path of a pair with its arcs, table rows and coordinates.

        Parameters
        ----------
        *ends : int
            The number of the pair, from 0: ``route(i)``.

        Examples
        --------
        >>> import kleene as kl
        >>> kl.bfs(kl.Graph.from_edges([0, 1], [1, 2]), pairs=[(1, 2), (0, 2)]).route(1)
        Route(0 to 2, 2 arcs, distance 2)
        """
        return self.routes([self._pair(ends, "route")])[0]

    def routes(self, pairs: Iterable[int] | None = None) -> Routes:  # type: ignore[override]
        """Return the routes of the pairs.

        Parameters
        ----------
        pairs : sequence of int, optional
            The numbers of the pairs; all by default.

        Examples
        --------
        >>> import kleene as kl
        >>> len(kl.bfs(kl.Graph.from_edges([0, 1], [1, 2]), pairs=[(1, 2), (0, 2)]).routes())
        2
        """
        return make_routes(self.graph, *self._walks_of(pairs))

    # ---- tables and files -----------------------------------------------------------------

    def to_frame(self) -> Any:
        """Return a pandas DataFrame of the distances, indexed by (source, target).

        NaN where there is no path. Distances are float64.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.Graph.from_edges([0, 1], [1, 2])
        >>> kl.bfs(g, pairs=[(0, 2), (2, 0)]).to_frame()["distance"].tolist()
        [2.0, nan]
        """
        table = self.to_pandas().astype({"distance": float})
        return table.set_index(["source", "target"])

    def _blocks(self) -> Iterator[Block]:
        """Yield the table of the pairs, all of them, in their order."""
        for first in range(0, max(1, len(self._sources)), BLOCK):
            part = slice(first, first + BLOCK)
            values = self.masked[part]
            yield {
                "source": label_column(self.graph, self._sources[part]),
                "target": label_column(self.graph, self._far_ends[part]),
                "distance": values,
            }

    def _save_npz(self, path: str | Path) -> None:
        held = SavedPairs(
            self.plan, self.stats, (self._sources, self._far_ends), self.distances,
            self._stored_walks, self._limit, self._by_target,
        )  # fmt: skip
        save_pairs(path, self.graph, held)

    def _save_store(self, path: str | Path) -> NoReturn:
        raise RequestError(
            "a store holds rows, and this result has pairs: save it as .npz, .npy or as a table: "
            ".csv, .tsv, .json or .parquet"
        )

    # ---- proof ----------------------------------------------------------------------------

    def verify(self, sample: int | None = None, seed: int = 0) -> Proof:
        """Prove this answer right, or raise VerificationError.

        The rows that the pairs belong to are computed once more and proved; the pairs must agree
        with them, and their paths must add up.

        Parameters
        ----------
        sample : int, optional
            How many of the vertices that searches started at to check.
        seed : int
            Chooses the sample.

        Examples
        --------
        >>> import kleene as kl
        >>> proof = kl.bfs(kl.Graph.from_edges([0, 1], [1, 2]), pairs=[(0, 2), (1, 2)]).verify()
        >>> proof.rows, proof.tolerance
        (1, 'exact')
        """
        claim = PairValues(
            self.graph, self.problem == "bfs", self._sources, self._far_ends, self.distances,
            self._stored_walks, self._limit, self._by_target,
        )  # fmt: skip
        return verify_pairs(claim, sample, seed)

    # ---- inside ---------------------------------------------------------------------------

    def __repr__(self) -> str:
        kind = f"{self.problem} by {self.plan.method} on {self.plan.where}"
        reached, count = int(np.count_nonzero(self.reached)), len(self._sources)
        return (
            f"PairsResult({kind}, {reached:,} of {counted(count, 'pair')} reached, "
            f"{self.plan.dtype}, {self.stats.total:.3g} s)"
        )

    def _repr_html_(self) -> str:
        return result_html(self, pairs_table(self))

    def _pair(self, ends: tuple[Any, ...], what: str) -> int:
        """Return the number of a pair."""
        if len(ends) != 1:
            raise RequestError(f"{what} takes the number of a pair: {what}(0) is that of the first")
        return int(self._numbers([ends[0]])[0])

    def _numbers(self, pairs: Any) -> Array:
        """Return numbers of pairs, checked."""
        count = len(self._sources)
        if isinstance(pairs, (str, bytes)) or not np.iterable(pairs):
            raise RequestError(f"expected a sequence of numbers of pairs, not {pairs!r}")
        given = list(pairs)
        integers = (int, np.integer)
        if not all(isinstance(i, integers) and not isinstance(i, bool) for i in given):
            raise RequestError(f"pairs are named by their number, 0 to {count - 1}, not {pairs!r}")
        outside = [i for i in given if not 0 <= i < count]
        if outside:
            raise RequestError(f"no pair {outside[0]}: they are 0 to {count - 1}")
        return np.array(given, dtype=np.int64)

    def _walks_of(self, numbers: Iterable[int] | None) -> tuple[Walks, Array]:
        """Return the paths of some pairs, by position, and their lengths."""
        if self._stored_walks is None:
            raise RequestError(
                f"paths need predecessors: call {self.problem}(..., predecessors=True)"
            )
        if numbers is None:
            return self._stored_walks, self.distances
        pairs = self._numbers(numbers)
        return select_walks(self._stored_walks, pairs), self.distances[pairs]
