"""Proof of answers that hold a part of each row: a matrix of some targets, nearest vertices.

Entries of some vertices say little about the others, so they cannot be checked against each other.
Whole rows of the same sources are computed, and proved by ``verify`` on the original graph, which
does not care where rows come from; what the answer holds must agree with them. Integers, booleans
and widest paths agree exactly. Sums and products of floats may have been formed in another order:
over a path of h arcs they agree up to 8 eps (h + 1) of the sum of its weights without their signs,
or of the product. Where weights are negative, another path may be as long whose sums rise and fall
further, around a cycle of about zero: then values agree up to 8 eps (h + 1) of the largest sum on
any path to the vertex that is tight up to rounding, where h is that of the longest path of the row.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from kleene.backends.answer import Answer
from kleene.backends.semiring import SEMIRINGS
from kleene.errors import NegativeCycleError, VerificationError
from kleene.graph import Graph
from kleene.graph.forms import arcs_between
from kleene.graph.no_path import NO_HOPS
from kleene.proofs.claim import PathValues
from kleene.proofs.paths import Proof, sample_rows, verify
from kleene.proofs.row_checker import RowChecker
from kleene.system.cached_property import cached_property

__all__ = ["Compare", "ProvedRow", "compare_targets", "verify_rows"]

Array = NDArray[Any]
Compare = Callable[[int, "ProvedRow"], bool]

#: Bytes of the rows that are computed together.
_BATCH = 2**27


@dataclass(frozen=True)
class ProvedRow:
    """A whole row that was proved, and what else may be said of it."""

    graph: Graph  # in the direction of the search
    semiring: str
    source: int
    values: Array
    predecessors: Array
    hops: bool = False  # every arc counts one, and -1 says "no path"

    @property
    def no_path(self) -> Any:
        """The value of a vertex that cannot be reached."""
        return NO_HOPS if self.hops else SEMIRINGS[self.semiring].zero(self.values.dtype)

    @property
    def exact(self) -> bool:
        """Whether every order of sums gives the same values."""
        return self.values.dtype.kind != "f" or self.hops or self.semiring == "max_min"

    @cached_property
    def slack(self) -> Array:
        """By how much the value of each vertex may be off."""
        if self.exact:
            return np.zeros(len(self.values), self.values.dtype)
        n = len(self.values)
        sizes, steps, up = np.zeros(n), np.zeros(n), np.arange(n)
        inner = np.flatnonzero(self.predecessors >= 0)
        up[inner] = self.predecessors[inner]
        steps[inner] = 1
        if self.graph.weights is None:
            sizes[inner] = 1
        else:
            sizes[inner] = np.abs(self.graph.weights[arcs_between(self.graph, up[inner], inner)])
        for _ in range(n.bit_length()):  # each round looks back twice as far
            sizes, steps = sizes + sizes[up], steps + steps[up]
            up = up[up]
        size = np.abs(self.values) if self.semiring == "max_times" else sizes
        tiny = np.finfo(self.values.dtype).smallest_subnormal  # products may underflow
        slack: Array = (steps + 1) * (8 * np.finfo(self.values.dtype).eps * size + tiny)
        if self.semiring == "min_plus" and self.graph.stats.negative:
            there = self.values != self.no_path
            slack[there] = np.maximum(slack, self._rounding_of_others)[there]
        return slack

    @cached_property
    def short(self) -> Array:
        """Which values no order of adding makes larger: those of paths of up to two arcs."""
        if self.graph.stats.negative:
            return np.zeros(len(self.values), bool)
        before = np.append(self.predecessors, -1)  # nothing comes before nothing
        short: Array = before[before[self.predecessors]] == -1
        return short

    @property
    def _rounding_of_others(self) -> Array:
        """By how much other paths round that are as long, and whose sums rise and fall further."""
        row = PathValues(
            self.graph, SEMIRINGS[self.semiring], np.array([self.source], self.graph.id_dtype),
            self.values[None], self.predecessors[None], None, self.hops,
        )  # fmt: skip
        return RowChecker(row).rounding(0)

    def agrees(self, vertices: Array, values: Array) -> Array:
        """Return which of some values agree with those that the row holds for some vertices."""
        right = self.values[vertices]
        same: Array = values == right
        if self.exact or same.all():
            return same
        # untestable (& to |): infinite values are equal, or off by more than any slack
        both = ~same & (values != self.no_path) & (right != self.no_path)
        same[both] = np.abs(values[both] - right[both]) <= self.slack[vertices[both]]
        return same

    def differs(self, held: Any, right: Any, slack: float) -> bool:
        """Return whether a number is not the right one, up to a slack; NaN never is.

        Where sums are exact, numbers are compared as they are: floats would round large integers.
        """
        if self.exact:
            return bool(held != right)
        return not abs(float(held) - float(right)) <= slack

    def refuse(self, what: str, vertex: Any = None) -> NoReturn:
        """Raise VerificationError for a vertex of this row."""
        name = repr(self.graph.label(self.source))
        at = "" if vertex is None else f"vertex {self.graph.label(int(vertex))!r} "
        raise VerificationError(f"row of source {name}: {at}{what}")


def verify_rows(
    graph: Graph,
    semiring: str,
    sources: Array,
    rows: Callable[[Array], Answer],
    compare: Compare,
    sample: int | None,
    seed: int,
    reverse: bool,
    hops: bool = False,
    limit: int | float | None = None,
) -> Proof:
    """Prove rows of all sources, or of a sample, and compare what an answer has of each.

    Parameters
    ----------
    graph : Graph
        The graph in the direction of the search.
    semiring : str
        What "best path" means.
    sources : array
        The sources of the answer, by position.
    rows : function
        Returns whole rows with predecessors, from the numbers of the rows.
    compare : function
        Compares row ``i`` of the answer with the proved row; raises VerificationError, or returns
        whether they are the same to the last bit.
    sample, seed : int
        How many rows to check, and which.
    reverse : bool
        Whether the arcs of ``graph`` are those of the user's graph, reversed.
    hops : bool
        Whether every arc counts one.
    limit : number, optional
        Where searches stopped.
    """
    began = time.perf_counter()
    chosen = sample_rows(len(sources), graph, sample, seed)
    step = max(1, _BATCH // (16 * max(1, graph.n)))
    words, same = ["exact"], True
    for first in range(0, len(chosen), step):
        batch = chosen[first : first + step]
        claim = _claim(graph, semiring, sources, batch, rows, reverse, hops, limit)
        words.append(verify(claim, sample=len(batch)).tolerance)
        for place, row in enumerate(batch.tolist()):
            assert claim.predecessors is not None
            proved = ProvedRow(
                graph, semiring, int(sources[row]), claim.values[place], claim.predecessors[place],
                hops,
            )  # fmt: skip
            same &= compare(row, proved)
    tolerance = max(words) if same else "up to rounding"  # "up to ..." comes after "exact ..."
    return Proof(len(chosen), len(sources), graph.m, tolerance, time.perf_counter() - began)


def _claim(
    graph: Graph,
    semiring: str,
    sources: Array,
    which: Array,
    rows: Callable[[Array], Answer],
    reverse: bool,
    hops: bool,
    limit: int | float | None,
) -> PathValues:
    """Return whole rows as something to prove."""
    try:
        answer = rows(which)
    except NegativeCycleError:
        raise VerificationError("the graph has a negative cycle, and no shortest paths") from None
    return PathValues(
        graph, SEMIRINGS[semiring], sources[which], answer.values, answer.predecessors,
        answer.horizons, hops=hops, limit=limit, reverse=reverse,
    )  # fmt: skip


def compare_targets(values_at: Callable[[int, Array], Array], targets: Array | None) -> Compare:
    """Return the function that compares values of targets; without, whole rows were proved."""

    def compare(row: int, proved: ProvedRow) -> bool:
        if targets is None:
            return True
        held = values_at(row, targets)
        agrees = proved.agrees(targets, held)
        if not agrees.all():
            at = int(np.argmin(agrees))
            right = proved.values[targets[at]]
            proved.refuse(f"holds {held[at]}, but the row that was proved {right}", targets[at])
        return bool((held == proved.values[targets]).all())

    return compare
