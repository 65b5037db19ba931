"""BFS on a GPU with frontier queues; kernels in ``kernels/classic/bfs_frontiers.cu``."""

from __future__ import annotations

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
from kleene.backends.cuda.runtime.interface import Argument, Device
from kleene.backends.cuda.tuning import bfs as tuning
from kleene.backends.task import Task

__all__ = ["frontier", "privatized", "single_block"]

_ITEM = 4  # bytes of an entry


class Frontier(BfsSearch):
    """One queue; all threads append at its tail by atomic additions."""

    kernel = "bfs_frontier_level"
    capacity = 0  # entries of a queue in shared memory; 0 for none

    def __init__(self, task: Task, device: Device, graph: DeviceGraph) -> None:
        super().__init__(task, device, graph)
        kernels = device.kernels("bfs_frontiers")
        self._init, self._level = kernels["bfs_frontiers_init"], kernels[self.kernel]
        self.params = self.level_params("bfs_frontiers", graph.csr)
        self.queue = device.empty(graph.n, np.int32, "queue")
        self.next = device.empty(graph.n, np.int32, "next")
        # Queue tails of this level and the previous one; then size and number of the last level
        # of a single-block launch.
        self.counters = Counters(device, 4, np.int32)
        self._tail = 0

    def run(self, source: int, limit: int) -> None:
        self.begin(source)
        size, level = 1, 0
        while size and level < limit:
            level += 1
            size = self.level(size, level)

    def begin(self, source: int) -> None:
        """Enqueue the source."""
        tails = (self.counters[0], self.counters[1])
        self._init.launch((1,), (1,), (source, self.distances, self.queue, *tails))
        self._tail = 0

    def level(self, size: int, level: int) -> int:
        """Expand so many queued vertices; return the size of the new level."""
        tail, previous = self._tail, 1 - self._tail
        tails = (self.counters[tail], self.counters[previous])
        args: tuple[Argument, ...] = (self.params, self.queue, size, level, self.next, *tails)
        if self.capacity:
            args = (*args, self.capacity)
        launch_threads(self._level, size, args, self.capacity * _ITEM)
        self.queue, self.next, self._tail = self.next, self.queue, previous
        return self.counters.read()[tail]


class Privatized(Frontier):
    """Each block fills a queue in shared memory, then reserves space in the global queue once."""

    kernel = "bfs_privatized_level"
    capacity = tuning.PRIVATE_CAPACITY


class SingleBlock(Privatized):
    """One block runs levels that fit into its shared memory, many blocks larger ones."""

    own_capacity = tuning.SINGLE_BLOCK_CAPACITY  # entries of each of its two queues
    threads = tuning.SINGLE_BLOCK_THREADS
    levels = tuning.SINGLE_BLOCK_LEVELS  # per launch

    def __init__(self, task: Task, device: Device, graph: DeviceGraph) -> None:
        super().__init__(task, device, graph)
        self._single_block = device.kernels("bfs_frontiers")["bfs_single_block_levels"]

    def run(self, source: int, limit: int) -> None:
        self.begin(source)
        size, level = 1, 0
        while size and level < limit:
            if size <= self.own_capacity:
                size, level = self.many_levels(size, level, min(self.levels, limit - level))
            else:
                level += 1
                size = self.level(size, level)

    def many_levels(self, size: int, level: int, levels: int) -> tuple[int, int]:
        """Run levels in one block; return size and number of the last level."""
        args = (
            self.params, self.queue, size, level, levels, self.next, self.counters[2],
            self.own_capacity,
        )  # fmt: skip
        threads = threads_for(self.graph.n, self.threads)
        self._single_block.launch((1,), (threads,), args, 2 * self.own_capacity * _ITEM)
        self.queue, self.next = self.next, self.queue
        size, level = self.counters.read()[2:]
        return size, level


def frontier(task: Task) -> Answer:
    """Append new vertices to one global queue."""
    return bfs_rows(task, Frontier)


def privatized(task: Task) -> Answer:
    """Fill one queue per block in shared memory, then concatenate them."""
    return bfs_rows(task, Privatized)


def single_block(task: Task) -> Answer:
    """Run many small levels per launch in one block."""
    return bfs_rows(task, SingleBlock)
