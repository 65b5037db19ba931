"""Shortest paths from batches of sources on a GPU; kernels in ``kernels/sssp/sssp_batched.cu``.

Cost: each neighbour of a vertex that fires reads its row of 512 bytes, the distances from 128
sources (64 with 8-byte values). On random graphs each row is read 8 to 14 times in all, on road
networks and grids 5 to 20 times with the thresholds (20 to 60 without). R-MAT 16 has 1.8 M arcs;
512 sources read 8 x 1.8 M x 4 x 512 bytes = 30 GB, mostly from the caches.
"""

from __future__ import annotations

import numpy as np

from kleene.backends.answer import Answer
from kleene.backends.cuda.bfs.multi import multi_source
from kleene.backends.cuda.graph import DeviceGraph, get_device_graph
from kleene.backends.cuda.rows import RowBuffers, fill_rows, largest_width, row_bytes
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.runtime.interface import Argument, Array, Device, ceil_div, ctype, scalar
from kleene.backends.cuda.runtime.structs import constant, struct_type
from kleene.backends.cuda.sssp.near_far import mean_length
from kleene.backends.cuda.tuning import sssp as tuning
from kleene.backends.task import Task

__all__ = ["BatchedDistances", "batched", "group_width"]

_FILE = "sssp_batched"
_THREADS = constant(_FILE, "kThreads")


def batched(task: Task) -> Answer:
    """Relax arcs for batches of sources; without weights, run multi-source BFS."""
    if task.graph.weights is None:
        return multi_source(task)
    if task.graph.n == 0 or len(task.sources) == 0:
        return Answer(task.empty_values(), task.empty_predecessors())
    device = open_device(task.device)
    graph = get_device_graph(task.graph, device)
    # Allocated before the free memory is read.
    _ = graph.csc, graph.hubs(tuning.BATCHED_SEGMENT), graph.lengths(task.dtype, incoming=True)
    what = f"batches of searches on {graph.n:,} vertices"
    width = largest_width(
        device,
        _batch_width(task),
        lambda width: _Batch.nbytes(task, graph, width) + row_bytes(task, width),
        what,
    )
    return fill_rows(task, device, _Batch(task, device, graph, width), width)


def group_width(task: Task) -> int:
    """Return the sources of a group, kSources."""
    return 32 * constant(_FILE, "kLaneBytes") // task.dtype.itemsize


