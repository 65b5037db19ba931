"""Multi-source BFS on a GPU, one bit per search; kernels in ``kernels/bfs/bfs_multi.cu``.

Cost, for all pairs of 44,000 vertices and 1 M arcs with 1024 searches a batch: a level reads a row
of 128 bytes per arc, 128 MB, out of 5.6 MB in the L2 cache; 43 batches of about six levels read 33
GB, and write 7.7 GB of distances twice, since they are cleared first: 31 ms on an H200. To the host
they take 140 ms at 55 GB/s. So the copy is the bound, and the levels of a batch overlap with the
copies of the previous one.

On a graph with many levels most vertices have no work in most levels. A level then reads the arcs
(8 bytes a vertex, 4 an arc) and a bit per neighbour: 1.6 MB on a grid of 256 x 256, a few
microseconds with the barrier.
"""

from __future__ import annotations

import numpy as np

from kleene.backends.answer import Answer
from kleene.backends.common.engine_dtype import search_in_dtype
from kleene.backends.cuda.bfs.direction import pack_targets
from kleene.backends.cuda.graph import DeviceGraph, get_device_graph
from kleene.backends.cuda.rows import RowBuffers, fill_rows, largest_width, row_bytes
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.runtime.interface import Array, Device, ceil_div
from kleene.backends.cuda.runtime.structs import constant, struct_type
from kleene.backends.cuda.tuning import bfs as tuning
from kleene.backends.task import Task

__all__ = ["multi_source"]

_HOPS = np.dtype(np.int32)
_NO_LIMIT = int(np.iinfo(_HOPS).max)

_FILE = "bfs_multi"


def multi_source(task: Task) -> Answer:
    """Search from up to 1024 sources at once."""
    if task.dtype != _HOPS:
        return search_in_dtype(multi_source, task, _HOPS)
    if task.graph.n == 0 or len(task.sources) == 0:
        return Answer(task.empty_values(), task.empty_predecessors())
    device = open_device(task.device)
    graph = get_device_graph(task.graph, device)
    _ = graph.csc, graph.hubs(tuning.HUB_SEGMENT)  # allocated before the free memory is read
    what = f"bfs by multi_source on {graph.n:,} vertices"
    width = largest_width(
        device,
        min(tuning.MOST_SEARCHES, len(task.sources)),
        lambda width: _Searches.nbytes(graph, width) + row_bytes(task, width),
        what,
    )
    return fill_rows(task, device, _Searches(task, device, graph, width), width)


def _words(width: int) -> int:
    """Return the words per row: a power of two.

    >>> [_words(width) for width in (1, 32, 33, 80, 1000)]
    [1, 1, 2, 4, 32]
    """
    return 1 << (ceil_div(width, 32) - 1).bit_length()


class _Searches:
    """A batch of searches."""

    def __init__(self, task: Task, device: Device, graph: DeviceGraph, width: int) -> None:
        self._device, self._n, self._none = device, graph.n, task.no_path
        self._limit = _NO_LIMIT if task.limit is None else int(min(task.limit, _NO_LIMIT))
        n, m, words, hubs = graph.n, graph.m, _words(width), graph.hubs(tuning.HUB_SEGMENT)
        self._threads = constant(_FILE, "kThreads")
        kernels = device.kernels(_FILE)
        self._clear, self._init = kernels["bfs_multi_clear"], kernels["bfs_multi_init"]
        self._levels = kernels["bfs_multi_levels"]
        chunks = ceil_div(n, constant(_FILE, "kVertices"))
        resident = self._levels.resident_blocks(self._threads)
        span = min(constant(_FILE, "kMostSpan"), ceil_div(chunks, resident))
        self._blocks = min(ceil_div(chunks, span), resident)
        self._targets, target_bits = pack_targets(task, device)
        seen = device.empty((n, words), np.uint32, "seen")
        frontier = device.empty((2, n, words), np.uint32, "frontier")
        active = device.empty((2, chunks), np.uint32, "active")
        full = device.empty(chunks, np.uint32, "full")
        hub_bits = device.empty((hubs.vertices.size, words), np.uint32, "hub bits")
        self._control = device.empty(constant(_FILE, "kControlWords"), np.int32, "control")
        self._cleared = (seen, frontier[0], active, full, hub_bits, self._control)
        level_bytes = 4 * m * (1 + words) + 16 * n
        self._params = struct_type(_FILE, "MultiParams").pack(
            offsets=graph.csc.offsets, neighbors=graph.csc.neighbors, hubs=hubs.vertices,
            first=hubs.first, segment_hub=hubs.segment_hub, sources=None, target_bits=target_bits,
            seen=seen, frontier=frontier, active=active, full=full, hub_bits=hub_bits,
            distances=None, predecessors=None, control=self._control,
            barrier=device.zeros(1, np.uint32, "barrier"), hub_count=hubs.vertices.size,
            segment=hubs.segment, n=n, words=words, span=span, count=0, targets=self._targets,
            limit=self._limit,
            most=max(1, min(tuning.MULTI_LEVELS, tuning.MULTI_BYTES // level_bytes)),
        )  # fmt: skip

    @staticmethod
    def nbytes(graph: DeviceGraph, width: int) -> int:
        """Return the device bytes beside the rows of the result."""
        rows = 3 * graph.n + graph.hubs(tuning.HUB_SEGMENT).vertices.size
        return 4 * _words(width) * rows + graph.n

    def start(self, sources: Array, rows: RowBuffers) -> None:
        """Clear the buffers and launch."""
        device, count, size = self._device, sources.size, rows.values.size
        for array in self._cleared:
            device.fill(array, 0)
        if rows.predecessors is not None:
            device.fill(rows.predecessors, 0xFF)
        blocks = min(ceil_div(size, self._threads), 16 * device.multiprocessors)
        self._clear.launch((blocks,), (self._threads,), (rows.values, size, self._none))
        self._params.update(
            sources=sources, count=count, distances=rows.values, predecessors=rows.predecessors
        )
        self._init.launch((ceil_div(count, self._threads),), (self._threads,), (self._params,))
        if self._limit > 0:
            self._launch()

    def finish(self) -> int | None:
        """Launch until the frontiers are empty or the targets are found."""
        if self._limit == 0:
            return 0
        while True:
            control = self._device.download(self._control)
            if control[constant(_FILE, "kFinished")]:
                break
            self._launch()
        if self._targets and control[constant(_FILE, "kTargetsLeft")] == 0:
            return int(min(control[constant(_FILE, "kRoundsDone")], self._limit))
        return None if self._limit == _NO_LIMIT else self._limit

    def _launch(self) -> None:
        self._levels.launch((self._blocks,), (self._threads,), (self._params,), cooperative=True)
