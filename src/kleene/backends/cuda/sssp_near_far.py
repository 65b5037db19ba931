"""Near-far search (Davidson et al. 2014), one source per launch.

Two engines. ``sssp_near_far_narrow`` is for road networks and grids, where latency decides. The
other, in ``kernels/sssp_near_far.cu``, is for wide frontiers, where memory traffic decides: 8 bytes
per relaxed arc and a 32-byte sector for the distance of its head.

The counters of a search are in ``counts`` of its object, and in the log of this module at DEBUG.
"""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

import numpy as np

from kleene.backends.cuda.device_graph import DeviceGraph
from kleene.backends.cuda.runtime.device import Array, Device, ceil_div, ctype
from kleene.backends.cuda.sssp_near_far_buffers import NearFarBuffers
from kleene.backends.cuda.sssp_near_far_narrow import NarrowEngine
from kleene.backends.cuda.sssp_search import SsspSearch, sssp_rows
from kleene.backends.task import Answer, Task

__all__ = ["near_far"]

_log = logging.getLogger(__name__)


_NARROW_DEGREE = 6  # mean degree up to which paths are long and frontiers small


class _Tuning(NamedTuple):
    blocks: int  # per multiprocessor
    threads: int  # per block; at most 512
    factor: float  # first delta, in mean lengths over the square of the mean degree
    low: int  # delta is doubled if a bucket relaxes fewer arcs
    high: int  # delta is halved if it relaxes more


_WIDE = _Tuning(2, 512, 64.0, 2**20, 2**24)
_DELTA: float | None = None  # overrides the first delta; for experiments

_WORK_PER_BLOCK = 1024  # vertices and arcs that are worth one more block
_FEW_THREADS, _FEW_BLOCKS = 32, 4  # per block, for graphs with work for few blocks only
_RANGE_ARCS = 128  # kRangeArcs
_NEAR_ENTRIES = 2**22  # in all lists
_FAR_ENTRIES = 2**24

_ROUNDS, _ARCS = 2**12, 2**33  # per launch: some tenths of a second, so that Ctrl-C works
_SAMPLE = 4096  # arcs sampled for the mean length
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
_EARLY_EXIT = 2  # ``done``: stopped at the targets


