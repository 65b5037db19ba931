"""Shortest paths by near and far vertices, in one launch; kernel in ``kernels/sssp_near_far.cu``.

Time goes into waiting on graphs with long paths: a microsecond a hop for one access to memory after
the other, and two or three for each meeting of all blocks. On others it is bytes: 8 for each arc
relaxed, and a sector of 32 for the distance at its end.

What a search did is in ``counts`` of its object, and is logged by this module's name at DEBUG.
"""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

import numpy as np

from kleene.cuda.lengths import LengthSearch, length_rows
from kleene.cuda.resident import DeviceGraph
from kleene.cuda.runtime import Array, Device, ceil_div, ctype, require_memory
from kleene.cuda.sssp_narrow import Narrow
from kleene.task import Answer, Task

__all__ = ["near_far"]

_log = logging.getLogger(__name__)


class _Tuning(NamedTuple):
    blocks: int  # of a multiprocessor
    threads: int  # of a block; the kernels allow 256 where there are hops, and else 512
    keep: int  # near vertices that a block may keep to itself
    hops: int  # that a block makes before it meets the others
    factor: float  # delta is at first so many mean lengths, over the square of the mean degree
    low: int  # arcs relaxed below one threshold: with fewer, delta is doubled
    high: int  # with more, it is halved


_NARROW_DEGREE = 6  # mean degree up to which paths are long and frontiers small
_NARROW = _Tuning(1, 128, 256, 16, 64.0, 2**19, 2**22)
_WIDE = _Tuning(2, 512, 0, 0, 64.0, 2**20, 2**24)
_DELTA: float | None = None  # instead of what the graph suggests

_EACH_BLOCK = 1024  # vertices and arcs that are worth one more block
_FEW_THREADS = 32  # of each block where there are few
_PIECE = 128  # kPiece
_NEAR_ENTRIES = 2**22  # in all lists
_FAR_ENTRIES = 2**24
_SHORTEST_LIST = 2048  # entries of a block, if there are that many

_ROUNDS, _ARCS = 2**12, 2**33  # of one launch: some tenths of a second, so that Ctrl-C gets through
_SAMPLE = 4096  # arcs that tell the mean length
_FINISH_THREADS = 256

