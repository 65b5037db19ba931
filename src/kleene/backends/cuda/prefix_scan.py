"""Exclusive prefix sums on a GPU; device code in ``kernels/common/prefix_scan.cuh``."""

from __future__ import annotations

import numpy as np

from kleene.backends.cuda.runtime.interface import Array, Device, Kernel, ceil_div
from kleene.backends.cuda.tuning import bfs as tuning

__all__ = ["PrefixScan"]

_ITEM = 8  # bytes of a sum


class PrefixScan:
    """Scans of up to ``most`` values, as int64.

    ``blocks`` is a kernel made of ``scan_blocks`` from int64 to int64, ``add`` one of ``scan_add``.
    """

    def __init__(self, device: Device, blocks: Kernel, add: Kernel, most: int) -> None:
        self._blocks, self._add = blocks, add
        self._totals: list[Array] = []  # per block, of each pass but the last, which has one block
        while (most := ceil_div(most, 2 * tuning.SCAN_THREADS)) > 1:
            self._totals.append(device.empty(most, np.int64, "totals"))

    def run(
        self, values: Array, out: Array, count: int, total: Array, first: Kernel | None = None
    ) -> None:
        """Set ``out[i]`` to the sum of the values before ``i``, and ``total`` to the sum of all.

        ``count`` is at least 1; out may be values. ``first`` is a ``scan_blocks`` kernel for values
        that are not int64.
        """
        self._pass(0, first or self._blocks, values, out, count, total)

    def _pass(
        self, level: int, kernel: Kernel, values: Array, out: Array, count: int, total: Array
    ) -> None:
        threads = _threads(count)
        blocks = ceil_div(count, 2 * threads)
        shared = (2 * threads + 2 * threads // 32) * _ITEM
        totals = total if blocks == 1 else self._totals[level]
        kernel.launch((blocks,), (threads,), (values, out, totals, count), shared)
        if blocks > 1:
            self._pass(level + 1, self._blocks, totals, totals, blocks, total)
            self._add.launch((blocks,), (threads,), (out, totals, count))


def _threads(count: int) -> int:
    """Return the block size: half the power of two that covers the values of a block.

    >>> [_threads(count) for count in (1, 64, 65, 1024, 10**6)]
    [32, 32, 64, 512, 512]
    """
    return min(tuning.SCAN_THREADS, max(32, 1 << (count - 1).bit_length() >> 1))
