"""Batches of searches whose rows are copied to the host while the next batch runs.

Where the answer is in page-locked memory, rows are copied straight there. The rows of a large one
are copied in pieces to page-locked staging buffers, and host threads copy them from there to the
answer, which may be a file. What is between is copied directly: a copy to pageable memory is five
times slower and synchronous, but needs no staging buffers. An answer that stays on the device is
filled in place.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from kleene.backends.answer import Answer
from kleene.backends.cuda.answer import answer_rows_on_device, kept_answer
from kleene.backends.cuda.graph import DeviceGraph, get_device_graph
from kleene.backends.cuda.runtime.host_buffers import (
    HostBuffer,
    answer_buffer,
    pinned_buffer,
    prefault,
)
from kleene.backends.cuda.runtime.interface import (
    Array,
    Device,
    Event,
    HostArray,
    ceil_div,
    require_memory,
)
from kleene.backends.cuda.tuning import transfers
from kleene.backends.task import Progress, Task
from kleene.errors import KleeneError
from kleene.system.threads import Future, ThreadPool

__all__ = [
    "AnswerRows",
    "Batch",
    "HostRows",
    "RowBuffers",
    "RowSearch",
    "RowWriter",
    "copy_threads",
    "fill_host",
    "fill_kept",
    "fill_rows",
    "largest_width",
    "row_bytes",
    "run_search",
    "start_copies",
    "wait_all",
]

# ---- copies within the host ---------------------------------------------------------------------


def copy_threads(threads: int) -> ThreadPool:
    """Return a pool of at most so many threads that copy within the host."""
    return ThreadPool(max(1, min(threads, transfers.COPY_THREADS)))


def start_copies(threads: ThreadPool, to: HostArray, source: HostArray) -> list[Future[None]]:
    """Start copies by several threads, each of some rows or of a part of one row."""
    worth = ceil_div(transfers.COPY_PIECE, max(1, to[:1].nbytes))
    step = max(1, worth, ceil_div(len(to), transfers.COPY_THREADS))
    parts = (slice(top, top + step) for top in range(0, len(to), step))
    return [threads.submit(np.copyto, to[rows], source[rows]) for rows in parts]


def wait_all(copies: list[Future[None]]) -> None:
    """Wait for all copies."""
    for future in copies:
        future.result()


# ---- copies from the device ---------------------------------------------------------------------


@dataclass(frozen=True)
class RowBuffers:
    """Rows of the result on the device, one per source: values and optional predecessors."""

    values: Array
    predecessors: Array | None

    def part(self, rows: slice) -> RowBuffers:
        """Return some of the rows."""
        predecessors = self.predecessors
        return RowBuffers(self.values[rows], None if predecessors is None else predecessors[rows])


class HostRows(Protocol):
    """Rows of the result on the host."""

    @property
    def values(self) -> Any:
        """An array, one row per source."""

    @property
    def predecessors(self) -> Any:
        """Another of the same shape, or None."""


class _StagingBuffer:
    """Page-locked host memory, and the copies from it that still run."""

    def __init__(self, device: Device, nbytes: int) -> None:
        self.memory = pinned_buffer(device, nbytes)
        self.copies: list[Future[None]] = []

    def view(self, like: Array) -> HostArray:
        """Return memory for an array like this one, after the running copies."""
        wait_all(self.copies)
        return self.memory.target[: like.nbytes].view(like.dtype)


class RowWriter:
    """Copies rows from the device to host arrays, in order."""

    def __init__(self, device: Device, threads: ThreadPool, staged: bool) -> None:
        self._device, self._threads = device, threads
        self._stream = device.stream(urgent=True)
        self._slots: deque[_StagingBuffer] = deque()
        self._outgoing: deque[tuple[_StagingBuffer, HostArray, HostArray, Event]] = deque()
        if staged:
            self._slots.extend(
                _StagingBuffer(device, transfers.SLOT_BYTES) for _ in range(transfers.SLOTS)
            )

    def send(self, source: Array, to: HostArray, ready: Event) -> Event:
        """Copy rows after the event ``ready``; return the event after the copy."""
        self._stream.wait(ready)
        if not self._slots:
            self._device.copy(to, source, self._stream)
        else:
            flat, flat_to = source.reshape(source.size), to.reshape(-1)
            step = transfers.SLOT_BYTES // to.itemsize
            for first in range(0, flat.size, step):
                self._stage(flat[first : first + step], flat_to[first : first + step])
        copied: Event = self._stream.record()
        return copied

    def _stage(self, source: Array, to: HostArray) -> None:
        while len(self._outgoing) > transfers.SLOTS - 2:
            self._drain()
        slot = self._slots.popleft()
        memory = slot.view(source)
        self._device.copy(memory, source, self._stream)
        self._outgoing.append((slot, memory, to, self._stream.record()))
        self._slots.append(slot)

    def _drain(self) -> None:
        slot, memory, to, copied = self._outgoing.popleft()
        copied.synchronize()
        slot.copies = start_copies(self._threads, to, memory)

    def finish(self) -> None:
        """Wait until all rows are in the result."""
        while self._outgoing:
            self._drain()
        for slot in self._slots:
            wait_all(slot.copies)
        self._stream.synchronize()


# ---- batches ------------------------------------------------------------------------------------


class Batch(Protocol):
    """A batch of searches on a device."""

    def start(self, sources: Array, rows: RowBuffers) -> None:
        """Launch the searches; does not wait."""

    def finish(self) -> int | float | None:
        """Complete the rows; return the horizon, None if everything reachable is complete."""


def row_bytes(task: Task, width: int) -> int:
    """Return the device bytes of the rows: two batches, or all of them if they stay there."""
    row = task.graph.n * (task.dtype.itemsize + (4 if task.predecessors else 0))
    if task.keep:
        return len(task.sources) * row
    return min(2, ceil_div(len(task.sources), width)) * width * row


def largest_width(device: Device, most: int, needed: Callable[[int], int], what: str) -> int:
    """Return the batch width: ``most``, halved until the memory suffices."""
    free = device.free_memory()
    free -= min(free // 16, 2**26)  # allocations are rounded up
    while needed(most) > free:
        if most == 1:
            require_memory(device, max(needed(1), device.free_memory() + 1), what)
        most = ceil_div(most, 2)
    return most


def fill_rows(task: Task, device: Device, batch: Batch, width: int) -> Answer:
    """Search from all sources in batches; copy the rows of a batch while the next one runs."""
    rows, horizons = AnswerRows(task, device), task.new_horizons()
    sources = device.upload(task.sources, "sources")
    try:
        if rows.kept is not None:
            kept = RowBuffers(rows.kept.values, rows.kept.predecessors)
            fill_kept(batch, width, sources, kept, horizons, task.report)
        else:
            staged = rows.pageable >= transfers.STAGED_LEAST
            with copy_threads(task.threads) as threads:
                writer = RowWriter(device, threads, staged)
                fill_host(device, batch, width, sources, rows, horizons, writer, task.report)
    finally:  # nothing may use memory that is freed now
        device.synchronize()
    task.report(len(task.sources), len(task.sources))
    complete = task.limit is None and task.targets is None
    return rows.answer(None if complete else horizons)


def _parts(total: int, width: int) -> Iterator[slice]:
    for top in range(0, total, width):
        yield slice(top, min(top + width, total))


def fill_kept(
    batch: Batch,
    width: int,
    sources: Array,
    kept: RowBuffers,
    horizons: HostArray,
    report: Progress,
) -> None:
    """Fill rows that stay on the device, in place."""
    total = sources.size
    for part in _parts(total, width):
        batch.start(sources[part], kept.part(part))
        horizon = batch.finish()
        if horizon is not None:
            horizons[part] = horizon
        if part.stop < total:
            report(part.stop, total)


def fill_host(
    device: Device,
    batch: Batch,
    width: int,
    sources: Array,
    rows: HostRows,
    horizons: HostArray,
    writer: RowWriter,
    report: Progress,
) -> None:
    """Fill two buffers on the device in turn; rows leave one while the other is filled."""
    columns, total = rows.values.shape[1], sources.size
    width = min(width, total)
    buffers, copied = [], []
    for _ in range(min(2, ceil_div(total, width))):
        shape, found = (width, columns), None
        if rows.predecessors is not None:
            found = device.empty(shape, np.int32, "predecessors")
        buffers.append(RowBuffers(device.empty(shape, rows.values.dtype, "values"), found))
        copied.append(device.main.record())

    def send(part: slice, turn: int, ready: Event) -> None:
        done = buffers[turn].part(slice(0, part.stop - part.start))
        copied[turn] = writer.send(done.values, rows.values[part], ready)
        if rows.predecessors is not None and done.predecessors is not None:
            copied[turn] = writer.send(done.predecessors, rows.predecessors[part], ready)
        if part.stop < total:
            report(part.stop, total)

    ready, before = device.main.record(), None
    for number, part in enumerate(_parts(total, width)):
        turn = number % 2
        device.main.wait(copied[turn])
        batch.start(sources[part], buffers[turn].part(slice(0, part.stop - part.start)))
        if before is not None:
            send(before, 1 - turn, ready)
        horizon = batch.finish()
        ready, before = device.main.record(), part  # before the next batch begins
        if horizon is not None:
            horizons[part] = horizon
    assert before is not None
    send(before, turn, ready)
    writer.finish()


# ---- Searches from one source at a time: their buffers, and the rows of the answer --------------
# The buffers of a search are allocated once. The search of a placed graph waits there for the next
# call that can use it; calls that run at the same time have one each.
#
# Rows leave the device behind the search, in its stream. They go straight into the memory of the
# answer, which the device can write to without the host: see ``runtime.host_buffers``. Those of a
# small graph are copied to the host before it knows that the search is complete, and once more
# there.

# ---- searches -----------------------------------------------------------------------------------


class RowSearch(ABC):
    """Searches from one source at a time on one graph, with all buffers that they need.

    ``distances`` and ``tree``, the predecessors (None unless requested), are the rows of the last
    source. Those of a small graph are side by side, to be filled and copied together.
    """

    def __init__(self, task: Task, device: Device, graph: DeviceGraph) -> None:
        self.task, self.device, self.graph = task, device, graph
        self.nbytes = 0  # of all buffers
        self.small = graph.n * task.dtype.itemsize <= transfers.PINNED_LEAST
        kinds = [("distances", task.dtype)]
        kinds += [("predecessors", np.dtype(np.int32))] if task.predecessors else []
        rows = _allocate_rows(device, graph.n, kinds, joined=self.small)
        self.distances = rows.arrays[0]
        self.tree = rows.arrays[1] if task.predecessors else None
        self._rows = rows
        self._copies: Any = None  # a stream
        self.staged = False  # is the row of a small graph on the host, or on its way there?

    @classmethod
    def workspace_key(cls, task: Task) -> Hashable:
        """Return what the buffers depend on besides the graph; equal keys can share a search."""
        return cls, task.dtype.str, task.predecessors

    @abstractmethod
    def run(self, source: int, limit: Any) -> Any:
        """Search from a source; see the problem's own class."""

    def fill_rows(self, byte: int) -> None:
        """Set every byte of the rows."""
        for block in self._rows.blocks:
            self.device.fill(block, byte)

    def timed(self) -> AbstractContextManager[None]:
        """Return a context that is timed as computation: by the host's clock if it is short.

        Two events cost more time than the clock's error.
        """
        timer = self.device.timer
        return timer.host_span("compute") if self.small else timer.span("compute", self.device.main)

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
        return self._rows.staged

    def _stage(self) -> None:
        for to, block in zip(self._rows.staging(self.device), self._rows.blocks, strict=True):
            self.device.copy(to, block)
        self.staged = True


