"""Near-far search (Davidson et al. 2014), one source per launch.

Two engines. ``kernels/sssp/sssp_near_far_narrow.cu`` is for road networks and grids, where latency
decides. The other, in ``kernels/sssp/sssp_near_far.cu``, is for wide frontiers, where memory
traffic decides: 8 bytes per relaxed arc and a 32-byte sector for the distance of its head.

The counters of a search are in ``counts`` of its object, and in the log of this module at DEBUG.
"""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

import numpy as np

from kleene.backends.answer import Answer
from kleene.backends.cuda.graph import DeviceGraph
from kleene.backends.cuda.runtime.interface import (
    Argument,
    Array,
    Device,
    ceil_div,
    ctype,
    require_memory,
)
from kleene.backends.cuda.runtime.structs import constant, struct_type
from kleene.backends.cuda.sssp.search import SsspSearch, sssp_rows
from kleene.backends.cuda.tuning import sssp as tuning
from kleene.backends.task import Task

__all__ = [
    "NarrowEngine",
    "NearFarBuffers",
    "Outcome",
    "mean_length",
    "near_far",
]

_log = logging.getLogger(__name__)

_FILE = "sssp_near_far"
_EARLY_EXIT = constant(_FILE, "kEarlyExit")
_FINISH_THREADS = 256


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
        number = ctype(numbers)
        self._kernel = device.kernels(_FILE, KL_TYPE=number)["sssp_near_far_rounds"]
        threads = constant(_FILE, "kWideThreads")
        most = min(
            self._kernel.resident_blocks(threads),
            constant(_FILE, "kWideBlocks") * device.multiprocessors,
        )
        useful = ceil_div(n + m, tuning.WORK_PER_BLOCK)
        blocks = max(1, min(most, useful))
        if useful <= tuning.FEW_BLOCKS:
            threads = tuning.WIDE_FEW_THREADS
        self._shape = (blocks,), (threads,)
        near = min(n + m // constant(_FILE, "kRangeArcs"), tuning.WIDE_NEAR_ENTRIES)
        lists = NearFarBuffers(device, n, numbers, blocks, near, tuning.WIDE_FAR_ENTRIES)
        self.words, self._spilled = lists.words, lists.spilled
        self._control = device.empty(1, struct_type(_FILE, "Control").dtype, "control")
        self._host_control = device.pinned(1, self._control.dtype)
        degree = max(1.0, m / n)
        delta = tuning.WIDE_DELTA * mean / degree**2
        least, largest = (delta, np.inf) if numbers.kind == "f" else (max(1.0, delta), 2.0**62)
        self._params = struct_type(_FILE, "NearFarParams", KL_TYPE=number).pack(
            offsets=graph.csr.offsets,
            neighbors=graph.csr.neighbors,
            lengths=lengths,
            n=n,
            **lists.fields,
            targets=targets,
            target_count=0 if targets is None else targets.size,
            control=self._control,
            barrier=device.zeros(1, np.uint32, "barrier"),
            degree_mean=round(degree),
            rounds=tuning.WIDE_ROUNDS,
            source=0,
            limit=0,
            low=tuning.WIDE_LOW_ARCS,
            high=tuning.WIDE_HIGH_ARCS,
            launch_arcs=tuning.WIDE_ARCS,
            least=least,
            most=largest,
        )

    def run(self, source: int, limit: int) -> Outcome:
        """Search; the limit is a word."""
        device = self.device
        device.fill(self.words, 0xFF)
        device.fill(self._spilled, 0)
        device.fill(self._control, 0)
        self._params.update(source=source, limit=limit)
        control = self._host_control[0]
        state, launches = control["state"], 0
        while True:
            self._kernel.launch(*self._shape, (self._params,), cooperative=True)
            launches += 1
            device.download(self._control, self._host_control)
            if state["done"] or control["overflow"]:
                break
        self.counts = {
            "rounds": int(state["round"]),
            "thresholds": int(state["bucket"]),
            "expanded": int(control["expanded"]),
            "arcs": int(state["arcs"]),
            "spills": int(state["spills"]),
            "delta": float(state["delta"]),
            "launches": launches,
        }
        return Outcome(int(state["done"]), int(state["horizon"]), bool(control["overflow"]))


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
        file = device.kernels(_FILE, KL_TYPE=ctype(numbers))
        self._finish = file["sssp_near_far_write_distances"]
        targets = None
        if task.targets is not None and len(task.targets):
            targets = device.upload(task.targets.astype(np.int32), "targets")
        engine = NarrowEngine if graph.m <= tuning.NARROW_DEGREE * graph.n else _WideEngine
        self._engine: NarrowEngine | _WideEngine = engine(
            device, graph, _lengths(task, graph, numbers), numbers, mean_length(task), targets
        )

    @property
    def counts(self) -> dict[str, int | float]:
        """Counters of the last search: rounds or hops, thresholds, entries expanded, launches."""
        return self._engine.counts

    def init_distances(self, source: int) -> None:
        """Do nothing: distances are written at the end."""

    def run(self, source: int, limit: Any) -> Any | None:
        outcome = self._search(source, limit)
        if outcome.overflow:
            self._use(np.dtype(np.int64))
            outcome = self._search(source, limit)
        words, n, bytes_each = self._engine.words, self.graph.n, self.distances.dtype.itemsize
        grid, block = (ceil_div(n, _FINISH_THREADS),), (_FINISH_THREADS,)
        self._finish.launch(grid, block, (words, n, self.distances, bytes_each))
        if outcome.done != _EARLY_EXIT:
            return None
        return np.array([outcome.horizon], words.dtype).view(self._numbers)[0].item()

    def _search(self, source: int, limit: Any) -> Outcome:
        outcome = self._engine.run(source, self._word(limit))
        _log.debug("near_far from %d on %s: %s", source, self._numbers, self.counts)
        return outcome

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


# ---- Device buffers and outcome of the near-far search, shared by its two engines ---------------


class Outcome(NamedTuple):
    """How a search ended."""

    done: int  # kExhausted or kEarlyExit
    horizon: int  # largest final distance, at an early exit; a word
    overflow: bool  # a sum overflowed, and the distances are worthless


def _share(entries: int, blocks: int) -> int:
    """Return the entries of the list of one block: more than its share if that is small."""
    return max(ceil_div(entries, blocks), min(entries, tuning.SHORTEST_LIST))


class NearFarBuffers:
    """Distances as words; near entries per block, twice; far entries; a spill bit per vertex."""

    def __init__(
        self, device: Device, n: int, numbers: np.dtype[Any], blocks: int, near: int, far: int
    ) -> None:
        word = np.dtype(f"u{numbers.itemsize}")
        near, far = _share(near, blocks), _share(min(4 * n, far), blocks)
        needed = 32 * near * blocks + (4 + word.itemsize) * far * blocks + word.itemsize * n
        require_memory(device, needed, f"sssp on {n:,} vertices")
        self.words = device.empty(n, word, "distances")
        self.spilled = device.empty(ceil_div(n, 32), np.uint32, "spilled")
        #: Fields of the parameters of both engines.
        self.fields: dict[str, Argument] = {
            "distances": self.words,
            "entries": device.empty((2 * near * blocks, 4), np.int32, "queue"),
            "counts": device.empty(2 * blocks, np.int32, "counts"),
            "capacity": near,
            "far_vertices": device.empty(far * blocks, np.int32, "far vertices"),
            "far_distances": device.empty(far * blocks, word, "far distances"),
            "far_counts": device.zeros(blocks, np.int32, "far counts"),
            "far_capacity": far,
            "spilled": self.spilled,
        }


# ---- The near-far search for small frontiers and long paths: road networks and grids ------------
# The kernels are in ``kernels/sssp/sssp_near_far_narrow.cu``. A path has thousands of hops there,
# and the time of a hop decides: a grid barrier and a chain of dependent memory accesses, some 3 us.

_NARROW_FILE = "sssp_near_far_narrow"
_INIT_THREADS = 256


class NarrowEngine:
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
        file = device.kernels(_NARROW_FILE, KL_TYPE=ctype(numbers))
        self._init = file["sssp_near_far_narrow_init"]
        self._kernel = file["sssp_near_far_narrow_hops"]
        threads = constant(_NARROW_FILE, "kNarrowThreads")
        useful = ceil_div(n + m, tuning.WORK_PER_BLOCK)
        most = tuning.NARROW_BLOCKS * device.multiprocessors
        blocks = min(useful, most, self._kernel.resident_blocks(threads))
        if useful <= tuning.FEW_BLOCKS:
            threads = tuning.NARROW_FEW_THREADS
        self._shape = (blocks,), (threads,)
        initial = min(ceil_div(n, _INIT_THREADS), 8 * device.multiprocessors)
        self._init_shape = (initial,), (_INIT_THREADS,)
        near = min(n + m, tuning.NARROW_NEAR_ENTRIES)
        lists = NearFarBuffers(device, n, numbers, blocks, near, tuning.NARROW_FAR_ENTRIES)
        self.words = lists.words
        self._control = device.empty(1, struct_type(_NARROW_FILE, "Control").dtype, "control")
        self._host_control = device.pinned(1, self._control.dtype)
        delta = tuning.NARROW_DELTA * mean
        self._params = struct_type(_NARROW_FILE, "NarrowParams", KL_TYPE=ctype(numbers)).pack(
            offsets=graph.csr.offsets,
            neighbors=graph.csr.neighbors,
            lengths=lengths,
            n=n,
            **lists.fields,
            blocks=blocks,
            targets=targets,
            target_count=0 if targets is None else targets.size,
            control=self._control,
            barrier_words=device.empty(2, np.uint64, "barrier words"),
            hops=tuning.NARROW_HOPS,
            local_hops=tuning.NARROW_LOCAL_HOPS,
            few_per_hop=tuning.NARROW_FEW,
            many_per_hop=tuning.NARROW_MANY,
            source=0,
            limit=0,
            least=delta if numbers.kind == "f" else max(1.0, delta),
        )

    def run(self, source: int, limit: int) -> Outcome:
        """Search; the limit is a word."""
        self._params.update(source=source, limit=limit)
        self._init.launch(*self._init_shape, (self._params,))
        state, launches = self._host_control[0]["state"], 0
        while True:
            self._kernel.launch(*self._shape, (self._params,), cooperative=True)
            launches += 1
            self.device.download(self._control, self._host_control)
            if state["done"] or state["overflow"]:
                break
        self.counts = {
            "hops": int(state["hop"]),
            "thresholds": int(state["bucket"]),
            "expanded": int(state["expanded"]),
            "sweeps": int(state["sweeps"]),
            "delta": float(state["delta"]),
            "launches": launches,
        }
        return Outcome(int(state["done"]), int(state["horizon"]), bool(state["overflow"]))


# ---- The mean length of arcs, from which searches choose how far a bucket reaches ---------------


def mean_length(task: Task) -> float:
    """Return the mean length of some arcs; 1 if it is not positive."""
    weights = task.graph.weights
    if weights is None or len(weights) == 0:
        return 1.0
    step = max(1, len(weights) // tuning.SAMPLED_ARCS)
    with np.errstate(over="ignore"):
        mean = float(np.mean(weights[::step], dtype=np.float64))
    return mean if 0 < mean < np.inf else 1.0
