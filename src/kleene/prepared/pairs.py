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
from kleene.system.machine import threads_for

__all__ = ["climb_tree", "distance", "distances", "path", "paths", "queries"]

Array = NDArray[Any]

#: Work of a pair, in the units of ``threads_for``: a climb takes some microseconds.
_PAIR = 2**10


def climb_tree(elimination: Elimination) -> _native.ClimbTree:
    """Return the elimination in the form that climbs read; made once."""
    found = elimination.__dict__.get("_climb_tree")
    if found is None:
        found = _native.ClimbTree(elimination.parents, elimination.offsets, elimination.heads)
        elimination.__dict__["_climb_tree"] = found
    return found


def queries(elimination: Elimination, customization: Customization) -> _native.PairQueries:
    """Return the native object that answers for pairs; made once."""
    found = customization.__dict__.get("_pair_queries")
    if found is None:
        found = _native.PairQueries(
            climb_tree(elimination), elimination.order, elimination.ranks, customization.up,
            customization.down, customization.semiring, customization.negative,
            customization.dtype.itemsize > customization.up.itemsize,
        )  # fmt: skip
        customization.__dict__["_pair_queries"] = found
    return found


def _path_queries(elimination: Elimination, customization: Customization) -> _native.PairQueries:
    """Return the native object, with the middles that unpacking needs."""
    found = queries(elimination, customization)
    if "_has_middles" not in customization.__dict__:
        found.set_middles(*customization.middles(elimination))
        customization.__dict__["_has_middles"] = True
    return found


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
        threads_for(_PAIR * len(origins), threads), progress,
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
        origins, destinations, threads_for(_PAIR * len(origins), threads), progress
    )


def path(
    elimination: Elimination, customization: Customization, origin: int, destination: int
) -> Array:
    """Return the vertices along the best path of one pair; none if there is no path."""
    return _path_queries(elimination, customization).path(origin, destination)


def _bytes_of_bools(answers: Array) -> Array:
    """Return the same memory; the core knows truth values as bytes."""
    return answers.view(np.uint8) if answers.dtype.kind == "b" else answers
