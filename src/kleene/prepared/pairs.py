"""Distances and paths of pairs: both ends climb, and the best path leads over a common ancestor.

``native/core/prepared/pairs.hpp``. Arguments are vertices by position, checked by the caller.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.backends.task import Progress
from kleene.prepared.customization import Customization
from kleene.prepared.elimination import Elimination
from kleene.system.cached_property import cached
from kleene.system.machine import threads_for

__all__ = ["CLIMB_WORK", "climb_tree", "distance", "distances", "path", "paths", "queries"]

Array = NDArray[Any]

#: Work of a climb, in the units of ``threads_for``: it takes some microseconds.
CLIMB_WORK = 2**10


def climb_tree(elimination: Elimination) -> _native.ClimbTree:
    """Return the elimination in the form that climbs read; made once."""
    e = elimination
    return cached(e, "_climb_tree", lambda: _native.ClimbTree(e.parents, e.offsets, e.heads))


def queries(elimination: Elimination, customization: Customization) -> _native.PairQueries:
    """Return the native object that answers for pairs; made once."""
    return cached(customization, "_pair_queries", lambda: _queries(elimination, customization))


def _path_queries(elimination: Elimination, customization: Customization) -> _native.PairQueries:
    """Return the native object that answers with paths; made once."""

    def make() -> _native.PairQueries:
        made = _queries(elimination, customization)
        made.set_middles(*customization.middles(elimination))
        return made  # complete: another thread may use it at once

    return cached(customization, "_path_queries", make)


def _queries(elimination: Elimination, customization: Customization) -> _native.PairQueries:
    return _native.PairQueries(
        climb_tree(elimination), elimination.order, elimination.ranks, customization.up,
        customization.down, customization.semiring, customization.negative,
        customization.dtype.itemsize > customization.up.itemsize,
    )  # fmt: skip


def distances(
    elimination: Elimination,
    customization: Customization,
    origins: Array,
    destinations: Array,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Array:
    """Return the value of the best path of each pair; the user's "no path" where there is none."""
    answers = np.empty(len(origins), dtype=customization.dtype)
    queries(elimination, customization).distances(
        origins, destinations, _bytes_of_bools(answers),
        threads_for(CLIMB_WORK * len(origins), threads), progress,
    )  # fmt: skip
    return answers


def distance(
    elimination: Elimination, customization: Customization, origin: int, destination: int
) -> Any:
    """Return the value of the best path of one pair, a Python number."""
    return queries(elimination, customization).distance(origin, destination)


def paths(
    elimination: Elimination,
    customization: Customization,
    origins: Array,
    destinations: Array,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> tuple[Array, NDArray[np.int64]]:
    """Return the vertices along the best path of each pair, and where each path begins.

    Paths are simple: no vertex comes twice. A pair without a path has an empty one.
    """
    return _path_queries(elimination, customization).paths(
        origins, destinations, threads_for(CLIMB_WORK * len(origins), threads), progress
    )


def path(
    elimination: Elimination, customization: Customization, origin: int, destination: int
) -> Array:
    """Return the vertices along the best path of one pair; none if there is no path."""
    return _path_queries(elimination, customization).path(origin, destination)


def _bytes_of_bools(answers: Array) -> Array:
    """Return the same memory; the core knows truth values as bytes."""
    return answers.view(np.uint8) if answers.dtype.kind == "b" else answers
