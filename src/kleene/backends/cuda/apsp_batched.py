"""Shortest paths from batches of sources on a GPU; kernels in ``kernels/apsp_batched.cu``.

Cost: each neighbour of a vertex that fires reads its row of 32 distances, so a round in which all
fire reads 128 bytes per arc and group of 32 sources (256 with 8-byte values). On random graphs each
row is read 8 to 14 times in all, on road networks and grids 5 to 20 times with the thresholds (20
to 60 without). All pairs of 44,000 vertices and 1 M arcs read 14 x 1 M x 1375 x 128 bytes = 2.5 TB,
mostly from the L2 cache: under a second. A batch has so many groups that their distances just fit
there; on a small road network all sources are one batch, and the number of rounds decides, at a few
microseconds each.
"""

from __future__ import annotations

import math

import numpy as np

from kleene.backends.cuda.bfs_multi import multi_source
from kleene.backends.cuda.device_graph import DeviceGraph, get_device_graph
from kleene.backends.cuda.row_batches import RowBuffers, fill_rows, largest_width, row_bytes
from kleene.backends.cuda.runtime.device import Array, Device, ceil_div, ctype, open_device, scalar
from kleene.backends.task import Answer, Task

__all__ = ["batched"]

_THREADS = 256  # kThreads
_LANES = 32  # kLanes: sources of a group
_SEGMENT = 512  # arcs of a hub per warp

#: Bytes of distances in the L2 cache, beside the arcs (50 MB on an H200).
_CACHED = 2**25

#: Increment of the threshold, in mean arc lengths. On a grid of 256 x 256 with weights 1 to 255, 16
#: takes a quarter more rounds than no thresholds and a third of the work; Rome is similar.
_INCREMENT = 16

#: Arcs that are worth one lane to test whether a neighbour has fired.
_ARCS_PER_LANE = 4

#: Rounds, or bytes, per launch: some 20 ms, so that Ctrl-C works.
_ROUNDS, _BYTES = 4096, 2**36


def batched(task: Task) -> Answer:
    """Relax arcs for batches of sources; without weights, run multi-source BFS."""
    if task.graph.weights is None:
        return multi_source(task)
    if task.graph.n == 0 or len(task.sources) == 0:
        return Answer(task.empty_values(), task.empty_predecessors())
    device = open_device(task.device)
    graph = get_device_graph(task.graph, device)
    # Allocated before the free memory is read.
    _ = graph.csc, graph.hubs(_SEGMENT), graph.lengths(task.dtype, incoming=True)
    what = f"apsp by batched on {graph.n:,} vertices"
    width = largest_width(
        device,
        _batch_width(task),
        lambda width: _Batch.nbytes(task, graph, width) + row_bytes(task, width),
        what,
    )
    return fill_rows(task, device, _Batch(task, device, graph, width), width)


