"""The facts that prove one row of path values, arc by arc; ``paths.py`` says why they suffice."""

from __future__ import annotations

import math
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from kleene.graph.no_path import NO_HOPS
from kleene.proofs.claim import PathValues
from kleene.proofs.row_arcs import RowArcs, follow_chains, search_along

__all__ = ["RowChecker"]

Array = NDArray[Any]

#: If rounding may reach more than this share of the magnitudes added, nothing is proved.
_MOST_LEFT_OPEN = 0.5


class RowChecker(RowArcs):
    """Checks rows one by one."""

    def __init__(self, claim: PathValues) -> None:
        super().__init__(claim)
        self.allowed = 8 if claim.negative else 2  # eps per arc
        self.left_open = 0.0  # by the loosest row

    def tolerance_in_words(self) -> str:
        if self.eps == 0:
            return "exact"
        if self.left_open == 0:
            return f"exact in {self.dtype}"
        return f"up to rounding, {self.left_open:.1g} relative to the magnitudes added"

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
        self.loosest = 0.0  # of all comparisons, relative to the magnitudes added
        self.check_source()
        self.check_horizon()
        if claim.predecessors is None:
            self.check_attained()
        else:
            self.check_predecessors(np.asarray(claim.predecessors[row]))
        self.check_no_arc_improves()
        self.check_meaning()

    def rounding(self, row: int) -> Array:
        """Prove a row, and return by how much other orders of adding may move each value of it."""
        self.check(row)
        longest, peaks = self.measure()
        moved: Array = self.allowed * self.eps * (longest + 1) * peaks
        return moved

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
            self.fail_at(~((values >= 0) & (values <= 1)), "which is not between 0 and 1")

    def check_room(self) -> None:
        """Lengths must leave room for the largest weight, so that no sum wraps or overflows."""
        stats = self.claim.graph.stats
        most = np.finfo(self.dtype).max if self.dtype.kind == "f" else np.iinfo(self.dtype).max
        room = most - max(-stats.min_weight, stats.max_weight)
        wide = (self.values >= room) | (self.values <= -room)
        self.fail_at(wide & (self.values != self.zero), f"too much for a length in {self.dtype}")

    def check_hops(self) -> None:
        """Hop counts are whole and below n; -1 says "no path", for which the semiring has another.

        That of the semiring is not a hop count: it would read as "not reached" from here on.
        """
        values = self.values
        self.fail_at(values < NO_HOPS, "which is not a hop count")
        if self.dtype.kind == "f":
            self.fail_at(values != np.floor(values), "which is not an integer")
            exact = 2 / np.finfo(self.dtype).eps
            self.fail_at(values >= exact, f"and {self.dtype} counts exactly only below {exact:g}")
            self.horizon = np.floor(self.horizon)
            self.limit = None if self.limit is None else math.floor(self.limit)
        self.fail_at(values >= self.n, f"and no path over {self.n:,} vertices has so many arcs")
        self.values = np.where(values == NO_HOPS, self.zero, values)

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
            self.fail(f"the search stopped at {self.horizon}, too early")

    # ---- rounding ---------------------------------------------------------------------------

    def differences(self, arcs: Array) -> tuple[Array, Array, Array]:
        """Return by how much arcs are off, how much rounding explains, and the numbers' size."""
        longest, peaks = self.measure()
        through = self.through(arcs).astype(np.float64)
        off = np.abs(through - self.values[self.arcs.targets[arcs]])
        if self.sums:
            size = self.sizes(arcs)
            largest = np.maximum(peaks[self.arcs.sources[arcs]], size)
            if self.claim.negative:  # what a head holds may be the sum of another path to it
                heads = self.arcs.targets[arcs]
                largest = np.maximum(largest, np.where(self.reached[heads], peaks[heads], 0))
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
        # untestable (- removed): the largest bound is kept, in any order
        for exponent in np.unique(power[adds])[::-1].tolist():
            bound = np.ldexp(1.0, exponent) if exponent < 1024 else np.finfo(np.float64).max
            tight = off <= self.allowed * self.eps * (longest + 1) * bound
            starts = heads[tight & adds & (power == exponent)]
            # untestable (< to <=): arcs from the bound itself are larger, and were searched
            if (peaks[starts] < bound).any():
                found = search_along(tails[tight], heads[tight], starts, self.n)[0]
                peaks[found] = np.maximum(peaks[found], bound)
        return peaks

    def check_meaning(self) -> None:
        """Raise where rounding may be as large as the values: nothing is proved then."""
        if self.loosest == 0:
            return
        longest = self.measure()[0]
        left_open = longest * (self.loosest + self.eps / 2)
        if left_open > _MOST_LEFT_OPEN:
            self.fail(
                f"not proved: over {longest:,} arcs, rounding in {self.dtype} may reach "
                f"{left_open:.1g} of the magnitudes added; use a wider dtype, or scale down "
                "weights that are far larger than the others"
            )
        self.left_open = max(self.left_open, left_open)

    # ---- fact 1 -----------------------------------------------------------------------------

    def check_source(self) -> None:
        one = self.claim.semiring.one(self.dtype)
        if self.values[self.source] != one:
            self.fail(f"the source holds {self.values[self.source]}, expected {one}")

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
            # What an arc from the source offers is its length, and is not rounded.
            missing = ~self.reached[self.arcs.targets[arcs]]
            missing &= self.arcs.sources[arcs] != self.source
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
            self.fail(f"{wrong}, which is not a vertex")
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

    def follow(self, tree: Array) -> int:
        """Return the number of arcs on the longest chain of a tree; all must end at the source."""
        vertices = np.flatnonzero(tree >= 0)
        longest, stray = follow_chains(
            vertices, self.arcs.sources[tree[vertices]], self.source, self.n
        )
        if stray is not None:
            self.fail(f"the {self.link}s of vertex {self.name(stray)} never lead to the source")
        return longest

    def check_attained(self) -> None:
        """Without predecessors, tight arcs must lead from the source to every reached vertex."""
        if not self.all_attained():
            self.tree = self.find_tree()
            self.check_tree(self.tree)

    def all_attained(self) -> bool:
        """Is there a tight arc to every reached vertex, over which values fall?"""
        # untestable below (not removed, True to False, assignment removed, call removed, | to &):
        # what this quick way does not find, the search does
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
