"""All pairs on sparse graphs: one search per source, spread over the cores."""

from __future__ import annotations

from kleene.backends.common import johnson as negative
from kleene.backends.common.native_sssp import search
from kleene.backends.cpu.bfs import multi_source
from kleene.backends.task import Answer, Task

__all__ = ["batched", "johnson"]


def batched(task: Task) -> Answer:
    """Search from each source, as many at a time as there are cores; by hops without weights."""
    return multi_source(task) if task.graph.weight_dtype is None else search("delta_stepping", task)


def johnson(task: Task) -> Answer:
    """Make all arcs non-negative by potentials, then search from each source."""
    return negative.johnson(task) if task.graph.stats.negative else batched(task)
