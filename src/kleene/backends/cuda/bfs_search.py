"""BFS on a GPU, one source at a time: what all methods share.

A method is a class whose ``run`` fills the distance, and the predecessor, of every reached vertex.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from kleene.backends.common.engine_dtype import search_in_dtype
from kleene.backends.cuda.device_graph import DeviceGraph, get_device_graph
from kleene.backends.cuda.runtime.device import Device, open_device
from kleene.backends.cuda.runtime.prefault import prefault
from kleene.backends.task import Answer, Task

__all__ = ["BfsSearch", "bfs_rows"]

_HOPS = np.dtype(np.int32)
_NO_LIMIT = int(np.iinfo(_HOPS).max)


class BfsSearch(ABC):
    """Searches from one source at a time on one graph; created once per call.

    ``distances`` and ``predecessors`` (None unless requested) are -1 when ``run`` begins.
    """

    def __init__(self, task: Task, device: Device, graph: DeviceGraph) -> None:
        self.task, self.device, self.graph = task, device, graph
        self.distances = device.empty(graph.n, _HOPS, "distances")
        self.predecessors = (
            device.empty(graph.n, _HOPS, "predecessors") if task.predecessors else None
        )

    @abstractmethod
    def run(self, source: int, limit: int) -> int | None:
        """Search up to a limit of levels.

        Returns the last complete level if the search stopped at its targets; None if it ran to the
        end or the limit.
        """


def bfs_rows(task: Task, method: type[BfsSearch]) -> Answer:
    """Search from each source by this method."""
    if task.dtype != _HOPS:
        return search_in_dtype(lambda part: bfs_rows(part, method), task, _HOPS)
    values, predecessors = task.empty_values(), task.empty_predecessors()
    horizons = np.full(len(task.sources), _NO_LIMIT, _HOPS)
    limit = _NO_LIMIT if task.limit is None else int(min(task.limit, _NO_LIMIT))
    if task.graph.n:
        device = open_device(task.device)
        search = method(task, device, get_device_graph(task.graph, device))
        for row, source in enumerate(task.sources.tolist()):
            for array in (search.distances, search.predecessors):
                if array is not None:
                    device.fill(array, 0xFF)
            rows = (values[row], None if predecessors is None else predecessors[row])
            with prefault(task.threads, *rows), device.timer.span("compute", device.main):
                horizon = search.run(source, limit)
            horizons[row] = limit if horizon is None else horizon
            device.download(search.distances, values[row])
            if predecessors is not None:
                assert search.predecessors is not None
                device.download(search.predecessors, predecessors[row])
            task.report(row + 1, len(task.sources))
    if task.no_path != -1:
        values[values == -1] = task.no_path
    complete = task.limit is None and task.targets is None
    return Answer(values, predecessors, None if complete else horizons)
