"""Searches from one source at a time: their buffers, and the rows of the answer.

The buffers of a search are allocated once. The search of a placed graph waits there for the next
call that can use it; calls that run at the same time have one each.

Rows leave the device behind the search, in its stream. They go straight into the memory of the
answer, which the device can write to without the host: see ``runtime.host_buffers``. Those of a
small graph are copied to the host before it knows that the search is complete, and once more there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any, TypeVar

from kleene.backends.cuda.device_answer import DeviceAnswer, answer_rows_on_device
from kleene.backends.cuda.device_graph import DeviceGraph, get_device_graph
from kleene.backends.cuda.runtime.device import Array, Device, HostArray
from kleene.backends.cuda.runtime.host_buffers import HostBuffer, answer_buffer
from kleene.backends.cuda.runtime.prefault import prefault
from kleene.backends.cuda.tuning import transfers
from kleene.backends.task import Answer, Task
from kleene.errors import KleeneError

__all__ = ["AnswerRows", "RowSearch", "run_search"]


# ---- searches -----------------------------------------------------------------------------------


class RowSearch(ABC):
    """Searches from one source at a time on one graph, with all buffers that they need."""

    def __init__(self, task: Task, device: Device, graph: DeviceGraph) -> None:
        self.task, self.device, self.graph = task, device, graph
        self.nbytes = 0  # of all buffers
        self.distances = device.empty(graph.n, task.dtype, "distances")
        #: Do rows go through page-locked memory of the search, since they are small?
        self.small = self.distances.nbytes <= transfers.PINNED_LEAST
        self._staging: list[tuple[HostArray, Array]] = []
        self._copies: Any = None  # a stream
        self.staged = False  # is the row in the staging buffers, or on its way?

    @property
    @abstractmethod
    def found(self) -> tuple[Array, Array | None]:
        """The distances, and the predecessors if they are asked for, of the last source."""

    @classmethod
    def workspace_key(cls, task: Task) -> Hashable:
        """Return what the buffers depend on besides the graph; equal keys can share a search."""
        return cls, task.dtype.str, task.predecessors

    def copy_stream(self) -> Any:
        """Return a stream for copies that overlap with kernels."""
        if self._copies is None:
            self._copies = self.device.stream()
        return self._copies

    def send_ahead(self) -> None:
        """Copy the rows of a small graph, as launched so far: call it before reading the state.

        If the search is complete then, which it nearly always is, the host waits only once.
        """
        if self.small and not self.task.keep:
            self._stage()

    def read_staged(self) -> list[HostArray]:
        """Return the rows of a small graph on the host; they are overwritten by the next source."""
        if not self.staged:
            self._stage()
            self.device.main.synchronize()
        return [to for to, _ in self._staging]

    def _stage(self) -> None:
        if not self._staging:
            rows = [row for row in self.found if row is not None]
            self._staging = [(self.device.pinned(row.shape, row.dtype), row) for row in rows]
        for to, row in self._staging:
            self.device.copy(to, row)
        self.staged = True


Search = TypeVar("Search", bound=RowSearch)


def run_search(
    task: Task, device: Device, method: type[Search], run: Callable[[Search], Answer]
) -> Answer:
    """Call ``run`` with a search on the task's graph: one that waits there, or a new one.

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
        answer = run(search)
    except BaseException:
        with suppress(KleeneError):  # nothing may write to memory that is given back now
            device.synchronize()
        raise
    if key is not None:
        del search.task, search.graph  # the graph owns what waits there; no reference cycle
        graph.keep_idle(key, search)
    return answer


# ---- rows of the answer -------------------------------------------------------------------------

_NOTHING = nullcontext()


class AnswerRows:
    """All rows of an answer: in host memory, or on the device if they are kept there."""

    def __init__(self, task: Task, device: Device) -> None:
        self._task, self._device = task, device
        self.kept = answer_rows_on_device(task, device) if task.keep else None
        self._host: list[HostBuffer] = []
        self.values: Any  # of the device or of the host, as is
        self.predecessors: Any = None
        self.pageable = 0  # bytes of host memory that the device cannot write to by itself
        if self.kept is not None:
            _, self.values, self.predecessors = self.kept
            return
        shape = (len(task.sources), task.graph.n)
        self._host.append(answer_buffer(device, shape, task.dtype, task.out))
        self.values = self._host[0].target
        if task.predecessors:
            self._host.append(answer_buffer(device, shape, task.graph.id_dtype))
            self.predecessors = self._host[1].target
        for buffer in self._host:
            self.pageable += 0 if buffer.lease is not None else buffer.array.nbytes

    def prefault(self, row: int) -> AbstractContextManager[None]:
        """Return a context in which host threads map the pages of a pageable row."""
        if self.pageable < transfers.PREFAULT_LEAST:
            return _NOTHING
        pageable = [buffer.target[row] for buffer in self._host if buffer.lease is None]
        return prefault(self._task.threads, *pageable)

    def copy_beside(self, row: int, search: RowSearch) -> Any:
        """Copy large distances in a stream of their own, beside what is launched next.

        Returns an event after the copy; None if they are not copied yet.
        """
        values = self.values[row]
        if values.nbytes < transfers.OVERLAP_LEAST:
            return None
        stream = search.copy_stream()
        stream.wait(self._device.main.record())
        self._device.copy(values, search.distances, stream)
        return stream.record()

    def copy(self, row: int, search: RowSearch, copied: Any = None) -> None:
        """Copy what a search found, but not distances that were copied already.

        The copies follow in the main stream; small rows for the host are there at once.
        """
        distances, predecessors = search.found
        if self.kept is None and search.small:
            staged = search.read_staged()
            self.values[row] = staged[0]
            if self.predecessors is not None:
                self.predecessors[row] = staged[1]
            return
        if copied is None:
            self._device.copy(self.values[row], distances)
        if predecessors is not None:
            self._device.copy(self.predecessors[row], predecessors)
        if copied is not None:
            self._device.main.wait(copied)  # the next source overwrites the distances

    def wait(self, search: RowSearch) -> None:
        """Wait for all copies."""
        if self.kept is not None or not search.small:
            self._device.main.synchronize()

    def answer(self, horizons: HostArray | None) -> Answer:
        """Return the answer; all copies must be complete."""
        if self.kept is not None:
            return DeviceAnswer(self.kept, horizons)
        arrays = [buffer.array for buffer in self._host]
        return Answer(arrays[0], arrays[1] if len(arrays) > 1 else None, horizons)
