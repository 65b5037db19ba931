"""Breadth-first search on a GPU with queues of the vertices to go on from.

The kernels are in ``kernels/bfs_frontiers.cu``.
"""

from __future__ import annotations

import numpy as np

from kleene.backends.cuda.bfs_levels import Signals, launch_over, threads_for
from kleene.backends.cuda.bfs_search import HopSearch, hop_rows
from kleene.backends.cuda.device_graph import DeviceGraph
from kleene.backends.cuda.runtime.device import Array, Device
from kleene.backends.task import Answer, Task

__all__ = ["frontier", "privatized", "single_block"]

_ITEM = 4  # bytes of an entry


class Frontier(HopSearch):
    """One queue, with one tail that all threads move."""

    kernel = "bfs_frontier_level"
    capacity = 0  # entries of a block's own queue; 0 if it has none

    def __init__(self, task: Task, device: Device, graph: DeviceGraph) -> None:
        super().__init__(task, device, graph)
        kernels = device.kernels("bfs_frontiers")
        self._begin, self._level = kernels["bfs_frontiers_begin"], kernels[self.kernel]
        self.queue = device.empty(graph.n, np.int32, "queue")
        self.next = device.empty(graph.n, np.int32, "next")
        # Tails, one for the queue being made and one that was used before; then what a single
        # block has come to: the size of a level and its depth.
        self.signals = Signals(device, 4, np.int32)
        self._tail = 0

    def run(self, source: int, limit: int) -> None:
        self.begin(source)
        size, depth = 1, 0
        while size and depth < limit:
            depth += 1
            size = self.level(size, depth)

    def begin(self, source: int) -> None:
        """Put the source into the queue."""
        tails = (self.signals[0], self.signals[1])
        self._begin.launch((1,), (1,), (source, self.depths, self.queue, *tails))
        self._tail = 0

    def level(self, size: int, depth: int) -> int:
        """Go on from so many vertices in the queue, and return how many of this depth there are."""
        tail, spent = self._tail, 1 - self._tail
        args: tuple[Array | int | None, ...] = (
            *self.graph.csr, self.queue, size, depth, self.depths, self.parents, self.next,
            self.signals[tail], self.signals[spent],
        )  # fmt: skip
        if self.capacity:
            args = (*args, self.capacity)
        launch_over(self._level, size, args, self.capacity * _ITEM)
        self.queue, self.next, self._tail = self.next, self.queue, spent
        return self.signals.read()[tail]


class Privatized(Frontier):
    """Each block fills a queue in its shared memory, and moves the common tail once."""

    kernel = "bfs_privatized_level"
    capacity = 2048


class SingleBlock(Privatized):
    """One block for as many levels as fit into its shared memory, many blocks for larger ones."""

    own_capacity = 1024  # entries of each of its two queues
    threads = 512
    levels = 256  # in a launch; between launches the host can look at the keyboard

    def __init__(self, task: Task, device: Device, graph: DeviceGraph) -> None:
        super().__init__(task, device, graph)
        self._alone = device.kernels("bfs_frontiers")["bfs_single_block_levels"]

    def run(self, source: int, limit: int) -> None:
        self.begin(source)
        size, depth = 1, 0
        while size and depth < limit:
            if size <= self.own_capacity:
                size, depth = self.many_levels(size, depth, min(self.levels, limit - depth))
            else:
                depth += 1
                size = self.level(size, depth)

    def many_levels(self, size: int, depth: int, levels: int) -> tuple[int, int]:
        """Go on by one block, and return how many vertices there are of which depth."""
        args = (
            *self.graph.csr, self.queue, size, depth, levels, self.depths, self.parents, self.next,
            self.signals[2], self.signals[3], self.own_capacity,
        )  # fmt: skip
        threads = threads_for(self.graph.n, self.threads)
        self._alone.launch((1,), (threads,), args, 2 * self.own_capacity * _ITEM)
        self.queue, self.next = self.next, self.queue
        size, depth = self.signals.read()[2:]
        return size, depth


def frontier(task: Task) -> Answer:
    """Let threads append what they find to one queue."""
    return hop_rows(task, Frontier)


def privatized(task: Task) -> Answer:
    """Let blocks fill queues of their own, then join them."""
    return hop_rows(task, Privatized)


def single_block(task: Task) -> Answer:
    """Let one block go through many levels in a launch, while they are small."""
    return hop_rows(task, SingleBlock)
