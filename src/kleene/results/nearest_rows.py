"""The nearest facilities of some vertices, found on a prepared graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.common.walks import Walks
from kleene.backends.task import NearestTask
from kleene.engine.call import Timings
from kleene.errors import RequestError
from kleene.graph import Graph
from kleene.planning.plan import Plan
from kleene.prepared.sweeps import PreparedRows
from kleene.proofs.paths import Proof
from kleene.proofs.rows import ProvedRow, verify_rows
from kleene.results.nearest import Nearest
from kleene.system.cached_property import cached_property

__all__ = ["NearestRows"]

Array = NDArray[Any]


class NearestRows(Nearest):
    """The nearest facilities of some vertices: arrays have one entry, or row, for each of them."""

    def __init__(
        self,
        graph: Graph,
        plan: Plan,
        stats: Timings,
        task: NearestTask,
        distances: Array,
        which: Array,
        reverse: bool,
        vertices: Array,
        prepared: PreparedRows,
    ) -> None:
        super().__init__(graph, plan, stats, task, distances, which, False, reverse)
        self._vertices, self._prepared = vertices, prepared

    @property
    def _places(self) -> Array:
        return self._vertices

    @cached_property
    def _row_of(self) -> dict[int, int]:
        return {vertex: row for row, vertex in enumerate(self._vertices.tolist())}

    def _rows(self, ends: Array) -> Array:
        # untestable (1 to 2): any negative number says that there is no row
        rows = np.array([self._row_of.get(vertex, -1) for vertex in ends.tolist()], np.int64)
        if (rows < 0).any():
            vertex = self.graph.label(ends[rows < 0][:1]).tolist()[0]
            raise RequestError(f"vertex {vertex!r} is not among the sources of this answer")
        return rows

    def _follow(self, ends: Array, owners: Array, lengths: Array) -> Walks:
        has = owners >= 0
        far = self._task.facilities[owners[has]]
        positions, starts = self._prepared.walks_between(ends[has], far)
        counts = np.zeros(len(ends), np.int64)
        counts[has] = np.diff(starts)
        return positions, np.append(0, np.cumsum(counts))

    def verify(self, sample: int | None = None, seed: int = 0) -> Proof:
        """Prove this answer right, or raise VerificationError.

        Whole rows of distances are computed for the vertices, or for a sample of them, and proved
        on the original graph; the facilities must be the nearest in these rows.

        Parameters
        ----------
        sample : int, optional
            How many vertices to check.
        seed : int
            Chooses the sample.

        Examples
        --------
        >>> import kleene as kl
        >>> kl.prepare(kl.generate.grid(9, 9)).nearest([3, 50], [0, 40], k=2).verify().tolerance
        'exact'
        """
        return verify_rows(
            self.graph.transpose() if self.reverse else self.graph, "min_plus", self._vertices,
            lambda rows: self._prepared.rows(self._vertices[rows]), self._compare, sample, seed,
            self.reverse,
        )  # fmt: skip

    def _compare(self, row: int, proved: ProvedRow) -> bool:
        """Compare the facilities of a vertex with a row of distances."""
        facilities, limit = self._task.facilities, self._task.limit
        which, held = self._which[row], self._distances[row]
        count = int(np.count_nonzero(which >= 0))
        if (held[count:] != self.no_path).any():
            proved.refuse(f"holds {held.tolist()}, but only {count:,} of these have a facility")
        rest, which, held = which[count:], which[:count], held[:count]
        offered = proved.values[facilities]
        nearest = np.lexsort((np.arange(len(offered)), offered))[: self.k]
        there = offered[nearest] != proved.no_path
        nearest = nearest[there if limit is None else there & (offered[nearest] <= limit)]
        right = offered[nearest]
        if np.array_equal(which, nearest) and np.array_equal(held, right):
            return True
        known = (rest < 0).all() and (which < len(facilities)).all() and len(set(which)) == count
        if proved.exact or not known or not proved.agrees(facilities[which], held).all():
            proved.refuse(f"holds facilities {which.tolist()}, expected {nearest.tolist()}")
        # Floats: nothing that is nearer may be missing, by more than rounding.
        at = facilities[nearest]
        most = right + np.where(proved.short[at], 0, 2 * proved.slack[at])
        near = most < (np.inf if count < self.k else held.max())
        near &= most <= (np.inf if limit is None else limit)
        if (~np.isin(nearest, which) & near).any():
            proved.refuse(f"holds facilities {which.tolist()}, expected {nearest.tolist()}")
        if (np.diff(held) < 0).any() or (limit is not None and (held > limit).any()):
            proved.refuse(f"holds facilities at {held.tolist()}, not in order or beyond the limit")
        return False
