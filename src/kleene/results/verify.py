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

Where every arc of the chains makes paths longer, values fall along a chain, which can only end at
the source: nothing need be followed or searched. For hop counts every weight is one, and fact 3
becomes the level rule: a vertex is one level below its predecessor.

Before that, the fields of the result must be ones that a call on this graph can return (see
``claim.py``): above all, values have a type that holds the sum of every path, so that no sum wraps
or overflows, and none is NaN or infinite unless that means "no path".

Limits. A search that stopped early says how far it got (its horizon); facts 2 and 3 then hold for
all values within the horizon, and nothing beyond it may be reported. A search may stop only at the
limit it was given, or when it has reached all its targets. No value may exceed the limit.

Rounding. Integers, hop counts, booleans and max-min are exact. Sums and products of floats are
compared in their own type first, with weights rounded to it. If facts 2 and 3 hold bit for bit,
each value is the best over all paths *in that arithmetic*, added up arc by arc from the source:
rounding keeps the order of sums, so the facts prove as much as for integers. Searches return such
values, and the proof is then called exact in that type. It also decides exactly which vertices lie
within a limit. Real sums differ from rounded ones by at most k eps/2 of the largest on a path of k
arcs (Higham 2002, section 4.2).

Methods on matrices add in other orders, and a search that met a cycle of about zero chooses by
rising sums. Their comparisons may be off by 2 eps (h + 1) L, where h is the number of arcs on the
longest chain and L is the value of the tail plus the weight. Where weights are negative, sums can
rise and fall again, and Johnson's algorithm chooses by potentials: we allow 8 eps (h + 1) L, and L
is the largest sum on any path to the arc that is tight up to rounding. So a huge weight widens
nothing but the paths that go over it. A missing vertex is accepted if the limit is as close as
that to the value that an arc offers. For products, L is the product.

What is proved then. Let delta be the largest amount by which any comparison was off, as a part of
the tail's value plus the weight (or of the smallest weight, where weights cancel to less). The
path of k arcs that predecessors show has the value claimed, up to k delta of the largest sum on
it, and no other path of k arcs is better by more than that. The proof reports h delta. If it
exceeds one half, nothing is proved, and VerificationError says so: ask for a wider type.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from kleene.errors import RequestError, VerificationError
from kleene.graph import Graph
from kleene.results.claim import PathValues, check_claim
from kleene.system.machine import threads_for
from kleene.system.threads import for_each

__all__ = ["PathValues", "Proof", "choose_rows", "sample_rows", "search_along", "verify"]

Array = NDArray[Any]


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

#: If rounding leaves more than this part of what was added open, nothing is proved.
_MOST_LEFT_OPEN = 0.5


def verify(claim: PathValues, sample: int | None = None, seed: int = 0) -> Proof:
    """Prove every row, or a random sample of them; raise VerificationError at the first fault."""
    began = time.perf_counter()
    check_claim(claim, _refuse)
    count = len(claim.sources)
    chosen = sample_rows(count, claim.graph, sample, seed)
    checker = _Checker(claim)
    for row in chosen.tolist():
        checker.check(row)
    return Proof(
        len(chosen), count, claim.graph.m, checker.tolerance_in_words(), time.perf_counter() - began
    )


