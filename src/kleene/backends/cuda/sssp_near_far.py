"""Shortest paths by near and far vertices, in one launch.

On roads and grids time goes into waiting, hop by hop: they are for ``sssp_narrow``. On others it is
bytes, 8 for each arc relaxed and a sector of 32 for the distance at its end: the kernel for them is
in ``kernels/sssp_near_far.cu``.

What a search did is in ``counts`` of its object, and is logged by this module's name at DEBUG.
"""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

import numpy as np

from kleene.backends.cuda.device_graph import DeviceGraph
from kleene.backends.cuda.runtime.device import Array, Device, ceil_div, ctype
from kleene.backends.cuda.sssp_lists import Lists
from kleene.backends.cuda.sssp_narrow import Narrow
from kleene.backends.cuda.sssp_search import LengthSearch, length_rows
from kleene.backends.task import Answer, Task

__all__ = ["near_far"]

_log = logging.getLogger(__name__)


_NARROW_DEGREE = 6  # mean degree up to which paths are long and frontiers small


class _Tuning(NamedTuple):
    blocks: int  # of a multiprocessor
    threads: int  # of a block; the kernel allows 512
    factor: float  # delta is at first so many mean lengths, over the square of the mean degree
    low: int  # arcs relaxed below one threshold: with fewer, delta is doubled
    high: int  # with more, it is halved


_WIDE = _Tuning(2, 512, 64.0, 2**20, 2**24)
_DELTA: float | None = None  # instead of what the graph suggests

_EACH_BLOCK = 1024  # vertices and arcs that are worth one more block
_FEW_THREADS, _FEW_BLOCKS = 32, 4  # of each block, where a graph has work for so few only
_PIECE = 128  # kPiece
_NEAR_ENTRIES = 2**22  # in all lists
_FAR_ENTRIES = 2**24

_ROUNDS, _ARCS = 2**12, 2**33  # of one launch: some tenths of a second, so that Ctrl-C gets through
_SAMPLE = 4096  # arcs that tell the mean length
_FINISH_THREADS = 256

_CONTROL = np.dtype(
    [
        ("threshold", "u8"), ("horizon", "u8"), ("arcs", "u8"), ("bucket_arcs", "u8"),
        ("delta", "f8"), ("started", "u4"), ("done", "u4"), ("round", "u4"), ("bucket", "u4"),
        ("near_spills", "u4"), ("far_spills", "u4"), ("far", "u4"), ("checked", "u4"),
        ("spills", "u4"), ("unused", "u4"), ("totals", "u8", 15), ("nearest", "u8", 3),
        ("expanded", "u8"), ("overflow", "u8"),
    ]
)  # fmt: skip
_ENOUGH = 2  # done: not all may be found, but all that was asked for


