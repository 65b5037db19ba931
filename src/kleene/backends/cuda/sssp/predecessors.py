"""Predecessors from the final distances of a search.

The kernels, and why the result is a tree, are in ``kernels/sssp/sssp_predecessors.cu``.
"""

from __future__ import annotations

import numpy as np

from kleene.backends.cuda.graph import DeviceGraph
from kleene.backends.cuda.load_balance import WorkQueues, arc_grid
from kleene.backends.cuda.runtime.interface import Array, Device, ceil_div, ctype, scalar
from kleene.backends.cuda.runtime.structs import struct_type
from kleene.backends.cuda.tuning import sssp as tuning

__all__ = ["recover_predecessors", "recovery_bytes"]

_FILE = "sssp_predecessors"
_THREADS = 256


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
    kind, n, offsets = distances.dtype, graph.n, graph.csr.offsets
    kernels = device.kernels(_FILE, KL_TYPE=ctype(kind))
    count = kernels["sssp_predecessors_count_missing"]

    def count_missing() -> int:
        counted = device.zeros(1, np.uint64, "missing")
        blocks = (ceil_div(n, _THREADS),)
        count.launch(blocks, (_THREADS,), (distances, predecessors, n, source, counted))
        return int(device.download(counted)[0])

    params = struct_type(_FILE, "TreeParams", KL_TYPE=ctype(kind)).pack(
        offsets=offsets,
        neighbors=graph.csr.neighbors,
        lengths=graph.lengths(kind),
        distances=distances,
        predecessors=predecessors,
        sums=sums,
        even=None,
        odd=None,
        sizes=None,
        barrier=None,
        round=0,
        rounds=tuning.PREDECESSOR_LAYERS,
        n=n,
        source=source,
        bias=scalar(kind, bias),
    )
    device.fill(predecessors, 0xFF)
    if not negative:
        nearer = kernels["sssp_predecessors_nearer"]
        nearer.launch(*arc_grid(nearer, graph.m), (params,))
        if count_missing() == 0:
            return 0
    queues = WorkQueues(device, graph)
    params.update(even=queues.even, odd=queues.odd, sizes=queues.sizes, barrier=queues.barrier)
    if negative:
        first = device.download(offsets[source : source + 2])
        queues.begin(source, int(first[1] - first[0]))
    else:
        first_layer = kernels["sssp_predecessors_first_layer"]
        first_layer.launch(*arc_grid(first_layer, graph.m), (params,))
    layers = kernels["sssp_predecessors_layers"]
    round_ = 0
    while queues.read_sizes()[round_ % 3]:
        params.update(round=round_)
        layers.launch(*queues.grid(layers), (params,), cooperative=True)
        round_ += tuning.PREDECESSOR_LAYERS
    return count_missing() if negative else 0
