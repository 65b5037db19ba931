"""Breadth-first search on the CPU; the algorithms are in ``native/core/bfs_*.cpp``."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kleene import _native
from kleene.task import Answer, Task

__all__ = ["queue"]


def _method(name: str, pulls: bool = False) -> Callable[[Task], Answer]:
    """Return the function that runs one native form; one that pulls looks at incoming arcs."""

    def run(task: Task) -> Answer:
        g = task.graph
        ids = g.neighbors.dtype  # the core counts hops in the type of the vertex ids
        values = task.new_values()
        hops = values if values.dtype == ids else values.astype(ids)
        predecessors = task.new_predecessors()
        horizons = np.empty(len(task.sources), dtype=ids)
        farthest = np.iinfo(ids).max
        _native.bfs(
            name,
            g.offsets,
            g.neighbors,
            g.csc.offsets if pulls else None,
            g.csc.neighbors if pulls else None,
            task.sources,
            task.targets,
            farthest if task.limit is None else int(min(task.limit, farthest)),
            hops,
            predecessors,
            horizons,
            task.threads,
            task.progress,
        )
        if hops is not values:
            values[...] = hops
            horizons = np.where(horizons == farthest, task.semiring.zero(task.dtype), horizons)
        return Answer(values, predecessors, horizons.astype(task.dtype))

    return run


queue = _method("queue")
