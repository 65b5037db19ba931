"""Shortest paths from single sources on the CPU; the algorithms are in ``native/core/sssp_*``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.backends.task import Answer, Task
from kleene.errors import NegativeCycleError

__all__ = ["bellman_ford", "delta_stepping", "dijkstra", "lengths_of", "llp", "potentials", "run"]

Array = NDArray[Any]


def lengths_of(weights: Array | None, task: Task) -> Array:
    """Return arc lengths in the type of the distances, converted only where they differ."""
    if weights is None:
        return np.ones(task.graph.m, dtype=task.dtype)
    return weights.astype(task.dtype, copy=False)


def run(name: str, task: Task, lengths: Array, reported: Array | None = None) -> Answer:
    """Fill one row per source by the native method of this name.

    With ``reported``, ``lengths`` are costs that order the search, and distances are sums of
    ``reported``.
    """
    values, predecessors = task.empty_values(), task.empty_predecessors()
    horizons = task.new_horizons()
    _call(name, task, lengths, reported, values, predecessors, horizons)
    return Answer(values, predecessors, horizons)


def potentials(task: Task, lengths: Array) -> Array:
    """Return, for every vertex, its distance from the nearest source of the task."""
    distances = np.empty(task.graph.n, dtype=task.dtype)
    _call("potentials", task, lengths, None, distances, None, distances[:0])
    return distances


def _call(
    name: str,
    task: Task,
    lengths: Array,
    reported: Array | None,
    values: Array,
    predecessors: Array | None,
    horizons: Array,
) -> None:
    g = task.graph
    pulls = name == "llp"
    farthest = task.semiring.zero(task.dtype)
    cycle = _native.sssp(
        name,
        g.offsets,
        g.neighbors,
        lengths,
        reported,
        g.csc.offsets if pulls else None,
        g.csc.neighbors if pulls else None,
        lengths_of(g.csc.weights, task) if pulls else None,
        task.sources,
        task.targets,
        farthest if task.limit is None else min(task.limit, farthest),
        values,
        predecessors,
        horizons,
        task.threads,
        task.progress,
    )
    if cycle:
        raise NegativeCycleError(cycle)


def _method(name: str, stops: bool) -> Callable[[Task], Answer]:
    """Return the function that runs one native form; one that ``stops`` knows its horizon."""

    def method(task: Task) -> Answer:
        answer = run(name, task, lengths_of(task.graph.weights, task))
        return answer if stops else Answer(answer.values, answer.predecessors)

    return method


dijkstra = _method("dijkstra", stops=True)
delta_stepping = _method("delta_stepping", stops=True)
bellman_ford = _method("bellman_ford", stops=False)
llp = _method("llp", stops=False)
