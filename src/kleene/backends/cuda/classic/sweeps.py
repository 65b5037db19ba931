"""Topology-driven BFS on a GPU: each level sweeps all arcs or all vertices in one launch.

The kernels are in ``kernels/classic/bfs_sweeps.cu``.
"""

from __future__ import annotations

import numpy as np

from kleene.backends.answer import Answer
from kleene.backends.cuda.bfs.direction import BfsSearch, Counters, bfs_rows, launch_threads
from kleene.backends.cuda.graph import Arcs, DeviceGraph
from kleene.backends.cuda.runtime.interface import Device
from kleene.backends.task import Task

__all__ = ["edge", "spmv", "vertex_pull", "vertex_push"]


class _Sweep(BfsSearch):
    kernel: str

    def __init__(self, task: Task, device: Device, graph: DeviceGraph) -> None:
        super().__init__(task, device, graph)
        kernels = device.kernels("bfs_sweeps")
        self._init, self._level = kernels["bfs_sweeps_init"], kernels[self.kernel]
        self._counters = Counters(device, 1, np.int32)
        self._params = self.level_params("bfs_sweeps", self.arcs())

    def arcs(self) -> Arcs:
        """Return the swept form."""
        return self.graph.csr

    def level(self, level: int) -> None:
        """Launch a level: a thread per vertex."""
        args = (self._params, self.graph.n, level, self._counters[0])
        launch_threads(self._level, self.graph.n, args)

    def run(self, source: int, limit: int) -> None:
        self._init.launch((1,), (1,), (source, self.distances, self._counters[0]))
        for level in range(limit):
            self.level(level)
            if self._counters.read() != [level + 1]:
                break


class _Edge(_Sweep):
    kernel = "bfs_edge_level"

    def level(self, level: int) -> None:
        """Launch a level: a thread per arc."""
        m = self.graph.m
        args = (self._params, self.graph.tails, m, level, self._counters[0])
        launch_threads(self._level, m, args)


class _VertexPush(_Sweep):
    kernel = "bfs_vertex_push_level"


class _VertexPull(_Sweep):
    kernel = "bfs_vertex_pull_level"

    def arcs(self) -> Arcs:
        return self.graph.csc


class _Spmv(BfsSearch):
    """Multiplies the matrix by the vector of reached vertices; stops at the targets."""

    def __init__(self, task: Task, device: Device, graph: DeviceGraph) -> None:
        super().__init__(task, device, graph)
        kernels = device.kernels("bfs_sweeps")
        self._init, self._multiply = kernels["bfs_spmv_init"], kernels["bfs_spmv_multiply"]
        self._check_targets = kernels["bfs_spmv_targets"]
        self._params = self.level_params("bfs_sweeps", graph.csr)
        self._counters = Counters(device, 2, np.int32)
        self._x_old = device.empty(graph.n, np.uint8, "x_old")
        self._x_new = device.empty(graph.n, np.uint8, "x_new")
        self._targets = None
        if task.targets is not None:
            self._targets = device.upload(task.targets.astype(np.int32), "targets")

    def run(self, source: int, limit: int) -> int | None:
        n = self.graph.n
        last_level, missing = self._counters[0], self._counters[1]
        old, new = self._x_old, self._x_new
        for x in (old, new):
            self.device.fill(x, 0)
        self._init.launch((1,), (1,), (source, self.distances, old, new, last_level, missing))
        for level in range(1, limit + 1):
            args = (self._params, n, level, old, new, last_level)
            launch_threads(self._multiply, n, args)
            if self._targets is not None:
                targets = self._targets.size
                launch_threads(
                    self._check_targets, targets, (self._targets, targets, level, new, missing)
                )
            old, new = new, old
            reached_level, missing_level = self._counters.read()
            if self._targets is not None and missing_level != level:
                return level
            if reached_level != level:
                break
        return None


def edge(task: Task) -> Answer:
    """Visit every arc at every level, a thread each."""
    return bfs_rows(task, _Edge)


def vertex_push(task: Task) -> Answer:
    """Push from every vertex of the level, a thread each."""
    return bfs_rows(task, _VertexPush)


def vertex_pull(task: Task) -> Answer:
    """Pull to every unvisited vertex, a thread each."""
    return bfs_rows(task, _VertexPull)


def spmv(task: Task) -> Answer:
    """Multiply a boolean vector by the matrix at every level; stop at the targets."""
    return bfs_rows(task, _Spmv)
