"""BFS on a GPU, one source at a time: what all methods share.

A method is a class whose ``run`` fills the distance, and the predecessor, of every reached vertex.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from kleene.backends.common.engine_dtype import search_in_dtype
from kleene.backends.cuda.device_graph import DeviceGraph
from kleene.backends.cuda.row_searches import AnswerRows, RowSearch, lend_search
from kleene.backends.cuda.runtime.device import Device, HostArray, open_device
from kleene.backends.task import Answer, Task

__all__ = ["BfsSearch", "bfs_rows"]

_HOPS = np.dtype(np.int32)
_NO_LIMIT = int(np.iinfo(_HOPS).max)


class BfsSearch(RowSearch):
    """Searches from one source at a time on one graph.

    ``distances`` and ``predecessors`` (None unless requested) are -1 when ``run`` begins.
    """

    def __init__(self, task: Task, device: Device, graph: DeviceGraph) -> None:
        super().__init__(task, device, graph)
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
    limit = _NO_LIMIT if task.limit is None else int(min(task.limit, _NO_LIMIT))
    horizons = np.full(len(task.sources), limit, _HOPS)
    device = open_device(task.device)
    rows = AnswerRows(task, device)
    if task.graph.n and len(task.sources):
        with lend_search(task, device, method) as search:
            _search_rows(search, rows, limit, horizons)
    complete = task.limit is None and task.targets is None
    return rows.answer(None if complete else horizons)


def _search_rows(search: BfsSearch, rows: AnswerRows, limit: int, horizons: HostArray) -> None:
    """Search from each source of the task, and copy what is found to its row."""
    device, task = search.device, search.task
    found = (search.distances, search.predecessors)
    for row, source in enumerate(task.sources.tolist()):
        for array in found:
            if array is not None:
                device.fill(array, 0xFF)
        search.copy_ahead(rows.copier(row, *found))
        with rows.prefault(row), device.timer.span("compute", device.main):
            horizon = search.run(source, limit)
        if horizon is not None:
            horizons[row] = horizon
        if not search.sent:
            rows.copy(row, *found)
        task.report(row + 1, len(task.sources))
    if not search.sent:
        device.main.synchronize()
