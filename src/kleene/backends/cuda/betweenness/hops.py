"""Betweenness on a GPU, a lane of a warp to each source; kernels in ``kernels/betweenness_*.cu``.

Cost: in each pass an arc reads 8 bytes, its end and a mask, for every level in which its vertex is
listed, and of a row of 256 bytes, 32 counts, the sectors with sources whose shortest paths have the
arc. For 32 sources on R-MAT 20, 31 M arcs, these are 68 M looks at an arc and 4 GB of rows forward
and as much backward, most of them of hubs, which the second-level cache holds. On a grid of
512 x 512 a level has few rows, and two barriers forward and one backward, some 3 us each: 10 ms for
the 1,000 levels of a batch. No GPU has run these kernels yet; about 10 ms a batch are expected for
both.

With weights (``weighted.py``) distances come first, by ``sssp/batched``; finding the
tight arcs of both directions reads two more rows of 128 or 256 bytes for each arc.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.backends.cuda.graph import DeviceGraph, get_device_graph
from kleene.backends.cuda.rows import largest_width
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.runtime.interface import Array, Device, HostArray, ceil_div
from kleene.backends.cuda.runtime.structs import constant, struct_type
from kleene.backends.cuda.tuning import betweenness as tuning
from kleene.backends.task import BetweennessTask

__all__ = ["LANES", "BetweennessBatch", "Sums", "add_batches", "batch_width", "lanes"]

Sums = tuple[HostArray, HostArray | None]

LANES = 32  # sources of a group, as many as a warp has lanes

_FILE = "betweenness_rounds"
_THREADS = constant(_FILE, "kThreads")
_NO_LIMIT = int(np.iinfo(np.int32).max)


def lanes(task: BetweennessTask) -> Sums:
    """Return the sums of vertices and arcs by hops: up to 32 sources share each row of a vertex."""
    if task.graph.m == 0 or len(task.sources) == 0:
        return np.zeros(task.graph.n), np.zeros(task.graph.m) if task.arcs else None
    device = open_device(task.device)
    graph = get_device_graph(task.graph, device)
    _ = graph.csr, graph.csc  # allocated before the free memory is read
    width = largest_width(
        device,
        batch_width(task, LANES),
        lambda width: BetweennessBatch.nbytes(task, graph, width),
        f"betweenness by lanes on {graph.n:,} vertices",
    )
    return add_batches(task, device, BetweennessBatch(task, device, graph, width), width)


def batch_width(task: BetweennessTask, group: int) -> int:
    """Return the sources of a batch: whole groups of so many, and batches of equal size."""
    total = len(task.sources)
    groups = max(1, tuning.BATCH_BYTES // (8 * group * task.graph.n))
    batches = ceil_div(total, groups * group)
    return min(total, ceil_div(ceil_div(total, batches), group) * group)


def add_batches(task: BetweennessTask, device: Device, batch: BetweennessBatch, width: int) -> Sums:
    """Return the sums over all sources, in batches."""
    sources, total = device.upload(task.sources, "sources"), len(task.sources)
    try:
        for first in range(0, total, width):
            batch.add(sources[first : min(first + width, total)])
            if task.progress is not None:
                task.progress(min(first + width, total), total)
        return batch.sums()
    finally:  # nothing may use memory that is freed now
        device.synchronize()


class BetweennessBatch:
    """Batches of sources, and the sums over all of them."""

    forward, backward = "betweenness_forward_hops", "betweenness_backward_hops"

    def __init__(
        self, task: BetweennessTask, device: Device, graph: DeviceGraph, width: int
    ) -> None:
        self.device, self.graph = device, graph
        self.groups = ceil_div(width, LANES)
        self._limit = _NO_LIMIT if task.limit is None else int(min(task.limit, _NO_LIMIT))
        self._allocate(task)
        self._use_kernels(scaled=False)

    @staticmethod
    def nbytes(task: BetweennessTask, graph: DeviceGraph, width: int) -> int:
        """Return the device bytes, with exponents of counts, which are rarely needed."""
        sums = 8 * (graph.n + (graph.m if task.arcs else 0))
        entry, masks, counts = 8, 20, 2 * 12
        rows = graph.n * (LANES * (entry + counts) + masks)
        parts = 12 * LANES * _most_segments(graph)
        return ceil_div(width, LANES) * (rows + parts + sums) + 9 * graph.n

    def _allocate(self, task: BetweennessTask) -> None:
        device, graph, n, m = self.device, self.graph, self.graph.n, self.graph.m
        rows = self.groups * n
        out, into = graph.hubs(tuning.SEGMENT, outgoing=True), graph.hubs(tuning.SEGMENT)
        self._seen = device.empty(rows, np.uint32, "seen")
        self._frontier = device.empty((3, rows), np.uint32, "frontier")
        self._reached = device.empty((self.groups, LANES), np.int32, "reached")
        self._level_begin = device.empty(n + 2, np.uint64, "level begin")
        self._through = device.zeros((self.groups, n), np.float64, "through")
        self._along = device.zeros((self.groups, m), np.float64, "along") if task.arcs else None
        self._ready = device.empty(rows, np.uint32, "ready")
        self._state = device.empty(1, struct_type(_FILE, "BetweennessState").dtype, "state")
        self._host_state = device.pinned(1, self._state.dtype)
        self._is_target = None
        if task.targets is not None:
            is_target = np.zeros(n, np.uint8)
            is_target[task.targets] = 1
            self._is_target = device.upload(is_target, "is target")
        self.params = struct_type(_FILE, "BetweennessParams").pack(
            offsets=graph.csr.offsets, neighbors=graph.csr.neighbors, hubs=out.vertices,
            first=out.first, segment_hub=out.segment_hub, hub_count=out.vertices.size,
            in_offsets=graph.csc.offsets, in_neighbors=graph.csc.neighbors, in_hubs=into.vertices,
            in_first=into.first, in_segment_hub=into.segment_hub, in_hub_count=into.vertices.size,
            segment=tuning.SEGMENT, n=n, m=m, groups=self.groups, levels=1, limit=self._limit,
            endpoints=int(task.endpoints), is_target=self._is_target, tight=None, in_tight=None,
            missing=None, seen=self._seen, ready=self._ready, frontier=self._frontier,
            entry_row=device.empty(rows * LANES, np.int32, "entry rows"),
            entry_lanes=device.empty(rows * LANES, np.uint32, "entry lanes"),
            level_begin=self._level_begin,
            paths=device.empty((rows, LANES), np.float64, "paths"), paths_exponents=None,
            rest=device.empty((rows, LANES), np.float64, "rest"), rest_exponents=None,
            parts=device.empty((self.groups * _most_segments(graph), LANES), np.float64, "parts"),
            parts_exponents=None, reached=self._reached, through=self._through,
            along=self._along, state=self._state, barrier=device.zeros(1, np.uint32, "barrier"),
        )  # fmt: skip

    def _use_kernels(self, scaled: bool) -> None:
        """Count paths with doubles, or with doubles and exponents, which are slower."""
        device = self.device
        self._kernels = device.kernels(_FILE, KL_SCALED=int(scaled))
        if scaled:
            rows = (self.groups * self.graph.n, LANES)
            segments = (self.groups * _most_segments(self.graph), LANES)
            self.params.update(
                paths_exponents=device.empty(rows, np.int32, "path exponents"),
                rest_exponents=device.empty(rows, np.int32, "rest exponents"),
                parts_exponents=device.empty(segments, np.int32, "part exponents"),
            )

    # ---- a batch --------------------------------------------------------------------------------

    def add(self, sources: Array) -> None:
        """Add the sums of some sources."""
        self.search(sources)
        last = self._count_paths(sources)
        if last is None:  # numbers of paths that no double holds
            self._use_kernels(scaled=True)
            last = self._count_paths(sources)
        assert last is not None
        level = last
        while level >= 0:
            self._launch(self.backward, self.params, last)
            level = int(self._read_state()["level"])

    def search(self, sources: Array) -> None:
        """Compute distances; those by hops are found on the way."""

    def mark_arcs(self, groups: int) -> None:
        """Mark the arcs on shortest paths, for the forward pass."""

    def check(self) -> None:
        """Raise if the forward pass left something out."""

    def sums(self) -> Sums:
        """Return the sums of vertices and arcs so far."""
        along = self._along
        return self._total(self._through), None if along is None else self._total(along)

    def _total(self, groups: Array) -> HostArray:
        total: HostArray = self.device.download(groups).sum(axis=0)
        return total

    def _count_paths(self, sources: Array) -> int | None:
        """Run the forward pass; return its last level, None if counts became too large."""
        device, groups = self.device, ceil_div(sources.size, LANES)
        cleared = (self._seen, self._frontier, self._ready, self._reached, self._level_begin)
        for array in (*cleared, self._state):
            device.fill(array, 0)
        row_bytes = 8 * LANES * groups * (self.graph.n + self.graph.m)
        most = max(1, min(tuning.LEVELS, tuning.LAUNCH_BYTES // row_bytes))
        self.params.update(groups=groups, levels=most)
        self.mark_arcs(groups)
        init = self._kernels["betweenness_init"]
        grid = (ceil_div(sources.size, _THREADS),)
        init.launch(grid, (_THREADS,), (self.params, sources, sources.size))
        while True:
            self._launch(self.forward, self.params)
            state = self._read_state()
            if state["overflow"]:
                return None
            if state["finished"]:
                self.check()
                return int(state["level"])

    def _read_state(self) -> Any:
        return self.device.download(self._state, self._host_state)[0]

    def _launch(self, name: str, *args: Any) -> None:
        """Launch a pass with all blocks that are resident, or fewer for few arcs."""
        kernel = self._kernels[name]
        blocks = ceil_div(self.groups * (self.graph.n + self.graph.m), tuning.WORK_PER_BLOCK)
        threads = tuning.FEW_THREADS if blocks <= tuning.FEW_BLOCKS else _THREADS
        blocks = min(blocks, kernel.resident_blocks(threads))
        kernel.launch((blocks,), (threads,), args, cooperative=True)


def _most_segments(graph: DeviceGraph) -> int:
    """Return the segments of hubs, of the direction that has more."""
    segments = (graph.hubs(tuning.SEGMENT, outgoing=out).segments for out in (False, True))
    return max(segments)
