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
is the largest sum on any path to the tail or to the head that is tight up to rounding: the value of
the head may be the sum of another path to it, which is as long. So a huge weight widens nothing but
the paths that go over it. A missing vertex is accepted if the limit is as close as that to the
value that an arc offers, unless the arc leaves the source. For products, L is the product.

What is proved then. Let delta be the largest amount by which any comparison was off, as a part of
the tail's value plus the weight (or of the smallest weight, where weights cancel to less). The
path of k arcs that predecessors show has the value claimed, up to k delta of the largest sum on
it, and no other path of k arcs is better by more than that. The proof reports h delta. If it
exceeds one half, nothing is proved, and VerificationError says so: ask for a wider type.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from kleene.errors import Code, RequestError, VerificationError
from kleene.graph import Graph
from kleene.graph.checks import as_seed
from kleene.proofs.claim import PathValues, check_claim
from kleene.proofs.row_checker import RowChecker
from kleene.system.formatting import counted

__all__ = ["PathValues", "Proof", "choose_rows", "sample_rows", "verify"]

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
            rows = f"1 source, {counted(self.arcs, 'arc')}"
        else:
            part = f"all {self.of:,}" if self.rows == self.of else f"{self.rows:,} of {self.of:,}"
            rows = f"{part} sources, {counted(self.arcs, 'arc')} each"
        return f"proved: {rows}, {self.tolerance}, in {self.seconds:.2g} s"


#: By default, prove as many rows as this many arc checks allow (some seconds).
_WORK = 200_000_000


def verify(claim: PathValues, sample: int | None = None, seed: int = 0) -> Proof:
    """Prove every row, or a random sample of them; raise VerificationError at the first fault."""
    began = time.perf_counter()
    check_claim(claim, _refuse)
    count = len(claim.sources)
    chosen = sample_rows(count, claim.graph, sample, seed)
    checker = RowChecker(claim)
    for row in chosen.tolist():
        checker.check(row)
    return Proof(
        len(chosen), count, claim.graph.m, checker.tolerance_in_words(), time.perf_counter() - began
    )


def sample_rows(count: int, graph: Graph, sample: int | None, seed: int) -> Array:
    """Return which of ``count`` rows to check: all that take some seconds, or a sample."""
    # untestable (1 to 2): of an empty graph all rows are affordable
    return choose_rows(count, max(16, _WORK // max(1, graph.m + graph.n)), sample, seed)


def choose_rows(count: int, affordable: int, sample: int | None, seed: int) -> Array:
    """Return which of ``count`` rows to check: a sample, or as many as are affordable."""
    if sample is not None and (not isinstance(sample, (int, np.integer)) or sample < 1):
        raise RequestError(Code("sample"), f" must be a positive integer, not {sample!r}")
    seed = as_seed(seed)
    wanted = min(count, affordable if sample is None else sample)
    if wanted == count:
        return np.arange(count)
    return np.sort(np.random.default_rng(seed).choice(count, wanted, replace=False))


def _refuse(what: str) -> NoReturn:
    raise VerificationError(what)
