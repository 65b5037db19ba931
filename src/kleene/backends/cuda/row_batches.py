"""Batches of searches whose rows are copied to the host while the next batch runs.

The rows of a finished batch are copied in pieces to page-locked staging buffers, and host threads
copy them from there to the result, which may be a file. Small results are copied directly: a copy
to pageable memory is five times slower and synchronous, but needs no staging buffers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from kleene.backends.cuda.runtime.device import (
    Array,
    Device,
    Event,
    HostArray,
    ceil_div,
    require_memory,
)
from kleene.backends.task import Answer, Task
from kleene.system.threads import ThreadPool

__all__ = [
    "Batch",
    "RowBuffers",
    "copy_threads",
    "fill_rows",
    "largest_width",
    "row_bytes",
    "start_copies",
    "wait_all",
]

_COPY_THREADS = 8  # at most; more are not faster
_PIECE = 2**20  # bytes that are worth a thread

_SLOTS = 3  # one is filled by the device, one is emptied by threads, one between
_SLOT = 2**25  # bytes of each; a copy takes 0.6 ms

#: Results of this size and above are staged: page-locked memory costs 0.3 ms a MB to allocate, and
#: copies to pageable memory run at 10 GB/s (H200, PCIe 5).
_WORTH_SLOTS = 2**28


# ---- copies within the host ---------------------------------------------------------------------


def copy_threads(task: Task) -> ThreadPool:
    """Return a pool of threads that copy within the host."""
    return ThreadPool(max(1, min(task.threads, _COPY_THREADS)), "kleene-copy")


def start_copies(threads: ThreadPool, to: HostArray, source: HostArray) -> list[Future[None]]:
    """Start copies by several threads, each of some rows or of a part of one row."""
    step = max(1, ceil_div(_PIECE, max(1, to[:1].nbytes)), ceil_div(len(to), _COPY_THREADS))
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

    def first(self, count: int) -> RowBuffers:
        """Return the first rows."""
        predecessors = self.predecessors
        return RowBuffers(
            self.values[:count], None if predecessors is None else predecessors[:count]
        )


class _StagingBuffer:
    """Page-locked host memory, and the copies from it that still run."""

    def __init__(self, device: Device, nbytes: int) -> None:
        self.memory = device.pinned(nbytes, np.uint8)
        self.copies: list[Future[None]] = []

    def view(self, like: Array) -> HostArray:
        """Return memory for an array like this one, after the running copies."""
        wait_all(self.copies)
        return self.memory[: like.nbytes].view(like.dtype)


class _RowWriter:
    """Copies rows from the device to host arrays, in order."""

    def __init__(self, device: Device, threads: ThreadPool, total: int) -> None:
        self._device, self._threads = device, threads
        self._stream = device.stream(urgent=True)
        self._slots: deque[_StagingBuffer] = deque()
        self._outgoing: deque[tuple[_StagingBuffer, HostArray, HostArray, Event]] = deque()
        if total >= _WORTH_SLOTS:
            self._slots.extend(_StagingBuffer(device, _SLOT) for _ in range(_SLOTS))

    def send(self, source: Array, to: HostArray, ready: Event) -> Event:
        """Copy rows after the event ``ready``; return the event after the copy."""
        self._stream.wait(ready)
        if not self._slots:
            self._device.download(source, to, self._stream)
        else:
            flat, flat_to = source.reshape(source.size), to.reshape(-1)
            step = _SLOT // to.itemsize
            for first in range(0, flat.size, step):
                self._stage(flat[first : first + step], flat_to[first : first + step])
        copied: Event = self._stream.record()
        return copied

    def _stage(self, source: Array, to: HostArray) -> None:
        while len(self._outgoing) > _SLOTS - 2:
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


# ---- batches ------------------------------------------------------------------------------------


class Batch(Protocol):
    """A batch of searches on a device."""

    def start(self, sources: Array, rows: RowBuffers) -> None:
        """Launch the searches; does not wait."""

    def finish(self) -> int | float | None:
        """Complete the rows; return the horizon, None if everything reachable is complete."""


def row_bytes(task: Task, width: int) -> int:
    """Return the device bytes of the row buffers: two batches, or one if there is one only."""
    row = task.graph.n * (task.dtype.itemsize + (4 if task.predecessors else 0))
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
    n, total = task.graph.n, len(task.sources)
    width = min(width, total)
    values, predecessors = task.empty_values(), task.empty_predecessors()
    horizons = task.new_horizons()
    sources = device.upload(task.sources, "sources")
    buffers, copied = [], []
    for _ in range(min(2, ceil_div(total, width))):
        found = device.empty((width, n), np.int32, "predecessors") if task.predecessors else None
        buffers.append(RowBuffers(device.empty((width, n), task.dtype, "values"), found))
        copied.append(device.main.record())
    size = values.nbytes + (0 if predecessors is None else predecessors.nbytes)
    with copy_threads(task) as threads:
        writer = _RowWriter(device, threads, size)

        def send(part: slice, turn: int, ready: Event) -> None:
            rows = buffers[turn].first(part.stop - part.start)
            copied[turn] = writer.send(rows.values, values[part], ready)
            if predecessors is not None and rows.predecessors is not None:
                copied[turn] = writer.send(rows.predecessors, predecessors[part], ready)
            if part.stop < total:
                task.report(part.stop, total)

        try:
            ready = device.main.record()
            for number, top in enumerate(range(0, total, width)):
                part, turn = slice(top, min(top + width, total)), number % 2
                device.main.wait(copied[turn])
                batch.start(sources[part], buffers[turn].first(part.stop - part.start))
                if number > 0:
                    send(slice(top - width, top), 1 - turn, ready)
                horizon = batch.finish()
                ready = device.main.record()  # before the next batch begins
                if horizon is not None:
                    horizons[part] = horizon
            send(part, turn, ready)
            writer.finish()
        finally:  # nothing may use memory that is freed now
            device.synchronize()
    task.report(total, total)
    complete = task.limit is None and task.targets is None
    return Answer(values, predecessors, None if complete else horizons)
