"""Betweenness with weights on a GPU: distances by ``sssp/batched``, then paths along tight arcs.

The kernels are in ``kernels/betweenness/betweenness_tight.cu`` and
``kernels/betweenness/betweenness_rounds.cu``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.backends.common.native_search import (
    comparable_lengths,
    largest_length,
    swallowed_weights,
)
from kleene.backends.cuda.betweenness.hops import (
    LANES,
    BetweennessBatch,
    Sums,
    add_batches,
    batch_width,
    lanes,
)
from kleene.backends.cuda.graph import DeviceGraph, Hubs, get_device_graph
from kleene.backends.cuda.rows import largest_width
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.runtime.interface import Array, Device, ceil_div, ctype
from kleene.backends.cuda.runtime.structs import Struct, constant, struct_type
from kleene.backends.cuda.sssp.batched import BatchedDistances, group_width
from kleene.backends.cuda.tuning import betweenness as tuning
from kleene.backends.semiring import SEMIRINGS
from kleene.backends.task import BetweennessTask, Task

__all__ = ["batched"]

_FILE = "betweenness_tight"
_THREADS = constant(_FILE, "kThreads")


def batched(task: BetweennessTask) -> Sums:
    """Return the sums of vertices and arcs: distances from batches of sources, then tight arcs."""
    if task.hops or task.graph.m == 0 or len(task.sources) == 0:
        return lanes(task)
    device = open_device(task.device)
    graph, search = get_device_graph(task.graph, device), _search_task(task)
    _allocate_arcs(graph, search.dtype)
    width = largest_width(
        device,
        batch_width(task, group_width(search)),
        lambda width: _WeightedBatch.nbytes_of(task, search, graph, width),
        f"betweenness by batched on {graph.n:,} vertices",
    )
    return add_batches(task, device, _WeightedBatch(task, search, device, graph, width), width)


def _search_task(task: BetweennessTask) -> Task:
    """Return the task of the distances, in a type that says exactly which paths tie."""
    kind = comparable_lengths(task.graph, hops=False).dtype
    limit = None if task.limit is None else min(task.limit, largest_length(kind))
    return Task(
        task.graph, SEMIRINGS["min_plus"], task.sources, None, limit, False, kind, task.threads,
        device=task.device,
    )  # fmt: skip


def _allocate_arcs(graph: DeviceGraph, kind: np.dtype[Any]) -> None:
    """Copy the arcs of both directions and their lengths, before the free memory is read."""
    _ = graph.csr, graph.csc, graph.lengths(kind), graph.lengths(kind, incoming=True)


class _WeightedBatch(BetweennessBatch):
    """Batches of sources with their distances, and the sums over all of them."""

    forward, backward = "betweenness_forward_tight", "betweenness_backward_tight"

    def __init__(
        self, task: BetweennessTask, search: Task, device: Device, graph: DeviceGraph, width: int
    ) -> None:
        super().__init__(task, device, graph, width)
        self._graph, self._kind = task.graph, search.dtype
        self._search = BatchedDistances(search, device, graph, width)
        self._missing = device.empty((self.groups * graph.n, LANES), np.int32, "missing")
        self._unsettled = device.empty(1, np.uint64, "unsettled")
        tight = device.empty((self.groups, graph.m), np.uint32, "tight")
        in_tight = device.empty((self.groups, graph.m), np.uint32, "incoming tight")
        self.params.update(
            tight=tight, in_tight=in_tight, missing=self._missing, limit=int(np.iinfo("i4").max)
        )
        self._tight_kernels = device.kernels(_FILE, KL_TYPE=ctype(search.dtype))
        self._directions = (
            self._pack(*graph.csr, graph.lengths(search.dtype),
                       graph.hubs(tuning.SEGMENT, outgoing=True), tight, None),
            self._pack(*graph.csc, graph.lengths(search.dtype, incoming=True),
                       graph.hubs(tuning.SEGMENT), in_tight, self._missing),
        )  # fmt: skip

    def _pack(
        self, offsets: Array, neighbors: Array, lengths: Array, hubs: Hubs, tight: Array,
        missing: Array | None,
    ) -> Struct:  # fmt: skip
        """Return the parameters for the arcs of one direction."""
        distances = self._search.distances
        return struct_type(_FILE, "TightParams", KL_TYPE=ctype(self._kind)).pack(
            offsets=offsets, neighbors=neighbors, lengths=lengths, hubs=hubs.vertices,
            first=hubs.first, segment_hub=hubs.segment_hub, hub_count=hubs.vertices.size,
            segment=hubs.segment, n=self.graph.n, m=self.graph.m, groups=self.groups,
            width=distances.shape[2], distances=distances, tight=tight, missing=missing,
        )  # fmt: skip

    @staticmethod
    def nbytes_of(task: BetweennessTask, search: Task, graph: DeviceGraph, width: int) -> int:
        """Return the device bytes."""
        tight = 8 * graph.m + 4 * LANES * graph.n
        return (
            BatchedDistances.nbytes(search, graph, width)
            + BetweennessBatch.nbytes(task, graph, width)
            + ceil_div(width, LANES) * tight
        )

    def search(self, sources: Array) -> None:
        """Compute the distances."""
        self._search.start_search(sources)
        self._search.finish_search()

    def mark_arcs(self, groups: int) -> None:
        """Mark the tight arcs of both directions, and count the incoming ones."""
        self.device.fill(self._missing, 0)
        for params in self._directions:
            params.update(groups=groups)
            self._launch_over("arcs", 32 * groups * self.graph.n, params)

    def check(self) -> None:
        """Raise if arcs that add nothing to a distance form a cycle."""
        self.device.fill(self._unsettled, 0)
        self._launch_over(
            "unsettled", self._missing.size, self._missing, self._missing.size, self._unsettled
        )
        found = int(self.device.download(self._unsettled)[0])
        if found:
            raise self._swallowed(found - 1)

    def _swallowed(self, place: int) -> Exception:
        """Return the error for a row and lane on a cycle, or behind one, that was not settled."""
        n, g = self.graph.n, self._graph
        group, lane = place // LANES // n, place % LANES
        unsettled = self.device.download(self._missing).reshape(-1, n, LANES)[group, :, lane] > 0
        width = self._search.distances.shape[2]
        of_batch, column = divmod(group * LANES + lane, width)
        distance = self.device.download(self._search.distances)[of_batch, :, column]
        tails, heads = g.coo[:2]
        lengths = comparable_lengths(g, hops=False)
        chosen = np.flatnonzero(unsettled[tails] & unsettled[heads])
        tail, head = tails[chosen], heads[chosen]
        at = int(np.argmax(distance[tail] + lengths[chosen] == distance[head]))
        return swallowed_weights(g, int(tail[at]), int(head[at]))

    def _launch_over(self, step: str, threads: int, *args: Any) -> None:
        blocks = min(ceil_div(threads, _THREADS), 16 * self.device.multiprocessors)
        kernel = self._tight_kernels[f"betweenness_tight_{step}"]
        kernel.launch((blocks,), (_THREADS,), args)
