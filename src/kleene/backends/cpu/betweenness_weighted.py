"""Betweenness with weights: ``native/core/measures/weighted_brandes.cpp``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.backends.common.path_lengths import (
    comparable_lengths,
    largest_length,
    swallowed_weights,
)
from kleene.backends.task import BetweennessTask

__all__ = ["dijkstra"]

Array = NDArray[Any]


def dijkstra(task: BetweennessTask) -> tuple[Array, Array | None]:
    """Return the sums of each vertex and arc: a search from each source, and a pass backward."""
    g = task.graph
    lengths = comparable_lengths(g, task.hops)
    is_target = None
    if task.targets is not None:
        is_target = np.zeros(g.n, np.uint8)
        is_target[task.targets] = 1
    through, along = np.zeros(g.n), np.zeros(g.m) if task.arcs else None
    farthest = largest_length(lengths.dtype)
    cycle = _native.weighted_brandes(
        g.offsets, g.neighbors, lengths, task.sources, is_target,
        farthest if task.limit is None else min(task.limit, farthest), task.endpoints,
        through, along, task.threads, task.progress,
    )  # fmt: skip
    if cycle is not None:
        raise swallowed_weights(g, *cycle)
    return through, along
