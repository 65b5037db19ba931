"""Proof that path values are right, in O(arcs) per source, whatever method made them.

For one source over any of the four semirings, these facts together leave no room for a wrong
value:

1. the source holds the value of the empty path, and has no predecessor;
2. no arc improves anything: value(u) times weight(u, v) is never better than value(v). So no
   value is worse than the best path, no reached vertex leads to an unreached one, and no
   negative cycle can be reached;
3. every reached vertex is attained: it hangs on the source by a chain of *tight* arcs, ones with
   value(u) times weight(u, v) equal to value(v). So no value is better than the best path.
   With predecessors, the chain is theirs: each must be an arc of the graph and tight, and the
   chains must end at the source without going round. Without, a search along tight arcs must
   reach every reached vertex.

Where numbers are exact and every arc of the chains makes paths longer, values fall along a chain,
which can only end at the source: nothing need be followed or searched. For hop counts every weight
is one, and fact 3 becomes the level rule: a vertex is one level below its predecessor. A search
that stopped early says how far it got (its horizon); facts 2 and 3 then hold for all values within
the horizon, and nothing beyond it may be reported. A search may stop only at the limit it was
given, or when it has reached all its targets.

Rounding. A sum or product of h floating-point numbers, in any order, is off by at most about
h eps/2 times the sum of magnitudes (Higham 2002, section 4.2); the two sides of a comparison may
both be off. We allow 4 eps (h + 1) times the magnitude, where h is the number of arcs on the
longest chain and the magnitude of a vertex is its value; or, where negative weights can cancel,
the largest value and weight that the source leads to, since a method may have gone any way round.
Integers, hop counts, booleans and max-min are exact.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from kleene.backends.semiring import Semiring
from kleene.errors import RequestError, VerificationError
from kleene.graph import Graph
from kleene.system.machine import threads_for
from kleene.system.threads import for_each

__all__ = ["PathValues", "Proof", "verify"]

Array = NDArray[Any]


@dataclass(frozen=True)
class PathValues:
    """The claim to prove: path values from some sources, over a semiring."""

    graph: Graph
    semiring: Semiring
    sources: Array
    values: Array  # (sources, n)
    predecessors: Array | None
    horizons: Array | None
    hops: bool  # every arc counts one, and -1 says "no path"
    targets: Array | None = None
    limit: int | float | None = None


@dataclass(frozen=True)
class Proof:
    """What was proved."""

    rows: int
    of: int
    arcs: int
    tolerance: str
    seconds: float

    def __str__(self) -> str:
        if self.of == 1:
            rows = f"1 source, {self.arcs:,} arcs"
        else:
            part = f"all {self.of:,}" if self.rows == self.of else f"{self.rows:,} of {self.of:,}"
            rows = f"{part} sources, {self.arcs:,} arcs each"
        return f"proved: {rows}, {self.tolerance}, in {self.seconds:.2g} s"


#: By default, prove as many rows as this many arc checks allow (some seconds).
_WORK = 200_000_000

#: Arcs looked at together, by one thread: what belongs to them stays in its cache.
_PIECE = 2**17


def verify(claim: PathValues, sample: int | None = None, seed: int = 0) -> Proof:
    """Prove every row, or a random sample of them; raise VerificationError at the first fault."""
    if sample is not None and (not isinstance(sample, (int, np.integer)) or sample < 1):
        raise RequestError(f"sample must be a whole number from 1, not {sample!r}")
    began = time.perf_counter()
    count = len(claim.sources)
    affordable = max(16, _WORK // max(1, claim.graph.m + claim.graph.n))
    wanted = min(count, affordable if sample is None else sample)
    chosen = np.arange(count)
    if wanted < count:
        chosen = np.sort(np.random.default_rng(seed).choice(count, wanted, replace=False))
    checker = _Checker(claim)
    for row in chosen.tolist():
        checker.check(row)
    return Proof(
        len(chosen), count, claim.graph.m, checker.tolerance_in_words(), time.perf_counter() - began
    )


class _Checker:
    """Checks rows one by one; holds what they share."""

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
        inexact = self.dtype.kind == "f" and claim.semiring.name != "max_min"
        self.eps = float(np.finfo(self.dtype).eps) if inexact else 0.0
        self.sums = claim.semiring.name == "min_plus"  # else values are products, or exact
        self.zero = claim.semiring.zero(self.dtype)
        self.deepest = 0

    def length(self, arcs: Array | slice) -> Array:
        """Weights of some arcs."""
        return self._one if self.weights is None else self.weights[arcs]

    def over_arcs(self, look: Callable[[slice], None]) -> None:
        """Let all threads look at all arcs, piece by piece; the first complaint is passed on."""
        m = self.claim.graph.m
        pieces = [slice(at, min(at + _PIECE, m)) for at in range(0, m, _PIECE)]
        for_each(look, pieces, threads_for(m))

    def tolerance_in_words(self) -> str:
        if self.eps == 0:
            return "exact"
        return f"up to rounding, {4 * self.eps * (self.deepest + 1):.1g} of what was added"

    def check(self, row: int) -> None:
        self.source = int(self.claim.sources[row])
        values = np.asarray(self.claim.values[row])
        if values.shape != (self.n,):
            self.fail(f"there are {len(values)} values for {self.n} vertices")
        if self.dtype.kind == "f" and np.isnan(values).any():
            self.fail(f"vertex {int(np.flatnonzero(np.isnan(values))[0])} holds NaN")
        if self.claim.hops:
            if (values < -1).any():
                self.fail(f"vertex {int(values.argmin())} holds {values.min()}")
            values = np.where(values < 0, self.zero, values)
        self.values = values
        self.reached = values != self.zero
        self.horizon = self.zero if self.claim.horizons is None else self.claim.horizons[row]
        self.magnitude = self.magnitudes()
        self.check_source()
        if self.claim.predecessors is None:
            depth = self.check_tight_search()
        else:
            depth = self.check_predecessors(np.asarray(self.claim.predecessors[row]))
        self.deepest = max(self.deepest, depth)
        self.check_horizon()
        self.check_no_arc_improves(depth)

    def fail(self, what: str) -> NoReturn:
        raise VerificationError(f"from source {self.source}: {what}")

    def magnitudes(self) -> Array:
        """Return the magnitude of the numbers that each value is a sum or product of."""
        magnitude: Array = np.where(self.reached, np.abs(self.values), 0)
        if self.eps and self.sums and self.length(slice(None)).min(initial=0) < 0:
            reachable = self.length(self.reached[self.arcs.sources])
            if reachable.min(initial=0) < 0:
                largest = float(magnitude.max()) + float(np.abs(reachable).max())
                magnitude = np.full(self.n, largest)
        return magnitude

    def slack(self, magnitude: Any, depth: int) -> Any:
        """How much rounding may have moved values of this magnitude."""
        tiny = float(np.finfo(self.dtype).smallest_subnormal)
        return 4 * (depth + 1) * (self.eps * magnitude + tiny)

    def arc_slack(self, arcs: Array, depth: int) -> Any:
        """How far rounding may have driven the two sides of these arcs apart."""
        ends = self.magnitude[self.arcs.sources[arcs]] + self.magnitude[self.arcs.targets[arcs]]
        if self.sums:
            ends = ends + np.abs(self.length(arcs))
        return self.slack(ends, depth)

    def through(self, arcs: Array | slice) -> Array:
        """Value of the path to each arc's source, extended by the arc."""
        return self.claim.semiring.times(self.values[self.arcs.sources[arcs]], self.length(arcs))

    # ---- fact 1 ----------------------------------------------------------------------------

    def check_source(self) -> None:
        one = self.claim.semiring.one(self.dtype)
        if self.values[self.source] != one:
            self.fail(f"the source holds {self.values[self.source]}, and should hold {one}")

    # ---- fact 2 ----------------------------------------------------------------------------

    def check_no_arc_improves(self, depth: int) -> None:
        self.over_arcs(lambda piece: self.check_piece(piece, depth))

    def check_piece(self, piece: slice, depth: int) -> None:
        leads = self.reached[self.arcs.sources[piece]]
        used = piece.start + np.flatnonzero(leads)
        some = piece if len(used) == len(leads) else used
        through = self.through(some)
        old = self.values[self.arcs.targets[some]]
        better = self.claim.semiring.better(through, old)
        if self.horizon != self.zero:  # only what lies within the horizon must be there
            better &= through <= self.horizon
        if better.any() and self.eps:
            close = np.flatnonzero(better & (old != self.zero))  # no rounding explains "no path"
            gap = np.abs(through[close] - old[close])
            better[close] = ~(gap <= self.arc_slack(used[close], depth))
        if better.any():
            at = int(np.flatnonzero(better)[0])
            arc = int(used[at])
            u, v = int(self.arcs.sources[arc]), int(self.arcs.targets[arc])
            self.fail(
                f"vertex {v} holds {self.values[v]}, but the arc {u} -> {v} offers {through[at]}"
            )

    def check_horizon(self) -> None:
        if self.horizon == self.zero:
            return
        limit, targets = self.claim.limit, self.claim.targets
        if (limit is None or self.horizon < limit) and (
            targets is None or not self.reached[targets].all()
        ):
            self.fail(f"the search stopped at {self.horizon}, before it had to")
        beyond = self.reached & (self.values > self.horizon)
        if beyond.any():
            v = int(np.flatnonzero(beyond)[0])
            self.fail(f"vertex {v} holds {self.values[v]}, beyond the horizon {self.horizon}")

    # ---- fact 3 ----------------------------------------------------------------------------

    def check_predecessors(self, predecessors: Array) -> int:
        """Each is a tight arc, and the chains end at the source; return the longest chain."""
        if predecessors.shape != (self.n,) or predecessors.dtype.kind != "i":
            self.fail("the predecessors are not one vertex id per vertex")
        has = predecessors != -1
        expected = self.reached.copy()
        expected[self.source] = False
        if (has != expected).any():
            v = int(np.flatnonzero(has != expected)[0])
            state = "reached" if self.reached[v] else "not reached"
            self.fail(f"vertex {v} is {state} and has predecessor {predecessors[v]}")
        vertices = np.flatnonzero(has)
        tails = predecessors[vertices]
        if ((tails < 0) | (tails >= self.n)).any():
            v = int(vertices[(tails < 0) | (tails >= self.n)][0])
            self.fail(f"the predecessor of vertex {v} is {predecessors[v]}, which is no vertex")
        arcs = self.arcs_from(predecessors)[vertices]
        if (arcs < 0).any():
            v = int(vertices[arcs < 0][0])
            tail = predecessors[v]
            self.fail(f"the predecessor of vertex {v} is {tail}, but there is no such arc")
        depth = 0 if self.falls(arcs) else self.follow(predecessors, vertices)
        self.check_tight(arcs, depth)
        return depth

    def arcs_from(self, predecessors: Array) -> Array:
        """Return where the arc from each vertex's predecessor is, -1 if nowhere."""
        where = np.full(self.n, -1, dtype=np.int64)

        def look(piece: slice) -> None:
            targets = self.arcs.targets[piece]
            found = np.flatnonzero(predecessors[targets] == self.arcs.sources[piece])
            where[targets[found]] = piece.start + found

        self.over_arcs(look)
        return where

    def falls(self, arcs: Array) -> bool:
        """Return whether exact values fall along each of the arcs, from head to tail."""
        if self.eps or not self.sums:
            return False
        return bool((self.through(arcs) > self.values[self.arcs.sources[arcs]]).all())

    def follow(self, predecessors: Array, vertices: Array) -> int:
        """Follow all chains at once, doubling the stride; return the longest, which must end."""
        ancestor = np.arange(self.n)
        ancestor[vertices] = predecessors[vertices]
        steps = np.zeros(self.n, dtype=np.int64)
        steps[vertices] = 1
        for _ in range(max(1, self.n).bit_length() + 1):
            steps += steps[ancestor]
            ancestor = ancestor[ancestor]
            if (ancestor[vertices] == self.source).all():
                return int(steps.max(initial=0))
        v = int(vertices[ancestor[vertices] != self.source][0])
        self.fail(f"the predecessors of vertex {v} never lead to the source")

    def check_tight(self, arcs: Array, depth: int) -> None:
        offered, held = self.through(arcs), self.values[self.arcs.targets[arcs]]
        loose = offered != held
        if loose.any() and self.eps:
            loose = ~(np.abs(offered - held) <= self.arc_slack(arcs, depth))
        if loose.any():
            arc = int(arcs[loose][0])
            u, v = int(self.arcs.sources[arc]), int(self.arcs.targets[arc])
            self.fail(
                f"vertex {v} holds {self.values[v]}, but its predecessor {u} gives "
                f"{self.through(np.array([arc]))[0]}"
            )

    def check_tight_search(self) -> int:
        """Search along tight arcs; return the depth of the search tree.

        How much counts as tight depends on the depth, so a first search with the widest slack
        bounds the depth, and the one that decides uses that bound.
        """
        if self.all_attained():
            return 0
        inside = np.flatnonzero(self.reached[self.arcs.sources] & self.reached[self.arcs.targets])
        depth = int(self.reached.sum())
        if self.eps:
            depth = self.search(inside, depth)[1]
        found, depth = self.search(inside, depth)
        if (self.reached & ~found).any():
            v = int(np.flatnonzero(self.reached & ~found)[0])
            self.fail(f"vertex {v} holds {self.values[v]}, but no path attains that")
        return depth

    def all_attained(self) -> bool:
        """Is there a tight arc to every reached vertex, over which exact values fall?"""
        if self.eps or not self.sums:
            return False
        attained = np.zeros(self.n, dtype=bool)
        attained[self.source] = True

        def look(piece: slice) -> None:
            sources, targets = self.arcs.sources[piece], self.arcs.targets[piece]
            held = self.values[targets]
            tight = (self.through(piece) == held) & (self.values[sources] < held)
            attained[targets[tight]] = True

        self.over_arcs(look)
        return bool((attained | ~self.reached).all())

    def search(self, arcs: Array, depth: int) -> tuple[Array, int]:
        """Search along those of the arcs that are tight; return what was found, and how deep."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import breadth_first_order

        offered, held = self.through(arcs), self.values[self.arcs.targets[arcs]]
        tight = offered == held
        if self.eps:
            tight |= np.abs(offered - held) <= self.arc_slack(arcs, depth)
        ends = self.arcs.sources[arcs[tight]], self.arcs.targets[arcs[tight]]
        links = csr_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(self.n, self.n))
        order, predecessors = breadth_first_order(links, self.source)
        found = np.zeros(self.n, dtype=bool)
        found[order] = True
        return found, self.follow(predecessors, order[1:])
