"""Predecessors from a matrix of shortest distances.

The kernels are in ``kernels/closure/closure_predecessors.cu``, with the argument why it is right.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kleene.backends.cuda.runtime.interface import Array, Device, ceil_div, ctype
from kleene.backends.cuda.runtime.structs import constant, struct_type
from kleene.backends.cuda.tuning import closure as tuning

if TYPE_CHECKING:
    from kleene.backends.cuda.closure.kernels import TileLayout

__all__ = ["recover", "recovery_bytes"]

_THREADS = (256,)
_LISTED_ROWS = constant("closure_predecessors", "kListedRows")
_SEARCHED_ROWS = constant("closure_predecessors", "kSearchedRows")


def recovery_bytes(layout: TileLayout) -> int:
    """Return the device bytes needed beside the closed matrix, if few arcs are tight."""
    entry = layout.word.itemsize
    matrices = layout.rows * layout.words * (entry if entry == 4 else entry + 4)
    return matrices + layout.rows * layout.words // 16 * (entry + 4) + 20 * layout.rows


def recover(
    device: Device,
    arcs: Array,
    distances: Array,
    n: int,
    positive: bool,
    complete: bool = False,
) -> Array | None:
    """Return the predecessor matrix; None if they have to be computed along.

    That is so if too many arcs are tight, and unless every length is ``positive``, if some vertex
    does not reach another or there are cycles of length zero. ``arcs`` may be overwritten. Entries
    are -1 where there is no predecessor, and where rounding hides it: then None, if the matrix must
    be ``complete``.
    """
    kind = ctype(arcs.dtype)
    kernels = device.kernels("closure_predecessors", KL_TYPE=kind)
    grid, heights = (ceil_div(n, _THREADS[0]), ceil_div(n, _LISTED_ROWS)), None
    if not positive:
        heights = device.empty(n, np.float64, "heights")
        kernels["closure_predecessors_heights"].launch(
            grid[:1], _THREADS, (distances, distances.pitch, n, heights)
        )
        if not np.isfinite(device.download(heights)).all():
            return None
    counts = device.empty((grid[1], n), np.int32, "counts")
    unresolved = device.zeros(1, np.int32, "unresolved")
    params = struct_type("closure_predecessors", "RecoveryParams", KL_TYPE=kind).pack(
        arcs=arcs, distances=distances, stride=arcs.pitch, n=n, heights=heights, counts=counts,
        offsets=None, begins=None, tails=None, lengths=None, predecessors=None,
        unresolved=unresolved,
    )  # fmt: skip
    kernels["closure_predecessors_count"].launch(grid, _THREADS, (params,))
    by_column = device.download(counts).T.astype(np.int64)
    tight = int(by_column.sum())
    if (n * n - tight) * (tight / n) > tuning.RECOVERY_SHARE * n**3:
        return None
    offsets = np.zeros(by_column.size + 1, np.int64)
    np.cumsum(by_column.ravel(), out=offsets[1:])
    if arcs.dtype.itemsize == 4:
        predecessors = arcs.view(np.int32).reshape(*arcs.shape)
    else:
        predecessors = device.empty(arcs.shape, np.int32, "predecessors")
    params.update(
        offsets=device.upload(np.ascontiguousarray(offsets[:-1].reshape(n, -1).T), "offsets"),
        begins=device.upload(offsets[:: grid[1]].copy(), "begins"),
        tails=device.empty(max(tight, 1), np.int32, "tails"),
        lengths=device.empty(max(tight, 1), arcs.dtype, "lengths"),
        predecessors=predecessors,
    )
    kernels["closure_predecessors_list"].launch(grid, _THREADS, (params,))
    search = "search" if positive else "search_by_height"
    kernels[f"closure_predecessors_{search}"].launch(
        (grid[0], ceil_div(n, _SEARCHED_ROWS)), _THREADS, (params,)
    )
    most = 0 if complete else tuning.UNRESOLVED_SHARE * n * n
    if (complete or not positive) and device.download(unresolved)[0] > most:
        return None
    return predecessors
