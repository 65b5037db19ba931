"""BFS on a GPU, one source at a time: what all methods share.

A method is a class whose ``run`` fills the distance, and the predecessor, of every reached vertex.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from kleene.backends.answer import Answer
from kleene.backends.common.engine_dtype import search_in_dtype
from kleene.backends.cuda.device_graph import Arcs, DeviceGraph
from kleene.backends.cuda.row_searches import AnswerRows, RowSearch, run_search
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.runtime.interface import Array, Device, ceil_div
from kleene.backends.cuda.runtime.structs import Struct, struct_type
from kleene.backends.task import Task

__all__ = ["BfsSearch", "bfs_rows", "pack_targets"]

_HOPS = np.dtype(np.int32)
_NO_LIMIT = int(np.iinfo(_HOPS).max)


class BfsSearch(RowSearch):
    """Searches from one source at a time on one graph.

    ``distances`` and ``predecessors`` (None unless requested) are -1 when ``run`` begins.
    """

    def __init__(self, task: Task, device: Device, graph: DeviceGraph) -> None:
        super().__init__(task, device, graph)
        self.predecessors = self.tree

    def level_params(self, file: str, arcs: Arcs) -> Struct:
        """Return the ``LevelParams`` of a kernel file."""
        return struct_type(file, "LevelParams").pack(
            offsets=arcs.offsets, neighbors=arcs.neighbors,
            distances=self.distances, predecessors=self.predecessors,
        )  # fmt: skip

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
    if task.graph.n == 0 or len(task.sources) == 0:
        return Answer(task.empty_values(), task.empty_predecessors())
    return run_search(task, open_device(task.device), method, _search_rows)


def _search_rows(search: BfsSearch) -> Answer:
    """Search from each source of the task, and copy what is found to its row."""
    device, task = search.device, search.task
    limit = _NO_LIMIT if task.limit is None else int(min(task.limit, _NO_LIMIT))
    complete = task.limit is None and task.targets is None
    horizons = None if complete else np.full(len(task.sources), limit, _HOPS)
    rows = AnswerRows(task, device)
    for row, source in enumerate(task.sources.tolist()):
        search.staged = False
        search.fill_rows(0xFF)
        with rows.prefault(row), search.timed():
            horizon = search.run(source, limit)
        if horizon is not None and horizons is not None:
            horizons[row] = horizon
        rows.copy(row, search)
        task.report(row + 1, len(task.sources))
    rows.wait(search)
    return rows.answer(horizons)


def pack_targets(task: Task, device: Device) -> tuple[int, Array | None]:
    """Return the number of targets and a bitmap of them on the device; None without targets."""
    if task.targets is None:
        return 0, None
    bits = np.zeros(32 * ceil_div(task.graph.n, 32), bool)
    bits[task.targets] = True
    words = np.packbits(bits, bitorder="little").view(np.uint32)
    return int(np.count_nonzero(bits)), device.upload(words, "target bits")
