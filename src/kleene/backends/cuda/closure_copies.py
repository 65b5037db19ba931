"""Copies of whole matrices between host and device, through page-locked staging buffers.

A copy from or to pageable memory is several times slower than one of page-locked memory, and uses
one core. Here host threads copy stripes of rows to or from staging buffers while the device copies
the stripe before.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from kleene.backends.cuda.row_batches import copy_threads, start_copies, wait_all
from kleene.backends.cuda.runtime.interface import Array, Device, Event, HostArray
from kleene.backends.cuda.tuning import closure as tuning
from kleene.backends.task import ProductTask, Task
from kleene.system.threads import Future, ThreadPool

__all__ = ["copy_in", "copy_out"]


def copy_in(device: Device, task: Task | ProductTask, to: Array, source: HostArray) -> None:
    """Copy a host matrix to the device, in the main stream."""
    if source.nbytes < tuning.STAGED_LEAST:
        device.copy(to, source)
        return
    with _staged(device, task, "copy_in", source) as (threads, stripes):
        for rows in stripes.ranges():
            stripe = stripes.next()
            memory = stripe.view(source[rows])
            wait_all(start_copies(threads, memory, source[rows]))
            device.copy(to[rows], memory)
            stripe.copied = device.main.record()


def copy_out(device: Device, task: Task | ProductTask, to: HostArray, source: Array) -> None:
    """Copy a matrix from the device to the host, and wait for it."""
    if to.nbytes < tuning.STAGED_LEAST:
        device.download(source, to)
        return
    with _staged(device, task, "copy_out", to) as (_, stripes):
        for rows in stripes.ranges():
            stripe = stripes.next()
            memory = stripe.view(to[rows])
            device.copy(memory, source[rows])
            stripe.copied, stripe.then = device.main.record(), (to[rows], memory)


@contextmanager
def _staged(
    device: Device, task: Task | ProductTask, part: str, matrix: HostArray
) -> Iterator[tuple[ThreadPool, _Stripes]]:
    """Time the copies of a host matrix by stripes, and wait for them."""
    with copy_threads(task.threads) as threads, device.timer.span(part, device.main):
        stripes = _Stripes(device, threads, matrix)
        try:
            yield threads, stripes
            stripes.finish()
        finally:  # even after an error nothing may use memory that is freed then
            device.main.synchronize()


class _Stripe:
    """A staging buffer and what still uses it."""

    def __init__(self, device: Device, nbytes: int) -> None:
        self._memory = device.pinned(nbytes, np.uint8)
        self.copied: Event | None = None  # after the device's copy
        self.then: tuple[HostArray, HostArray] | None = None  # a copy within the host, after it
        self.copies: list[Future[None]] = []

    def view(self, like: HostArray) -> HostArray:
        """Return memory for an array like this one."""
        return self._memory[: like.nbytes].view(like.dtype).reshape(like.shape)


class _Stripes:
    """Stripes of rows of a host matrix, and the buffers that they go through in turn."""

    def __init__(self, device: Device, threads: ThreadPool, matrix: HostArray) -> None:
        row = matrix[:1].nbytes
        self._rows, self._step = len(matrix), max(1, tuning.STRIPE_BYTES // row)
        self._threads = threads
        count = tuning.STAGING_BUFFERS
        self._free = deque(_Stripe(device, self._step * row) for _ in range(count))
        self._used: deque[_Stripe] = deque()

    def ranges(self) -> Iterator[slice]:
        """Yield the rows of each stripe."""
        for top in range(0, self._rows, self._step):
            yield slice(top, min(top + self._step, self._rows))

    def next(self) -> _Stripe:
        """Return a buffer that nothing uses."""
        # The copies of one stripe within the host overlap with the device's copy of the next.
        while len(self._used) >= tuning.STAGING_BUFFERS - 1:
            self._drain()
        stripe = self._free.popleft()
        wait_all(stripe.copies)
        self._used.append(stripe)
        return stripe

    def finish(self) -> None:
        """Wait for all copies."""
        while self._used:
            self._drain()
        for stripe in self._free:
            wait_all(stripe.copies)

    def _drain(self) -> None:
        """Wait for the device's oldest copy, and start the copy within the host after it."""
        stripe = self._used.popleft()
        if stripe.copied is not None:
            stripe.copied.synchronize()
        stripe.copies = [] if stripe.then is None else start_copies(self._threads, *stripe.then)
        stripe.copied = stripe.then = None
        self._free.append(stripe)
