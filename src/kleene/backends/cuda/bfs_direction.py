"""Direction-optimizing BFS (Beamer et al. 2012) with a few launches for all levels.

The kernels are in ``kernels/bfs_direction.cu``. Large levels are bound by memory traffic: a pulled
level reads a bit and two offsets per unvisited vertex and 32 bytes per arc visited, and writes 8
bytes per vertex found. Small levels are bound by latency, of memory and of the grid barrier:
``bfs_direction_narrow`` runs those. The host only switches between the two kernels.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from kleene.backends.cuda.bfs_search import BfsSearch, bfs_rows
from kleene.backends.cuda.device_graph import DeviceGraph
from kleene.backends.cuda.runtime.device import Argument, Array, Device, ceil_div, require_memory
from kleene.backends.task import Answer, Task

__all__ = ["direction_optimizing"]

_WIDE = 512  # kWideThreads
_NARROW, _NARROW_BLOCKS = 256, 132
_FEW, _FEW_BLOCKS = 64, 4  # threads per block, for graphs with work for few blocks only
_WORK_PER_BLOCK = 1024  # vertices and arcs that are worth one more block
_RANGE_ARCS = 128  # kRangeArcs
_LONGEST_LIST = 4096  # queue entries per block; longer frontiers are found by a sweep

#: Frontier arcs above which the narrow kernel returns, and below which the wide one does.
_MAX_NARROW_ARCS, _NARROW_ARCS = 2**16, 2**15

#: Pull when the frontier has more than m / 64 arcs.
_PULL_PART = 64

#: Mean degree from which searches begin with the wide kernel.
_DENSE = 8

#: Levels per launch: a third of a second at most, so that Ctrl-C works.
_LEVELS = 2**17

_STATE = np.dtype(
    [
        ("barrier_values", "2u8"), ("arcs", "u8"), ("level", "i4"), ("done", "i4"),
        ("queued", "i4"), ("writers", "i4"), ("longest", "i4"), ("large", "i4"),
        ("seen_index", "i4"), ("targets_left", "i4"), ("barrier_index", "i4"), ("unused", "i4"),
    ]
)  # fmt: skip
_EARLY_EXIT = 2  # ``done``: stopped at the limit or the targets
_TOTALS = 3 * 24  # bytes: three Totals

#: Building the incoming arcs of a directed graph costs as much as 64 searches without them.
_SOURCES_WORTH_CSC = 64


def _uses_incoming(task: Task) -> bool:
    return task.graph.has_csc or len(task.sources) >= _SOURCES_WORTH_CSC


class _Search(BfsSearch):
    @classmethod
    def workspace_key(cls, task: Task) -> Hashable:
        return super().workspace_key(task), _uses_incoming(task)

    def __init__(self, task: Task, device: Device, graph: DeviceGraph) -> None:
        super().__init__(task, device, graph)
        n, m = graph.n, graph.m
        file = device.kernels("bfs_direction")
        self._init, self._wide, self._narrow = (
            file[name]
            for name in ("bfs_direction_init", "bfs_direction_wide", "bfs_direction_narrow")
        )
        blocks = ceil_div(n + m, _WORK_PER_BLOCK)
        most = self._wide.resident_blocks(_WIDE)
        few = blocks <= _FEW_BLOCKS
        self._wide_shape = (min(blocks, most),), (_FEW if few else _WIDE,)
        fewer = min(blocks, _NARROW_BLOCKS, self._narrow.resident_blocks(_NARROW))
        self._narrow_shape = (fewer,), (_FEW if few else _NARROW,)
        lists = max(self._wide_shape[0][0], self._narrow_shape[0][0])
        words, capacity = ceil_div(n, 32), lists * min(_LONGEST_LIST, n + m // _RANGE_ARCS + 1)
        require_memory(device, 12 * words + 48 * capacity, f"bfs on {n:,} vertices")
        incoming: tuple[Array | None, ...] = (None, None, None)
        if _uses_incoming(task):
            unreachable = device.empty(words, np.uint32, "unreachable")
            grid, block = (min(ceil_div(n, 256), 16 * device.multiprocessors),), (256,)
            file["bfs_direction_mark_unreachable"].launch(
                grid, block, (graph.csc.offsets, n, unreachable)
            )
            incoming = (*graph.csc, unreachable)
        target_count, target_bits = self._targets()
        bits = device.empty(2 * words, np.uint32, "bits")
        entries = device.empty((2 * capacity, 4), np.int32, "queue")
        counts = device.empty(2 * lists, np.int32, "counts")
        ranges = device.empty((capacity, 4), np.int32, "ranges")
        range_counts = device.empty(lists, np.int32, "range counts")
        totals = device.empty(_TOTALS // 8, np.uint64, "totals")
        self._state = device.empty(_STATE.itemsize // 8, np.uint64, "state")
        self._host_state = device.pinned(self._state.shape, np.uint64)
        barrier = device.zeros(1, np.uint32, "barrier")
        barrier_words = device.zeros(2, np.uint64, "barrier words")
        self._init_args: list[Argument] = [
            graph.csr.offsets, target_bits, target_count, words, 0, capacity, self.distances, bits,
            entries, counts, totals, self._state, barrier_words,
        ]  # fmt: skip
        self._narrow_args: list[Argument] = [
            *graph.csr, target_bits, n, 0, _LEVELS, _MAX_NARROW_ARCS, self.distances,
            self.predecessors, bits, entries, counts, lists, capacity, totals, self._state,
            barrier_words,
        ]  # fmt: skip
        self._wide_args: list[Argument] = [
            *graph.csr, *incoming, target_bits, n, 0, _LEVELS, _NARROW_ARCS, m // _PULL_PART,
            self.distances, self.predecessors, bits, entries, counts, lists, capacity, ranges,
            range_counts, totals,
            self._state, barrier,
        ]  # fmt: skip
        self._init_shape = (min(ceil_div(2 * words, 256), 4 * device.multiprocessors),), (256,)

    def _targets(self) -> tuple[int, Array | None]:
        """Return the number of targets and their bitmap; None without targets."""
        targets = self.task.targets
        if targets is None:
            return 0, None
        bits = np.zeros(ceil_div(self.graph.n, 32) * 32, bool)
        bits[targets] = True
        words = np.packbits(bits, bitorder="little").view(np.uint32)
        return int(np.count_nonzero(bits)), self.device.upload(words, "target bits")

    def run(self, source: int, limit: int) -> int | None:
        self._init_args[4] = source
        self._narrow_args[4] = limit
        self._wide_args[7] = limit
        self._init.launch(*self._init_shape, self._init_args)
        states: Any = self._host_state.view(_STATE)
        narrow = self.graph.m < _DENSE * self.graph.n
        while True:
            if narrow:
                self._narrow.launch(*self._narrow_shape, self._narrow_args, cooperative=True)
            else:
                self._wide.launch(*self._wide_shape, self._wide_args, cooperative=True)
            self.send_ahead()
            self.device.download(self._state, self._host_state)
            state = states[0]
            if state["done"]:
                return int(state["level"]) if state["done"] == _EARLY_EXIT else None
            small = int(state["arcs"]) <= _MAX_NARROW_ARCS and not state["large"]
            narrow = bool(state["queued"]) and small


def direction_optimizing(task: Task) -> Answer:
    """Push small frontiers, pull large ones; all levels of a source in a few launches."""
    return bfs_rows(task, _Search)
