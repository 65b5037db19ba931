"""All pairs on a GPU by blocks, version 4.2: a CUDA graph without the faults of 4.0 and 4.1.

Zuccato and Lena (2022) end with what is wrong with their graphs: the whole matrix is copied before
anything starts, every launch has far too many threads, and building the graph costs more than it
saves. Here

- the matrix travels in stripes of rows, through two pinned buffers: the first round works on the
  stripes that have arrived, and those that the last round has done with go home meanwhile;
- every launch has the blocks it needs and no others;
- the graph is one round, of five launches. It finds the number of the round in device memory, so it
  is built once and launched again for every round in between. Blocks are counted from the diagonal
  on around the matrix, which makes all rounds alike; and the row and column of the next diagonal
  block go first, so that the next round's first two phases run beside the rest of this one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kleene.backends.cuda.apsp_blocks import Blocks, run
from kleene.backends.cuda.runtime.device import HostArray, ceil_div
from kleene.backends.task import Answer, Task

__all__ = ["blocked_4_2"]

_STRIPES = 8  # the matrix travels in about so many pieces
_ROUNDS = 16  # put into the stream between two looks at the clock and the keyboard


def blocked_4_2(task: Task, *, block: int = 0) -> Answer:
    """Launch a small CUDA graph again and again, while rows travel in pieces."""
    return run("blocked_4_2", _close, task, block)


def _close(b: Blocks) -> bool:
    work = b.device.stream()
    ferry = _Ferry(b)
    with b.computing():  # copies included, since they go on meanwhile
        start = b.device.main.record()
        work.wait(start)
        ferry.stream.wait(start)
        _first_round(b, work, ferry)
        if b.count > 1:
            _both_first_phases(b, work, 1)
        if b.count > 2:
            _rounds_between(b, work)
        return _last_round(b, work, ferry)


def _stripes(b: Blocks, first: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of block rows."""
    height = ceil_div(b.count, _STRIPES)
    for begin in range(first, end, height):
        yield begin, min(begin + height, end)


def _both_first_phases(b: Blocks, work: Any, t: int) -> None:
    b.diagonal(t, work)
    b.whole("cross", (b.count - 1, 2), t, work)


def _first_round(b: Blocks, work: Any, ferry: _Ferry) -> None:
    """All of round 0, stripe by stripe as they arrive."""
    work.wait(ferry.fetch(0, 1))
    b.diagonal(0, work)
    b.piece(0, (0, 1), (1, b.count), work)
    for stripe in _stripes(b, 1, b.count):
        work.wait(ferry.fetch(*stripe))
        b.piece(0, stripe, (0, 1), work)
        b.piece(0, stripe, (1, b.count), work)


def _rounds_between(b: Blocks, work: Any) -> None:
    """From phase 3 of round 1 to phase 2 of the last round."""
    file, r = b.kernels("apsp_shared"), b.count
    current = b.device.upload(np.ones(1, np.int32), "round")
    work.wait(b.device.main.record())
    beside = b.device.stream()
    with work.capture() as captured:
        beside.wait(work.record())
        phases = (*b.view, *b.layout, r, current, b.cycle)
        file["apsp_ring_far"].launch((r - 2, r - 2), b.threads, phases, b.two_blocks, beside)
        file["apsp_ring_near"].launch((2 * r - 3, 1), b.threads, phases, b.two_blocks, work)
        file["apsp_ring_diagonal"].launch(
            (1, 1), b.threads, (*b.view, b.pitch, current, b.cycle), b.one_block, work
        )
        file["apsp_ring_cross"].launch((r - 1, 2), b.threads, phases, b.two_blocks, work)
        work.wait(beside.record())
        file["apsp_ring_turn"].launch((1, 1), (1, 1), (current,), 0, work)
    for t in range(1, r - 1):
        captured.graph.launch(work)
        if t % _ROUNDS == 0:
            work.synchronize()
            b.task.report(t, r)
    work.synchronize()  # the graph and the number of the round are in use until here


def _last_round(b: Blocks, work: Any, ferry: _Ferry) -> bool:
    """Phase 3 of the last round, stripe by stripe; each goes home when it is done."""
    last = b.count - 1
    ready = work.record()
    b.device.main.wait(ready)
    if b.device.download(b.cycle)[0]:
        b.device.synchronize()
        return False
    ferry.send((last, last + 1), ready)
    for stripe in _stripes(b, 0, last):
        b.piece(last, stripe, (0, last), work)
        ferry.send(stripe, work.record())
    ferry.finish()
    return True


class _Ferry:
    """Carries rows of blocks between host and device, in its own stream and through two buffers."""

    def __init__(self, b: Blocks) -> None:
        self._b = b
        self.stream = b.device.stream()
        rows = min(ceil_div(b.count, _STRIPES) * b.side, b.n)
        self._buffers = [
            [b.device.pinned((rows, b.n), array.dtype) for array in b.host] for _ in range(2)
        ]
        self._in_use: list[tuple[Any, HostRows | None]] = []  # the older first

    def fetch(self, begin: int, end: int) -> Any:
        """Bring block rows to the device; return the event of their arrival."""
        b, rows, buffers = self._b, *self._next(begin, end)
        for array, host, buffer in zip(b.arrays, b.host, buffers, strict=True):
            buffer[...] = host[rows]
            b.device.copy(array[rows], buffer, self.stream)
        event = self.stream.record()
        self._in_use.append((event, None))
        return event

    def send(self, stripe: tuple[int, int], after: Any) -> None:
        """Bring block rows home, after an event."""
        b, rows, buffers = self._b, *self._next(*stripe)
        self.stream.wait(after)
        for array, buffer in zip(b.arrays, buffers, strict=True):
            b.device.copy(buffer, array[rows], self.stream)
        self._in_use.append((self.stream.record(), (rows, buffers)))

    def finish(self) -> None:
        """Wait until everything has arrived."""
        while self._in_use:
            self._land()

    def _next(self, begin: int, end: int) -> HostRows:
        """Return rows, and buffers for them that nobody uses."""
        if len(self._in_use) == len(self._buffers):
            self._land()
        rows = slice(begin * self._b.side, min(end * self._b.side, self._b.n))
        self._buffers.append(self._buffers.pop(0))
        return rows, [buffer[: rows.stop - rows.start] for buffer in self._buffers[-1]]

    def _land(self) -> None:
        """Wait for the older passage; if it was homeward, put its rows where they belong."""
        event, homeward = self._in_use.pop(0)
        event.synchronize()
        if homeward is not None:
            rows, buffers = homeward
            for host, buffer in zip(self._b.host, buffers, strict=True):
                host[rows] = buffer


HostRows = tuple[slice, list[HostArray]]
