"""Shortest paths from many sources at once on a GPU; kernels in ``kernels/apsp_batched.cu``.

What it costs: the row of 32 distances of a vertex that fires is read by each of its neighbours, so
a round in which all fire reads 128 bytes for each arc and group of 32 sources (256 with values of 8
bytes). On random graphs rows are read some 8 to 14 times altogether, on road networks and grids 5
to 20 times with the thresholds (20 to 60 without). All pairs of 44,000 vertices and 1 M arcs read
14 x 1 M x 1375 x 128 bytes = 2.5 TB, mostly out of the second cache: under a second. So many groups
go at once that their distances just fit there; a small road network has all of its sources on the
way at once, and then the number of rounds decides, each of them a few microseconds.
"""

from __future__ import annotations

import math

import numpy as np

from kleene.backends.cuda.bfs_multi import multi_source
from kleene.backends.cuda.device_graph import DeviceGraph, on_device
from kleene.backends.cuda.row_batches import Rows, fill_rows, row_bytes, widest
from kleene.backends.cuda.runtime.device import Array, Device, ceil_div, ctype, open_device
from kleene.backends.task import Answer, Task

__all__ = ["batched"]

_THREADS = 256  # kThreads
_LANES = 32  # kLanes: sources of a group
_SEGMENT = 512  # arcs of a hub that one warp looks through

#: Bytes of distances that the second cache holds, beside the arcs (an H200 has 50 MB).
_CACHED = 2**25

#: How far thresholds rise, in mean lengths of arcs. On a grid of 256 x 256 with weights 1 to 255,
#: 16 needs a quarter more rounds than no thresholds, and a third of the work; Rome is similar.
_RISE = 16

#: A vertex with so many arcs is worth a lane that asks whether anything has happened nearby.
_ASKED = 4

#: A launch lasts for at most so many rounds, or bytes: some 20 ms, after which Ctrl-C gets in.
_ROUNDS, _BYTES = 4096, 2**36


def batched(task: Task) -> Answer:
    """Relax arcs for many sources at once; without weights, count hops."""
    if task.graph.weights is None:
        return multi_source(task)
    if task.graph.n == 0 or len(task.sources) == 0:
        return Answer(task.empty_values(), task.empty_predecessors())
    device = open_device(task.device)
    graph = on_device(task.graph, device)
    # These are there before the memory is counted.
    _ = graph.csc, graph.hubs(_SEGMENT), graph.lengths(task.dtype, incoming=True)
    what = f"apsp by batched on {graph.n:,} vertices"
    width = widest(
        device,
        _wide_enough(task),
        lambda width: _Batch.nbytes(task, graph, width) + row_bytes(task, width),
        what,
    )
    return fill_rows(task, device, _Batch(task, device, graph, width), width)


