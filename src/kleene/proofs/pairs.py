"""Proof that the path values of a list of pairs are right.

The distances of pairs say little about other vertices, so they cannot be checked against each
other. Instead, the rows that they belong to are computed once more by a plain search on the CPU
and proved by ``verify``, which does not care where rows come from; the pairs must agree with them.
Integers and hop counts agree exactly. Floats without paths agree as ``rows.py`` says, those
with paths up to the rounding of the path that the search found. Every path must consist of
arcs of the graph, visit no vertex twice and add up to the distance: in floats, up to 8 eps (h + 1)
of the sum of its h weights without their signs. Where weights are negative, sums rise and fall
again, and of two paths that are about as long rounding may choose the one with the larger weights:
the rounding of its own path counts as well for a distance that is to the last bit the sum along it.
Near a limit, a pair may be missing if another order of adding could put its path beyond the limit:
over three arcs or more, since two numbers add up to the same in either order.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from kleene.backends.common.walks import Walks, follow_links, select_walks
from kleene.backends.semiring import SEMIRINGS
from kleene.backends.task import Task
from kleene.errors import NegativeCycleError, VerificationError
from kleene.graph import Graph
from kleene.graph.forms import arcs_between
from kleene.graph.no_path import NO_HOPS
from kleene.proofs.claim import Fail, PathValues, check_claim, check_ids
from kleene.proofs.paths import Proof, sample_rows, verify
from kleene.proofs.rows import ProvedRow
from kleene.system.machine import threads_for

__all__ = ["PairValues", "check_pairs", "verify_pairs"]

Array = NDArray[Any]

#: Bytes of the rows that are computed together.
_BATCH = 2**27


@dataclass(frozen=True)
class PairValues:
    """The claim to prove: shortest paths of pairs."""

    graph: Graph
    hops: bool
    origins: Array
    destinations: Array
    values: Array
    walks: Walks | None
    limit: int | float | None
    by_target: bool  # the searches started at the destinations

    @property
    def searched(self) -> Graph:
        """The graph in the direction of the searches."""
        return self.graph.transpose() if self.by_target else self.graph

    @property
    def exact(self) -> bool:
        """Whether every order of sums gives the same values."""
        return self.hops or self.values.dtype.kind == "i"

    @property
    def no_path(self) -> Any:
        """The value of a pair without a path."""
        return NO_HOPS if self.hops else SEMIRINGS["min_plus"].zero(self.values.dtype)


def check_pairs(claim: PairValues, fail: Fail) -> None:
    """Call ``fail`` with the first field that no result for pairs on this graph can have."""
    n, values = claim.graph.n, claim.values
    check_ids(claim.origins, "sources", n, fail)
    check_ids(claim.destinations, "targets", n, fail)
    count = len(claim.origins)
    if len(claim.destinations) != count or values.shape != (count,):
        fail(f"there are {count} sources, but targets or values differ in number")
    # A row of values of this type must be one that a call could have computed.
    row = np.broadcast_to(values[:1], (1, n)) if count else np.empty((0, n), values.dtype)
    rows = PathValues(
        claim.searched, SEMIRINGS["min_plus"], claim.origins[:1], row, None, None, claim.hops,
        limit=claim.limit,
    )  # fmt: skip
    check_claim(rows, fail)
    if claim.walks is not None:
        vertices, offsets = claim.walks
        check_ids(vertices, "vertices", n, fail)
        if len(vertices) != offsets[-1]:
            fail(f"there are {len(vertices)} vertices of paths, expected {offsets[-1]}")


def verify_pairs(claim: PairValues, sample: int | None = None, seed: int = 0) -> Proof:
    """Prove the pairs of every root of a search, or of a sample of them."""
    began = time.perf_counter()
    check_pairs(claim, _refuse)
    graph = claim.searched
    named, far = claim.origins, claim.destinations
    if claim.by_target:
        named, far = far, named
    roots, root_of = np.unique(named, return_inverse=True)
    chosen = sample_rows(len(roots), graph, sample, seed)
    # untestable (1 to 2): how many rows are proved together
    step = max(1, _BATCH // (16 * max(1, graph.n)))
    proofs, same = ["exact"], True
    for first in range(0, len(chosen), step):
        batch = chosen[first : first + step]
        rows, tolerance = _proved_rows(claim, roots[batch])
        proofs.append(tolerance)
        pairs = np.flatnonzero(np.isin(root_of, batch))
        row = np.searchsorted(batch, root_of[pairs])
        same &= _check_values(claim, rows, pairs, row, far[pairs])
        _check_paths(claim, pairs)
    seconds = time.perf_counter() - began
    words = max(proofs) if same else "up to rounding"  # "up to ..." comes after "exact ..."
    return Proof(len(chosen), len(roots), graph.m, words, seconds)


def _proved_rows(claim: PairValues, roots: Array) -> tuple[PathValues, str]:
    """Compute rows by a plain search, prove them, and return them."""
    from kleene.backends.cpu.bfs import queue  # few calls prove pairs
    from kleene.backends.cpu.sssp import bellman_ford, dijkstra  # few calls prove pairs

    graph, semiring = claim.searched, SEMIRINGS["min_plus"]
    search = queue if claim.hops else bellman_ford if graph.stats.negative else dijkstra
    task = Task(
        graph, semiring, roots.astype(graph.id_dtype), None, None, True, claim.values.dtype,
        # untestable (* to //): how many threads search
        threads_for(graph.m * len(roots)), hops=claim.hops,
    )  # fmt: skip
    try:
        answer = search(task)
    except NegativeCycleError:
        _refuse("the graph has a negative cycle, and no shortest paths")
    rows = PathValues(
        graph, semiring, task.sources, answer.values, answer.predecessors, None, claim.hops
    )
    return rows, verify(rows, sample=len(roots)).tolerance


def _check_values(claim: PairValues, rows: PathValues, pairs: Array, at: Array, far: Array) -> bool:
    """Compare the values of some pairs with proved rows; return whether they are the same."""
    found, right = claim.values[pairs], rows.values[at, far]
    joined, claimed = right != claim.no_path, found != claim.no_path
    both, missing = claimed & joined, joined & ~claimed
    if claim.walks is None:
        # untestable (& to |): the slack of more pairs than need one
        slack = _slack_of_rows(claim, rows, at, far, both & (found != right))
    else:  # a value has its own path beside it
        assert rows.predecessors is not None
        # untestable (1 to 2, - removed): the walk of a pair that is not joined is not read
        walks = follow_links(rows.predecessors, at, np.where(joined, far, -1), to_root=False)
        slack = _sums(claim, rows.graph, walks).slack(claim)
    _refuse_where(claimed & ~joined, claim, pairs, "but there is no path")
    wrong = both & _beyond(found, right, slack)
    if claim.walks is not None and wrong.any():
        wider = slack[wrong] + _own_slack(claim, pairs[wrong])
        wrong[wrong] = _beyond(found[wrong], right[wrong], wider)
    _refuse_where(wrong, claim, pairs, "but the row of its search holds another value")
    unsure = np.zeros(0, bool)  # untestable (0 to 1): False, once or not at all
    if claim.limit is not None:
        _refuse_where(claimed & (found > claim.limit), claim, pairs, "beyond the limit")
        missing &= right <= claim.limit
        assert rows.predecessors is not None
        walks = follow_links(rows.predecessors, at[missing], far[missing], to_root=False)
        sums = _sums(claim, rows.graph, walks)
        unsure = (sums.arcs > 2) & (right[missing] + sums.slack(claim) > claim.limit)
        missing[missing] = ~unsure
    _refuse_where(missing, claim, pairs, "but there is a path")
    return bool((found == right)[both].all() and not unsure.any())


def _slack_of_rows(
    claim: PairValues, rows: PathValues, at: Array, far: Array, differs: Array
) -> Array:
    """Return by how much each value may be off its row; 0 where it does not differ."""
    assert rows.predecessors is not None
    slack = np.zeros(len(far), np.int64 if claim.exact else np.float64)
    for row in np.unique(at[differs]).tolist() if not claim.exact else ():
        proved = ProvedRow(
            rows.graph, "min_plus", int(rows.sources[row]), rows.values[row],
            rows.predecessors[row], rows.hops,
        )  # fmt: skip
        own = at == row
        slack[own] = proved.slack[far[own]]
    return slack


def _beyond(found: Array, right: Array, slack: Array) -> Array:
    """Return which values are off by more than rounding may move them, as NaN always is.

    Integers are compared and not subtracted: differences may wrap to nothing.
    """
    beyond: Array
    if slack.dtype.kind == "i":
        beyond = found != right
        return beyond
    with np.errstate(invalid="ignore"):  # infinity from itself
        beyond = ~(np.abs(found.astype(slack.dtype) - right) <= slack)
    return beyond


def _own_slack(claim: PairValues, pairs: Array) -> Array:
    """Return the rounding of the paths of some pairs; 0 where a value is not the sum along it."""
    assert claim.walks is not None
    sums = _sums(claim, claim.graph, select_walks(claim.walks, pairs))
    is_sum = sums.valid & (sums.total.astype(claim.values.dtype) == claim.values[pairs])
    return np.where(is_sum, sums.slack(claim), 0)


def _check_paths(claim: PairValues, pairs: Array) -> None:
    """The path of each pair must lead from end to end, over arcs that add up to its value."""
    if claim.walks is None:
        return
    positions, offsets = claim.walks
    lengths = np.diff(offsets)[pairs]
    claimed = claim.values[pairs] != claim.no_path
    _refuse_where((lengths > 0) != claimed, claim, pairs, "which does not go with its path")
    pairs = pairs[claimed]
    first, last = positions[offsets[pairs]], positions[offsets[pairs + 1] - 1]
    wrong = (first != claim.origins[pairs]) | (last != claim.destinations[pairs])
    _refuse_where(wrong, claim, pairs, "but its path has other ends")
    sums = _sums(claim, claim.graph, select_walks(claim.walks, pairs))
    _refuse_where(~sums.valid, claim, pairs, "but its path uses an arc that is not there")
    twice = _repeats(select_walks(claim.walks, pairs), claim.graph.n)
    _refuse_where(twice, claim, pairs, "but its path visits a vertex twice")
    off = _beyond(claim.values[pairs], sums.total, sums.slack(claim))
    _refuse_where(off, claim, pairs, "but its path adds up to something else")


def _repeats(walks: Walks, n: int) -> Array:
    """Return which walks visit a vertex twice: their integers might add up to more than fits."""
    positions, offsets = walks
    walk = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    visits = np.sort(walk * n + positions)
    repeats = np.zeros(len(offsets) - 1, bool)  # untestable (- to +): longer by two False
    repeats[visits[1:][visits[1:] == visits[:-1]] // n] = True
    return repeats


class _Sums(NamedTuple):
    """What many walks add up to, one entry each."""

    total: Array
    size: Array  # without the signs of the weights
    arcs: Array  # how many
    valid: Array  # are all of them arcs of the graph?

    def slack(self, claim: PairValues) -> Array:
        """Return by how much a value may be off: nothing, for integers."""
        if claim.exact:
            return np.zeros(len(self.size), np.int64)
        eps = float(np.finfo(claim.values.dtype).eps)
        slack: Array = 8 * eps * (self.arcs + 1) * self.size
        return slack


def _sums(claim: PairValues, graph: Graph, walks: Walks) -> _Sums:
    """Add up the weights of many walks; for integer values, exactly."""
    positions, offsets = walks
    arcs = arcs_between(graph, positions[:-1], positions[1:])
    walk = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    inside = walk[1:] == walk[:-1]
    arcs, walk = arcs[inside], walk[1:][inside]
    valid = np.ones(len(offsets) - 1, bool)
    valid[walk[arcs < 0]] = False
    wide = np.int64 if claim.exact else np.float64
    weights = np.ones(len(arcs), wide)
    if graph.weights is not None and not claim.hops:
        weights = graph.weights[arcs].astype(claim.values.dtype).astype(wide)  # as searches do
    total, size = np.zeros((2, len(offsets) - 1), wide)
    np.add.at(total, walk, weights)
    np.add.at(size, walk, np.abs(weights))
    return _Sums(total, size, np.bincount(walk, minlength=len(offsets) - 1), valid)


def _refuse_where(wrong: Array, claim: PairValues, pairs: Array, what: str) -> None:
    """Complain of the first of these pairs that is wrong, if there is one."""
    if wrong.any():
        i = int(pairs[wrong.argmax()])
        # untestable (1 to 2): only the first label is taken
        ends = (
            claim.graph.label(x[i : i + 1]).tolist()[0] for x in (claim.origins, claim.destinations)
        )
        _refuse("pair {}, {!r} to {!r}: it holds {}, {}".format(i, *ends, claim.values[i], what))


def _refuse(what: str) -> NoReturn:
    raise VerificationError(what)
