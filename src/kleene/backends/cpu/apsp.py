"""All pairs on sparse graphs: one search per source, spread over the cores."""

from __future__ import annotations

import numpy as np

from kleene.backends.answer import Answer
from kleene.backends.common import johnson as negative
from kleene.backends.common.engine_dtype import search_in_dtype
from kleene.backends.common.native_sssp import search
from kleene.backends.cpu.bfs import multi_source
from kleene.backends.task import Task

__all__ = ["batched", "johnson"]

_INT32 = np.dtype(np.int32)


def batched(task: Task) -> Answer:
    """Search from each source, as many at a time as there are cores; by hops without weights."""
    if task.graph.weight_dtype is None:
        return multi_source(task)
    if task.dtype == np.float64 and task.graph.fits_int32:  # twice the lanes, the same sums
        return search_in_dtype(_by_length, task, _INT32)
    return _by_length(task)


def _by_length(task: Task) -> Answer:
    return search("delta_stepping", task)


def johnson(task: Task) -> Answer:
    """Make all arcs non-negative by potentials, then search from each source."""
    return negative.johnson(task) if task.graph.stats.negative else batched(task)
