"""Predecessors from a matrix of shortest distances; kernels in ``kernels/dense_recover.cu``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kleene.backends.cuda.runtime.device import Array, Device, ceil_div, ctype

if TYPE_CHECKING:
    from kleene.backends.cuda.closure_tiled import Layout

__all__ = ["recover", "recovery_bytes"]

_THREADS = 256
_ROWS = 256  # kRows
_TOGETHER = 4  # kTogether

#: The search for predecessors looks at so many entries in the time that the tiled engine takes for
#: one relaxation of each triple, or less (an H200 looks at some 0.7 T a second where lists lie
#: scattered, and does 14 T relaxations).
_WORTH = 1 / 16


def recovery_bytes(layout: Layout) -> int:
    """Return how much device memory it takes beside the closed matrix, with few tight arcs."""
    entry = layout.word.itemsize
    matrices = layout.rows * layout.words * (entry if entry == 4 else entry + 4)
    return matrices + layout.rows * layout.words // 16 * (entry + 4) + 12 * layout.rows


def recover(device: Device, arcs: Array, distances: Array, n: int) -> Array | None:
    """Return who comes before whom, or None if that would take longer than to begin again.

    ``arcs`` may be overwritten. Entries are -1 where there is no predecessor, and where rounding
    hides it.
    """
    kernels = device.kernels("dense_recover", KL_TYPE=ctype(arcs.dtype))
    grid, stride = (ceil_div(n, _THREADS), ceil_div(n, _ROWS)), arcs.pitch
    counts = device.empty((grid[1], n), np.int32, "counts")
    args = (arcs, distances, stride, n, counts)
    kernels["recover_count"].launch(grid, (_THREADS,), args)
    by_column = device.download(counts).T.astype(np.int64)
    tight = int(by_column.sum())
    if (n * n - tight) * (tight / n) > _WORTH * n**3:
        return None
    offsets = np.zeros(by_column.size + 1, np.int64)
    np.cumsum(by_column.ravel(), out=offsets[1:])
    begins = device.upload(offsets[:: grid[1]].copy(), "begins")
    parts = device.upload(np.ascontiguousarray(offsets[:-1].reshape(n, -1).T), "offsets")
    heads = device.empty(max(tight, 1), np.int32, "heads")
    lengths = device.empty(max(tight, 1), arcs.dtype, "lengths")
    if arcs.dtype.itemsize == 4:
        last = arcs.view(np.int32).reshape(*arcs.shape)
    else:
        last = device.empty(arcs.shape, np.int32, "last")
    args_fill = (arcs, distances, stride, n, parts, heads, lengths, last)
    kernels["recover_fill"].launch(grid, (_THREADS,), args_fill)
    kernels["recover_last"].launch(
        (grid[0], ceil_div(n, _TOGETHER)),
        (_THREADS,),
        (distances, stride, n, begins, heads, lengths, last),
    )
    return last
