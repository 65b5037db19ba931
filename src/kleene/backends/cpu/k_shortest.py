"""The k shortest paths without repeated vertices: ``native/core/sssp/k_shortest_paths.cpp``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.backends.task import KShortestTask

__all__ = ["yen"]

Array = NDArray[Any]


def yen(task: KShortestTask) -> tuple[Array, Array, Array, Array]:
    """Return lengths, all vertices of the paths, vertices of each path, paths of each pair."""
    g = task.graph
    weights = np.ones(g.m) if g.weights is None else g.weights.astype(np.float64, copy=False)
    return _native.k_shortest_paths(
        g.offsets, g.neighbors, weights, task.remaining, task.sources, task.targets, task.rows,
        task.count, task.threads, task.progress,
    )  # fmt: skip
