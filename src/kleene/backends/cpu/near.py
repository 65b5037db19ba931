"""The k nearest facilities of every vertex: ``native/core/sssp/k_nearest.cpp``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.backends.common.native_search import bounded_search, lengths_or_none, limit_array
from kleene.backends.task import KShortestTask, NearestTask, WithinAnswer, WithinTask
from kleene.graph.no_path import no_path

__all__ = [
    "bounded_dijkstra",
    "k_labels",
    "yen",
]

Array = NDArray[Any]


def k_labels(task: NearestTask) -> tuple[Array, Array]:
    """Return the distances of every vertex from its k nearest facilities, and which these are."""
    g = task.graph
    distances = np.full((g.n, task.k), no_path(task.dtype), dtype=task.dtype)
    which = np.full((g.n, task.k), -1, dtype=g.id_dtype)
    found = min(task.k, len(task.facilities))  # columns beyond stay empty
    values, owners = (a if found == task.k else a[:, :found].copy() for a in (distances, which))
    _native.k_nearest(
        g.offsets,
        g.neighbors,
        lengths_or_none(g, task.dtype, task.unit),
        task.facilities,
        limit_array(task.limit, task.dtype),
        found,
        values,
        owners,
        task.threads,
        task.progress,
    )
    if found < task.k:
        distances[:, :found], which[:, :found] = values, owners
    return distances, which


# ---- Bounded searches with sparse answers, by the native core -----------------------------------


def bounded_dijkstra(task: WithinTask) -> WithinAnswer:
    """Return what each source reaches; refuse before the answer takes more memory than there is."""
    return bounded_search(task)


# ---- The k shortest paths without repeated vertices ---------------------------------------------
# ``native/core/sssp/k_shortest_paths.cpp``.


def yen(task: KShortestTask) -> tuple[Array, Array, Array, Array]:
    """Return lengths, all vertices of the paths, vertices of each path, paths of each pair."""
    g = task.graph
    weights = np.ones(g.m) if g.weights is None else g.weights.astype(np.float64, copy=False)
    return _native.k_shortest_paths(
        g.offsets, g.neighbors, weights, task.remaining, task.sources, task.targets, task.rows,
        task.count, task.threads, task.progress,
    )  # fmt: skip
