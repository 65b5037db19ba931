"""Proof of what a search for the nearest facilities returns.

A vertex holds up to k labels (distance, facility). These facts leave no room for a wrong one:

1. the labels of a vertex are in order, by distance and then by facility, of different facilities,
   and within the limit;
2. nothing is missing: a label of length zero at the vertex of each facility, and each label of a
   tail extended by an arc, is at the vertex, or the vertex has k that come before it. By induction
   along a path, no facility that is nearer is missing, and no distance is too large;
3. every label is attained: it is that of a facility's own vertex, or a tight arc leads to it from a
   label of the same facility with a smaller distance. Where arcs are of length zero, or rounding
   made two facilities equally far and pushed out the label before, a search from the facility
   must come to the distance.

Lengths are added as searches add them, one by one from the facility, and comparisons are exact.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.common.native_search import lengths_or_none
from kleene.backends.task import NearestTask, WithinAnswer
from kleene.errors import VerificationError
from kleene.proofs.paths import Proof

__all__ = ["verify_nearest"]

Array = NDArray[Any]
Search = Callable[[Array, Array], WithinAnswer]

#: Labels looked at together.
_PIECE = 2**19


def verify_nearest(
    task: NearestTask, distances: Array, which: Array, no_path: Any, search: Search
) -> Proof:
    """Prove all labels, or raise VerificationError at the first fault.

    ``no_path`` is the distance of a vertex for which there is no facility.
    """
    began = time.perf_counter()
    _check_rows(task, distances, which, no_path)
    attained = _own_labels(task, distances, which)
    tails, heads, _ = task.graph.coo
    lengths = lengths_or_none(task.graph, task.dtype, task.unit)
    one = np.ones(1, dtype=task.dtype)
    step = max(1, _PIECE // task.k)  # untestable: how many arcs are looked at together
    for first in range(0, task.graph.m, step):
        piece = slice(first, first + step)
        _check_arcs(
            task, distances, which, attained, tails[piece], heads[piece],
            one if lengths is None else lengths[piece],
        )  # fmt: skip
    _check_attained(task, distances, which, attained, search)
    tolerance = f"exact in {task.dtype}" if task.dtype.kind == "f" else "exact"
    count = len(task.facilities)
    return Proof(count, count, task.graph.m, tolerance, time.perf_counter() - began)


def _fail(v: Any, what: str) -> None:
    raise VerificationError(f"vertex {v}: {what}")


def _fail_first(wrong: Array, what: str) -> None:
    """Complain of the first vertex with a label that is wrong, if there is one."""
    if wrong.any():
        _fail(np.flatnonzero(wrong.reshape(len(wrong), -1).any(axis=1))[0], what)


def _check_rows(task: NearestTask, distances: Array, which: Array, no_path: Any) -> None:
    shape = (task.graph.n, task.k)
    if distances.shape != shape or which.shape != shape or distances.dtype != task.dtype:
        raise VerificationError(f"labels are not {task.dtype} of shape {shape}")
    there = which >= 0
    _fail_first((which < -1) | (which >= len(task.facilities)), "a label of no facility")
    _fail_first(there & ~(distances >= 0), "a distance that is negative or not a number")
    if task.limit is not None:
        _fail_first(there & (distances > task.limit), f"a distance beyond {task.limit}")
    before, after = distances[:, :-1], distances[:, 1:]
    # untestable (second < to <=): the same facility twice is refused below
    ordered = (before < after) | ((before == after) & (which[:, :-1] < which[:, 1:]))
    # untestable (- removed): a label after none was refused above
    both = there[:, 1:] & there[:, :-1]
    _fail_first(there[:, 1:] & ~there[:, :-1], "a label after none")
    _fail_first(~there & (distances != no_path), "a distance to no facility")
    _fail_first(both & ~ordered, "labels that are not in order")
    held = np.sort(which, axis=1)
    _fail_first((held[:, 1:] == held[:, :-1]) & (held[:, 1:] >= 0), "a facility twice")


def _covers(distances: Array, which: Array, offers: Array, facilities: Array) -> Array:
    """Return whether rows of labels hold the facilities as near as offered, or k before them."""
    same = (which == facilities[:, None]) & (distances <= offers[:, None])
    last, last_facility = distances[:, -1], which[:, -1]
    # untestable (second < to <=): the label itself is found as `same`
    before = (last < offers) | ((last == offers) & (last_facility < facilities))
    found: Array = same.any(axis=1) | ((last_facility >= 0) & before)
    return found


def _own_labels(task: NearestTask, distances: Array, which: Array) -> Array:
    """Return which labels are those of a facility at its own vertex; none may be missing."""
    places, ids = task.facilities, np.arange(len(task.facilities))
    zeros = np.zeros(len(places), dtype=task.dtype)
    covered = _covers(distances[places], which[places], zeros, ids)
    if not covered.all():
        at = int(np.flatnonzero(~covered)[0])
        _fail(places[at], f"facility {at} is there, and not among its nearest")
    # untestable below: what is not marked here, a search decides
    at_home = places[which] == np.arange(task.graph.n)[:, None]
    own: Array = (which >= 0) & at_home & (distances == 0)
    return own


def _check_arcs(
    task: NearestTask,
    distances: Array,
    which: Array,
    attained: Array,
    tails: Array,
    heads: Array,
    lengths: Array,
) -> None:
    """Check what arcs offer, and mark what they attain."""
    for rank in range(task.k):
        facilities, starts = which[tails, rank], distances[tails, rank]
        # untestable (0 to 1): what no facility offers is not used
        offers = np.where(facilities >= 0, starts, 0) + lengths
        used = facilities >= 0
        if task.limit is not None:
            used &= offers <= task.limit
        wrong = used & ~_covers(distances[heads], which[heads], offers, facilities)
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            _fail(
                heads[at],
                f"the arc from {tails[at]} offers facility {facilities[at]} at {offers[at]}, "
                "which is missing",
            )
        same = (which[heads] == facilities[:, None]) & (distances[heads] == offers[:, None])
        arc, place = np.nonzero(same & (used & (starts < offers))[:, None])
        attained[heads[arc], place] = True  # untestable: what is not marked here, a search decides


def _check_attained(
    task: NearestTask, distances: Array, which: Array, attained: Array, search: Search
) -> None:
    """Let searches decide what arcs left open."""
    vertices, ranks = np.nonzero((which >= 0) & ~attained)
    if not len(vertices):
        return
    facilities, lengths = which[vertices, ranks], distances[vertices, ranks]
    used, group = np.unique(facilities, return_inverse=True)
    limits = np.zeros(len(used), dtype=task.dtype)
    np.maximum.at(limits, group, lengths)
    answer = search(used, limits)
    rows = np.repeat(np.arange(len(used)), np.diff(answer.offsets))
    keys = rows * task.graph.n + answer.vertices
    wanted = group * task.graph.n + vertices
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    wrong = (keys[at] != wanted) | (answer.distances[at] != lengths)
    if wrong.any():
        bad = int(np.flatnonzero(wrong)[0])
        _fail(vertices[bad], f"facility {facilities[bad]} is not {lengths[bad]} away")
