"""Small requests, answered on SciPy's arrays as they are.

To make a Graph of a SciPy array (a copy, sorted and checked) and to plan a call takes some hundred
microseconds and a pass over all arcs. A search that takes less is run by the core on the stored
rows, which it checks as it reads them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from kleene import _native
from kleene.interop.csgraph.solve import NULL, Ours
from kleene.interop.csgraph.validation import (
    NEAR_ZERO,
    as_csr,
    as_indices,
    bad_rows,
    from_pydata,
    stored_rows,
)

__all__ = ["close_directly", "search_directly"]

Array = NDArray[Any]

#: Vertices and arcs, times sources, up to which one core is done before a Graph is made and
#: threads have started: the Facebook graph (180,000, both ways 360,000) takes 0.6 to 2 ms here and
#: 1.6 to 4 ms by a Graph; R-MAT 16 (1.9 million) is as fast by a Graph on two Zen 3 cores.
MOST_LOOKS = 2**19

#: A search with a limit counts as so much less: SciPy's users give one to see a neighbourhood.
#: So does one that counts arcs: a queue is ten times as fast as a heap (R-MAT 14).
_LIMITED, _UNWEIGHTED = 64, 4

#: Vertices of a matrix for which the dense engine does not pay: a Graph and a plan take 150 us, and
#: closing 96 vertices on one core 130.
MOST_MATRIX = 96


def search_directly(
    csgraph: Any,
    directed: bool,
    indices: Any,
    predecessors: bool,
    unweighted: bool,
    ours: Ours,
    limit: float = np.inf,
    nearest: bool = False,
) -> Any:
    """Return what SciPy's ``dijkstra`` returns, or None where that takes a Graph.

    It does for large requests, for negative lengths and those whose sums may overflow, and for
    devices, threads and types of the user's choice.
    """
    csgraph = from_pydata(csgraph)
    size = _size(csgraph)
    if ours != _DEFAULT or size is None:
        return None
    n, arcs = size
    count = n if indices is None else np.size(indices)
    looks = (min(count, 1) if nearest else count) * (n + arcs) * (1 if directed else 2)
    most = MOST_LOOKS * (_UNWEIGHTED if unweighted else 1) * (1 if limit == np.inf else _LIMITED)
    if not 0 < looks <= most:
        return None
    shape: tuple[int, ...]
    if indices is None:
        sources, shape = np.arange(n, dtype=np.int32), (n,)
    else:
        sources, shape = as_indices(indices, n)
    shape = (n,) if nearest else (*shape, n)
    distances = np.empty(shape)
    tree = np.empty(shape, np.int32) if predecessors else None
    origins = np.empty(n, np.int32) if predecessors and nearest else None
    matrix = as_csr(csgraph, directed)
    lengths = np.ascontiguousarray(matrix.data, dtype=np.float64)
    rows = stored_rows(matrix)
    done = _native.search_stored_rows(
        *rows, lengths, not directed, sources, bool(nearest), bool(unweighted), limit, NULL,
        distances, tree, origins,
    )  # fmt: skip
    if done < 0:
        raise bad_rows(n)
    if not done:
        return None
    if tree is None:
        return distances
    return (distances, tree) if origins is None else (distances, tree, origins)


_DEFAULT = Ours()


def close_directly(
    csgraph: Any, directed: bool, predecessors: bool, unweighted: bool, ours: Ours
) -> Any:
    """Return what SciPy's ``floyd_warshall`` returns, or None where that takes a Graph."""
    size = _size(csgraph)
    if ours != _DEFAULT or size is None or not 0 < size[0] <= MOST_MATRIX:
        return None
    n = size[0]
    tree = np.empty((n, n), np.int32) if predecessors else None
    how = bool(unweighted), not directed
    if scipy.sparse.issparse(csgraph):
        if csgraph.format not in ("lil", "csr", "csc"):
            return None
        matrix = csgraph.tocsr()
        lengths = np.ascontiguousarray(matrix.data, dtype=np.float64)
        distances = np.empty((n, n))
        rows = stored_rows(matrix)
        done = _native.close_stored_rows(*rows, lengths, distances, tree, NULL, *how)
        if done < 0:
            raise bad_rows(n)
    else:
        given = np.asarray(csgraph)
        if given.dtype.kind not in "biuf" or np.ma.isMaskedArray(csgraph):
            return None
        distances = np.array(given, dtype=np.float64, order="C")
        done = _native.close_small_matrix(distances, tree, NULL, NEAR_ZERO, *how)
    if not done:
        return None
    return distances if tree is None else (distances, tree)


def _size(csgraph: Any) -> tuple[int, int] | None:
    """Return the numbers of vertices and entries of a square array, None for other things."""
    if scipy.sparse.issparse(csgraph):
        shape = csgraph.shape
        entries = csgraph.nnz
    else:
        shape = np.shape(csgraph)
        entries = shape[0] * shape[0] if shape else 0
    return (shape[0], entries) if len(shape) == 2 and shape[0] == shape[1] else None
