"""Breadth-first search on the CPU; the algorithms are in ``native/core/bfs``.

One function for each native method: ``queue(task)``, ``direction_optimizing(task)``, ...
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kleene import _native
from kleene.backends.common.engine_dtype import search_in_dtype, unlimited
from kleene.backends.cpu import method_functions
from kleene.backends.task import Answer, Task
from kleene.graph import Graph

__all__: list[str] = []  # the functions are attributes by __getattr__

#: Making the CSC form of a directed graph takes as long as searching from so many sources.
_SOURCES_WORTH_CSC = 64


def _make(method: _native.Method) -> Callable[[Task], Answer]:
    """Return the function that runs one native method."""
    name, needs_tails = method.name, method.needs_tails

    def run(task: Task) -> Answer:
        g = task.graph
        ids = g.neighbors.dtype  # the core counts hops in the type of the vertex ids
        if task.dtype != ids:
            return search_in_dtype(run, task, ids)
        farthest = unlimited(ids)
        csc = g.csc if _wants_incoming(method, g, len(task.sources)) else None
        values, predecessors = task.empty_values(), task.empty_predecessors()
        horizons = np.empty(len(task.sources), dtype=ids)
        _native.bfs(
            name,
            g.offsets,
            g.neighbors,
            None if csc is None else csc.offsets,
            None if csc is None else csc.neighbors,
            g.coo.sources if needs_tails else None,
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

    return run


def _wants_incoming(method: _native.Method, graph: Graph, sources: int) -> bool:
    """Return whether to pass the incoming arcs: optional ones only where they pay."""
    if method.incoming != "optional":
        return method.incoming == "required"
    return graph.has_csc or sources >= _SOURCES_WORTH_CSC


_METHODS = method_functions("bfs", _make)


def __getattr__(name: str) -> Callable[[Task], Answer]:
    if name in _METHODS:
        return _METHODS[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