def _batch_width(task: Task) -> int:
    """Return the batch width: whole groups, and batches of equal size."""
    total = len(task.sources)
    groups = max(1, _CACHED // (_LANES * task.dtype.itemsize * task.graph.n))
    batches = ceil_div(total, groups * _LANES)
    return min(total, ceil_div(ceil_div(total, batches), _LANES) * _LANES)


class _Batch:
    """A batch of groups of 32 sources."""

    def __init__(self, task: Task, device: Device, graph: DeviceGraph, width: int) -> None:
        self._device, self._graph, self._hubs = device, graph, graph.hubs(_SEGMENT)
        self._lengths = graph.lengths(task.dtype, incoming=True)
        kind, n, groups = task.dtype, graph.n, ceil_div(width, _LANES)
        parts = groups * self._hubs.segments
        self._distances = device.empty((groups, n, _LANES), kind, "distances")
        self._predecessors = None
        if task.predecessors:
            self._predecessors = device.empty((groups, n, _LANES), np.int32, "predecessors")
        self._keys = device.empty((groups, n), kind, "keys")
        self._fired = device.empty(2 * groups * n, np.uint8, "fired")
        self._part_values = device.empty((parts, _LANES), kind, "parts")
        self._part_predecessors = device.empty((parts, _LANES), np.int32, "part predecessors")
        self._part_found = device.empty(parts, np.uint8, "part found")
        self._control = device.empty(6, np.int32, "control")
        self._thresholds = device.empty(2, np.float64, "thresholds")
        self._barrier = device.zeros(1, np.uint32, "barrier")
        self._horizon = task.limit
        self._limit = task.no_path if task.limit is None else scalar(task.dtype, task.limit)
        weights = task.graph.weights
        mean = 0.0
        if weights is not None and task.graph.m:
            with np.errstate(over="ignore"):  # infinite: one threshold for all
                mean = float(weights.mean(dtype=np.float64))
        self._increment = _INCREMENT * mean if mean > 0 else math.inf
        self._kernels = device.kernels("apsp_batched", KL_TYPE=ctype(kind))
        self._rounds = self._kernels["apsp_batched_rounds"]
        self._resident = self._rounds.resident_blocks(_THREADS)

    @staticmethod
    def nbytes(task: Task, graph: DeviceGraph, width: int) -> int:
        """Return the device bytes beside the rows of the result."""
        item, groups = task.dtype.itemsize, ceil_div(width, _LANES)
        vertex = _LANES * (item + (4 if task.predecessors else 0)) + item + 2
        return groups * (graph.n * vertex + graph.hubs(_SEGMENT).segments * _LANES * (item + 5))

    def start(self, sources: Array, rows: RowBuffers) -> None:
        """Clear the buffers and launch."""
        device, n = self._device, self._graph.n
        self._rows, self._count = rows, sources.size
        self._groups = ceil_div(self._count, _LANES)
        device.fill(self._fired, 0)
        device.fill(self._control, 0)
        if self._predecessors is not None:
            device.fill(self._predecessors, 0xFF)
        self._launch_over(
            "clear", self._groups * n * _LANES, self._distances, self._keys, self._groups * n
        )
        self._kernels["apsp_batched_init"].launch(
            (ceil_div(self._count, _THREADS),),
            (_THREADS,),
            (
                sources, self._count, n, self._distances, self._fired, self._increment,
                self._thresholds,
            ),
        )  # fmt: skip
        self._launch()

    def finish(self) -> int | float | None:
        """Launch until nothing changes, then transpose the groups into rows."""
        while not self._device.download(self._control)[1]:
            self._launch()
        rows, size = self._rows, 32 * self._groups * self._graph.n
        shape = (self._graph.n, self._count)
        self._launch_over("write_distances", size // 4, self._distances, rows.values, *shape)
        if self._predecessors is not None:
            self._launch_over(
                "write_predecessors", size // 4, self._predecessors, rows.predecessors, *shape
            )
        return self._horizon

    def _launch_over(self, kernel: str, threads: int, *args: Array | int | None) -> None:
        blocks = min(ceil_div(threads, _THREADS), 16 * self._device.multiprocessors)
        self._kernels[f"apsp_batched_{kernel}"].launch((blocks,), (_THREADS,), args)

    def _shape(self) -> tuple[int, int]:
        """Return the vertices that a warp tests at once, and the blocks of a launch.

        Many if arcs are few; fewer where the load of the warps would be uneven.
        """
        vertices_per_warp, warps = 32, _THREADS // 32
        while vertices_per_warp > 4 and (
            self._graph.n * _ARCS_PER_LANE * 32 < self._graph.m * vertices_per_warp
            or self._groups * self._graph.n < 4 * vertices_per_warp * warps * self._resident
        ):
            vertices_per_warp //= 2
        items = self._groups * ceil_div(self._graph.n, vertices_per_warp)
        return vertices_per_warp, min(ceil_div(items, warps), self._resident)

    def _launch(self) -> None:
        graph, hubs, groups = self._graph, self._hubs, self._groups
        item = self._distances.dtype.itemsize
        work = groups * ((4 + (1 + _LANES) * item) * graph.m + 32 * graph.n)
        vertices_per_warp, blocks = self._shape()
        self._rounds.launch(
            (blocks,),
            (_THREADS,),
            (
                *graph.csc, self._lengths, hubs.vertices, hubs.first, hubs.segment_hub,
                hubs.vertices.size, hubs.segment, graph.n, groups, vertices_per_warp,
                self._distances, self._predecessors, self._keys, self._fired, self._part_values,
                self._part_predecessors, self._part_found, self._limit, self._increment,
                self._thresholds, max(1, min(_ROUNDS, _BYTES // work)), self._control,
                self._barrier,
            ),
            cooperative=True,
        )  # fmt: skip