def _mean_length(task: Task) -> float:
    weights = task.graph.weights
    if weights is None or len(weights) == 0:
        return 1.0
    mean = float(np.mean(weights[:: max(1, len(weights) // _SAMPLE)], dtype=np.float64))
    return mean if 0 < mean < np.inf else 1.0


def _lengths(task: Task, graph: DeviceGraph, numbers: np.dtype[Any]) -> Array:
    """Return the lengths; those of 31 bits, which the graph may have already, serve for 32."""
    short = np.dtype(np.int32)
    if numbers == np.uint32 and task.graph.stats.max_weight <= np.iinfo(short).max:
        return graph.lengths(short).view(numbers)
    return graph.lengths(numbers)


class _Wide:
    """Searches on one graph, in words that have the order of their numbers."""

    def __init__(
        self,
        device: Device,
        graph: DeviceGraph,
        lengths: Array,
        numbers: np.dtype[Any],
        mean: float,
        targets: Array | None,
    ) -> None:
        self.device = device
        self.counts: dict[str, int | float] = {}
        n, m = graph.n, graph.m
        word = np.dtype(f"u{numbers.itemsize}")
        self._kernel = device.kernels("sssp_near_far", KL_TYPE=ctype(numbers))["near_far_rounds"]
        tuning = _WIDE
        most = self._kernel.resident_blocks(tuning.threads)
        most = max(1, min(most, tuning.blocks * device.multiprocessors))
        useful = ceil_div(n + m, _EACH_BLOCK)
        blocks = min(most, useful)
        threads = tuning.threads if useful > _FEW_BLOCKS else _FEW_THREADS
        self._shape = (blocks,), (threads,)
        lists = Lists(device, n, word, blocks, min(n + m // _PIECE, _NEAR_ENTRIES), _FAR_ENTRIES)
        self.words, self._spilled = lists.words, lists.spilled
        self._control = device.empty(_CONTROL.itemsize // 8, np.uint64, "control")
        self._told = device.pinned(self._control.shape, np.uint64)
        degree = max(1.0, m / n)
        delta = tuning.factor * mean / degree**2 if _DELTA is None else _DELTA
        least, largest = (delta, np.inf) if numbers.kind == "f" else (max(1.0, delta), 2.0**62)
        self._args = (
            *graph.csr, lengths, n, *lists.arguments, targets,
            0 if targets is None else targets.size, least, largest, tuning.low, tuning.high,
            round(degree), _ROUNDS, _ARCS, self._control, device.zeros(1, np.uint32, "barrier"),
        )  # fmt: skip

    def run(self, source: int, limit: int) -> Any:
        """Search, and return what there is to tell about it; the limit is a word."""
        device = self.device
        device.fill(self.words, 0xFF)
        device.fill(self._spilled, 0)
        device.fill(self._control, 0)
        args = (*self._args, source, limit)
        told: Any = self._told.view(_CONTROL)
        launches = 0
        while True:
            self._kernel.launch(*self._shape, args, cooperative=True)
            launches += 1
            device.download(self._control, self._told)
            if told["done"][0] or told["overflow"][0]:
                break
        names = {"rounds": "round", "thresholds": "bucket"}
        self.counts = {
            name: told[names.get(name, name)][0].item()
            for name in ("rounds", "thresholds", "expanded", "arcs", "spills", "delta")
        }
        self.counts["launches"] = launches
        return told[0]


class _Search(LengthSearch):
    def __init__(self, task: Task, device: Device, graph: DeviceGraph) -> None:
        super().__init__(task, device, graph)
        numbers = task.dtype
        if numbers.kind == "i" and task.graph.stats.max_weight < np.iinfo(np.uint32).max:
            numbers = np.dtype(np.uint32)
        self._use(numbers)

    def _use(self, numbers: np.dtype[Any]) -> None:
        """Search in one type of numbers: uint32 for integers as long as they suffice."""
        device, graph, task = self.device, self.graph, self.task
        self._numbers = numbers
        file = device.kernels("sssp_near_far", KL_TYPE=ctype(numbers))
        self._finish = file["near_far_finish"]
        targets = None
        if task.targets is not None and len(task.targets):
            targets = device.upload(task.targets.astype(np.int32), "targets")
        engine = Narrow if graph.m <= _NARROW_DEGREE * graph.n else _Wide
        self._engine: Narrow | _Wide = engine(
            device, graph, _lengths(task, graph, numbers), numbers, _mean_length(task), targets
        )

    @property
    def counts(self) -> dict[str, int | float]:
        """What the last search did: rounds or hops, thresholds, entries taken, launches."""
        return self._engine.counts

    def begin(self, source: int) -> None:
        """Leave the distances: they are written at the end."""

    def run(self, source: int, limit: Any) -> Any | None:
        told = self._search(source, limit)
        if told["overflow"]:
            self._use(np.dtype(np.int64))
            told = self._search(source, limit)
        words, n, bytes_each = self._engine.words, self.graph.n, self.distances.dtype.itemsize
        grid, block = (ceil_div(n, _FINISH_THREADS),), (_FINISH_THREADS,)
        self._finish.launch(grid, block, (words, n, self.distances, bytes_each))
        if told["done"] != _ENOUGH:
            return None
        return np.array([told["horizon"]], words.dtype).view(self._numbers)[0].item()

    def _search(self, source: int, limit: Any) -> Any:
        told = self._engine.run(source, self._word(limit))
        _log.debug("near_far from %d on %s: %s", source, self._numbers, self.counts)
        return told

    def _word(self, limit: int | float) -> int:
        """Return the word of the largest distance that counts."""
        if self._numbers.kind != "f":
            return min(int(limit), int(np.iinfo(self._numbers).max) - 1)
        largest = min(float(limit), float(np.finfo(self._numbers).max))
        word = np.dtype(f"u{self._numbers.itemsize}")
        return int(np.array([largest], self._numbers).view(word)[0])


def near_far(task: Task) -> Answer:
    """Settle what is near, then what is next, in one launch for each source."""
    return length_rows(task, _Search)
