"""Blocked Floyd-Warshall on a GPU, version 4.2: a CUDA graph without the faults of 4.0 and 4.1.

Zuccato and Lena (2022) name the faults of their graphs: the whole matrix is copied before anything
starts, every launch has far too many threads, and building the graph costs more than it saves. Here

- the matrix is copied in stripes of rows through two pinned buffers: the first round starts on the
  stripes that have arrived, and the last round copies finished stripes back while it runs;
- every launch has exactly the blocks it needs;
- the graph is one round of five launches. It reads the number of the round from device memory, so
  it is built once and launched for every round in between. Blocks are numbered cyclically from the
  diagonal, which makes all rounds alike; and the row and column of the next diagonal block come
  first, so that the first two phases of the next round overlap with the rest of this one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kleene.backends.answer import Answer
from kleene.backends.cuda.apsp_blocked_matrix import BlockedMatrix, run
from kleene.backends.cuda.runtime.interface import HostArray, ceil_div
from kleene.backends.cuda.tuning import apsp as tuning
from kleene.backends.task import Task

__all__ = ["blocked_4_2"]


def blocked_4_2(task: Task, *, block: int = 0) -> Answer:
    """Relaunch a CUDA graph of one round; overlap it with copies of rows."""
    return run("blocked_4_2", _close, task, block)


def _close(b: BlockedMatrix) -> bool:
    work = b.device.stream()
    transfers = _RowTransfers(b)
    with b.computing():  # copies included, since they overlap
        start = b.device.main.record()
        work.wait(start)
        transfers.stream.wait(start)
        _first_round(b, work, transfers)
        if b.count > 1:
            _both_first_phases(b, work, 1)
        if b.count > 2:
            _rounds_between(b, work)
        return _last_round(b, work, transfers)


def _stripes(b: BlockedMatrix, first: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of block rows."""
    height = ceil_div(b.count, tuning.RELAUNCHED_STRIPES)
    for begin in range(first, end, height):
        yield begin, min(begin + height, end)


def _both_first_phases(b: BlockedMatrix, work: Any, t: int) -> None:
    b.diagonal(t, work)
    b.whole("cross", (b.count - 1, 2), t, work)


def _first_round(b: BlockedMatrix, work: Any, transfers: _RowTransfers) -> None:
    """Run round 0, stripe by stripe as they arrive."""
    work.wait(transfers.fetch(0, 1))
    b.diagonal(0, work)
    b.piece(0, (0, 1), (1, b.count), work)
    for stripe in _stripes(b, 1, b.count):
        work.wait(transfers.fetch(*stripe))
        b.piece(0, stripe, (0, 1), work)
        b.piece(0, stripe, (1, b.count), work)


def _rounds_between(b: BlockedMatrix, work: Any) -> None:
    """Run phase 3 of round 1 to phase 2 of the last round."""
    file, r = b.kernels("apsp_blocked_shared"), b.count
    current = b.device.upload(np.ones(1, np.int32), "round")
    work.wait(b.device.main.record())
    beside = b.device.stream()
    with work.capture() as captured:
        beside.wait(work.record())
        phases = (b.params, r, current)
        file["apsp_blocked_ring_far"].launch(
            (r - 2, r - 2), b.threads, phases, b.two_blocks, beside
        )
        file["apsp_blocked_ring_near"].launch((2 * r - 3, 1), b.threads, phases, b.two_blocks, work)
        file["apsp_blocked_ring_diagonal"].launch(
            (1, 1), b.threads, (b.params, current), b.one_block, work
        )
        file["apsp_blocked_ring_cross"].launch((r - 1, 2), b.threads, phases, b.two_blocks, work)
        work.wait(beside.record())
        file["apsp_blocked_ring_advance"].launch((1, 1), (1, 1), (current,), 0, work)
    for t in range(1, r - 1):
        captured.graph.launch(work)
        if t % tuning.BLOCKED_ROUNDS == 0:
            work.synchronize()
            b.task.report(t, r)
    work.synchronize()  # graph and round number are in use until here


def _last_round(b: BlockedMatrix, work: Any, transfers: _RowTransfers) -> bool:
    """Run phase 3 of the last round stripe by stripe; copy each back when it is done."""
    last = b.count - 1
    ready = work.record()
    b.device.main.wait(ready)
    if b.device.download(b.cycle)[0]:
        b.device.synchronize()
        return False
    transfers.send((last, last + 1), ready)
    for stripe in _stripes(b, 0, last):
        b.piece(last, stripe, (0, last), work)
        transfers.send(stripe, work.record())
    transfers.finish()
    return True


class _RowTransfers:
    """Copies block rows between host and device, in its own stream and through two buffers."""

    def __init__(self, b: BlockedMatrix) -> None:
        self._b = b
        self.stream = b.device.stream()
        rows = min(ceil_div(b.count, tuning.RELAUNCHED_STRIPES) * b.side, b.n)
        self._buffers = [
            [b.device.pinned((rows, b.n), array.dtype) for array in b.host] for _ in range(2)
        ]
        self._in_use: list[tuple[Any, HostRows | None]] = []  # oldest first

    def fetch(self, begin: int, end: int) -> Any:
        """Copy block rows to the device; return the event after the copy."""
        b, rows, buffers = self._b, *self._next(begin, end)
        for array, host, buffer in zip(b.arrays, b.host, buffers, strict=True):
            buffer[...] = host[rows]
            b.device.copy(array[rows], buffer, self.stream)
        event = self.stream.record()
        self._in_use.append((event, None))
        return event

    def send(self, stripe: tuple[int, int], after: Any) -> None:
        """Copy block rows to the host after an event."""
        b, rows, buffers = self._b, *self._next(*stripe)
        self.stream.wait(after)
        for array, buffer in zip(b.arrays, buffers, strict=True):
            b.device.copy(buffer, array[rows], self.stream)
        self._in_use.append((self.stream.record(), (rows, buffers)))

    def finish(self) -> None:
        """Wait for all copies."""
        while self._in_use:
            self._drain()

    def _next(self, begin: int, end: int) -> HostRows:
        """Return rows and free buffers for them."""
        if len(self._in_use) == len(self._buffers):
            self._drain()
        rows = slice(begin * self._b.side, min(end * self._b.side, self._b.n))
        self._buffers.append(self._buffers.pop(0))
        return rows, [buffer[: rows.stop - rows.start] for buffer in self._buffers[-1]]

    def _drain(self) -> None:
        """Wait for the oldest copy; if it was to the host, move its rows into the matrix."""
        event, to_host = self._in_use.pop(0)
        event.synchronize()
        if to_host is not None:
            rows, buffers = to_host
            for host, buffer in zip(self._b.host, buffers, strict=True):
                host[rows] = buffer


HostRows = tuple[slice, list[HostArray]]
