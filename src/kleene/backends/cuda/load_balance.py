"""Work queues and launch shapes for ``kernels/common/load_balance.cuh``."""

from __future__ import annotations

import numpy as np

from kleene.backends.cuda.graph import DeviceGraph
from kleene.backends.cuda.runtime.interface import (
    Device,
    HostArray,
    Kernel,
    ceil_div,
    require_memory,
)
from kleene.backends.cuda.runtime.structs import constant
from kleene.backends.cuda.tuning import load_balance as tuning

__all__ = ["ARCS_PER_ENTRY", "WorkQueues", "arc_grid", "round_grid"]

_HEADER = "common/load_balance.cuh"

ARCS_PER_ENTRY = constant(_HEADER, "kArcsPerEntry")


def round_grid(device: Device, kernel: Kernel, entries: int) -> tuple[tuple[int], tuple[int]]:
    """Return grid and block of a cooperative launch with up to so many entries a round."""
    threads = 32 if entries <= tuning.ONE_WARP_ENTRIES else tuning.THREADS
    most = min(kernel.resident_blocks(threads), tuning.BLOCKS_PER_SM * device.multiprocessors)
    return (min(most, max(1, ceil_div(entries, tuning.ENTRIES_PER_BLOCK))),), (threads,)


class WorkQueues:
    """Two alternating queues of vertices and their three alternating sizes.

    Round r reads queue r % 2, whose size is ``sizes[r % 3]``. A launch runs many rounds, with a
    grid barrier after each.
    """

    def __init__(self, device: Device, graph: DeviceGraph, words: int = 3) -> None:
        """Allocate empty queues; words of ``sizes`` past the third belong to the search."""
        require_memory(device, self.nbytes(graph.n, graph.m), f"a search on {graph.n:,} vertices")
        self._device = device
        self.capacity = graph.n + graph.m // ARCS_PER_ENTRY + 1
        self.even = device.empty(self.capacity, np.int64, "even queue")
        self.odd = device.empty(self.capacity, np.int64, "odd queue")
        self.sizes = device.zeros(words, np.uint64, "sizes")
        self.barrier = device.zeros(1, np.uint32, "barrier")
        self._host_state = device.pinned(words, np.uint64)

    @staticmethod
    def nbytes(n: int, m: int) -> int:
        """Return the device bytes of the queues."""
        return 16 * (n + m // ARCS_PER_ENTRY + 1)

    def grid(self, kernel: Kernel) -> tuple[tuple[int], tuple[int]]:
        """Return grid and block of a launch that runs rounds."""
        return round_grid(self._device, kernel, self.capacity)

    def begin(self, vertex: int, degree: int) -> None:
        """Enqueue one vertex for round 0."""
        parts = ceil_div(degree, ARCS_PER_ENTRY)
        entries = (np.arange(parts, dtype=np.int64) << 32) | vertex
        if parts:
            self._device.copy(self.even[:parts], entries)
        sizes = np.zeros(self.sizes.size, np.uint64)
        sizes[0] = parts
        self._device.copy(self.sizes, sizes)

    def read_sizes(self) -> HostArray:
        """Return ``sizes`` after waiting for the device; valid until the next call."""
        return self._device.download(self.sizes, self._host_state)


def arc_grid(kernel: Kernel, arcs: int) -> tuple[tuple[int], tuple[int]]:
    """Return grid and block of a kernel that visits all arcs."""
    threads = tuning.THREADS
    useful = max(1, ceil_div(arcs, constant(_HEADER, "kChunk") * threads // 32))
    return (min(kernel.resident_blocks(threads) * 4, useful),), (threads,)