_CONTROL = np.dtype(
    [
        ("threshold", "u8"), ("horizon", "u8"), ("arcs", "u8"), ("bucket_arcs", "u8"),
        ("delta", "f8"), ("started", "u4"), ("done", "u4"), ("round", "u4"), ("bucket", "u4"),
        ("near_spills", "u4"), ("far_spills", "u4"), ("far", "u4"), ("checked", "u4"),
        ("spills", "u4"), ("unused", "u4"), ("totals", "u8", 15), ("nearest", "u8", 3),
        ("expanded", "u8"), ("hops", "u8"), ("overflow", "u8"),
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


def _share(entries: int, blocks: int) -> int:
    """Return how many entries the list of one block has: more than its part if that is small."""
    return max(ceil_div(entries, blocks), min(entries, _SHORTEST_LIST))


class _Engine:
    """Searches in one type of numbers: uint32 for integers as long as they suffice, or their own.

    Words have the same bits and no sign.
    """

    def __init__(
        self, task: Task, device: Device, graph: DeviceGraph, numbers: np.dtype[Any]
    ) -> None:
        self.device, self.graph, self.numbers = device, graph, numbers
        self.exact = numbers.kind != "f"
        self.counts: dict[str, int | float] = {}
        n, m = graph.n, graph.m
        word = np.dtype(f"u{numbers.itemsize}")
        file = device.kernels("sssp_near_far", KL_TYPE=ctype(numbers))

        degree = max(1.0, m / n)
        narrow = degree <= _NARROW_DEGREE
        tuning = _NARROW if narrow else _WIDE
        self._kernel = file["near_far_hops" if narrow else "near_far_rounds"]
        self._shared = 2 * 16 * tuning.keep
        most = self._kernel.resident_blocks(tuning.threads, self._shared)
        most = max(1, min(most, tuning.blocks * device.multiprocessors))
        useful = ceil_div(n + m, _EACH_BLOCK)
        blocks = min(most, useful)
        threads = tuning.threads if useful >= most else _FEW_THREADS
        self._grid, self._block = (blocks,), (threads,)
        near = _share(min(n + m // _PIECE, _NEAR_ENTRIES), blocks)
        far = _share(min(4 * n, _FAR_ENTRIES), blocks)
        needed = 32 * near * blocks + (4 + word.itemsize) * far * blocks + word.itemsize * n
        require_memory(device, needed, f"sssp on {n:,} vertices")

        self.words = device.empty(n, word, "words")
        self._spilled = device.empty(ceil_div(n, 32), np.uint32, "spilled")
        self._control = device.empty(_CONTROL.itemsize // 8, np.uint64, "control")
        self._told = device.pinned(self._control.shape, np.uint64)
        targets, many = None, 0
        if task.targets is not None:
            many = len(task.targets)
            host = np.zeros(max(1, many), np.int32)
            host[:many] = task.targets
            targets = device.upload(host, "targets")
        mean = _mean_length(task)
        delta = tuning.factor * mean / degree**2 if _DELTA is None else _DELTA
        least, largest = (max(1.0, delta), 2.0**62) if self.exact else (delta, np.inf)
        self._args = (
            *graph.csr, _lengths(task, graph, numbers), n, self.words,
            device.empty((2 * near * blocks, 4), np.int32, "queue"),
            device.empty(2 * blocks, np.int32, "counts"), near,
            device.empty(far * blocks, np.int32, "far vertices"),
            device.empty(far * blocks, word, "far words"),
            device.zeros(blocks, np.int32, "far counts"), far,
            self._spilled, targets, many, least, largest, tuning.low, tuning.high, round(degree),
            tuning.keep, tuning.hops, _ROUNDS, _ARCS, self._control,
            device.zeros(1, np.uint32, "barrier"),
        )  # fmt: skip

    def run(self, source: int, limit: int | float) -> Any:
        """Search, and return what there is to tell about it."""
        device = self.device
        device.fill(self.words, 0xFF)
        device.fill(self._spilled, 0)
        device.fill(self._control, 0)
        args = (*self._args, source, limit)
        told: Any = self._told.view(_CONTROL)
        launches = 0
        while True:
            self._kernel.launch(
                self._grid, self._block, args, shared=self._shared, cooperative=True
            )
            launches += 1
            device.download(self._control, self._told)
            if told["done"][0] or told["overflow"][0]:
                break
        names = {"rounds": "round", "thresholds": "bucket"}
        self.counts = {
            name: told[names.get(name, name)][0].item()
            for name in ("rounds", "thresholds", "hops", "expanded", "arcs", "spills", "delta")
        }
        self.counts["launches"] = launches
        _log.debug("near_far from %d on %s: %s", source, self.numbers, self.counts)
        return told[0]


class _Search(LengthSearch):
    def __init__(self, task: Task, device: Device, graph: DeviceGraph) -> None:
        super().__init__(task, device, graph)
        numbers = task.dtype
        if numbers.kind == "i" and task.graph.stats.max_weight < np.iinfo(np.uint32).max:
            numbers = np.dtype(np.uint32)
        self._use(numbers)

    def _use(self, numbers: np.dtype[Any]) -> None:
        """Take the engine for this graph, in one type of numbers."""
        device, graph, task = self.device, self.graph, self.task
        self._numbers = numbers
        file = device.kernels("sssp_near_far", KL_TYPE=ctype(numbers))
        self._finish = file["near_far_finish"]
        self._engine: Narrow | _Engine
        if graph.m <= _NARROW_DEGREE * graph.n:
            lengths, mean = _lengths(task, graph, numbers), _mean_length(task)
            targets = None
            if task.targets is not None and len(task.targets):
                targets = device.upload(task.targets.astype(np.int32), "targets")
            self._engine = Narrow(device, graph, lengths, numbers, mean, targets)
        else:
            self._engine = _Engine(task, device, graph, numbers)

    @property
    def counts(self) -> dict[str, int | float]:
        """What the last search did: meetings of blocks, thresholds, hops, vertices and arcs."""
        return self._engine.counts

    def begin(self, source: int) -> None:
        """Leave the distances: they are written at the end."""

    def run(self, source: int, limit: Any) -> Any | None:
        told = self._engine.run(source, self._word(limit))
        if told["overflow"]:
            self._use(np.dtype(np.int64))
            told = self._engine.run(source, self._word(limit))
        words, n, bytes_each = self._engine.words, self.graph.n, self.distances.dtype.itemsize
        grid, block = (ceil_div(n, _FINISH_THREADS),), (_FINISH_THREADS,)
        self._finish.launch(grid, block, (words, n, self.distances, bytes_each))
        if told["done"] != _ENOUGH:
            return None
        return np.array([told["horizon"]], words.dtype).view(self._numbers)[0].item()

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
