"""Shortest paths by the native core, for every backend that needs a search on the host.

The CPU backend's methods are these searches. Others ask for them where a device cannot decide: to
name a negative cycle, or to go on where rounding makes a cycle look negative.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.backends.answer import Answer
from kleene.backends.task import Task
from kleene.errors import NegativeCycleError
from kleene.graph import Graph
from kleene.graph.no_path import no_path

__all__ = ["arc_lengths", "lengths_or_none", "limit_array", "potentials", "search"]

Array = NDArray[Any]

#: Methods that never relax a vertex beyond the limit.
_NARROW = ("delta_stepping", "dijkstra")

_NATIVE = [method for method in _native.methods() if method.problem == "sssp"]
_NEEDS_INCOMING = {method.name for method in _NATIVE if method.incoming}
_STOPS_EARLY = {method.name for method in _NATIVE if method.stops_early}


def arc_lengths(weights: Array | None, task: Task) -> Array:
    """Return arc lengths in the type of the distances; ones for an unweighted graph."""
    if weights is None or task.dtype.kind == "b":
        return np.ones(task.graph.m, dtype=task.dtype)
    return weights.astype(task.dtype, copy=False)


def lengths_or_none(graph: Graph, dtype: np.dtype[Any], unit: bool) -> Array | None:
    """Return arc lengths in the type of the distances; None where every arc counts one."""
    if unit or graph.weights is None:
        return None
    return graph.weights.astype(dtype, copy=False)


def limit_array(limit: int | float | Array | None, dtype: np.dtype[Any]) -> Array:
    """Return a limit, or several, as an array of the type of the distances."""
    return np.atleast_1d(np.asarray(no_path(dtype) if limit is None else limit, dtype=dtype))


def search(method: str, task: Task, costs: Array | None = None) -> Answer:
    """Return one row per source, by the native method of this name; horizons if it stops early.

    With ``costs``, these order the search and distances are sums of the arc lengths.
    """
    values, predecessors = task.empty_values(), task.empty_predecessors()
    horizons = task.new_horizons()
    if method in _NARROW and costs is None and _may_be_narrow(task):
        narrow = np.empty(values.shape, dtype=np.int32)
        if _search_narrow(method, task, narrow, values, predecessors):
            return Answer(values, predecessors, horizons)
    lengths = arc_lengths(task.graph.weights, task)
    reported = None if costs is None else lengths
    _call(method, task, lengths if costs is None else costs, reported, values, predecessors,
          horizons)  # fmt: skip
    return Answer(values, predecessors, horizons if method in _STOPS_EARLY else None)


def _may_be_narrow(task: Task) -> bool:
    """Return whether a search by 32-bit sums is worth a try where their bound needs 64 bits.

    The bound is n times the largest weight; roads are far shorter. Narrow sums need half the
    memory, and the weights need not be converted: of the highways of the world, 1.6 million arcs,
    that takes a third of the search.
    """
    g = task.graph
    if task.dtype != np.int64 or g.weights is None or g.weights.dtype != np.int32:
        return False
    whole = task.limit is None and task.targets is None
    return whole and len(task.sources) * g.n <= 2 * g.m  # no more memory than converted weights


def _search_narrow(
    method: str, task: Task, narrow: Array, values: Array, predecessors: Array | None
) -> bool:
    """Search by 32-bit sums; False if a path may be too long for them, and was then cut.

    No sum wraps: vertices further away than the limit are not relaxed.
    """
    weights = task.graph.weights
    assert weights is not None
    heaviest = int(task.graph.stats.max_weight)
    limit = int(no_path(narrow.dtype)) - 1 - heaviest
    own = replace(task, dtype=narrow.dtype, limit=limit)
    _call(method, own, weights, None, narrow, predecessors, own.new_horizons())
    farthest = _native.widen_distances(narrow, values, task.threads)
    return farthest + heaviest <= limit


def potentials(task: Task) -> Array:
    """Return, for every vertex, its distance from the nearest source of the task.

    Raises NegativeCycleError for a negative cycle that some source leads to.
    """
    distances = np.empty(task.graph.n, dtype=task.dtype)
    lengths = arc_lengths(task.graph.weights, task)
    _call("potentials", task, lengths, None, distances, None, distances[:0])
    return distances


def _call(
    method: str,
    task: Task,
    lengths: Array,
    reported: Array | None,
    values: Array,
    predecessors: Array | None,
    horizons: Array,
) -> None:
    g = task.graph
    pulls = method in _NEEDS_INCOMING
    farthest = no_path(task.dtype)
    cycle = _native.sssp(
        method,
        g.offsets,
        g.neighbors,
        lengths,
        reported,
        g.csc.offsets if pulls else None,
        g.csc.neighbors if pulls else None,
        arc_lengths(g.csc.weights, task) if pulls else None,
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
