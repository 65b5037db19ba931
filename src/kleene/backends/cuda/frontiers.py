"""Queues of vertices between the rounds of a search; what ``kernels/arcs.cuh`` expects of them."""

from __future__ import annotations

import numpy as np

from kleene.backends.cuda.device_graph import DeviceGraph
from kleene.backends.cuda.runtime.device import Device, HostArray, Kernel, ceil_div, require_memory

__all__ = ["PART", "Queues", "arc_grid", "round_grid"]

PART = 256  # kPart: arcs of one entry
_CHUNK = 1024  # kChunk: arcs that a warp walks through
_THREADS = 256
_SMALL = 512  # entries for which one warp is a block, which the emulator likes
_ENTRIES = 384  # that are worth one more block
_BLOCKS = 4  # on a multiprocessor: more would meet later and be of little use


def round_grid(device: Device, kernel: Kernel, entries: int) -> tuple[tuple[int], tuple[int]]:
    """Return blocks and threads for a cooperative launch that has up to so many entries a round."""
    threads = 32 if entries <= _SMALL else _THREADS
    most = min(kernel.resident_blocks(threads), _BLOCKS * device.multiprocessors)
    return (min(most, max(1, ceil_div(entries, _ENTRIES))),), (threads,)


class Queues:
    """Two queues that take turns, the three sizes that do, and how rounds are launched.

    Round r takes its vertices from queue r % 2 and counts them in ``sizes[r % 3]``. A launch runs
    many rounds, with a barrier for the whole grid after each.
    """

    def __init__(self, device: Device, graph: DeviceGraph, words: int = 3) -> None:
        """Make empty queues; ``words`` more than three after the sizes are the search's own."""
        require_memory(device, self.nbytes(graph.n, graph.m), f"a search on {graph.n:,} vertices")
        self._device = device
        self.capacity = graph.n + graph.m // PART + 1
        self.even = device.empty(self.capacity, np.int64, "even queue")
        self.odd = device.empty(self.capacity, np.int64, "odd queue")
        self.sizes = device.zeros(words, np.uint64, "sizes")
        self.barrier = device.zeros(1, np.uint32, "barrier")
        self._told = device.pinned(words, np.uint64)

    @staticmethod
    def nbytes(n: int, m: int) -> int:
        """Return how much device memory they take."""
        return 16 * (n + m // PART + 1)

    def grid(self, kernel: Kernel) -> tuple[tuple[int], tuple[int]]:
        """Return blocks and threads for a launch that runs rounds."""
        return round_grid(self._device, kernel, self.capacity)

    def begin(self, vertex: int, degree: int) -> None:
        """Put one vertex into the queue of round 0."""
        parts = ceil_div(degree, PART)
        entries = (np.arange(parts, dtype=np.int64) << 32) | vertex
        if parts:
            self._device.copy(self.even[:parts], entries)
        sizes = np.zeros(self.sizes.size, np.uint64)
        sizes[0] = parts
        self._device.copy(self.sizes, sizes)

    def look(self) -> HostArray:
        """Return the sizes, and what else is counted beside them, after waiting for the device.

        They hold until it is called again.
        """
        return self._device.download(self.sizes, self._told)


def arc_grid(kernel: Kernel, arcs: int) -> tuple[tuple[int], tuple[int]]:
    """Return blocks and threads for a kernel that walks through all arcs."""
    useful = max(1, ceil_div(arcs, _CHUNK * _THREADS // 32))
    return (min(kernel.resident_blocks(_THREADS) * 4, useful),), (_THREADS,)
