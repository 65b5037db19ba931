"""Predecessors from a matrix of shortest distances.

The kernels are in ``kernels/closure_predecessors.cu``, with the argument why it is right. It needs
arcs that are long enough to be seen: where rounding swallows the last arc of a path, the vertex
before is as far away as the vertex itself, and is not found. ``forget_hidden`` removes what was
found instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.cuda.runtime.device import Array, Device, ceil_div, ctype

if TYPE_CHECKING:
    from kleene.backends.cuda.closure_tiled import TileLayout

__all__ = ["forget_hidden", "recover", "recovery_bytes"]

_THREADS = 256
_ROWS = 256  # kRows
_ROWS_PER_THREAD = 4  # kRowsPerThread

#: Entries that the search may visit and still be faster, as a part of the n^3 relaxations of the
#: tiled closure (an H200 visits 0.7 T scattered entries a second, and does 14 T relaxations).
_WORTH = 1 / 16

#: Entries that are checked together.
_CHECKED = 2**22


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


def forget_hidden(distances: NDArray[Any], predecessors: NDArray[Any], lightest: float) -> None:
    """Set predecessors to -1 where rounding hid the right one, and another was found.

    Both are whole matrices on the host; ``lightest`` is the smallest weight. An arc is hidden if it
    is no longer than the rounding of the distances around it. Most graphs have none: they cost one
    look at the matrix, and the others one at the columns to which such arcs lead.
    """
    n = len(distances)
    if distances.dtype.kind != "f" or n < 3:
        return
    slack = 2 * n * float(np.finfo(distances.dtype).eps)
    longest = float(distances.max())
    if longest == np.inf:
        longest = float(max(row.max(where=row < np.inf, initial=0) for row in distances))
    if lightest > slack * longest:
        return
    np.fill_diagonal(distances, np.inf)
    nearest = distances.min(axis=0)  # an arc, and the lightest one that leads there
    np.fill_diagonal(distances, 0)
    columns = np.flatnonzero(nearest <= slack * longest)
    step = max(1, _CHECKED // n)
    for first in range(0, len(columns), step):
        part = columns[first : first + step]
        held, tails = distances[:, part], predecessors[:, part]
        rows, at = np.nonzero((slack * held >= nearest[part]) & (tails >= 0) & (held < np.inf))
        tail, head = tails[rows, at], part[at]
        offered = distances[rows, tail] + distances[tail, head]  # that arc is a shortest path
        wrong = offered > (1 + slack) * held[rows, at]
        predecessors[rows[wrong], head[wrong]] = -1
