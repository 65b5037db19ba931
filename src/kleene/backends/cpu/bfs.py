"""Breadth-first search on the CPU; the algorithms are in ``native/core/bfs_*.cpp``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from kleene import _native
from kleene.backends.task import Answer, Progress, Task
from kleene.graph import Graph

__all__ = [
    "converted",
    "direction_optimizing",
    "edge",
    "frontier",
    "hop_rows",
    "multi_source",
    "privatized",
    "queue",
    "spmv",
    "vertex_pull",
    "vertex_push",
]

#: The core's way to say "without end", for each type of vertex ids.
_FARTHEST = {np.dtype(t): int(np.iinfo(t).max) for t in (np.int32, np.int64)}

_Pulls = Callable[[Graph, int], bool]


def _never(graph: Graph, sources: int) -> bool:
    return False


def _always(graph: Graph, sources: int) -> bool:
    return True


def _if_cheap(graph: Graph, sources: int) -> bool:
    """To make the incoming arcs takes longer than to search a few times without them."""
    return graph.has_csc or sources >= _SOURCES_WORTH_CSC


#: Making the CSC form of a directed graph takes as long as searching from so many sources.
_SOURCES_WORTH_CSC = 64

#: Rows that are searched at once when hop counts must be converted to another type.
_CONVERTED_ROWS = 1024


def _method(name: str, pulls: _Pulls = _never, by_arcs: bool = False) -> Callable[[Task], Answer]:
    """Return the function that runs one native form.

    ``pulls`` says whether to give it the incoming arcs, ``by_arcs`` whether it needs the source
    of every arc.
    """

    def run(task: Task) -> Answer:
        g = task.graph
        ids = g.neighbors.dtype  # the core counts hops in the type of the vertex ids
        if task.dtype != ids:
            return converted(run, task, ids)
        farthest = _FARTHEST[ids]
        csc = g.csc if pulls(g, len(task.sources)) else None
        values, predecessors = task.empty_values(), task.empty_predecessors()
        horizons = np.empty(len(task.sources), dtype=ids)
        _native.bfs(
            name,
            g.offsets,
            g.neighbors,
            None if csc is None else csc.offsets,
            None if csc is None else csc.neighbors,
            g.coo.sources if by_arcs else None,
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


def converted(run: Callable[[Task], Answer], task: Task, ids: np.dtype[Any]) -> Answer:
    """Search some rows at a time in the core's type, and convert them to the task's."""
    values, predecessors = task.empty_values(), task.empty_predecessors()
    horizons = task.new_horizons()
    for first in range(0, len(task.sources), _CONVERTED_ROWS):
        rows = slice(first, first + _CONVERTED_ROWS)
        part = replace(
            task, sources=task.sources[rows], dtype=ids, out=None, progress=_from(first, task)
        )
        found = run(part)
        values[rows] = found.values
        values[rows][found.values == part.no_path] = task.no_path
        if predecessors is not None:
            predecessors[rows] = found.predecessors
        if found.horizons is not None:
            ended = found.horizons != _FARTHEST[ids]
            horizons[rows][ended] = found.horizons[ended]
    return Answer(values, predecessors, horizons)


def _from(first: int, task: Task) -> Progress | None:
    if task.progress is None:
        return None
    return lambda done, total: task.report(first + done, len(task.sources))


queue = _method("queue")
spmv = _method("spmv")
edge = _method("edge", by_arcs=True)
vertex_push = _method("vertex_push")
vertex_pull = _method("vertex_pull", pulls=_always)
frontier = _method("frontier")
privatized = _method("privatized")
direction_optimizing = _method("direction_optimizing", pulls=_if_cheap)
multi_source = _method("multi_source", pulls=_if_cheap)


def hop_rows(task: Task) -> Answer:
    """Path lengths of a graph without weights: hop counts, with the task's own "no path"."""
    return multi_source(task)
