"""Breadth-first search by the fastest way for each level, in one launch.

The kernel is in ``kernels/bfs_direction.cu``. It reads each arc at most once when it pushes, and
stops early when it pulls, so what counts is bytes: for every level pulled a bit and two offsets per
vertex that is not yet found, 32 bytes for each arc looked at, and 8 bytes written per vertex found.
On graphs with many small levels it is the waiting: for a barrier among all blocks and for one
access to memory after the other, some three microseconds a level.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.cuda.hops import HopSearch, hop_rows
from kleene.cuda.resident import DeviceGraph
from kleene.cuda.runtime import Array, Device, ceil_div, require_memory
from kleene.task import Answer, Task

__all__ = ["direction_optimizing"]

_MOST_THREADS = 512  # kThreads
_FEW_THREADS = 64  # of each block where there are few blocks: all wait for the slowest
_EACH_BLOCK = 1024  # vertices and arcs that are worth one more block
_PIECE = 256  # kPiece
_HUB = 4096  # kHub
_LONGEST_LIST = 4096  # entries that a block may queue; more are found by looking at all vertices
_FEW, _FEW_ARCS = 32, 2**15  # blocks that are awake while a frontier has no more arcs than this
_ALONE_ARCS = 2**10  # and a single one
_ALPHA = 8  # pull when the frontier has more arcs than this part of those not yet seen

#: Levels of one launch: a third of a second at most, so that Ctrl-C gets through.
_LEVELS = 2**17

_STATE = np.dtype(
    [
        ("explored", "u8"), ("level", "i4"), ("done", "i4"), ("queued", "i4"), ("turned", "i4"),
        ("wanted", "i4"), ("players", "i4"), ("writers", "i4"), ("budget", "i4"), ("call", "u4"),
        ("unused", "i4"),
    ]
)  # fmt: skip
_ENOUGH = 2  # done: not all may be found, but all that was asked for
_TOTALS = 3 * 24  # bytes: three Totals

#: Making the incoming arcs of a directed graph takes as long as so many searches without them.
_SOURCES_WORTH_CSC = 64


class _Search(HopSearch):
    def __init__(self, task: Task, device: Device, graph: DeviceGraph) -> None:
        super().__init__(task, device, graph)
        n, m = graph.n, graph.m
        file = device.kernels("bfs_direction")
        self._kernel = file["bfs_direction"]
        blocks = ceil_div(n + m, _EACH_BLOCK)
        most = self._kernel.resident_blocks(_MOST_THREADS)
        self._threads = _MOST_THREADS if blocks > most else _FEW_THREADS
        self._blocks = min(blocks, most)
        self._capacity = min(_LONGEST_LIST, n + m // _PIECE + 1)
        words, queue = ceil_div(n, 32), self._capacity * self._blocks
        require_memory(device, 12 * words + 32 * queue, f"bfs on {n:,} vertices")
        self._closed: Array | None = None
        if task.graph.csc_at_hand or len(task.sources) >= _SOURCES_WORTH_CSC:
            self._closed = device.empty(words, np.uint32, "closed")
            grid, block = (min(ceil_div(n, 256), 16 * device.multiprocessors),), (256,)
            file["bfs_closed"].launch(grid, block, (graph.csc.offsets, n, self._closed))
        self._bits = device.empty(2 * words, np.uint32, "bits")
        self._entries = device.empty((2 * queue, 4), np.int32, "queue")
        self._counts = device.empty(2 * self._blocks, np.int32, "counts")
        self._hubs = device.empty(m // _HUB + 1, np.int32, "hubs")
        self._totals = device.empty(_TOTALS // 8, np.uint64, "totals")
        self._state = device.empty(_STATE.itemsize // 8, np.uint64, "state")
        self._told = device.pinned(self._state.shape, np.uint64)
        self._barrier = device.zeros(3, np.uint32, "barriers and call")
        self._many = 0
        self._wanted = self._targets()

    def _targets(self) -> Array | None:
        """Return a bit per vertex that is wanted, None for all."""
        targets = self.task.targets
        if targets is None:
            return None
        bits = np.zeros(ceil_div(self.graph.n, 32) * 32, bool)
        bits[targets] = True
        self._many = int(np.count_nonzero(bits))
        return self.device.upload(np.packbits(bits, bitorder="little").view(np.uint32), "wanted")

    def run(self, source: int, limit: int) -> int | None:
        device, graph = self.device, self.graph
        told: Any = self._told.view(_STATE)
        told[0] = 0
        told["level"], told["wanted"] = -1, self._many
        device.copy(self._state, self._told)
        incoming = (None, None) if self._closed is None else graph.csc
        args = (
            *graph.csr, *incoming, self._closed, self._wanted, graph.n, graph.m, source, limit,
            _LEVELS, _ALPHA, min(_FEW, self._blocks), _FEW_ARCS, _ALONE_ARCS, self.depths,
            self.parents, self._bits, self._entries, self._counts, self._capacity, self._hubs,
            self._totals, self._state, self._barrier[:2], self._barrier[2:],
        )  # fmt: skip
        while not told["done"][0]:
            device.fill(self._barrier[2:], 0)
            self._kernel.launch((self._blocks,), (self._threads,), args, cooperative=True)
            device.download(self._state, self._told)
        return int(told["level"][0]) if told["done"][0] == _ENOUGH else None


def direction_optimizing(task: Task) -> Answer:
    """Push small frontiers, pull large ones, in one launch for each source."""
    return hop_rows(task, _Search)
