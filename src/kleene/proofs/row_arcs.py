"""One row of path values and the arcs that it is proved by: what all checks of it look at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from kleene.errors import VerificationError
from kleene.proofs.claim import PathValues
from kleene.system.machine import threads_for
from kleene.system.threads import for_each

__all__ = ["RowArcs", "follow_chains", "search_along"]

# ---- searches along arcs, and chains of them -----------------------------------------------------


def search_along(tails: Array, heads: Array, starts: Array, n: int) -> tuple[Array, Array]:
    """Return the vertices that arcs lead to from some vertices, and the tail of the arc to each.

    There is no tail where the search starts: it starts at an extra vertex, ``n``.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    starts = np.unique(starts)
    ends = np.append(tails, np.full(len(starts), n)), np.append(heads, starts)
    # untestable (0 to 1): both ends are equally many
    links = csr_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(n + 1, n + 1))
    order, before = breadth_first_order(links, n)
    return order[1:], before[:n]


def follow_chains(vertices: Array, before: Array, source: int, n: int) -> tuple[int, int | None]:
    """Follow all chains of predecessors at once, doubling the stride.

    Returns the number of arcs on the longest, and a vertex whose chain does not end at the source,
    None if there is none.
    """
    ancestor = np.arange(n)
    ancestor[vertices] = before
    steps = np.zeros(n, dtype=np.int64)
    steps[vertices] = 1
    for _ in range(n.bit_length()):
        steps += steps[ancestor]
        ancestor = ancestor[ancestor]
        if (ancestor[vertices] == source).all():
            return int(steps.max(initial=0)), None
    return 0, int(vertices[ancestor[vertices] != source][0])


Array = NDArray[Any]

#: Arcs looked at together, by one thread: what belongs to them stays in its cache.
_PIECE = 2**17


class RowArcs:
    """The values of a row, weights, and paths extended by arcs; complaints name the source."""

    source: int
    values: Array
    reached: Array

    def __init__(self, claim: PathValues) -> None:
        self.claim = claim
        graph = claim.graph
        self.n, self.arcs = graph.n, graph.coo
        self.dtype = claim.values.dtype
        unit = claim.hops or graph.weights is None or self.dtype.kind == "b"
        self._one = np.ones(1, self.dtype)
        self.weights = None if unit or graph.weights is None else graph.weights
        if self.weights is not None:
            self.weights = self.weights.astype(self.dtype, copy=False)
        inexact = self.dtype.kind == "f" and claim.semiring.name != "max_min" and not claim.hops
        self.eps = float(np.finfo(self.dtype).eps) if inexact else 0.0
        self.sums = claim.semiring.name == "min_plus"  # else values are products, or exact
        self.zero = claim.semiring.zero(self.dtype)

    def length(self, arcs: Array | slice) -> Array:
        """Weights of some arcs."""
        return self._one if self.weights is None else self.weights[arcs]

    def over_arcs(self, look: Callable[[slice], None]) -> None:
        """Let all threads look at all arcs, piece by piece; the first complaint is passed on."""
        m = self.claim.graph.m
        pieces = [slice(at, at + _PIECE) for at in range(0, m, _PIECE)]
        for_each(look, pieces, threads_for(m))

    def fail(self, what: str) -> NoReturn:
        way = "to" if self.claim.reverse else "from"
        raise VerificationError(f"{way} source {self.name(self.source)}: {what}")

    def name(self, vertex: Any) -> str:
        """Return what the user calls a vertex."""
        return repr(self.claim.graph.label(np.array([vertex])).tolist()[0])

    @property
    def link(self) -> str:
        """What a user calls the vertex that a vertex of the tree hangs on."""
        return "next hop" if self.claim.reverse else "predecessor"

    def fail_at(self, wrong: Array, what: str) -> None:
        """Complain of the first vertex that is wrong, if there is one."""
        if wrong.any():
            v = int(np.flatnonzero(wrong)[0])
            self.fail(f"vertex {self.name(v)} holds {self.values[v]}, {what}")

    def through(self, arcs: Array | slice) -> Array:
        """Value of the path to each arc's source, extended by the arc."""
        return self.claim.semiring.times(self.values[self.arcs.sources[arcs]], self.length(arcs))

    def arcs_from(self, predecessors: Array) -> Array:
        """Return where the arc from each vertex's predecessor is, -1 if nowhere."""
        # untestable (1 to 2): any negative number says that there is no arc
        where = np.full(self.n, -1, dtype=np.int64)

        def look(piece: slice) -> None:
            targets = self.arcs.targets[piece]
            found = np.flatnonzero(predecessors[targets] == self.arcs.sources[piece])
            where[targets[found]] = piece.start + found

        self.over_arcs(look)
        return where

    def inside(self) -> Array:
        """Return the arcs between reached vertices."""
        ends = self.reached[self.arcs.sources] & self.reached[self.arcs.targets]
        return np.flatnonzero(ends)

    def search(self, arcs: Array) -> Array:
        """Search along some arcs; return the arc to each vertex that was found."""
        tails, heads = self.arcs.sources[arcs], self.arcs.targets[arcs]
        before = search_along(tails, heads, np.array([self.source]), self.n)[1]
        taken = before[heads] == tails
        # untestable (1 to 2): any negative number says that there is no arc
        tree = np.full(self.n, -1, dtype=np.int64)
        tree[heads[taken]] = arcs[taken]
        return tree