def _batch_width(task: Task) -> int:
    """Return the batch width: whole groups, and batches of equal size."""
    total, group = len(task.sources), group_width(task)
    groups = max(1, tuning.BATCHED_BYTES // (group * task.dtype.itemsize * task.graph.n))
    batches = ceil_div(total, groups * group)
    return min(total, ceil_div(ceil_div(total, batches), group) * group)


class BatchedDistances:
    """Distances from a batch of groups of sources, in rows: [group][vertex][source]."""

    def __init__(self, task: Task, device: Device, graph: DeviceGraph, width: int) -> None:
        self._device, self._graph = device, graph
        self._group = group_width(task)
        kind, n, groups = task.dtype, graph.n, ceil_div(width, self._group)
        hubs = graph.hubs(tuning.BATCHED_SEGMENT)
        parts = groups * hubs.segments
        lanes = (groups, n, self._group)
        self.distances = device.empty(lanes, kind, "distances")
        self.predecessors = found = None
        if task.predecessors:
            self.predecessors = device.empty(lanes, np.int32, "predecessors")
            found = device.empty((parts, self._group), np.int32, "part predecessors")
        self._state = device.empty(1, struct_type(_FILE, "BatchedState").dtype, "state")
        self._host_state = device.pinned(1, self._state.dtype)
        self._kernels = device.kernels(_FILE, KL_TYPE=ctype(kind))
        rounds = "path_rounds" if task.predecessors else "rounds"
        self._rounds = self._kernels[f"sssp_batched_{rounds}"]
        self._resident = self._rounds.resident_blocks(_THREADS)
        offsets, neighbors = graph.csc
        self._params = struct_type(_FILE, "BatchedParams", KL_TYPE=ctype(kind)).pack(
            offsets=offsets,
            neighbors=neighbors,
            lengths=graph.lengths(kind, incoming=True),
            hubs=hubs.vertices,
            first=hubs.first,
            segment_hub=hubs.segment_hub,
            hub_count=hubs.vertices.size,
            segment=hubs.segment,
            n=n,
            groups=groups,
            vertices_per_warp=32,
            rounds=1,
            distances=self.distances,
            predecessors=self.predecessors,
            keys=device.empty((groups, n), kind, "keys"),
            fired=device.empty(2 * groups * _fired_bytes(n), np.uint8, "fired"),
            part_values=device.empty((parts, self._group), kind, "parts"),
            part_predecessors=found,
            part_found=device.empty(parts, np.uint8, "part found"),
            limit=scalar(kind, task.no_path if task.limit is None else task.limit),
            increment=tuning.BATCHED_INCREMENT * mean_length(task),
            state=self._state,
            barrier=device.zeros(1, np.uint32, "barrier"),
        )

    @staticmethod
    def nbytes(task: Task, graph: DeviceGraph, width: int) -> int:
        """Return the device bytes."""
        item, group = task.dtype.itemsize, group_width(task)
        row = group * (item + (4 if task.predecessors else 0))
        parts = graph.hubs(tuning.BATCHED_SEGMENT).segments * (row + 1)
        vertices = graph.n * (row + item) + 2 * _fired_bytes(graph.n)
        return ceil_div(width, group) * (vertices + parts)

    def start_search(self, sources: Array) -> None:
        """Clear the buffers and launch."""
        self._count = sources.size
        groups = ceil_div(self._count, self._group)
        vertices_per_warp, self._blocks = self._shape(groups)
        arc_bytes = 4 + (1 + self._group) * self.distances.dtype.itemsize
        work = groups * (arc_bytes * self._graph.m + 32 * self._graph.n)
        self._params.update(
            groups=groups,
            vertices_per_warp=vertices_per_warp,
            rounds=max(1, min(tuning.BATCHED_ROUNDS, tuning.BATCHED_LAUNCH_BYTES // work)),
        )
        self._elements = groups * self._graph.n * self._group
        self._launch_over("clear", self._elements, self._params)
        self._launch_over("init", self._count, self._params, sources, self._count)
        self._launch_rounds()

    def finish_search(self) -> None:
        """Launch until nothing changes."""
        while not self._device.download(self._state, self._host_state)["finished"][0]:
            self._launch_rounds()

    def _launch_over(self, kernel: str, threads: int, *args: Argument) -> None:
        blocks = min(ceil_div(threads, _THREADS), 16 * self._device.multiprocessors)
        self._kernels[f"sssp_batched_{kernel}"].launch((blocks,), (_THREADS,), args)

    def _launch_rounds(self) -> None:
        self._rounds.launch((self._blocks,), (_THREADS,), (self._params,), cooperative=True)

    def _shape(self, groups: int) -> tuple[int, int]:
        """Return the vertices that a warp takes at once, and the blocks of a launch.

        Many if arcs are few; fewer where the load of the warps would be uneven.
        """
        n, m = self._graph.n, self._graph.m
        vertices_per_warp, warps = 32, _THREADS // 32
        while vertices_per_warp > 8 and (
            n * tuning.BATCHED_WARP_ARCS < m * vertices_per_warp
            or groups * n < 4 * vertices_per_warp * warps * self._resident
        ):
            vertices_per_warp //= 2
        items = groups * ceil_div(n, vertices_per_warp)
        return vertices_per_warp, min(ceil_div(items, warps), self._resident)


class _Batch(BatchedDistances):
    """A batch of searches whose distances become rows of the result."""

    def __init__(self, task: Task, device: Device, graph: DeviceGraph, width: int) -> None:
        super().__init__(task, device, graph, width)
        self._horizon = task.limit

    def start(self, sources: Array, rows: RowBuffers) -> None:
        """Clear the buffers and launch."""
        self._rows = rows
        self.start_search(sources)

    def finish(self) -> int | float | None:
        """Launch until nothing changes, then transpose the groups into rows."""
        self.finish_search()
        rows, threads, shape = self._rows, self._elements // 4, (self._graph.n, self._count)
        self._launch_over("write_distances", threads, self.distances, rows.values, *shape)
        if self.predecessors is not None:
            found = (self.predecessors, rows.predecessors)
            self._launch_over("write_predecessors", threads, *found, *shape)
        return self._horizon


def _fired_bytes(n: int) -> int:
    """Return the bytes of a bit for each vertex, in whole words."""
    return ceil_div(n, 32) * 4
