"""Predecessors from the final distances of a search; kernels in ``kernels/sssp_tree.cu``."""

from __future__ import annotations

import numpy as np

from kleene.backends.cuda.device_graph import DeviceGraph
from kleene.backends.cuda.frontiers import Queues, arc_grid
from kleene.backends.cuda.runtime.device import Array, Device, ceil_div, ctype

__all__ = ["recover_tree", "tree_bytes"]

_THREADS = 256
_ROUNDS = 1024  # of a launch: some milliseconds


def tree_bytes(n: int, m: int) -> int:
    """Return how much device memory it takes beside the graph, the distances and the tree."""
    return Queues.nbytes(n, m)


def recover_tree(
    device: Device,
    graph: DeviceGraph,
    distances: Array,
    source: int,
    parents: Array,
    *,
    negative: bool = False,
    rise: float = 0,
    sums: Array | None = None,
) -> int:
    """Fill ``parents`` with the vertex before each on a shortest path, -1 where there is none.

    Every vertex that was reached has a tight arc into it: ``distance[u] + length == distance[v]``
    as the search added, which may have let sums ``rise`` where lengths are ``negative``; it can
    have ``sums`` along the tree that do not, of all vertices that hang on the source. Returns how
    many vertices do not hang there all the same, because rounding goes round in circles; without
    negative lengths it is 0.
    """
    kernels = device.kernels("sssp_tree", KL_TYPE=ctype(distances.dtype))
    n, (offsets, neighbors) = graph.n, graph.csr
    arcs = (offsets, neighbors, graph.lengths(distances.dtype), distances)
    count = kernels["sssp_tree_left"]

    def left() -> int:
        counted = device.zeros(1, np.uint64, "left")
        blocks = (ceil_div(n, _THREADS),)
        count.launch(blocks, (_THREADS,), (distances, parents, n, source, counted))
        return int(device.download(counted)[0])

    device.fill(parents, 0xFF)
    if not negative:
        descend = kernels["sssp_tree_descend"]
        descend.launch(*arc_grid(descend, graph.m), (*arcs, n, parents))
        if left() == 0:
            return 0
    queues = Queues(device, graph)
    if negative:
        first = device.download(offsets[source : source + 2])
        queues.begin(source, int(first[1] - first[0]))
    else:
        hang = kernels["sssp_tree_hang"]
        args = (*arcs, n, source, parents, queues.even, queues.sizes)
        hang.launch(*arc_grid(hang, graph.m), args)
    spread = kernels["sssp_tree_spread"]
    turn = 0
    while queues.look()[turn % 3]:
        args_spread = (*arcs, source, _number(distances, rise), parents, sums)
        queued = (queues.even, queues.odd, queues.sizes, turn, _ROUNDS, queues.barrier)
        spread.launch(*queues.grid(spread), (*args_spread, *queued), cooperative=True)
        turn += _ROUNDS
    return left() if negative else 0


def _number(like: Array, number: float) -> int | float:
    """Return the number as kernels take it where distances are of this type."""
    return int(number) if like.dtype.kind == "i" else float(number)
