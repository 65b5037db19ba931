"""The rows of a SciPy array as the core takes them: as they are stored, or as checked copies."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.errors import GraphError

__all__ = ["bad_rows", "checked_rows", "stored_rows"]

Array = NDArray[Any]


def stored_rows(matrix: Any) -> tuple[Array, Array]:
    """Return offsets and neighbours without a copy; whoever reads them checks what it reads."""
    offsets, neighbors = _as_ids(matrix.indptr), _as_ids(matrix.indices)
    if offsets.dtype == np.int32 and neighbors.dtype == np.int64:  # the core has no such pair
        offsets = offsets.astype(np.int64)
    return offsets, neighbors


def checked_rows(matrix: Any) -> tuple[Array, Array]:
    """Return copies of offsets and neighbours, or say what is wrong with them."""
    rows = _native.checked_rows(*stored_rows(matrix))
    if rows is None:
        raise bad_rows(matrix.shape[0])
    return rows


def bad_rows(n: int) -> GraphError:
    """Return the error for offsets out of range, or for columns that are not vertices."""
    return GraphError(
        "csgraph is not a valid CSR array: indptr must rise from 0 to the number of entries, and "
        f"indices must be from 0 to {n - 1}"
    )


def _as_ids(array: Array) -> Array:
    wide = array.dtype != np.int32 and array.dtype != np.int64
    return np.ascontiguousarray(array, dtype=np.int64 if wide else None)
