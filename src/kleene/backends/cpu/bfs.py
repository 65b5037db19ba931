"""Breadth-first search on the CPU; the algorithms are in ``native/core/bfs``."""

from __future__ import annotations

from functools import partial

import numpy as np

from kleene import _native
from kleene.backends.answer import Answer
from kleene.backends.common.engine_dtype import search_in_dtype, unlimited
from kleene.backends.task import Task

__all__ = [
    "direction_optimizing", "edge", "frontier", "multi_source", "privatized", "queue", "spmv",
    "vertex_pull", "vertex_push",
]  # fmt: skip

#: Making the CSC form of a directed graph takes as long as searching from so many sources.
_SOURCES_WORTH_CSC = 64

_NATIVE = {method.name: method for method in _native.methods() if method.problem == "bfs"}


def queue(task: Task) -> Answer:
    """Search with a queue on one core; many sources are shared out among the cores."""
    return _search("queue", task)


def direction_optimizing(task: Task) -> Answer:
    """Push small frontiers, pull large ones, on all cores."""
    return _search("direction_optimizing", task)


def multi_source(task: Task) -> Answer:
    """Search from up to 512 sources at once, a bit each."""
    return _search("multi_source", task)


def spmv(task: Task) -> Answer:
    """Multiply a boolean vector by the matrix at every level."""
    return _search("spmv", task)


def edge(task: Task) -> Answer:
    """Look at every arc at every level."""
    return _search("edge", task)


def vertex_push(task: Task) -> Answer:
    """Push from every vertex of the level."""
    return _search("vertex_push", task)


def vertex_pull(task: Task) -> Answer:
    """Pull to every unvisited vertex, by incoming arcs."""
    return _search("vertex_pull", task)


def frontier(task: Task) -> Answer:
    """Append new vertices to one queue that all threads share."""
    return _search("frontier", task)


def privatized(task: Task) -> Answer:
    """Fill one queue per thread, then concatenate them."""
    return _search("privatized", task)


def _search(name: str, task: Task) -> Answer:
    """Return one row per source, by the native method of this name."""
    g, method = task.graph, _NATIVE[name]
    ids = g.neighbors.dtype  # the core counts hops in the type of the vertex ids
    if task.dtype != ids:
        return search_in_dtype(partial(_search, name), task, ids)
    farthest = unlimited(ids)
    incoming = method.incoming  # optional ones only where they pay
    if incoming == "optional" and not g.has_csc and len(task.sources) < _SOURCES_WORTH_CSC:
        incoming = None
    csc = None if incoming is None else g.csc
    values, predecessors = task.empty_values(), task.empty_predecessors()
    horizons = np.empty(len(task.sources), dtype=ids)
    _native.bfs(
        name,
        g.offsets,
        g.neighbors,
        None if csc is None else csc.offsets,
        None if csc is None else csc.neighbors,
        g.coo.sources if method.needs_tails else None,
        task.sources,
        task.targets,
        farthest if task.limit is None else int(min(task.limit, farthest)),
        task.no_path,
        values,
        predecessors,
        horizons,
        task.threads,
        task.progress,
    )
    complete = task.limit is None and task.targets is None
    return Answer(values, predecessors, None if complete else horizons)
