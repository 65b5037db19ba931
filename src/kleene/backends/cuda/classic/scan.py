"""BFS on a GPU with prefix sums as write positions; kernels in ``kernels/classic/bfs_scan.cu``."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from kleene.backends.answer import Answer
from kleene.backends.cuda.bfs.direction import (
    BfsSearch,
    Counters,
    bfs_rows,
    launch_threads,
    threads_for,
)
from kleene.backends.cuda.graph import DeviceGraph
from kleene.backends.cuda.runtime.interface import Array, Device, Kernel, ceil_div
from kleene.backends.cuda.runtime.structs import constant
from kleene.backends.cuda.tuning import bfs as tuning
from kleene.backends.task import Task

__all__ = ["PrefixScan", "scan_fine", "scan_serial"]

# ---- exclusive prefix sums; device code in ``kernels/common/prefix_scan.cuh`` --------------------

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


_GATHER_BYTES = 12  # of shared memory per neighbour


class Scanned(BfsSearch):
    """The steps of a level; subclasses differ in how they gather."""

    def __init__(self, task: Task, device: Device, graph: DeviceGraph) -> None:
        super().__init__(task, device, graph)
        self.step = {
            name.removeprefix("bfs_scan_"): kernel
            for name, kernel in device.kernels("bfs_scan").items()
        }
        n = graph.n
        self.params = self.level_params("bfs_scan", graph.csr)
        self.frontier = device.empty(n, np.int32, "frontier")
        self.gathered = device.empty(graph.m, np.int32, "gathered")
        self.mask = device.zeros(n, np.int32, "mask")
        # Holds degrees, then write positions, then the scan of the mask, one at a time.
        self.sums = device.empty(n, np.int64, "sums")
        self.scan = PrefixScan(device, self.step["prefixscan"], self.step["prefixscan2"], n)
        self._counters = Counters(device, 3, np.int64)
        self._total, self._found, self._left = (self._counters[i] for i in range(3))

    def run(self, source: int, limit: int) -> None:
        begin = (source, self.distances, self.frontier, self._left)
        self.step["init"].launch((1,), (1,), begin)
        size, depth = 1, 0
        while size and depth < limit:
            total = self._expand(size)
            if total == 0:
                break
            depth += 1
            size, left = self._contract(total, depth)
            if not left:
                break

    def _expand(self, size: int) -> int:
        """Gather the neighbours of the frontier; return how many there are."""
        degrees = (self.frontier, size, self.graph.csr.offsets, self.sums)
        launch_threads(self.step["degrees"], size, degrees)
        self.scan.run(self.sums, self.sums, size, self._total)
        total = self._counters.read()[0]
        if total:
            self.gather(size, total)
        return total

    @abstractmethod
    def gather(self, size: int, total: int) -> None:
        """Copy all neighbours of the frontier to their write positions."""

    def _contract(self, total: int, depth: int) -> tuple[int, bool]:
        """Make the next frontier; return its size and whether unvisited vertices remain."""
        n, step = self.graph.n, self.step
        launch_threads(
            step["generate_mask"], total, (self.gathered, total, self.distances, self.mask)
        )
        sequential = constant("bfs_scan", "kSequential")
        if total > sequential:
            self.scan.run(self.mask, self.sums, n, self._found, step["prefixscan_mask"])
            launch_threads(step["compact"], n, (self.mask, self.sums, n, self.frontier))
        else:
            args = (self.gathered, total, self.mask, self.frontier, self._found)
            step["sequential"].launch((1,), (threads_for(total, sequential),), args)
        launch_threads(step["set_depth"], n, (n, depth, self.mask, self.distances, self._left))
        _, size, left = self._counters.read()
        return size, left == depth


class Serial(Scanned):
    """One thread per frontier vertex copies its neighbours."""

    def gather(self, size: int, total: int) -> None:
        args = (self.params, self.frontier, size, self.sums, self.gathered)
        launch_threads(self.step["get_next_frontier"], size, args)


class Fine(Scanned):
    """The threads of a block share the neighbours of all its vertices."""

    def gather(self, size: int, total: int) -> None:
        threads = threads_for(total)
        tile = threads * tuning.GATHER_TILE
        args = (self.params, self.frontier, size, self.sums, total, tile, self.gathered)
        kernel = self.step["get_next_frontier_bs"]
        kernel.launch((ceil_div(total, tile),), (threads,), args, tile * _GATHER_BYTES)


def scan_serial(task: Task) -> Answer:
    """Scan degrees, gather with a thread per vertex, mask, compact."""
    return bfs_rows(task, Serial)


def scan_fine(task: Task) -> Answer:
    """Scan degrees, gather with a thread per neighbour, mask, compact."""
    return bfs_rows(task, Fine)