def sample_rows(count: int, graph: Graph, sample: int | None, seed: int) -> Array:
    """Return which of ``count`` rows to check: all that take some seconds, or a sample."""
    return choose_rows(count, max(16, _WORK // max(1, graph.m + graph.n)), sample, seed)


def choose_rows(count: int, affordable: int, sample: int | None, seed: int) -> Array:
    """Return which of ``count`` rows to check: a sample, or as many as are affordable."""
    if sample is not None and (not isinstance(sample, (int, np.integer)) or sample < 1):
        raise RequestError(f"sample must be a whole number from 1, not {sample!r}")
    wanted = min(count, affordable if sample is None else sample)
    if wanted == count:
        return np.arange(count)
    return np.sort(np.random.default_rng(seed).choice(count, wanted, replace=False))


def _refuse(what: str) -> NoReturn:
    raise VerificationError(what)


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
        inexact = self.dtype.kind == "f" and claim.semiring.name != "max_min" and not claim.hops
        self.eps = float(np.finfo(self.dtype).eps) if inexact else 0.0
        self.sums = claim.semiring.name == "min_plus"  # else values are products, or exact
        self.allowed = 8 if claim.negative else 2  # eps per arc
        self.zero = claim.semiring.zero(self.dtype)
        self.left_open = 0.0  # by the loosest row

    def length(self, arcs: Array | slice) -> Array:
        """Weights of some arcs."""
        return self._one if self.weights is None else self.weights[arcs]

    def over_arcs(self, look: Callable[[slice], None]) -> None:
        """Let all threads look at all arcs, piece by piece; the first complaint is passed on."""
        m = self.claim.graph.m
        pieces = [slice(at, at + _PIECE) for at in range(0, m, _PIECE)]
        for_each(look, pieces, threads_for(m))

    def tolerance_in_words(self) -> str:
        if self.eps == 0:
            return "exact"
        if self.left_open == 0:
            return f"exact in {self.dtype}"
        return f"up to rounding, {self.left_open:.1g} of what was added"

    def check(self, row: int) -> None:
        claim = self.claim
        self.source = int(claim.sources[row])
        self.values = np.asarray(claim.values[row])
        self.horizon = self.zero if claim.horizons is None else claim.horizons[row]
        self.limit = claim.limit
        self.check_numbers()
        self.reached = self.values != self.zero
        self.tree: Array | None = None  # an arc to each vertex
        self.measured: tuple[int, Array] | None = None
        self.loosest = 0.0  # of all comparisons, as part of what was added
        self.check_source()
        self.check_horizon()
        if claim.predecessors is None:
            self.check_attained()
        else:
            self.check_predecessors(np.asarray(claim.predecessors[row]))
        self.check_no_arc_improves()
        self.check_meaning()

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

    # ---- values -----------------------------------------------------------------------------

    def check_numbers(self) -> None:
        """Values must be numbers that paths can have, and leave room to add a weight."""
        values = self.values
        if self.dtype.kind == "f":
            self.fail_at(np.isnan(values), "which is not a number")
        if self.claim.hops:
            self.check_hops()
        elif self.sums:
            self.check_room()
        elif self.claim.semiring.name == "max_times":
            self.fail_at(~((values >= 0) & (values <= 1)), "which is not from 0 to 1")

    def check_room(self) -> None:
        """Lengths must leave room for the largest weight, so that no sum wraps or overflows."""
        stats = self.claim.graph.stats
        most = np.finfo(self.dtype).max if self.dtype.kind == "f" else np.iinfo(self.dtype).max
        room = most - max(-stats.min_weight, stats.max_weight)
        wide = (self.values >= room) | (self.values <= -room)
        self.fail_at(wide & (self.values != self.zero), f"too much for a length in {self.dtype}")

    def check_hops(self) -> None:
        """Hop counts are whole; -1 says "no path", for which the semiring has its own value."""
        values = self.values
        self.fail_at(values < -1, "which is no hop count")
        if self.dtype.kind == "f":
            self.fail_at(values != np.floor(values), "which is not whole")
            exact = 2 / np.finfo(self.dtype).eps
            self.fail_at(values >= exact, f"and {self.dtype} counts exactly only below {exact:g}")
            self.horizon = np.floor(self.horizon)
            self.limit = None if self.limit is None else math.floor(self.limit)
        self.values = np.where(values < 0, self.zero, values)

    def check_horizon(self) -> None:
        targets, limit = self.claim.targets, self.limit
        if limit is not None:
            self.fail_at(self.reached & (self.values > limit), f"beyond the limit {limit}")
        if self.horizon == self.zero:
            return
        self.fail_at(
            self.reached & (self.values > self.horizon), f"beyond the horizon {self.horizon}"
        )
        if (limit is None or self.horizon < limit) and (
            targets is None or not self.reached[targets].all()
        ):
            self.fail(f"the search stopped at {self.horizon}, before it had to")

    # ---- rounding ---------------------------------------------------------------------------

    def differences(self, arcs: Array) -> tuple[Array, Array, Array]:
        """Return by how much arcs are off, how much rounding explains, and the numbers' size."""
        longest, peaks = self.measure()
        through = self.through(arcs).astype(np.float64)
        off = np.abs(through - self.values[self.arcs.targets[arcs]])
        if self.sums:
            size = self.sizes(arcs)
            largest = np.maximum(peaks[self.arcs.sources[arcs]], size)
        else:
            size = largest = through
            lost = (longest + 1) * float(np.finfo(self.dtype).smallest_subnormal)
            off = np.maximum(off - lost, 0)  # by underflow
        return off, self.allowed * self.eps * (longest + 1) * largest, size

    def sizes(self, arcs: Array) -> Array:
        """Return the magnitudes that some arcs add: the value of the tail and the weight."""
        tails = np.abs(self.values[self.arcs.sources[arcs]].astype(np.float64))
        return tails + np.abs(self.length(arcs).astype(np.float64))

    def beyond_rounding(self, arcs: Array) -> Array:
        """Return which arcs are off by more than rounding; note the loosest of the others."""
        off, slack, size = self.differences(arcs)
        close = off <= slack
        if close.any():
            self.loosest = max(self.loosest, self.eps)
        some = close & (off > 0)
        if some.any():
            smallest = 0.0
            if self.claim.negative:
                weights = np.abs(self.length(self.inside()))
                smallest = float(weights[weights > 0].min(initial=np.inf))
            loosest = (off[some] / np.maximum(size[some], smallest)).max()
            self.loosest = max(self.loosest, float(loosest))
        return ~close

    def measure(self) -> tuple[int, Array]:
        """Return the number of arcs on the longest chain, and the peak of each vertex."""
        if self.measured is None:
            if self.tree is None:
                self.tree = self.find_tree()
            else:
                longest = self.follow(self.tree)
                self.measured = longest, self.peaks(longest)
        assert self.measured is not None
        return self.measured

    def peaks(self, longest: int) -> Array:
        """Return the largest sum, up to a factor of two, on any path that rounding calls tight.

        Without negative weights, that is the value itself. Else sums may rise and fall again, and
        round by the largest of them.
        """
        peaks: Array = np.abs(self.values).astype(np.float64)
        if not (self.eps and self.sums and self.claim.negative):
            return peaks
        arcs = self.inside()
        tails, heads = self.arcs.sources[arcs], self.arcs.targets[arcs]
        off = np.abs(self.through(arcs).astype(np.float64) - self.values[heads])
        size = self.sizes(arcs)
        power, adds = np.frexp(size)[1], size > 0
        for exponent in np.unique(power[adds])[::-1].tolist():
            bound = np.ldexp(1.0, exponent) if exponent < 1024 else np.finfo(np.float64).max
            tight = off <= self.allowed * self.eps * (longest + 1) * bound
            starts = heads[tight & adds & (power == exponent)]
            if (peaks[starts] < bound).any():
                found = search_along(tails[tight], heads[tight], starts, self.n)[0]
                peaks[found] = np.maximum(peaks[found], bound)
        return peaks

    def check_meaning(self) -> None:
        """Refuse to call it proved where rounding leaves everything open."""
        if self.loosest == 0:
            return
        longest = self.measure()[0]
        left_open = longest * (self.loosest + self.eps / 2)
        if left_open > _MOST_LEFT_OPEN:
            self.fail(
                f"not proved: over {longest:,} arcs, rounding in {self.dtype} leaves "
                f"{left_open:.1g} of what was added open; ask for a wider dtype, or scale weights "
                "that are far larger than others"
            )
        self.left_open = max(self.left_open, left_open)

    # ---- fact 1 -----------------------------------------------------------------------------

    def check_source(self) -> None:
        one = self.claim.semiring.one(self.dtype)
        if self.values[self.source] != one:
            self.fail(f"the source holds {self.values[self.source]}, and should hold {one}")

    # ---- fact 2 -----------------------------------------------------------------------------

    def check_no_arc_improves(self) -> None:
        better: list[Array] = []

        def look(piece: slice) -> None:
            found = self.improving(piece)
            if len(found) and not self.eps:
                self.fail_improved(found[0])
            better.append(found)

        self.over_arcs(look)
        if any(map(len, better)):
            self.check_explained(np.sort(np.concatenate(better)))

    def improving(self, piece: slice) -> Array:
        """Return the arcs that offer their head something better, within the horizon."""
        leads = self.reached[self.arcs.sources[piece]]
        used = piece.start + np.flatnonzero(leads)
        some = piece if len(used) == len(leads) else used
        through = self.through(some)
        better = self.claim.semiring.better(through, self.values[self.arcs.targets[some]])
        if self.horizon != self.zero:
            better &= through <= self.horizon
        found: Array = used[better]
        return found

    def check_explained(self, arcs: Array) -> None:
        """Rounding must explain why these arcs seem to improve something."""
        wrong = self.beyond_rounding(arcs)
        if self.horizon != self.zero and self.loosest:
            # Vertices may be missing where the horizon is that close, unless all else is exact.
            missing = ~self.reached[self.arcs.targets[arcs]]
            wrong &= ~(missing & (self.through(arcs) + self.differences(arcs)[1] > self.horizon))
        if wrong.any():
            self.fail_improved(arcs[wrong][0])

    def fail_improved(self, arc: Any) -> NoReturn:
        u, v = int(self.arcs.sources[arc]), int(self.arcs.targets[arc])
        offer = self.through(np.array([arc]))[0]
        ends = map(self.name, (v, u) if self.claim.reverse else (u, v))
        self.fail(
            f"vertex {self.name(v)} holds {self.values[v]}, but the arc {' -> '.join(ends)} "
            f"offers {offer}"
        )

    # ---- fact 3 -----------------------------------------------------------------------------

    def check_predecessors(self, predecessors: Array) -> None:
        """Each must be a tight arc, and the chains must end at the source."""
        has = predecessors != -1
        expected = self.reached.copy()
        expected[self.source] = False
        if (has != expected).any():
            v = int(np.flatnonzero(has != expected)[0])
            state = "reached" if self.reached[v] else "not reached"
            self.fail(f"vertex {self.name(v)} is {state} and has {self.link} {predecessors[v]}")
        outside = has & ((predecessors < 0) | (predecessors >= self.n))
        if outside.any():
            v = int(np.flatnonzero(outside)[0])
            wrong = f"the {self.link} of vertex {self.name(v)} is {predecessors[v]}"
            self.fail(f"{wrong}, which is no vertex")
        self.tree = self.arcs_from(predecessors)
        if (has & (self.tree < 0)).any():
            v = int(np.flatnonzero(has & (self.tree < 0))[0])
            wrong = f"the {self.link} of vertex {self.name(v)} is {self.name(predecessors[v])}"
            self.fail(f"{wrong}, but there is no such arc")
        self.check_tree(self.tree)

    def check_tree(self, tree: Array) -> None:
        """The arcs of a tree must be tight, and lead from the source to its vertices."""
        arcs = tree[tree >= 0]
        offered, held = self.through(arcs), self.values[self.arcs.targets[arcs]]
        loose = arcs[offered != held]
        falls = self.sums and bool((held > self.values[self.arcs.sources[arcs]]).all())
        if len(loose) or not falls:
            self.follow(tree)
        if len(loose) and self.eps:
            loose = loose[self.beyond_rounding(loose)]
        if len(loose):
            u, v = int(self.arcs.sources[loose[0]]), int(self.arcs.targets[loose[0]])
            self.fail(
                f"vertex {self.name(v)} holds {self.values[v]}, but its {self.link} "
                f"{self.name(u)} gives "
                f"{self.through(loose[:1])[0]}"
            )

    def arcs_from(self, predecessors: Array) -> Array:
        """Return where the arc from each vertex's predecessor is, -1 if nowhere."""
        where = np.full(self.n, -1, dtype=np.int64)

        def look(piece: slice) -> None:
            targets = self.arcs.targets[piece]
            found = np.flatnonzero(predecessors[targets] == self.arcs.sources[piece])
            where[targets[found]] = piece.start + found

        self.over_arcs(look)
        return where

    def follow(self, tree: Array) -> int:
        """Follow all chains of a tree at once, doubling the stride; return the longest.

        They must end at the source.
        """
        vertices = np.flatnonzero(tree >= 0)
        ancestor = np.arange(self.n)
        ancestor[vertices] = self.arcs.sources[tree[vertices]]
        steps = np.zeros(self.n, dtype=np.int64)
        steps[vertices] = 1
        for _ in range(self.n.bit_length()):
            steps += steps[ancestor]
            ancestor = ancestor[ancestor]
            if (ancestor[vertices] == self.source).all():
                return int(steps.max(initial=0))
        v = int(vertices[ancestor[vertices] != self.source][0])
        self.fail(f"the {self.link}s of vertex {self.name(v)} never lead to the source")

    def check_attained(self) -> None:
        """Without predecessors, tight arcs must lead from the source to every reached vertex."""
        if not self.all_attained():
            self.tree = self.find_tree()
            self.check_tree(self.tree)

    def all_attained(self) -> bool:
        """Is there a tight arc to every reached vertex, over which values fall?"""
        if not self.sums:
            return False
        attained = np.zeros(self.n, dtype=bool)
        attained[self.source] = True

        def mark(piece: slice) -> None:
            sources, targets = self.arcs.sources[piece], self.arcs.targets[piece]
            held = self.values[targets]
            tight = (self.through(piece) == held) & (self.values[sources] < held)
            attained[targets[tight]] = True

        self.over_arcs(mark)
        return bool((attained | ~self.reached).all())

    def inside(self) -> Array:
        """Return the arcs between reached vertices."""
        ends = self.reached[self.arcs.sources] & self.reached[self.arcs.targets]
        return np.flatnonzero(ends)

    def find_tree(self) -> Array:
        """Search for a tree of tight arcs, those first that are tight to the last bit.

        How much rounding explains depends on the longest chain. As long as vertices are missing,
        it may be longer than what was found: try twice as long.
        """
        inside = self.inside()
        tight = self.through(inside) == self.values[self.arcs.targets[inside]]
        most = int(np.count_nonzero(self.reached)) - 1
        longest = 0
        while True:
            tree = self.search(inside[tight])
            found = tree >= 0
            found[self.source] = True
            missing = self.reached & ~found
            if self.eps == 0 or longest == most:
                self.fail_at(missing, "but no path attains that")
            if missing.any():
                longest = min(most, 2 * longest + 1)
            longest = max(longest, self.follow(tree))
            self.measured = longest, self.peaks(longest)
            if not missing.any():
                return tree
            off, slack, _ = self.differences(inside)
            tight = off <= slack

    def search(self, arcs: Array) -> Array:
        """Search along some arcs; return the arc to each vertex that was found."""
        tails, heads = self.arcs.sources[arcs], self.arcs.targets[arcs]
        before = search_along(tails, heads, np.array([self.source]), self.n)[1]
        taken = before[heads] == tails
        tree = np.full(self.n, -1, dtype=np.int64)
        tree[heads[taken]] = arcs[taken]
        return tree


def search_along(tails: Array, heads: Array, starts: Array, n: int) -> tuple[Array, Array]:
    """Return the vertices that arcs lead to from some vertices, and the tail of the arc to each.

    There is no tail where the search starts: it starts at an extra vertex, ``n``.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    starts = np.unique(starts)
    ends = np.append(tails, np.full(len(starts), n)), np.append(heads, starts)
    links = csr_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(n + 1, n + 1))
    order, before = breadth_first_order(links, n)
    return order[1:], before[:n]
