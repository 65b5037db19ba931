"""The k nearest facilities of every vertex: ``native/core/sssp/k_nearest.cpp``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.backends.common.native_sssp import lengths_or_none, limit_array
from kleene.backends.task import NearestTask
from kleene.graph.no_path import no_path

__all__ = ["k_labels"]

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
