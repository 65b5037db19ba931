"""Breadth-first search by the fastest way for each level, with a few launches for all of them.

The kernels are in ``kernels/bfs_direction.cu``. In large levels what counts is bytes: for every
level pulled a bit and two offsets per vertex that is not yet found, 32 bytes for each arc looked
at, and 8 bytes written per vertex found. In small ones it is the waiting, for memory and for a
barrier among the blocks; ``bfs_narrow`` runs those, and the host looks in only to change over.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.backends.cuda.bfs_search import HopSearch, hop_rows
from kleene.backends.cuda.device_graph import DeviceGraph
from kleene.backends.cuda.runtime.device import Argument, Array, Device, ceil_div, require_memory
from kleene.backends.task import Answer, Task

__all__ = ["direction_optimizing"]

_WIDE = 512  # threads of a block, kWideThreads
_NARROW, _NARROW_BLOCKS = 256, 132
_FEW, _FEW_BLOCKS = 64, 4  # threads of each block, where a graph has work for so few only
_EACH_BLOCK = 1024  # vertices and arcs that are worth one more block
_PIECE = 128  # kPiece
_LONGEST_LIST = 4096  # entries that a block may queue; more are found by looking at all vertices

#: Arcs of a frontier that few blocks are still good at, and those at which they begin.
_MOST, _LITTLE = 2**16, 2**15

#: Pull when the frontier has more than this part of all arcs.
_MUCH = 64

#: Mean degree from which searches begin with the whole GPU.
_DENSE = 8

#: Levels of one launch: a third of a second at most, so that Ctrl-C gets through.
_LEVELS = 2**17

_STATE = np.dtype(
    [
        ("met", "2u8"), ("arcs", "u8"), ("level", "i4"), ("done", "i4"), ("queued", "i4"),
        ("writers", "i4"), ("longest", "i4"), ("large", "i4"), ("turned", "i4"), ("wanted", "i4"),
        ("turn", "i4"), ("unused", "i4"),
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
        self._begin, self._wide, self._narrow = (
            file[name] for name in ("bfs_begin", "bfs_wide", "bfs_narrow")
        )
        blocks = ceil_div(n + m, _EACH_BLOCK)
        most = self._wide.resident_blocks(_WIDE)
        few = blocks <= _FEW_BLOCKS
        self._wide_shape = (min(blocks, most),), (_FEW if few else _WIDE,)
        fewer = min(blocks, _NARROW_BLOCKS, self._narrow.resident_blocks(_NARROW))
        self._narrow_shape = (fewer,), (_FEW if few else _NARROW,)
        lists = max(self._wide_shape[0][0], self._narrow_shape[0][0])
        words, room = ceil_div(n, 32), lists * min(_LONGEST_LIST, n + m // _PIECE + 1)
        require_memory(device, 12 * words + 48 * room, f"bfs on {n:,} vertices")
        incoming: tuple[Array | None, ...] = (None, None, None)
        if task.graph.has_csc or len(task.sources) >= _SOURCES_WORTH_CSC:
            closed = device.empty(words, np.uint32, "closed")
            grid, block = (min(ceil_div(n, 256), 16 * device.multiprocessors),), (256,)
            file["bfs_closed"].launch(grid, block, (graph.csc.offsets, n, closed))
            incoming = (*graph.csc, closed)
        many, wanted = self._targets()
        bits = device.empty(2 * words, np.uint32, "bits")
        entries = device.empty((2 * room, 4), np.int32, "queue")
        counts = device.empty(2 * lists, np.int32, "counts")
        pieces = device.empty((room, 4), np.int32, "pieces")
        piece_counts = device.empty(lists, np.int32, "piece counts")
        totals = device.empty(_TOTALS // 8, np.uint64, "totals")
        self._state = device.empty(_STATE.itemsize // 8, np.uint64, "state")
        self._told = device.pinned(self._state.shape, np.uint64)
        barrier = device.zeros(1, np.uint32, "barrier")
        meeting = device.zeros(2, np.uint64, "meeting")
        self._begin_args: list[Argument] = [
            graph.csr.offsets, wanted, many, words, 0, room, self.depths, bits, entries, counts,
            totals, self._state, meeting,
        ]  # fmt: skip
        self._narrow_args: list[Argument] = [
            *graph.csr, wanted, n, 0, _LEVELS, _MOST, self.depths, self.parents, bits, entries,
            counts, lists, room, totals, self._state, meeting,
        ]  # fmt: skip
        self._wide_args: list[Argument] = [
            *graph.csr, *incoming, wanted, n, 0, _LEVELS, _LITTLE, m // _MUCH, self.depths,
            self.parents, bits, entries, counts, lists, room, pieces, piece_counts, totals,
            self._state, barrier,
        ]  # fmt: skip
        self._begin_shape = (min(ceil_div(2 * words, 256), 4 * device.multiprocessors),), (256,)

    def _targets(self) -> tuple[int, Array | None]:
        """Return how many vertices are wanted, and a bit for each; None for all."""
        targets = self.task.targets
        if targets is None:
            return 0, None
        bits = np.zeros(ceil_div(self.graph.n, 32) * 32, bool)
        bits[targets] = True
        words = np.packbits(bits, bitorder="little").view(np.uint32)
        return int(np.count_nonzero(bits)), self.device.upload(words, "wanted")

    def run(self, source: int, limit: int) -> int | None:
        self._begin_args[4] = source
        self._narrow_args[4] = limit
        self._wide_args[7] = limit
        self._begin.launch(*self._begin_shape, self._begin_args)
        told: Any = self._told.view(_STATE)
        narrow = self.graph.m < _DENSE * self.graph.n
        while True:
            if narrow:
                self._narrow.launch(*self._narrow_shape, self._narrow_args, cooperative=True)
            else:
                self._wide.launch(*self._wide_shape, self._wide_args, cooperative=True)
            self.device.download(self._state, self._told)
            state = told[0]
            if state["done"]:
                return int(state["level"]) if state["done"] == _ENOUGH else None
            small = int(state["arcs"]) <= _MOST and not state["large"]
            narrow = bool(state["queued"]) and small


def direction_optimizing(task: Task) -> Answer:
    """Push small frontiers, pull large ones, all levels of a source in a few launches."""
    return hop_rows(task, _Search)
