"""Breadth-first search on the CPU; the algorithms are in ``native/core/bfs_*.cpp``."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kleene import _native
from kleene.backends.common.bfs_dtype import convert_hops, unlimited
from kleene.backends.task import Answer, Task
from kleene.graph import Graph

__all__ = [
    "direction_optimizing",
    "edge",
    "frontier",
    "multi_source",
    "privatized",
    "queue",
    "spmv",
    "vertex_pull",
    "vertex_push",
]

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


def _method(name: str, pulls: _Pulls = _never, by_arcs: bool = False) -> Callable[[Task], Answer]:
    """Return the function that runs one native form.

    ``pulls`` says whether to give it the incoming arcs, ``by_arcs`` whether it needs the source
    of every arc.
    """

    def run(task: Task) -> Answer:
        g = task.graph
        ids = g.neighbors.dtype  # the core counts hops in the type of the vertex ids
        if task.dtype != ids:
            return convert_hops(run, task, ids)
        farthest = unlimited(ids)
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


queue = _method("queue")
spmv = _method("spmv")
edge = _method("edge", by_arcs=True)
vertex_push = _method("vertex_push")
vertex_pull = _method("vertex_pull", pulls=_always)
frontier = _method("frontier")
privatized = _method("privatized")
direction_optimizing = _method("direction_optimizing", pulls=_if_cheap)
multi_source = _method("multi_source", pulls=_if_cheap)
