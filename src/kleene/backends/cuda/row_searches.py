"""Searches from one source at a time: their buffers, and the rows of the answer.

The buffers of a search are allocated once. The search of a placed graph waits there for the next
call that can use it; calls that run at the same time have one each.

Rows leave the device behind the search, in its stream. They go straight into the memory of the
answer, which the device can write to without the host: see ``runtime.host_buffers``.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from typing import Any, TypeVar

import numpy as np

from kleene.backends.cuda.device_answer import DeviceAnswer, answer_rows_on_device
from kleene.backends.cuda.device_graph import DeviceGraph, get_device_graph
from kleene.backends.cuda.runtime.device import Array, Device, HostArray
from kleene.backends.cuda.runtime.host_buffers import HostBuffer, answer_buffer
from kleene.backends.cuda.runtime.prefault import prefault
from kleene.backends.cuda.tuning import transfers
from kleene.backends.task import Answer, Task
from kleene.errors import KleeneError

__all__ = ["AnswerRows", "RowSearch", "lend_search"]


# ---- searches -----------------------------------------------------------------------------------


class RowSearch(ABC):
    """Searches from one source at a time on one graph, with all buffers that they need."""

    def __init__(self, task: Task, device: Device, graph: DeviceGraph) -> None:
        self.task, self.device, self.graph = task, device, graph
        self.nbytes = 0  # of all buffers
        self._copy_row: Callable[[], None] | None = None
        self.sent = False
        self.distances = device.empty(graph.n, task.dtype, "distances")

    @classmethod
    def workspace_key(cls, task: Task) -> Hashable:
        """Return what the buffers depend on besides the graph; equal keys can share a search."""
        return cls, task.dtype.str, task.predecessors

    def copy_ahead(self, copy_row: Callable[[], None] | None) -> None:
        """Set how ``send_ahead`` copies the row of the next search; None: not at all."""
        self._copy_row, self.sent = copy_row, False

    def send_ahead(self) -> None:
        """Copy the row of a small graph, launched so far: call it before waiting for the state.

        If the search is complete then, which it nearly always is, the host waits only once.
        """
        if self._copy_row is not None:
            self._copy_row()
            self.sent = True


Search = TypeVar("Search", bound=RowSearch)


@contextmanager
def lend_search(task: Task, device: Device, method: type[Search]) -> Iterator[Search]:
    """Lend a search on the task's graph: one that waits there, or a new one.

    It waits for the next call afterwards, unless this one ends with an error or an interrupt.
    """
    graph = get_device_graph(task.graph, device)
    key = None if task.targets is not None else method.workspace_key(task)
    search: Search | None = None if key is None else graph.take_idle(key)
    if search is None:
        before = device.allocated - graph.nbytes
        search = method(task, device, graph)
        search.nbytes = device.allocated - graph.nbytes - before
    else:
        search.task, search.graph = task, graph
    try:
        yield search
    except BaseException:
        with suppress(KleeneError):  # nothing may write to memory that is given back now
            device.synchronize()
        raise
    search.copy_ahead(None)
    if key is not None:
        del search.task, search.graph  # the graph owns what waits there; no reference cycle
        graph.keep_idle(key, search)


# ---- rows of the answer -------------------------------------------------------------------------


class AnswerRows:
    """All rows of an answer: in host memory, or on the device if they are kept there."""

    def __init__(self, task: Task, device: Device) -> None:
        self._task, self._device = task, device
        shape = (len(task.sources), task.graph.n)
        self.kept = answer_rows_on_device(task, device) if task.keep else None
        self._host: list[HostBuffer] = []
        self.values: Array | HostArray
        self.predecessors: Array | HostArray | None = None
        if self.kept is not None:
            _, self.values, self.predecessors = self.kept
        else:
            self._host.append(answer_buffer(device, shape, task.dtype, task.out))
            self.values = self._host[0].target
            if task.predecessors:
                self._host.append(answer_buffer(device, shape, task.graph.id_dtype))
                self.predecessors = self._host[1].target
        row = self.values[0].nbytes if shape[0] else 0
        self.small = row <= transfers.PINNED_LEAST
        self.worth_overlap = row >= transfers.OVERLAP_LEAST

    @property
    def pageable(self) -> int:
        """Bytes of host memory that the device cannot write to without the host."""
        return sum(buffer.array.nbytes for buffer in self._host if buffer.lease is None)

    def prefault(self, row: int) -> AbstractContextManager[None]:
        """Return a context in which host threads map the pages of a pageable row."""
        pageable = [buffer.target[row] for buffer in self._host if buffer.lease is None]
        return prefault(self._task.threads, *pageable) if pageable else nullcontext()

    def copy_values(self, row: int, distances: Array, stream: Any = None) -> None:
        """Copy the distances of a search; does not wait, unless to pageable memory."""
        self._device.copy(self.values[row], distances, stream)

    def copy_predecessors(self, row: int, predecessors: Array, stream: Any = None) -> None:
        """Copy the predecessors of a search; does not wait, unless to pageable memory."""
        assert self.predecessors is not None
        self._device.copy(self.predecessors[row], predecessors, stream)

    def copy(self, row: int, distances: Array, predecessors: Array | None) -> None:
        """Copy what a search found."""
        self.copy_values(row, distances)
        if predecessors is not None:
            self.copy_predecessors(row, predecessors)

    def copier(
        self, row: int, distances: Array, predecessors: Array | None
    ) -> Callable[[], None] | None:
        """Return a function that copies a row, if it is small; else None."""
        return partial(self.copy, row, distances, predecessors) if self.small else None

    def answer(self, horizons: HostArray | None) -> Answer:
        """Return the answer; all copies must be complete."""
        if self.kept is not None:
            return DeviceAnswer(self.kept, horizons)
        arrays = [buffer.finished() for buffer in self._host]
        return Answer(arrays[0], arrays[1] if len(arrays) > 1 else None, horizons)