class _Rows:
    """Rows on the device: their arrays, the allocations they are in, and copies on the host."""

    def __init__(self, arrays: list[Array], blocks: list[Array]) -> None:
        self.arrays, self.blocks = arrays, blocks
        self._staging: list[HostArray] = []
        self.staged: list[HostArray] = []  # the arrays within the staging buffers

    def staging(self, device: Device) -> list[HostArray]:
        """Return page-locked memory like the blocks."""
        if not self._staging:
            self._staging = [device.pinned(block.shape, block.dtype) for block in self.blocks]
            self.staged = [self._as_staged(array) for array in self.arrays]
        return self._staging

    def _as_staged(self, array: Array) -> HostArray:
        for to, block in zip(self._staging, self.blocks, strict=True):
            offset = array.address - block.address
            if 0 <= offset < max(1, block.nbytes):
                return to.view(np.uint8)[offset : offset + array.nbytes].view(array.dtype)
        raise AssertionError("an array outside of its blocks")


def _allocate_rows(
    device: Device, n: int, kinds: list[tuple[str, np.dtype[Any]]], joined: bool
) -> _Rows:
    """Return one array of each kind, in one allocation if joined.

    The checked emulator watches every allocation: arrays are never joined there.
    """
    if not joined or device.checked:
        arrays = [device.empty(n, dtype, name) for name, dtype in kinds]
        return _Rows(arrays, arrays)
    sizes = [n * dtype.itemsize for _, dtype in kinds]
    starts = [0]
    for size in sizes:
        starts.append(ceil_div(starts[-1] + size, _ALIGNED) * _ALIGNED)
    block = device.empty(starts[-1], np.uint8, "rows")
    parts = (block[start : start + size] for start, size in zip(starts, sizes, strict=False))
    return _Rows([part.view(dtype) for part, (_, dtype) in zip(parts, kinds, strict=True)], [block])


_ALIGNED = 256  # bytes, as allocations are


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
            self._host.append(
                answer_buffer(device, shape, task.graph.id_dtype, task.out_predecessors)
            )
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
        if self.kept is None and search.small:
            staged = search.read_staged()
            self.values[row] = staged[0]
            if self.predecessors is not None:
                self.predecessors[row] = staged[1]
            return
        if copied is None:
            self._device.copy(self.values[row], search.distances)
        if search.tree is not None:
            self._device.copy(self.predecessors[row], search.tree)
        if copied is not None:
            self._device.main.wait(copied)  # the next source overwrites the distances

    def wait(self, search: RowSearch) -> None:
        """Wait for all copies."""
        if self.kept is not None or not search.small:
            self._device.main.synchronize()

    def answer(self, horizons: HostArray | None) -> Answer:
        """Return the answer; all copies must be complete."""
        if self.kept is not None:
            return kept_answer(self.kept, horizons)
        arrays = [buffer.array for buffer in self._host]
        return Answer(arrays[0], arrays[1] if len(arrays) > 1 else None, horizons)
