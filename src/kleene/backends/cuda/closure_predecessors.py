"""Predecessors from a matrix of shortest distances.

The kernels are in ``kernels/closure_predecessors.cu``, with the argument why it is right.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kleene.backends.cuda.runtime.device import Array, Device, ceil_div, ctype

if TYPE_CHECKING:
    from kleene.backends.cuda.closure_tiled import TileLayout

__all__ = ["recover", "recovery_bytes"]

_THREADS = 256
_ROWS = 256  # kRows
_ROWS_PER_THREAD = 4  # kRowsPerThread

#: Entries that the search may visit and still be faster, as a part of the n^3 relaxations of the
#: tiled closure (an H200 visits 0.7 T scattered entries a second, and does 14 T relaxations).
_WORTH = 1 / 16


def recovery_bytes(layout: TileLayout) -> int:
    """Return the device bytes needed beside the closed matrix, if few arcs are tight."""
    entry = layout.word.itemsize
    matrices = layout.rows * layout.words * (entry if entry == 4 else entry + 4)
    return matrices + layout.rows * layout.words // 16 * (entry + 4) + 12 * layout.rows


def recover(device: Device, arcs: Array, distances: Array, n: int) -> Array | None:
    """Return the predecessor matrix; None if closing again with predecessors is faster.

    ``arcs`` may be overwritten. Entries are -1 where there is no predecessor, and where rounding
    hides it.
    """
    kernels = device.kernels("closure_predecessors", KL_TYPE=ctype(arcs.dtype))
    grid, stride = (ceil_div(n, _THREADS), ceil_div(n, _ROWS)), arcs.pitch
    counts = device.empty((grid[1], n), np.int32, "counts")
    args = (arcs, distances, stride, n, counts)
    kernels["closure_predecessors_count"].launch(grid, (_THREADS,), args)
    by_column = device.download(counts).T.astype(np.int64)
    tight = int(by_column.sum())
    if (n * n - tight) * (tight / n) > _WORTH * n**3:
        return None
    offsets = np.zeros(by_column.size + 1, np.int64)
    np.cumsum(by_column.ravel(), out=offsets[1:])
    begins = device.upload(offsets[:: grid[1]].copy(), "begins")
    parts = device.upload(np.ascontiguousarray(offsets[:-1].reshape(n, -1).T), "offsets")
    tails = device.empty(max(tight, 1), np.int32, "tails")
    lengths = device.empty(max(tight, 1), arcs.dtype, "lengths")
    if arcs.dtype.itemsize == 4:
        predecessors = arcs.view(np.int32).reshape(*arcs.shape)
    else:
        predecessors = device.empty(arcs.shape, np.int32, "predecessors")
    args_fill = (arcs, distances, stride, n, parts, tails, lengths, predecessors)
    kernels["closure_predecessors_list"].launch(grid, (_THREADS,), args_fill)
    kernels["closure_predecessors_search"].launch(
        (grid[0], ceil_div(n, _ROWS_PER_THREAD)),
        (_THREADS,),
        (distances, stride, n, begins, tails, lengths, predecessors),
    )
    return predecessors
