"""Predecessors from the final distances of a search.

The kernels, and why the result is a tree, are in ``kernels/sssp_predecessors.cu``.
"""

from __future__ import annotations

import numpy as np

from kleene.backends.cuda.device_graph import DeviceGraph
from kleene.backends.cuda.load_balance import WorkQueues, arc_grid
from kleene.backends.cuda.runtime.device import Array, Device, ceil_div, ctype, scalar

__all__ = ["recover_predecessors", "recovery_bytes"]

_THREADS = 256
_ROUNDS = 1024  # per launch: some milliseconds


def recovery_bytes(n: int, m: int) -> int:
    """Return the device bytes needed beside graph, distances and predecessors."""
    return WorkQueues.nbytes(n, m)


def recover_predecessors(
    device: Device,
    graph: DeviceGraph,
    distances: Array,
    source: int,
    predecessors: Array,
    *,
    negative: bool = False,
    bias: float = 0,
    sums: Array | None = None,
) -> int:
    """Fill ``predecessors``, -1 where there is none; return how many vertices are missing.

    Every reached vertex has a tight incoming arc: ``distance[u] + length == distance[v]``, added as
    the search added. A search with ``negative`` lengths may have used a ``bias`` in its sums; then
    ``sums`` receives the sums along the tree without it. Vertices are missing from the tree only if
    rounding makes tight arcs form a cycle; without negative lengths there are none.
    """
    kernels = device.kernels("sssp_predecessors", KL_TYPE=ctype(distances.dtype))
    n, (offsets, neighbors) = graph.n, graph.csr
    arcs = (offsets, neighbors, graph.lengths(distances.dtype), distances)
    count = kernels["sssp_predecessors_count_missing"]

    def count_missing() -> int:
        counted = device.zeros(1, np.uint64, "missing")
        blocks = (ceil_div(n, _THREADS),)
        count.launch(blocks, (_THREADS,), (distances, predecessors, n, source, counted))
        return int(device.download(counted)[0])

    device.fill(predecessors, 0xFF)
    if not negative:
        nearer = kernels["sssp_predecessors_nearer"]
        nearer.launch(*arc_grid(nearer, graph.m), (*arcs, n, predecessors))
        if count_missing() == 0:
            return 0
    queues = WorkQueues(device, graph)
    if negative:
        first = device.download(offsets[source : source + 2])
        queues.begin(source, int(first[1] - first[0]))
    else:
        first_layer = kernels["sssp_predecessors_first_layer"]
        args = (*arcs, n, source, predecessors, queues.even, queues.sizes)
        first_layer.launch(*arc_grid(first_layer, graph.m), args)
    layers = kernels["sssp_predecessors_layers"]
    round_ = 0
    while queues.read_sizes()[round_ % 3]:
        layer_args = (*arcs, source, scalar(distances.dtype, bias), predecessors, sums)
        queued = (queues.even, queues.odd, queues.sizes, round_, _ROUNDS, queues.barrier)
        layers.launch(*queues.grid(layers), (*layer_args, *queued), cooperative=True)
        round_ += _ROUNDS
    return count_missing() if negative else 0
