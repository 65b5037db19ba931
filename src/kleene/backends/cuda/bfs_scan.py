"""Breadth-first search on a GPU by prefix sums, which tell every thread where to write.

The kernels are in ``kernels/bfs_scan.cu``, which says what a level consists of.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from kleene.backends.cuda.bfs_levels import Signals, launch_over, threads_for
from kleene.backends.cuda.bfs_search import HopSearch, hop_rows
from kleene.backends.cuda.device_graph import DeviceGraph
from kleene.backends.cuda.prefix_scan import Scan
from kleene.backends.cuda.runtime.device import Device, ceil_div
from kleene.backends.task import Answer, Task

__all__ = ["scan_fine", "scan_serial"]

#: Up to so many gathered vertices are gone through by one thread: the authors' threshold. The
#: kernel's block has as many threads.
_SEQUENTIAL = 512

#: Neighbours that a thread writes in fine-grained gathering, and bytes of shared memory for each.
#: With 256 threads that is half of what a block has without asking.
_GATHER_TILE = 8
_GATHER_BYTES = 12


class Scanned(HopSearch):
    """The steps of a level; forms differ in how they gather."""

    def __init__(self, task: Task, device: Device, graph: DeviceGraph) -> None:
        super().__init__(task, device, graph)
        self.step = {
            name.removeprefix("bfs_scan_"): kernel
            for name, kernel in device.kernels("bfs_scan").items()
        }
        n = graph.n
        self.frontier = device.empty(n, np.int32, "frontier")
        self.gathered = device.empty(graph.m, np.int32, "gathered")
        self.mask = device.zeros(n, np.int32, "mask")
        # Degrees, then where neighbours begin, then the mask's sums: never needed together.
        self.sums = device.empty(n, np.int64, "sums")
        self.scan = Scan(device, self.step["prefixscan"], self.step["prefixscan2"], n)
        self._signals = Signals(device, 3, np.int64)
        self._total, self._found, self._left = (self._signals[i] for i in range(3))

    def run(self, source: int, limit: int) -> None:
        begin = (source, self.depths, self.frontier, self._left)
        self.step["begin"].launch((1,), (1,), begin)
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
        """Gather the neighbours of so many vertices, and return how many they are."""
        degrees = (self.frontier, size, self.graph.csr.offsets, self.sums)
        launch_over(self.step["degrees"], size, degrees)
        self.scan.run(self.sums, self.sums, size, self._total)
        total = self._signals.read()[0]
        if total:
            self.gather(size, total)
        return total

    @abstractmethod
    def gather(self, size: int, total: int) -> None:
        """Copy all neighbours of so many vertices, each to its place."""

    def _contract(self, total: int, depth: int) -> tuple[int, bool]:
        """Make a frontier of the new ones among so many; is any vertex left after them?"""
        n, step = self.graph.n, self.step
        launch_over(step["generate_mask"], total, (self.gathered, total, self.depths, self.mask))
        if total > _SEQUENTIAL:
            self.scan.run(self.mask, self.sums, n, self._found, step["prefixscan_mask"])
            launch_over(step["compact"], n, (self.mask, self.sums, n, self.frontier))
        else:
            args = (self.gathered, total, self.mask, self.frontier, self._found)
            step["sequential"].launch((1,), (threads_for(total, _SEQUENTIAL),), args)
        launch_over(step["set_depth"], n, (n, depth, self.mask, self.depths, self._left))
        _, size, left = self._signals.read()
        return size, left == depth


class Serial(Scanned):
    """A thread for each vertex copies all of its neighbours."""

    def gather(self, size: int, total: int) -> None:
        args = (
            self.frontier, size, self.sums, *self.graph.csr, self.depths, self.parents,
            self.gathered,
        )  # fmt: skip
        launch_over(self.step["get_next_frontier"], size, args)


class Fine(Scanned):
    """The threads of a block share the neighbours, whoever's they are."""

    def gather(self, size: int, total: int) -> None:
        threads = threads_for(total)
        tile = threads * _GATHER_TILE
        args = (
            self.frontier, size, self.sums, total, tile, *self.graph.csr, self.depths,
            self.parents, self.gathered,
        )  # fmt: skip
        kernel = self.step["get_next_frontier_bs"]
        kernel.launch((ceil_div(total, tile),), (threads,), args, tile * _GATHER_BYTES)


def scan_serial(task: Task) -> Answer:
    """Scan degrees, gather by a thread for each vertex, mask, compact."""
    return hop_rows(task, Serial)


def scan_fine(task: Task) -> Answer:
    """Scan degrees, gather by blocks that share the work, mask, compact."""
    return hop_rows(task, Fine)
