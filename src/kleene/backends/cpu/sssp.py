"""Shortest paths from single sources on the CPU; the algorithms are in ``native/core/sssp``."""

from __future__ import annotations

import numpy as np

from kleene.backends.answer import Answer
from kleene.backends.common import johnson as negative
from kleene.backends.common.engine_dtype import search_in_dtype
from kleene.backends.common.native_search import search
from kleene.backends.cpu.bfs import multi_source
from kleene.backends.task import Task

__all__ = [
    "batched",
    "bellman_ford",
    "delta_stepping",
    "dijkstra",
    "johnson",
    "llp",
]


def dijkstra(task: Task) -> Answer:
    """Settle vertices in order of distance; one core a source."""
    return search("dijkstra", task)


def delta_stepping(task: Task) -> Answer:
    """Settle buckets of near distances on all cores; many sources a vector lane each."""
    return search("delta_stepping", task)


def bellman_ford(task: Task) -> Answer:
    """Relax the arcs of the vertices that changed, round after round; find negative cycles."""
    return search("bellman_ford", task)


def llp(task: Task) -> Answer:
    """Raise lower bounds until they equal the best paths found, by incoming arcs."""
    return search("llp", task)


# ---- All pairs on sparse graphs: one search per source, spread over the cores -------------------

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
