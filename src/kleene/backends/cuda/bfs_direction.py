"""Direction-optimizing BFS (Beamer et al. 2012) with a few launches for all levels.

The kernels are in ``kernels/bfs_direction.cu``. Large levels are bound by memory traffic: a pulled
level reads a bit and two offsets per unvisited vertex and 32 bytes per arc visited, and writes 4
bytes per vertex found. Small levels are bound by
latency, of memory and of the grid barrier: ``bfs_direction_narrow`` runs those. The host only
switches between the two kernels.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

import numpy as np

from kleene.backends.answer import Answer
from kleene.backends.cuda.bfs_search import BfsSearch, bfs_rows, pack_targets
from kleene.backends.cuda.device_graph import DeviceGraph
from kleene.backends.cuda.runtime.interface import Array, Device, ceil_div, require_memory
from kleene.backends.cuda.runtime.structs import constant, struct_type
from kleene.backends.cuda.tuning import bfs as tuning
from kleene.backends.task import Task

__all__ = ["direction_optimizing"]

_FILE = "bfs_direction"


def _uses_incoming(task: Task) -> bool:
    return task.graph.has_csc or len(task.sources) >= tuning.SOURCES_WORTH_CSC


class _Reachable(NamedTuple):
    """The vertices with incoming arcs."""

    unreachable: Array  # a bit per vertex without
    vertices: int


class _Search(BfsSearch):
    @classmethod
    def workspace_key(cls, task: Task) -> Hashable:
        return super().workspace_key(task), _uses_incoming(task)

    def __init__(self, task: Task, device: Device, graph: DeviceGraph) -> None:
        super().__init__(task, device, graph)
        n, m = graph.n, graph.m
        self._kernels = device.kernels(_FILE)
        self._init = self._kernels["bfs_direction_init"]
        self._wide = self._kernels["bfs_direction_wide"]
        self._narrow = self._kernels["bfs_direction_narrow"]
        self._set_shapes()
        lists = max(self._wide_shape[0][0], self._narrow_shape[0][0])
        words = ceil_div(n, 32)
        capacity = lists * min(tuning.LONGEST_LIST, n + m // constant(_FILE, "kRangeArcs") + 1)
        require_memory(device, 12 * words + 48 * capacity, f"bfs on {n:,} vertices")
        pulls = _uses_incoming(task)
        unreachable, reachable = self._reachable() if pulls else (None, 0)
        target_count, target_bits = pack_targets(task, device)
        self._state = device.empty(1, struct_type(_FILE, "State").dtype, "state")
        self._host_state = device.pinned(1, self._state.dtype)
        self._params = struct_type(_FILE, "DirectionParams").pack(
            offsets=graph.csr.offsets, neighbors=graph.csr.neighbors,
            in_offsets=graph.csc.offsets if pulls else None,
            in_neighbors=graph.csc.neighbors if pulls else None,
            unreachable=unreachable, target_bits=target_bits,
            distances=self.distances, predecessors=self.predecessors,
            bits=device.empty(2 * words, np.uint32, "bits"),
            entries=device.empty((2 * capacity, 4), np.int32, "queue"),
            counts=device.empty(2 * lists, np.int32, "counts"),
            ranges=device.empty((capacity, 4), np.int32, "ranges"),
            visited=device.empty(1, np.int32, "visited"),
            totals=device.empty(3, struct_type(_FILE, "Totals").dtype, "totals"),
            state=self._state,
            barrier=device.zeros(1, np.uint32, "barrier"),
            narrow_barrier=device.empty(1, struct_type(_FILE, "NarrowBarrier").dtype, "barrier"),
            arcs=m, n=n, reachable=reachable, mean_degree=max(1, m // max(1, reachable)),
            targets=target_count, source=0, limit=0, levels=tuning.LEVELS,
            narrow_arcs=tuning.NARROW_ARCS, max_narrow_arcs=tuning.MAX_NARROW_ARCS,
            pull_cost=tuning.PULL_COST, max_lists=lists, queue_capacity=capacity,
        )  # fmt: skip

    def _set_shapes(self) -> None:
        """Set grid and block of the kernels by the size of the graph."""
        n, m = self.graph.n, self.graph.m
        wide, narrow = constant(_FILE, "kWideThreads"), constant(_FILE, "kNarrowThreads")
        blocks = ceil_div(n + m, tuning.WORK_PER_BLOCK)
        most = self._wide.resident_blocks(wide)
        most_narrow = min(tuning.NARROW_BLOCKS, self._narrow.resident_blocks(narrow))
        if blocks <= tuning.FEW_BLOCKS:
            wide = narrow = tuning.FEW_THREADS
        self._wide_shape = (min(blocks, most),), (wide,)
        self._narrow_shape = (min(blocks, most_narrow),), (narrow,)
        self._init_shape = self._grid(n // 16)

    def _grid(self, threads: int) -> tuple[tuple[int], tuple[int]]:
        """Return grid and block of about so many threads, with a loop in each."""
        most = 16 * self.device.multiprocessors
        return (min(ceil_div(threads + 1, tuning.THREADS), most),), (tuning.THREADS,)

    def _reachable(self) -> _Reachable:
        device, graph = self.device, self.graph

        def make() -> _Reachable:
            unreachable = device.empty(ceil_div(graph.n, 32), np.uint32, "unreachable")
            count = device.zeros(1, np.int32, "reachable")
            self._kernels["bfs_direction_mark_unreachable"].launch(
                *self._grid(graph.n), (graph.csc.offsets, graph.n, unreachable, count)
            )
            return _Reachable(unreachable, int(device.download(count)[0]))

        return graph.prepared("reachable", make)

    def run(self, source: int, limit: int) -> int | None:
        self._params.update(source=source, limit=limit)
        self._init.launch(*self._init_shape, (self._params,))
        narrow = self.graph.m < tuning.DENSE * self.graph.n
        while True:
            if narrow:
                self._narrow.launch(*self._narrow_shape, (self._params,), cooperative=True)
            else:
                self._wide.launch(*self._wide_shape, (self._params,), cooperative=True)
            self.send_ahead()
            state = self.device.download(self._state, self._host_state)[0]
            if state["done"]:
                early = state["done"] == constant(_FILE, "kEarlyExit")
                return int(state["level"]) if early else None
            small = int(state["arcs"]) <= tuning.MAX_NARROW_ARCS and not state["large"]
            narrow = bool(state["queued"]) and small


def direction_optimizing(task: Task) -> Answer:
    """Push small frontiers, pull large ones; all levels of a source in a few launches."""
    return bfs_rows(task, _Search)
