"""Direction-optimizing BFS (Beamer et al. 2012) with a few launches for all levels.

The kernels are in ``kernels/bfs/bfs_direction.cu``. Large levels are bound by memory traffic: a
pulled level reads a bit and two offsets per unvisited vertex and 32 bytes per arc visited, and
writes 4 bytes per vertex found. Small levels are bound by latency, of memory and of the grid
barrier: ``bfs_direction_narrow`` runs those. The host only switches between the two kernels.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from kleene.backends.answer import Answer
from kleene.backends.common.engine_dtype import search_in_dtype
from kleene.backends.cuda.graph import Arcs, DeviceGraph
from kleene.backends.cuda.rows import AnswerRows, RowSearch, run_search
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.runtime.interface import (
    Argument,
    Array,
    Device,
    Kernel,
    ceil_div,
    require_memory,
)
from kleene.backends.cuda.runtime.structs import Struct, constant, struct_type
from kleene.backends.cuda.tuning import bfs as tuning
from kleene.backends.task import Task

__all__ = [
    "BfsSearch",
    "Counters",
    "bfs_rows",
    "direction_optimizing",
    "launch_threads",
    "pack_targets",
    "threads_for",
]


# ---- BFS on a GPU, one source at a time: what all methods share ---------------------------------
# A method is a class whose ``run`` fills the distance, and the predecessor, of every reached
# vertex.

_HOPS = np.dtype(np.int32)
_NO_LIMIT = int(np.iinfo(_HOPS).max)


class BfsSearch(RowSearch):
    """Searches from one source at a time on one graph.

    ``distances`` and ``predecessors`` (None unless requested) are -1 when ``run`` begins.
    """

    def __init__(self, task: Task, device: Device, graph: DeviceGraph) -> None:
        super().__init__(task, device, graph)
        self.predecessors = self.tree

    def level_params(self, file: str, arcs: Arcs) -> Struct:
        """Return the ``LevelParams`` of a kernel file."""
        return struct_type(file, "LevelParams").pack(
            offsets=arcs.offsets, neighbors=arcs.neighbors,
            distances=self.distances, predecessors=self.predecessors,
        )  # fmt: skip

    @abstractmethod
    def run(self, source: int, limit: int) -> int | None:
        """Search up to a limit of levels.

        Returns the last complete level if the search stopped at its targets; None if it ran to the
        end or the limit.
        """


def bfs_rows(task: Task, method: type[BfsSearch]) -> Answer:
    """Search from each source by this method."""
    if task.dtype != _HOPS:
        return search_in_dtype(lambda part: bfs_rows(part, method), task, _HOPS)
    if task.graph.n == 0 or len(task.sources) == 0:
        return Answer(task.empty_values(), task.empty_predecessors())
    return run_search(task, open_device(task.device), method, _search_rows)


def _search_rows(search: BfsSearch) -> Answer:
    """Search from each source of the task, and copy what is found to its row."""
    device, task = search.device, search.task
    limit = _NO_LIMIT if task.limit is None else int(min(task.limit, _NO_LIMIT))
    complete = task.limit is None and task.targets is None
    horizons = None if complete else np.full(len(task.sources), limit, _HOPS)
    rows = AnswerRows(task, device)
    for row, source in enumerate(task.sources.tolist()):
        search.staged = False
        search.fill_rows(0xFF)
        with rows.prefault(row), search.timed():
            horizon = search.run(source, limit)
        if horizon is not None and horizons is not None:
            horizons[row] = horizon
        rows.copy(row, search)
        task.report(row + 1, len(task.sources))
    rows.wait(search)
    return rows.answer(horizons)


def pack_targets(task: Task, device: Device) -> tuple[int, Array | None]:
    """Return the number of targets and a bitmap of them on the device; None without targets."""
    if task.targets is None:
        return 0, None
    bits = np.zeros(32 * ceil_div(task.graph.n, 32), bool)
    bits[task.targets] = True
    words = np.packbits(bits, bitorder="little").view(np.uint32)
    return int(np.count_nonzero(bits)), device.upload(words, "target bits")


# ---- What level-by-level searches share ---------------------------------------------------------
# Launches of a thread per item, counters read by the host.

_WARP = 32


class Counters:
    """A few numbers that kernels set and the host reads with one copy."""

    def __init__(self, device: Device, count: int, dtype: DTypeLike) -> None:
        self._device = device
        self._all = device.zeros(count, dtype, "counters")
        self._host = device.pinned(count, dtype)
        self._each = [self._all[i : i + 1] for i in range(count)]

    def __getitem__(self, index: int) -> Array:
        """Return the device array of one counter."""
        return self._each[index]

    def read(self) -> list[int]:
        """Return all counters after waiting for the main stream."""
        self._device.copy(self._host, self._all)
        self._device.main.synchronize()
        values: list[int] = self._host.tolist()
        return values


def threads_for(count: int, most: int = tuning.THREADS) -> int:
    """Return the block size for so many threads: whole warps.

    >>> threads_for(1), threads_for(33), threads_for(1000)
    (32, 64, 256)
    """
    return min(most, ceil_div(count, _WARP) * _WARP)


def launch_threads(kernel: Kernel, count: int, args: Sequence[Argument], shared: int = 0) -> None:
    """Launch a kernel with ``count`` threads; none if it is 0."""
    if count:
        threads = threads_for(count)
        kernel.launch((ceil_div(count, threads),), (threads,), args, shared)


# ---- direction-optimizing search ----------------------------------------------------------------

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
