"""What level-by-level searches share: launches of a thread per item, counters read by the host."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import DTypeLike

from kleene.backends.cuda.runtime.interface import Argument, Array, Device, Kernel, ceil_div
from kleene.backends.cuda.tuning import bfs as tuning

__all__ = ["Counters", "launch_threads", "threads_for"]

_WARP = 32


class Counters:
    """A few numbers that kernels set and the host reads with one copy."""

    def __init__(self, device: Device, count: int, dtype: DTypeLike) -> None:
        self._device = device
        self._all = device.zeros(count, dtype, "counters")
        self._host = device.pinned(count, dtype)
        self._each = [self._all[i : i + 1] for i in range(count)]

    def __getitem__(self, index: int) -> Array:
        """Return the device array of one counter."""
        return self._each[index]

    def read(self) -> list[int]:
        """Return all counters after waiting for the main stream."""
        self._device.copy(self._host, self._all)
        self._device.main.synchronize()
        values: list[int] = self._host.tolist()
        return values


def threads_for(count: int, most: int = tuning.THREADS) -> int:
    """Return the block size for so many threads: whole warps.

    >>> threads_for(1), threads_for(33), threads_for(1000)
    (32, 64, 256)
    """
    return min(most, ceil_div(count, _WARP) * _WARP)


def launch_threads(kernel: Kernel, count: int, args: Sequence[Argument], shared: int = 0) -> None:
    """Launch a kernel with ``count`` threads; none if it is 0."""
    if count:
        threads = threads_for(count)
        kernel.launch((ceil_div(count, threads),), (threads,), args, shared)