def _mean_length(task: Task) -> float:
    weights = task.graph.weights
    if weights is None or len(weights) == 0:
        return 1.0
    mean = float(np.mean(weights[:: max(1, len(weights) // _SAMPLE)], dtype=np.float64))
    return mean if 0 < mean < np.inf else 1.0


def _lengths(task: Task, graph: DeviceGraph, numbers: np.dtype[Any]) -> Array:
    """Return the arc lengths; int32 ones, which may be on the device, are viewed as uint32."""
    short = np.dtype(np.int32)
    if numbers == np.uint32 and task.graph.stats.max_weight <= np.iinfo(short).max:
        return graph.lengths(short).view(numbers)
    return graph.lengths(numbers)


class _WideEngine:
    """Searches on one graph; distances are words in the order of their values."""

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
        self._kernel = device.kernels("sssp_near_far", KL_TYPE=ctype(numbers))[
            "sssp_near_far_rounds"
        ]
        tuning = _WIDE
        most = self._kernel.resident_blocks(tuning.threads)
        most = max(1, min(most, tuning.blocks * device.multiprocessors))
        useful = ceil_div(n + m, _WORK_PER_BLOCK)
        blocks = min(most, useful)
        threads = tuning.threads if useful > _FEW_BLOCKS else _FEW_THREADS
        self._shape = (blocks,), (threads,)
        lists = NearFarBuffers(
            device, n, word, blocks, min(n + m // _RANGE_ARCS, _NEAR_ENTRIES), _FAR_ENTRIES
        )
        self.words, self._spilled = lists.words, lists.spilled
        self._control = device.empty(_CONTROL.itemsize // 8, np.uint64, "control")
        self._host_state = device.pinned(self._control.shape, np.uint64)
        degree = max(1.0, m / n)
        delta = tuning.factor * mean / degree**2 if _DELTA is None else _DELTA
        least, largest = (delta, np.inf) if numbers.kind == "f" else (max(1.0, delta), 2.0**62)
        self._args = (
            *graph.csr, lengths, n, *lists.arguments, targets,
            0 if targets is None else targets.size, least, largest, tuning.low, tuning.high,
            round(degree), _ROUNDS, _ARCS, self._control, device.zeros(1, np.uint32, "barrier"),
        )  # fmt: skip

    def run(self, source: int, limit: int) -> Any:
        """Search; return the control record. The limit is a word."""
        device = self.device
        device.fill(self.words, 0xFF)
        device.fill(self._spilled, 0)
        device.fill(self._control, 0)
        args = (*self._args, source, limit)
        state: Any = self._host_state.view(_CONTROL)
        launches = 0
        while True:
            self._kernel.launch(*self._shape, args, cooperative=True)
            launches += 1
            device.download(self._control, self._host_state)
            if state["done"][0] or state["overflow"][0]:
                break
        names = {"rounds": "round", "thresholds": "bucket"}
        self.counts = {
            name: state[names.get(name, name)][0].item()
            for name in ("rounds", "thresholds", "expanded", "arcs", "spills", "delta")
        }
        self.counts["launches"] = launches
        return state[0]


class _Search(SsspSearch):
    def __init__(self, task: Task, device: Device, graph: DeviceGraph) -> None:
        super().__init__(task, device, graph)
        numbers = task.dtype
        if numbers.kind == "i" and task.graph.stats.max_weight < np.iinfo(np.uint32).max:
            numbers = np.dtype(np.uint32)
        self._use(numbers)

    def _use(self, numbers: np.dtype[Any]) -> None:
        """Select the type of the distances: uint32 for integers unless a sum overflows."""
        device, graph, task = self.device, self.graph, self.task
        self._numbers = numbers
        file = device.kernels("sssp_near_far", KL_TYPE=ctype(numbers))
        self._finish = file["sssp_near_far_write_distances"]
        targets = None
        if task.targets is not None and len(task.targets):
            targets = device.upload(task.targets.astype(np.int32), "targets")
        engine = NarrowEngine if graph.m <= _NARROW_DEGREE * graph.n else _WideEngine
        self._engine: NarrowEngine | _WideEngine = engine(
            device, graph, _lengths(task, graph, numbers), numbers, _mean_length(task), targets
        )

    @property
    def counts(self) -> dict[str, int | float]:
        """Counters of the last search: rounds or hops, thresholds, entries expanded, launches."""
        return self._engine.counts

    def init_distances(self, source: int) -> None:
        """Do nothing: distances are written at the end."""

    def run(self, source: int, limit: Any) -> Any | None:
        state = self._search(source, limit)
        if state["overflow"]:
            self._use(np.dtype(np.int64))
            state = self._search(source, limit)
        words, n, bytes_each = self._engine.words, self.graph.n, self.distances.dtype.itemsize
        grid, block = (ceil_div(n, _FINISH_THREADS),), (_FINISH_THREADS,)
        self._finish.launch(grid, block, (words, n, self.distances, bytes_each))
        if state["done"] != _EARLY_EXIT:
            return None
        return np.array([state["horizon"]], words.dtype).view(self._numbers)[0].item()

    def _search(self, source: int, limit: Any) -> Any:
        state = self._engine.run(source, self._word(limit))
        _log.debug("near_far from %d on %s: %s", source, self._numbers, self.counts)
        return state

    def _word(self, limit: int | float) -> int:
        """Return the word of the largest distance within the limit."""
        if self._numbers.kind != "f":
            return min(int(limit), int(np.iinfo(self._numbers).max) - 1)
        largest = min(float(limit), float(np.finfo(self._numbers).max))
        word = np.dtype(f"u{self._numbers.itemsize}")
        return int(np.array([largest], self._numbers).view(word)[0])


def near_far(task: Task) -> Answer:
    """Settle near vertices bucket by bucket, in one launch per source."""
    return sssp_rows(task, _Search)
