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
from kleene.backends.cuda.prefix_scan import PrefixScan
from kleene.backends.cuda.runtime.interface import Device, ceil_div
from kleene.backends.cuda.runtime.structs import constant
from kleene.backends.cuda.tuning import bfs as tuning
from kleene.backends.task import Task

__all__ = ["scan_fine", "scan_serial"]

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
