"""Shortest paths by the native core, for every backend that needs a search on the host.

The CPU backend's methods are these searches. Others ask for them where a device cannot decide: to
name a negative cycle, or to go on where rounding makes a cycle look negative.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.backends.answer import Answer
from kleene.backends.task import Task, WithinAnswer, WithinTask
from kleene.errors import Code, NegativeCycleError, RequestError, Text
from kleene.graph import Graph
from kleene.graph.checks import memory_for, over_budget
from kleene.graph.no_path import no_path

__all__ = [
    "arc_lengths",
    "bounded_search",
    "comparable_lengths",
    "largest_length",
    "lengths_or_none",
    "limit_array",
    "potentials",
    "reached_rows",
    "search",
    "swallowed_weights",
]

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


# ---- Bounded searches with sparse answers: ``native/core/sssp/bounded_search.cpp`` --------------


def bounded_search(task: WithinTask, available: int | None = None) -> WithinAnswer:
    """Return what each source reaches; refuse before the answer takes more memory than there is."""
    g = task.graph
    lengths = lengths_or_none(g, task.dtype, task.unit)
    most = np.iinfo(np.int64).max if task.most is None else task.most
    return reached_rows(
        task,
        available,
        lambda budget: _native.bounded_search(
            g.offsets, g.neighbors, lengths, task.sources, limit_array(task.limit, task.dtype),
            most, task.predecessors, budget, task.threads, task.progress,
        ),
    )  # fmt: skip


def reached_rows(
    task: WithinTask, available: int | None, search: Callable[[int], tuple[Any, ...]]
) -> WithinAnswer:
    """Return the rows of ``search(available)``; refuse when they take more bytes than that."""
    g = task.graph
    if available is None:
        entry = task.dtype.itemsize + g.id_dtype.itemsize * (2 if task.predecessors else 1)
        available = memory_for(2 * entry * len(task.sources) * g.n)
    try:
        return WithinAnswer(*search(available))
    except _native.MemoryNeeded as needed:
        raise over_budget(
            needed.args[0], available, f"what {len(task.sources):,} sources reach",
            "ask for fewer sources at a time", Text("a smaller ", Code("limit")),
            Text("a smaller ", Code("k")), Code("predecessors=False"),
        ) from None  # fmt: skip


# ---- Lengths that say exactly which paths tie ---------------------------------------------------
# Integers without rounding, floats in float64.


def comparable_lengths(graph: Graph, hops: bool) -> Array:
    """Return arc lengths as int32 or int64, where half of it holds every path, or float64."""
    if hops or graph.weights is None:
        return np.ones(graph.m, np.int32 if graph.n < 2**30 else np.int64)
    if graph.weights.dtype.kind == "f":
        return graph.weights.astype(np.float64, copy=False)
    narrow = graph.stats.path_bound <= largest_length(np.dtype(np.int32))
    return graph.weights.astype(np.int32 if narrow else np.int64, copy=False)


def largest_length(dtype: np.dtype[Any]) -> int | float:
    """Return the largest length of a path that searches compare."""
    return float(np.finfo(dtype).max) if dtype.kind == "f" else int(no_path(dtype)) // 2


def swallowed_weights(graph: Graph, tail: int, head: int) -> RequestError:
    """Return the error for a cycle whose arcs do not change the float sums that they add to."""
    arc = f"{graph.label(tail)!r} to {graph.label(head)!r}"
    return RequestError(
        f"the arc from {arc} adds nothing to a distance, and such arcs form a cycle: contract its "
        "vertices, or give its arcs larger weights"
    )
