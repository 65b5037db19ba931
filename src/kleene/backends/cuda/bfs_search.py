"""Breadth-first searches on a GPU, one source after the other: what all forms share.

A form is a class with a ``run`` that fills the depth, and the parent, of every vertex it reaches.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from kleene.backends.common.bfs_dtype import convert_hops
from kleene.backends.cuda.device_graph import DeviceGraph, on_device
from kleene.backends.cuda.runtime.device import Device, open_device
from kleene.backends.cuda.runtime.prefault import touched
from kleene.backends.task import Answer, Task

__all__ = ["HopSearch", "hop_rows"]

_HOPS = np.dtype(np.int32)
_FARTHEST = int(np.iinfo(_HOPS).max)


class HopSearch(ABC):
    """Searches from one source at a time on one graph; made once for a call.

    ``depths`` and ``parents`` (None when nobody asked) have -1 everywhere when ``run`` begins.
    """

    def __init__(self, task: Task, device: Device, graph: DeviceGraph) -> None:
        self.task, self.device, self.graph = task, device, graph
        self.depths = device.empty(graph.n, _HOPS, "depths")
        self.parents = device.empty(graph.n, _HOPS, "parents") if task.predecessors else None

    @abstractmethod
    def run(self, source: int, limit: int) -> int | None:
        """Search down to a depth.

        Returns the last depth that is complete, if the search stopped there because it had found
        all targets; None if it went on to the end or the limit.
        """


def hop_rows(task: Task, form: type[HopSearch]) -> Answer:
    """Search from each source by this form."""
    if task.dtype != _HOPS:
        return convert_hops(lambda part: hop_rows(part, form), task, _HOPS)
    values, predecessors = task.empty_values(), task.empty_predecessors()
    horizons = np.full(len(task.sources), _FARTHEST, _HOPS)
    limit = _FARTHEST if task.limit is None else int(min(task.limit, _FARTHEST))
    if task.graph.n:
        device = open_device(task.device)
        search = form(task, device, on_device(task.graph, device))
        for row, source in enumerate(task.sources.tolist()):
            for array in (search.depths, search.parents):
                if array is not None:
                    device.fill(array, 0xFF)
            rows = (values[row], None if predecessors is None else predecessors[row])
            with touched(task.threads, *rows), device.meter.span("compute", device.main):
                horizon = search.run(source, limit)
            horizons[row] = limit if horizon is None else horizon
            device.download(search.depths, values[row])
            if predecessors is not None:
                assert search.parents is not None
                device.download(search.parents, predecessors[row])
            task.report(row + 1, len(task.sources))
    if task.no_path != -1:
        values[values == -1] = task.no_path
    complete = task.limit is None and task.targets is None
    return Answer(values, predecessors, None if complete else horizons)
