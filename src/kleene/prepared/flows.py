"""Trips on the best paths of an eliminated graph: ``native/core/prepared/flows.hpp``.

Volumes go to the pairs that paths consist of, and one pass over all pairs moves them to the arcs.
That leaves detours of length zero in paths, so where a cycle may have the length zero every path is
unpacked by itself, without its detours. Arguments are checked by the caller.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.backends.task import LoadsAnswer, Progress
from kleene.graph import Graph
from kleene.prepared.customization import Customization
from kleene.prepared.elimination import Elimination
from kleene.prepared.pairs import climb_tree, paths

__all__ = ["flows"]

Array = NDArray[Any]

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
