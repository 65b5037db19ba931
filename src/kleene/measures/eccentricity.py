"""The eccentricity of each vertex: how far away the farthest one is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.engine.call import Timings
from kleene.engine.searched_rows import SearchedRows
from kleene.errors import GraphError
from kleene.graph import Graph
from kleene.measures.eccentricity_bounds import Known
from kleene.measures.measure import Measure
from kleene.planning.plan import Plan
from kleene.proofs.claim import require_numbers
from kleene.proofs.paths import Proof, sample_rows
from kleene.proofs.rows import ProvedRow, verify_rows

__all__ = ["Eccentricity"]

Array = NDArray[Any]


class Eccentricity(Measure):
    """The eccentricity of each vertex; see :func:`kleene.eccentricity`.

    Attributes
    ----------
    searches : int
        How many searches it took.
    """

    searches: int

    def __init__(
        self,
        graph: Graph,
        found: Known,
        hops: bool,
        reverse: bool,
        dtype: np.dtype[Any],
        plan: Plan,
        stats: Timings,
    ) -> None:
        super().__init__(graph, "eccentricity", found.lower, plan, stats)
        self.searches = found.searches
        self._hops, self._reverse, self._dtype = hops, reverse, dtype

    @property
    def diameter(self) -> Any:
        """The largest eccentricity."""
        self._require_vertices()
        return self.values.max().item()

    @property
    def radius(self) -> Any:
        """The smallest eccentricity."""
        self._require_vertices()
        return self.values.min().item()

    @property
    def periphery(self) -> Array:
        """The vertices with the largest eccentricity: labels where the graph has labels."""
        return self._with_eccentricity(self.values.max(initial=0))

    @property
    def center(self) -> Array:
        """The vertices with the smallest eccentricity: labels where the graph has labels."""
        # untestable (0 to 1): no vertex has it
        return self._with_eccentricity(self.values.min() if len(self) else 0)

    def _with_eccentricity(self, value: Any) -> Array:
        vertices: Array = self.graph.label(np.flatnonzero(self.values == value))
        return vertices

    def _require_vertices(self) -> None:
        if not len(self):
            raise GraphError("a graph without vertices has neither diameter nor radius")

    def verify(self, sample: int | None = None, seed: int = 0) -> Proof:
        """Prove the numbers of a sample of vertices right, or raise VerificationError.

        Whole rows of these vertices, of one with the largest number and of one with the smallest
        are searched and proved, and their largest distances compared.

        Parameters
        ----------
        sample : int, optional
            How many vertices to check; None for as many as take some seconds.
        seed : int
            Chooses the sample.

        Examples
        --------
        >>> import kleene as kl
        >>> kl.eccentricity(kl.generate.grid(9, 9)).verify(sample=3).rows
        5
        """
        n = self.graph.n
        require_numbers(self.values, self.name, (n,))
        chosen = sample_rows(n, self.graph, sample, seed)
        if n:
            chosen = np.union1d(chosen, [self.values.argmax(), self.values.argmin()])
        rows = SearchedRows(self.graph, "min_plus", self._dtype, self._reverse, self._hops)
        graph = self.graph.transpose() if self._reverse else self.graph
        proof = verify_rows(
            graph, "min_plus", chosen, lambda which: rows.rows(chosen[which]),
            # untestable (1 to 2): the sample has all rows anyway
            lambda row, proved: self._compare(int(chosen[row]), proved), max(1, len(chosen)), seed,
            self._reverse, self._hops,
        )  # fmt: skip
        return Proof(proof.rows, n, proof.arcs, proof.tolerance, proof.seconds)

    def _compare(self, vertex: int, proved: ProvedRow) -> bool:
        """Compare the number of a vertex with that of its row."""
        there = proved.values != proved.no_path
        right = proved.values[there].max()
        held, slack = self.values[vertex], float(np.max(proved.slack[there]))
        if proved.differs(held, right, slack):
            proved.refuse(f"has the eccentricity {held}, expected {right}")
        return bool(held == right)
