"""What searches that go level by level share: a thread for each of many, and numbers to look at."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import DTypeLike

from kleene.backends.cuda.runtime.device import Argument, Array, Device, Kernel, ceil_div

__all__ = ["Signals", "launch_over", "threads_for"]

_THREADS = 256  # in a block
_WARP = 32


class Signals:
    """A few numbers that kernels set and the host looks at, by one copy to memory it shares."""

    def __init__(self, device: Device, count: int, dtype: DTypeLike) -> None:
        self._device = device
        self._all = device.zeros(count, dtype, "signals")
        self._seen = device.pinned(count, dtype)
        self._each = [self._all[i : i + 1] for i in range(count)]

    def __getitem__(self, place: int) -> Array:
        """Return where kernels find one of them."""
        return self._each[place]

    def read(self) -> list[int]:
        """Wait for the work so far, and return what the numbers are."""
        self._device.copy(self._seen, self._all)
        self._device.main.synchronize()
        seen: list[int] = self._seen.tolist()
        return seen


def threads_for(count: int, most: int = _THREADS) -> int:
    """Return how many threads a block has when so many are wanted: whole warps.

    >>> threads_for(1), threads_for(33), threads_for(1000)
    (32, 64, 256)
    """
    return min(most, ceil_div(count, _WARP) * _WARP)


def launch_over(kernel: Kernel, count: int, args: Sequence[Argument], shared: int = 0) -> None:
    """Launch a kernel with a thread for each of so many, which may be none."""
    if count:
        threads = threads_for(count)
        kernel.launch((ceil_div(count, threads),), (threads,), args, shared)
