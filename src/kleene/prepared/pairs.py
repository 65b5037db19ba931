"""Distances and paths of pairs: both ends climb, and the best path leads over a common ancestor.

``native/core/prepared/pairs/pairs.hpp``. Arguments are vertices by position, checked by the caller.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.backends.common.walks import Walks
from kleene.backends.task import LoadsAnswer, Progress
from kleene.graph import Graph
from kleene.graph.forms import arcs_between
from kleene.prepared.customization import Customization
from kleene.prepared.elimination import Elimination
from kleene.system.cached_property import cached
from kleene.system.machine import threads_for

__all__ = [
    "CLIMB_WORK",
    "answer_by_climbs",
    "climb_tree",
    "distance",
    "distances",
    "flows",
    "path",
    "paths",
    "queries",
]

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


# ---- Trips on the best paths of an eliminated graph: ``native/core/prepared/pairs/flows.cpp`` ---
# Volumes go to the pairs that paths consist of, and one pass over all pairs moves them to the arcs.
# That leaves detours of length zero in paths, so where a cycle may have the length zero every path
# is unpacked by itself, without its detours. Arguments are checked by the caller.

#: Trips whose paths are unpacked together, where they must be.
_UNPACKED = 2**12


def flows(
    elimination: Elimination,
    customization: Customization,
    graph: Graph,
    origins: Array,
    destinations: Array,
    volumes: Array,
    *,
    threads: int,
    progress: Progress | None = None,
) -> LoadsAnswer:
    """Return what goes along each arc of the graph, whose weights the pairs have."""
    trips = origins, destinations, volumes
    if graph.stats.min_weight <= 0:
        return _by_paths(elimination, customization, graph, *trips, threads, progress)
    tree = climb_tree(elimination)
    up, down = np.zeros(elimination.arcs), np.zeros(elimination.arcs)
    arcs, assigned = np.zeros(graph.m), np.zeros(len(volumes), dtype=np.uint8)
    _native.prepared_pair_flows(
        tree, elimination.ranks, customization.up, customization.down, customization.negative,
        *trips, up, down, assigned, threads, progress,
    )  # fmt: skip
    _native.prepared_move_to_arcs(
        tree, elimination.order, *customization.middles(elimination), up, down, graph.offsets,
        graph.neighbors, arcs,
    )  # fmt: skip
    return LoadsAnswer(arcs, assigned.view(bool))


def _by_paths(
    elimination: Elimination,
    customization: Customization,
    graph: Graph,
    origins: Array,
    destinations: Array,
    volumes: Array,
    threads: int,
    progress: Progress | None,
) -> LoadsAnswer:
    tails, heads, _ = graph.coo
    keys = tails.astype(np.int64) * graph.n + heads  # ascending
    arcs, assigned = np.zeros(graph.m), np.zeros(len(volumes), dtype=bool)
    for first in range(0, len(volumes), _UNPACKED):
        part = slice(first, first + _UNPACKED)
        vertices, offsets = paths(
            elimination, customization, origins[part], destinations[part], threads=threads
        )
        counts = np.diff(offsets)
        assigned[part] = counts > 0
        trip = np.repeat(np.arange(len(counts)), counts)
        inside = trip[1:] == trip[:-1]
        steps = vertices[:-1].astype(np.int64) * graph.n + vertices[1:]
        used = np.searchsorted(keys, steps[inside])
        arcs += np.bincount(used, volumes[part][trip[1:][inside]], minlength=graph.m)
        if progress is not None:
            progress(min(first + _UNPACKED, len(volumes)), len(volumes))
    return LoadsAnswer(arcs, assigned)


# ---- Lengths and paths of pairs on a prepared graph ---------------------------------------------


def answer_by_climbs(
    graph: Graph,
    parts: tuple[Elimination, Customization],
    ends: tuple[Array, ...],
    with_paths: bool,
    threads: int | None,
    progress: Progress | None,
) -> tuple[Array, Walks | None]:
    """Return the value of each pair and, where they are asked for, its path.

    Where weights are negative floats, a value may come from a path around a cycle of about zero,
    which rounds to less than the path that is left when the cycle is cut out. So the lengths are
    then those of the paths.
    """
    values = distances(*parts, *ends, threads=threads, progress=progress)
    if not with_paths:
        return values, None
    walks = paths(*parts, *ends, threads=threads, progress=progress)
    if values.dtype.kind == "f" and graph.stats.negative:
        values = np.where(np.isfinite(values), _lengths(graph, walks, values.dtype), values)
    return values, walks


def _lengths(graph: Graph, walks: Walks, dtype: np.dtype[Any]) -> Array:
    """Return the sum of the weights along each walk, added in float64."""
    positions, offsets = walks
    walk = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    inside = np.flatnonzero(walk[:-1] == walk[1:])
    assert graph.weights is not None
    weights = graph.weights[arcs_between(graph, positions[inside], positions[inside + 1])]
    sums = np.bincount(walk[inside], weights.astype(dtype), minlength=len(offsets) - 1)
    return sums.astype(dtype)
