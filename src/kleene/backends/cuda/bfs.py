"""Breadth-first search on a GPU by sweeps over all arcs or all vertices, a launch for each level.

The kernels are in ``kernels/bfs_sweeps.cu``.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from kleene.backends.cuda.bfs_levels import Signals, launch_over
from kleene.backends.cuda.bfs_search import HopSearch, hop_rows
from kleene.backends.cuda.device_graph import DeviceGraph
from kleene.backends.cuda.runtime.device import Array, Device
from kleene.backends.task import Answer, Task

__all__ = ["edge", "spmv", "vertex_pull", "vertex_push"]


class _Sweep(HopSearch):
    kernel: str

    def __init__(self, task: Task, device: Device, graph: DeviceGraph) -> None:
        super().__init__(task, device, graph)
        kernels = device.kernels("bfs_sweeps")
        self._begin, self._level = kernels["bfs_sweeps_begin"], kernels[self.kernel]
        self._signals = Signals(device, 1, np.int32)
        self._arcs = self.arcs()

    @abstractmethod
    def arcs(self) -> tuple[Array, Array, int]:
        """Return the two arrays of the form that is swept, and how many threads do it."""

    def run(self, source: int, limit: int) -> None:
        found = self._signals[0]
        self._begin.launch((1,), (1,), (source, self.depths, found))
        for depth in range(limit):
            args = (*self._arcs, depth, self.depths, self.parents, found)
            launch_over(self._level, self._arcs[2], args)
            if self._signals.read() != [depth + 1]:
                break


class _Edge(_Sweep):
    kernel = "bfs_edge_level"

    def arcs(self) -> tuple[Array, Array, int]:
        return self.graph.tails, self.graph.csr.neighbors, self.graph.m


class _VertexPush(_Sweep):
    kernel = "bfs_vertex_push_level"

    def arcs(self) -> tuple[Array, Array, int]:
        return (*self.graph.csr, self.graph.n)


class _VertexPull(_Sweep):
    kernel = "bfs_vertex_pull_level"

    def arcs(self) -> tuple[Array, Array, int]:
        return (*self.graph.csc, self.graph.n)


class _Spmv(HopSearch):
    """Multiplies the matrix by the vector of all vertices reached; the targets are goals."""

    def __init__(self, task: Task, device: Device, graph: DeviceGraph) -> None:
        super().__init__(task, device, graph)
        kernels = device.kernels("bfs_sweeps")
        self._begin, self._multiply = kernels["bfs_spmv_begin"], kernels["bfs_spmv_multiply"]
        self._look = kernels["bfs_spmv_goals"]
        self._signals = Signals(device, 2, np.int32)
        self._x_old = device.empty(graph.n, np.uint8, "x_old")
        self._x_new = device.empty(graph.n, np.uint8, "x_new")
        self._goals = None
        if task.targets is not None:
            self._goals = device.upload(task.targets.astype(np.int32), "goals")

    def run(self, source: int, limit: int) -> int | None:
        n, (offsets, edges) = self.graph.n, self.graph.csr
        found, missing = self._signals[0], self._signals[1]
        old, new = self._x_old, self._x_new
        for x in (old, new):
            self.device.fill(x, 0)
        self._begin.launch((1,), (1,), (source, self.depths, old, new, found, missing))
        for depth in range(1, limit + 1):
            args = (edges, offsets, n, depth, old, new, self.depths, self.parents, found)
            launch_over(self._multiply, n, args)
            if self._goals is not None:
                goals = self._goals.size
                launch_over(self._look, goals, (self._goals, goals, depth, new, missing))
            old, new = new, old
            found_at, missing_at = self._signals.read()
            if self._goals is not None and missing_at != depth:
                return depth
            if found_at != depth:
                break
        return None


def edge(task: Task) -> Answer:
    """Look at every arc at every level, a thread for each."""
    return hop_rows(task, _Edge)


def vertex_push(task: Task) -> Answer:
    """Let every vertex of a level mark its neighbours, a thread for each."""
    return hop_rows(task, _VertexPush)


def vertex_pull(task: Task) -> Answer:
    """Let every vertex not yet reached look for a parent, a thread for each."""
    return hop_rows(task, _VertexPull)


def spmv(task: Task) -> Answer:
    """Multiply a boolean vector by the matrix at every level; stop where the targets are."""
    return hop_rows(task, _Spmv)
