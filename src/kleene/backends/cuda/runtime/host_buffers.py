"""Host memory for answers: page-locked, and used again.

A GPU writes into page-locked memory five times as fast as into pageable memory, and without the
host. To lock pages takes longer than the copy, though, so memory that an answer no longer needs
serves the next one: a block goes back to the pool of its device with the last NumPy array on it.
The pool is bounded; what does not fit is pageable.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from kleene.backends.cuda.runtime.interface import Device, HostArray
from kleene.backends.cuda.tuning import transfers
from kleene.system.cached_property import cached
from kleene.system.interrupts import keep
from kleene.system.live_set import LiveSet
from kleene.system.machine import total_memory
from kleene.system.threads import ThreadPool

__all__ = [
    "HostBuffer",
    "PinnedPool",
    "answer_buffer",
    "pinned_buffer",
    "pinned_pool",
    "prefault",
]


class _Lease:
    """A block in use; it goes back to its pool with this object."""

    _pool: PinnedPool | None = None  # also where Ctrl-C leaves an object half made

    def __init__(self, pool: PinnedPool, block: HostArray) -> None:
        self._block, self._pool = block, pool

    def __del__(self) -> None:
        if self._pool is not None:
            self._pool.give_back(self._block)

    def as_array(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> HostArray:
        """Return the block as a plain NumPy array, which keeps this object alive."""
        address = (self._block.ctypes.data, False)
        self.__array_interface__ = {
            "shape": shape, "typestr": dtype.str, "data": address, "version": 3,
        }  # fmt: skip
        return np.asarray(self)


class HostBuffer(NamedTuple):
    """Host memory, as two arrays."""

    array: HostArray  # for the user
    target: HostArray  # for copies from the device
    lease: _Lease | None = None  # of page-locked memory: copies to it are asynchronous


class PinnedPool:
    """Page-locked blocks of one device: those in use, and those kept for later.

    Blocks come back, and are freed, at any moment, even while this thread is in ``take``. Those
    that come back are queued without a lock, and read with it. Bytes are added up when they are
    asked for, since Ctrl-C may come between a block and its count.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._returned: deque[HostArray] = deque()
        self._blocks: LiveSet[HostArray] = LiveSet()
        self._idle: dict[int, list[HostArray]] = {}  # by size; the last used is last
        _POOLS.add(self)

    @property
    def bytes(self) -> int:
        """The bytes of all blocks."""
        return sum(block.nbytes for block in self._blocks)

    @property
    def idle_bytes(self) -> int:
        """The bytes of the blocks that are kept for later."""
        idle = self._idle.copy()
        return sum(nbytes * len(blocks) for nbytes, blocks in idle.items())

    def take(self, device: Device, nbytes: int) -> HostArray | None:
        """Return a block of exactly this size; None if too much memory is locked already."""
        with self.lock:
            self._read_news()
            if nbytes in self._idle:
                return self._pop(nbytes)
            most = min(transfers.PINNED_CAP, int(transfers.PINNED_PART * total_memory()))
            others = (pool for pool in _POOLS if pool is not self)
            most -= sum(pool.bytes - pool.idle_bytes for pool in others)  # in use
            while self._idle and self.bytes + nbytes > most:
                self._free_oldest()
            if self.bytes + nbytes > most:
                return None
            try:
                block = device.pinned(nbytes, np.uint8)
            except Exception:  # a limit of the system: pageable memory will do
                return None
            self._blocks.add(block)
            return block

    def give_back(self, block: HostArray) -> None:
        """Keep a block for later."""
        self._returned.append(block)
        locked: list[bool] = []
        try:
            keep(locked, self.lock.acquire, False)
            if locked[0]:  # else the next call reads it
                self._read_news()
        finally:
            if locked and locked[0]:  # no call, at which Ctrl-C could come
                self.lock.release()

    def clear(self) -> None:
        """Free all blocks that are not in use."""
        with self.lock:
            self._read_news()
            while self._idle:
                self._free_oldest()

    def _read_news(self) -> None:
        while self._returned:
            block = self._returned.popleft()
            self._idle[block.nbytes] = [*self._idle.pop(block.nbytes, []), block]
            del block
        while self.idle_bytes > transfers.PINNED_IDLE:
            self._free_oldest()

    def _free_oldest(self) -> None:
        self._pop(next(iter(self._idle)))

    def _pop(self, nbytes: int) -> HostArray:
        blocks = self._idle[nbytes]
        if len(blocks) == 1:
            del self._idle[nbytes]
        return blocks.pop()


_POOLS: LiveSet[PinnedPool] = LiveSet()


def pinned_pool(device: Device) -> PinnedPool:
    """Return the pool of a device."""
    return cached(device, "_pinned_pool", PinnedPool)


def answer_buffer(
    device: Device, shape: tuple[int, ...], dtype: DTypeLike, out: HostArray | None = None
) -> HostBuffer:
    """Return memory for an answer: ``out``, or page-locked memory, or pageable memory.

    Small and very large answers are pageable, and all others while too much memory is locked.
    """
    if out is not None:
        return HostBuffer(out, out)
    kind = np.dtype(dtype)
    nbytes = prod(shape) * kind.itemsize
    if transfers.PINNED_LEAST < nbytes <= transfers.PINNED_MOST:
        buffer = _lease(device, nbytes)
        if buffer is not None and buffer.lease is not None:
            target = buffer.target.view(kind).reshape(shape)
            return HostBuffer(buffer.lease.as_array(shape, kind), target, buffer.lease)
    array = np.empty(shape, kind)
    return HostBuffer(array, array)


def pinned_buffer(device: Device, nbytes: int) -> HostBuffer:
    """Return page-locked bytes for staging, from the pool unless it is full."""
    buffer = _lease(device, nbytes)
    if buffer is None:
        block = device.pinned(nbytes, np.uint8)
        return HostBuffer(block, block)
    return buffer


def _lease(device: Device, nbytes: int) -> HostBuffer | None:
    pool = pinned_pool(device)
    block = pool.take(device, nbytes)
    return None if block is None else HostBuffer(block, block, _Lease(pool, block))


def _renew_locks() -> None:
    """Unlock what a thread of the parent had locked at the moment of the fork."""
    for pool in _POOLS:
        pool.lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)


# ---- Prefault large pageable arrays while the device computes -----------------------------------
# The system maps the pages of a new array when they are first written. Page faults during a copy
# from the device take several times as long as the copy itself. Host threads touch the pages while
# the device searches. Answers in page-locked memory (``host_buffers``) do not need it.


@contextmanager
def prefault(threads: int, *arrays: HostArray | None) -> Iterator[None]:
    """Touch all pages of contiguous arrays while the block runs; their contents are lost."""
    new = [array for array in arrays if array is not None]
    if sum(array.nbytes for array in new) < transfers.PREFAULT_LEAST:
        yield
        return
    with ThreadPool(min(threads, transfers.PREFAULT_THREADS)) as pool:
        for array in new:
            whole = array.reshape(-1).view(np.uint8)
            for first in range(0, whole.size, transfers.PREFAULT_PIECE):
                pool.submit(_touch_pages, whole[first : first + transfers.PREFAULT_PIECE])
        yield


def _touch_pages(piece: HostArray) -> None:
    piece[:: transfers.PAGE] = 0
