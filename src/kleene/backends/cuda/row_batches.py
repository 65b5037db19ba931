"""Answers that go to the host row by row, while the next rows are found.

Searches from many sources go in batches. The rows of a batch are complete on the device; they are
copied, some at a time, to memory that the device can reach by itself, and threads of the host carry
them on to where the answer is, which may be a file. A copy to any other memory of the host takes
five times as long and lets nobody do anything else, but needs nothing to be prepared: it serves
small answers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
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

__all__ = ["Batch", "Rows", "carriers", "carry", "fill_rows", "finish", "row_bytes", "widest"]

_CARRIERS = 8  # threads at most that copy within the host; more do not make memory faster
_PIECE = 2**20  # bytes that are worth a thread

_SLOTS = 3  # one is copied to, one is carried from, and one between
_SLOT = 2**25  # bytes of each: a copy takes 0.6 ms

#: Answers from this size on go by slots: to take page-locked memory costs some 0.3 ms a MB, and
#: other memory takes copies of 10 GB/s (H200, PCIe 5).
_WORTH_SLOTS = 2**28


# ---- within the host ----------------------------------------------------------------------------


def carriers(task: Task) -> ThreadPoolExecutor:
    """Return threads that copy within the host."""
    return ThreadPoolExecutor(max(1, min(task.threads, _CARRIERS)), "kleene-carrier")


def carry(threads: ThreadPoolExecutor, to: HostArray, source: HostArray) -> list[Future[None]]:
    """Let threads copy, each some rows, or some numbers of one row."""
    step = max(1, ceil_div(_PIECE, max(1, to[:1].nbytes)), ceil_div(len(to), _CARRIERS))
    parts = (slice(top, top + step) for top in range(0, len(to), step))
    return [threads.submit(np.copyto, to[rows], source[rows]) for rows in parts]


def finish(carried: list[Future[None]]) -> None:
    """Wait until they have."""
    for future in carried:
        future.result()


# ---- from the device ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Rows:
    """Rows of the answer on the device, one per source: values and, if wanted, predecessors."""

    values: Array
    predecessors: Array | None

    def first(self, count: int) -> Rows:
        """Return the first rows."""
        last = self.predecessors
        return Rows(self.values[:count], None if last is None else last[:count])


class _Slot:
    """Host memory that the device can reach, and who still copies from it."""

    def __init__(self, device: Device, nbytes: int) -> None:
        self.memory = device.pinned(nbytes, np.uint8)
        self.carried: list[Future[None]] = []

    def numbers(self, like: Array) -> HostArray:
        """Return the memory for numbers like these, once nobody uses it."""
        finish(self.carried)
        return self.memory[: like.nbytes].view(like.dtype)


class _Outlet:
    """Takes rows from a device to the host's arrays, in the order in which they are sent."""

    def __init__(self, device: Device, threads: ThreadPoolExecutor, total: int) -> None:
        self._device, self._threads = device, threads
        self._stream = device.stream(urgent=True)
        self._slots: deque[_Slot] = deque()
        self._leaving: deque[tuple[_Slot, HostArray, HostArray, Event]] = deque()
        if total >= _WORTH_SLOTS:
            self._slots.extend(_Slot(device, _SLOT) for _ in range(_SLOTS))

    def send(self, source: Array, to: HostArray, ready: Event) -> Event:
        """Let rows be copied once they are ready; returns when they will have left."""
        self._stream.wait(ready)
        if not self._slots:
            self._device.download(source, to, self._stream)
        else:
            numbers, places = source.reshape(source.size), to.reshape(-1)
            step = _SLOT // to.itemsize
            for first in range(0, numbers.size, step):
                self._send_some(numbers[first : first + step], places[first : first + step])
        left: Event = self._stream.record()
        return left

    def _send_some(self, source: Array, to: HostArray) -> None:
        while len(self._leaving) > _SLOTS - 2:
            self._put_away()
        slot = self._slots.popleft()
        memory = slot.numbers(source)
        self._device.copy(memory, source, self._stream)
        self._leaving.append((slot, memory, to, self._stream.record()))
        self._slots.append(slot)

    def _put_away(self) -> None:
        slot, memory, to, copied = self._leaving.popleft()
        copied.synchronize()
        slot.carried = carry(self._threads, to, memory)

    def finish(self) -> None:
        """Wait until everything is where it belongs."""
        while self._leaving:
            self._put_away()
        for slot in self._slots:
            finish(slot.carried)


# ---- batches ------------------------------------------------------------------------------------


class Batch(Protocol):
    """Searches from several sources at once on a device."""

    def start(self, sources: Array, rows: Rows) -> None:
        """Begin to search; does not wait."""

    def finish(self) -> int | float | None:
        """Go on until the rows are complete; returns how far, None for all that can be reached."""


def row_bytes(task: Task, width: int) -> int:
    """Bytes on the device of the rows of a batch, or of two, if there are several batches."""
    row = task.graph.n * (task.dtype.itemsize + (4 if task.predecessors else 0))
    return min(2, ceil_div(len(task.sources), width)) * width * row


def widest(device: Device, most: int, needed: Callable[[int], int], what: str) -> int:
    """Return how many sources to take at once: the most, or half as many until memory suffices."""
    free = device.free_memory()
    free -= min(free // 16, 2**26)  # devices round up what one takes
    while needed(most) > free:
        if most == 1:
            require_memory(device, max(needed(1), device.free_memory() + 1), what)
        most = ceil_div(most, 2)
    return most


def fill_rows(task: Task, device: Device, batch: Batch, width: int) -> Answer:
    """Search from all sources, so many at a time; rows leave while the next ones are found."""
    n, total = task.graph.n, len(task.sources)
    width = min(width, total)
    values, predecessors = task.empty_values(), task.empty_predecessors()
    horizons = task.new_horizons()
    sources = device.upload(task.sources, "sources")
    buffers, left = [], []
    for _ in range(min(2, ceil_div(total, width))):
        last = device.empty((width, n), np.int32, "predecessors") if task.predecessors else None
        buffers.append(Rows(device.empty((width, n), task.dtype, "values"), last))
        left.append(device.main.record())
    size = values.nbytes + (0 if predecessors is None else predecessors.nbytes)
    with carriers(task) as threads:
        outlet = _Outlet(device, threads, size)

        def send(part: slice, turn: int, ready: Event) -> None:
            rows = buffers[turn].first(part.stop - part.start)
            left[turn] = outlet.send(rows.values, values[part], ready)
            if predecessors is not None and rows.predecessors is not None:
                left[turn] = outlet.send(rows.predecessors, predecessors[part], ready)
            if part.stop < total:
                task.report(part.stop, total)

        try:
            ready = device.main.record()
            for number, top in enumerate(range(0, total, width)):
                part, turn = slice(top, min(top + width, total)), number % 2
                device.main.wait(left[turn])
                batch.start(sources[part], buffers[turn].first(part.stop - part.start))
                if number > 0:
                    send(slice(top - width, top), 1 - turn, ready)
                horizon = batch.finish()
                ready = device.main.record()  # before the next batch begins
                if horizon is not None:
                    horizons[part] = horizon
            send(part, turn, ready)
            outlet.finish()
        finally:  # nobody uses memory any more that may go now
            device.synchronize()
    task.report(total, total)
    complete = task.limit is None and task.targets is None
    return Answer(values, predecessors, None if complete else horizons)