def _wide_enough(task: Task) -> int:
    """Return how many sources to take at once: whole groups, and batches of one size."""
    total = len(task.sources)
    groups = max(1, _CACHED // (_LANES * task.dtype.itemsize * task.graph.n))
    batches = ceil_div(total, groups * _LANES)
    return min(total, ceil_div(ceil_div(total, batches), _LANES) * _LANES)


class _Batch:
    """Some groups of sources."""

    def __init__(self, task: Task, device: Device, graph: DeviceGraph, width: int) -> None:
        self._device, self._graph, self._hubs = device, graph, graph.hubs(_SEGMENT)
        self._lengths = graph.lengths(task.dtype, incoming=True)
        kind, n, groups = task.dtype, graph.n, ceil_div(width, _LANES)
        parts = groups * self._hubs.segments
        self._distances = device.empty((groups, n, _LANES), kind, "distances")
        self._last = None
        if task.predecessors:
            self._last = device.empty((groups, n, _LANES), np.int32, "last")
        self._keys = device.empty((groups, n), kind, "keys")
        self._fired = device.empty(2 * groups * n, np.uint8, "fired")
        self._part_values = device.empty((parts, _LANES), kind, "parts")
        self._part_from = device.empty((parts, _LANES), np.int32, "from")
        self._part_found = device.empty(parts, np.uint8, "found")
        self._control = device.empty(6, np.int32, "control")
        self._thresholds = device.empty(2, np.float64, "thresholds")
        self._barrier = device.zeros(1, np.uint32, "barrier")
        self._farthest = task.limit
        self._limit = task.no_path if task.limit is None else task.limit
        weights = task.graph.weights
        mean = float(weights.mean()) if weights is not None and task.graph.m else 0.0
        self._rise = _RISE * mean if mean > 0 else math.inf
        self._kernels = device.kernels("apsp_batched", KL_TYPE=ctype(kind))
        self._rounds = self._kernels["apsp_batched_rounds"]
        self._resident = self._rounds.resident_blocks(_THREADS)

    @staticmethod
    def nbytes(task: Task, graph: DeviceGraph, width: int) -> int:
        """Bytes on the device beside the rows of the answer."""
        item, groups = task.dtype.itemsize, ceil_div(width, _LANES)
        vertex = _LANES * (item + (4 if task.predecessors else 0)) + item + 2
        return groups * (graph.n * vertex + graph.hubs(_SEGMENT).segments * _LANES * (item + 5))

    def start(self, sources: Array, rows: Rows) -> None:
        """Clear what an earlier batch has left, and begin."""
        device, n = self._device, self._graph.n
        self._rows, self._count = rows, sources.size
        self._groups = ceil_div(self._count, _LANES)
        device.fill(self._fired, 0)
        device.fill(self._control, 0)
        if self._last is not None:
            device.fill(self._last, 0xFF)
        self._wide(
            "clear", self._groups * n * _LANES, self._distances, self._keys, self._groups * n
        )
        self._kernels["apsp_batched_start"].launch(
            (ceil_div(self._count, _THREADS),),
            (_THREADS,),
            (
                sources, self._count, n, self._distances, self._fired, self._rise,
                self._thresholds,
            ),
        )  # fmt: skip
        self._launch()

    def finish(self) -> int | float | None:
        """Launch until nothing changes, and turn the groups into rows."""
        while not self._device.download(self._control)[1]:
            self._launch()
        rows, size = self._rows, 32 * self._groups * self._graph.n
        shape = (self._graph.n, self._count)
        self._wide("distances", size // 4, self._distances, rows.values, *shape)
        if self._last is not None:
            self._wide("predecessors", size // 4, self._last, rows.predecessors, *shape)
        return self._farthest

    def _wide(self, kernel: str, threads: int, *args: Array | int | None) -> None:
        blocks = min(ceil_div(threads, _THREADS), 16 * self._device.multiprocessors)
        self._kernels[f"apsp_batched_{kernel}"].launch((blocks,), (_THREADS,), args)

    def _shape(self) -> tuple[int, int]:
        """Return how many vertices a warp looks at together, and the blocks of a launch.

        Many, if arcs are few; fewer, where some warps would have much to do and others nothing.
        """
        together, warps = 32, _THREADS // 32
        while together > 4 and (
            self._graph.n * _ASKED * 32 < self._graph.m * together
            or self._groups * self._graph.n < 4 * together * warps * self._resident
        ):
            together //= 2
        items = self._groups * ceil_div(self._graph.n, together)
        return together, min(ceil_div(items, warps), self._resident)

    def _launch(self) -> None:
        graph, hubs, groups = self._graph, self._hubs, self._groups
        item = self._distances.dtype.itemsize
        work = groups * ((4 + (1 + _LANES) * item) * graph.m + 32 * graph.n)
        together, blocks = self._shape()
        self._rounds.launch(
            (blocks,),
            (_THREADS,),
            (
                *graph.csc, self._lengths, hubs.vertices, hubs.first, hubs.owner,
                hubs.vertices.size, hubs.segment, graph.n, groups, together, self._distances,
                self._last, self._keys, self._fired, self._part_values, self._part_from,
                self._part_found, self._limit, self._rise, self._thresholds,
                max(1, min(_ROUNDS, _BYTES // work)), self._control, self._barrier,
            ),
            cooperative=True,
        )  # fmt: skip
