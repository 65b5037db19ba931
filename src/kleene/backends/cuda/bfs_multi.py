"""Multi-source BFS on a GPU, one bit per search; kernels in ``kernels/bfs_multi.cu``.

Cost, for all pairs of 44,000 vertices and 1 M arcs with 1024 searches a batch: a level reads a row
of 128 bytes per arc, 128 MB, out of 5.6 MB in the L2 cache; 43 batches of about six levels read 33
GB, some 10 ms. The distances are 7.7 GB: written twice, since they are cleared first, 4 ms at 4.2
TB/s; to the host at 55 GB/s 140 ms. So the copy to the host is the bound, and the levels of a batch
overlap with the copies of the previous one.

On a graph with many levels most vertices have no work in most levels. A level then reads the arcs
(8 bytes a vertex, 4 an arc) and a bit per neighbour: 1.6 MB on a grid of 256 x 256, a few
microseconds with the barrier.
"""

from __future__ import annotations

import numpy as np

from kleene.backends.common.engine_dtype import search_in_dtype
from kleene.backends.cuda.device_graph import DeviceGraph, get_device_graph
from kleene.backends.cuda.row_batches import RowBuffers, fill_rows, largest_width, row_bytes
from kleene.backends.cuda.runtime.device import Array, Device, ceil_div, open_device
from kleene.backends.task import Answer, Task

__all__ = ["multi_source"]

_HOPS = np.dtype(np.int32)
_NO_LIMIT = int(np.iinfo(_HOPS).max)

_THREADS = 256  # kThreads
_CHUNK = 32  # kVertices
_SPAN = 8  # kMostSpan
_MOST = 1024  # searches of a batch: one word per lane of a warp
_SEGMENT = 512  # arcs of a hub per warp

#: Levels, or bytes, per launch: some 20 ms, so that Ctrl-C works.
_LEVELS, _BYTES = 4096, 2**36


def multi_source(task: Task) -> Answer:
    """Search from up to 1024 sources at once."""
    if task.dtype != _HOPS:
        return search_in_dtype(multi_source, task, _HOPS)
    if task.graph.n == 0 or len(task.sources) == 0:
        return Answer(task.empty_values(), task.empty_predecessors())
    device = open_device(task.device)
    graph = get_device_graph(task.graph, device)
    _ = graph.csc, graph.hubs(_SEGMENT)  # allocated before the free memory is read
    what = f"bfs by multi_source on {graph.n:,} vertices"
    width = largest_width(
        device,
        min(_MOST, len(task.sources)),
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
        self._device, self._graph, self._hubs = device, graph, graph.hubs(_SEGMENT)
        self._words, self._none = _words(width), task.no_path
        self._limit = _NO_LIMIT if task.limit is None else int(min(task.limit, _NO_LIMIT))
        n, chunks = graph.n, ceil_div(graph.n, _CHUNK)
        self._seen = device.empty((n, self._words), np.uint32, "seen")
        self._frontier = device.empty((2, n, self._words), np.uint32, "frontier")
        self._active = device.empty((2, chunks), np.uint32, "active")
        self._full = device.empty(chunks, np.uint32, "full")
        self._hub_bits = device.empty(
            (self._hubs.vertices.size, self._words), np.uint32, "hub bits"
        )
        self._control = device.empty(6, np.int32, "control")
        self._barrier = device.zeros(1, np.uint32, "barrier")
        self._targets, self._target_bits = 0, None
        if task.targets is not None:
            bits = np.zeros(chunks * _CHUNK, bool)
            bits[task.targets] = True
            self._targets = int(bits.sum())
            packed = np.packbits(bits, bitorder="little").view(np.uint32)
            self._target_bits = device.upload(packed, "target bits")
        kernels = device.kernels("bfs_multi")
        self._clear, self._init = kernels["bfs_multi_clear"], kernels["bfs_multi_init"]
        self._levels = kernels["bfs_multi_levels"]
        resident = self._levels.resident_blocks(_THREADS)
        self._span = min(_SPAN, ceil_div(chunks, resident))
        self._blocks = min(ceil_div(chunks, self._span), resident)
        level = 4 * graph.m * (1 + self._words) + 16 * n
        self._most = max(1, min(_LEVELS, _BYTES // level))

    @staticmethod
    def nbytes(graph: DeviceGraph, width: int) -> int:
        """Return the device bytes beside the rows of the result."""
        rows = 3 * graph.n + graph.hubs(_SEGMENT).vertices.size
        return 4 * _words(width) * rows + graph.n

    def start(self, sources: Array, rows: RowBuffers) -> None:
        """Clear the buffers and launch."""
        device, count = self._device, sources.size
        for array in (self._seen, self._frontier[0], self._active, self._full, self._hub_bits):
            device.fill(array, 0)
        device.fill(self._control, 0)
        if rows.predecessors is not None:
            device.fill(rows.predecessors, 0xFF)
        size = rows.values.size
        blocks = min(ceil_div(size, _THREADS), 16 * device.multiprocessors)
        self._clear.launch((blocks,), (_THREADS,), (rows.values, size, self._none))
        self._init.launch(
            (ceil_div(count, _THREADS),),
            (_THREADS,),
            (
                sources, count, self._graph.n, self._words, self._targets, self._seen,
                self._frontier, self._active, rows.values, self._control,
            ),
        )  # fmt: skip
        self._count, self._rows = count, rows
        if self._limit > 0:
            self._launch()

    def finish(self) -> int | None:
        """Launch until the frontiers are empty or the targets are found."""
        if self._limit == 0:
            return 0
        while True:
            done, finished, left = self._device.download(self._control)[:3].tolist()
            if finished:
                break
            self._launch()
        if self._targets and left == 0:
            return int(min(done, self._limit))
        return None if self._limit == _NO_LIMIT else self._limit

    def _launch(self) -> None:
        graph, hubs, rows = self._graph, self._hubs, self._rows
        self._levels.launch(
            (self._blocks,),
            (_THREADS,),
            (
                *graph.csc, hubs.vertices, hubs.first, hubs.segment_hub, hubs.vertices.size,
                hubs.segment, graph.n, self._words, self._span, self._count, self._seen,
                self._frontier, self._active, self._full, self._hub_bits, self._target_bits,
                rows.values, rows.predecessors, self._limit, self._most, self._control,
                self._barrier,
            ),
            cooperative=True,
        )  # fmt: skip
