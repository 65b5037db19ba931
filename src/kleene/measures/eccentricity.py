"""The eccentricity of each vertex: how far away the farthest one is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.engine.call import Timings
from kleene.engine.searched_rows import SearchedRows
from kleene.errors import GraphError
from kleene.graph import Graph
from kleene.measures.measure import Measure
from kleene.planning.plan import Plan
from kleene.proofs.claim import require_numbers
from kleene.proofs.paths import Proof, sample_rows
from kleene.proofs.rows import ProvedRow, verify_rows

__all__ = ["Eccentricity", "Farthest", "Goal", "Known", "bound_dtype", "by_bounds", "by_searches"]

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


# ---- as far as a question needs them: by bounds, then by searches --------------------------------
# The native core narrows bounds by single searches (``measures/eccentricity_bounds.hpp``) until the
# question is decided, or until these decide too little. What is open then is searched from in large
# batches, the most promising vertices first.

Goal = Literal["all", "diameter", "radius", "periphery", "center"]
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
        What must be known afterwards: all eccentricities; the largest one, or the smallest; or all
        that are equal to these.
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
    bounds = np.int64 if dtype.kind == "i" else np.float64
    lower, upper = np.zeros(graph.n, bounds), np.zeros(graph.n, bounds)
    known = np.zeros(graph.n, np.uint8)
    weights = None if hops else graph.weights
    lengths = None if weights is None else weights.astype(dtype, copy=False)
    incoming: tuple[Any, Any, Any] = (None, None, None)
    if graph.directed:
        back = graph.csc
        lengths_in = (
            None if hops or back.weights is None else back.weights.astype(dtype, copy=False)
        )
        incoming = (back.offsets, back.neighbors, lengths_in)
    parts: tuple[Any, Any] = (None, None) if len(components[1]) == 1 else components
    longest = 1.0 if hops else float(graph.stats.max_weight)
    largest, smallest, searches, undecided = _native.bound_eccentricities(
        goal, graph.offsets, graph.neighbors, lengths, *incoming, longest, *parts,
        lower, upper, known, threads,
    )  # fmt: skip
    found = Known(lower, upper, known.view(np.bool_), largest, smallest, searches)
    while undecided and len(left := np.flatnonzero(_matters(found, goal))):
        found = _search_more(found, goal, left, farthest)
    return found


def by_searches(graph: Graph, farthest: Farthest) -> Known:
    """Return all eccentricities, by searches from all vertices."""
    values = farthest(np.arange(graph.n, dtype=graph.id_dtype))
    largest, smallest = (values.max().item(), values.min().item()) if graph.n else (-1, -1)
    return Known(values, values, np.ones(graph.n, np.bool_), largest, smallest, graph.n)


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
