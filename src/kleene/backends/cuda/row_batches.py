"""Batches of searches whose rows are copied to the host while the next batch runs.

Where the answer is in page-locked memory, rows are copied straight there. The rows of a large one
are copied in pieces to page-locked staging buffers, and host threads copy them from there to the
answer, which may be a file. What is between is copied directly: a copy to pageable memory is five
times slower and synchronous, but needs no staging buffers. An answer that stays on the device is
filled in place.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from kleene.backends.answer import Answer
from kleene.backends.cuda.row_searches import AnswerRows
from kleene.backends.cuda.runtime.host_buffers import pinned_buffer
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
from kleene.system.threads import Future, ThreadPool

__all__ = [
    "Batch",
    "HostRows",
    "RowBuffers",
    "RowWriter",
    "copy_threads",
    "fill_host",
    "fill_kept",
    "fill_rows",
    "largest_width",
    "row_bytes",
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
