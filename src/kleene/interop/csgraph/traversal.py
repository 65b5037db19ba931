"""SciPy's breadth-first functions, with SciPy's order of vertices.

The order is that of a first-in, first-out queue that takes arcs as they are stored, and so are the
predecessors; methods that look at arcs out of order cannot give either.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse.csgraph
from numpy.typing import NDArray

from kleene import _native
from kleene.errors import GraphError
from kleene.interop.csgraph.solve import NULL
from kleene.interop.csgraph.validation import as_csr
from kleene.system.machine import threads_for

__all__ = ["bad_indices", "breadth_first_order", "breadth_first_tree", "sound_rows"]

Array = NDArray[Any]


def breadth_first_order(
    csgraph: Any, i_start: int, directed: bool = True, return_predecessors: bool = True
) -> Any:
    """List vertices breadth first as ``scipy.sparse.csgraph.breadth_first_order`` does.

    Vertices come in SciPy's order, with SciPy's predecessors. A start that is no vertex of the
    graph is an error.

    Parameters
    ----------
    csgraph : array, sparse array or nested lists
        The lengths of arcs: entry (i, j) is the arc from i to j. In a dense array zero, NaN and
        infinities mean "no arc"; in a sparse array every stored entry is an arc.
    i_start : int
        The vertex to start at.
    directed : bool
        If False, an arc may be travelled both ways, by the shorter of the two entries.
    return_predecessors : bool
        Also return the predecessors on shortest paths, -9999 where there is none.

    Examples
    --------
    >>> from kleene import csgraph
    >>> order, predecessors = csgraph.breadth_first_order([[0, 1, 1], [0, 0, 0], [0, 1, 0]], 0)
    >>> order.tolist(), predecessors.tolist()
    ([0, 1, 2], [-9999, 0, 0])
    """
    matrix = as_csr(csgraph, bool(directed))
    n = matrix.shape[0]
    start = _as_start(i_start, n)
    offsets, neighbors = sound_rows(matrix)
    also: tuple[Any, Any] = (None, None)
    if not directed:
        if len(neighbors) and (neighbors.min() < 0 or neighbors.max() >= n):
            raise bad_indices(n)
        also = _native.csr_transpose(offsets, neighbors, None, threads_for(len(neighbors)))[:2]
    order = np.empty(n, np.int32)
    predecessors = np.full(n, NULL, np.int32)
    reached = _native.bfs_order(offsets, neighbors, *also, start, order, predecessors)
    if reached < 0:
        raise bad_indices(n)
    return (order[:reached], predecessors) if return_predecessors else order[:reached]


def breadth_first_tree(csgraph: Any, i_start: int, directed: bool = True) -> Any:
    """Return the tree of a breadth-first search as ``scipy.sparse.csgraph`` does.

    Parameters
    ----------
    csgraph : array, sparse array or nested lists
        The lengths of arcs: entry (i, j) is the arc from i to j. In a dense array zero, NaN and
        infinities mean "no arc"; in a sparse array every stored entry is an arc.
    i_start : int
        The vertex to start at.
    directed : bool
        If False, an arc may be travelled both ways, by the shorter of the two entries.

    Examples
    --------
    >>> from kleene import csgraph
    >>> csgraph.breadth_first_tree([[0, 8, 0, 3], [0, 0, 2, 5], [0, 0, 0, 6], [0] * 4], 0).nnz
    3
    """
    _, predecessors = breadth_first_order(csgraph, i_start, directed, True)
    return scipy.sparse.csgraph.reconstruct_path(csgraph, predecessors, directed)


def _as_start(i_start: Any, n: int) -> int:
    if isinstance(i_start, (str, bytes)):
        raise TypeError("an integer is required")
    start = int(i_start)
    if start < 0:
        raise OverflowError(f"i_start must not be negative, and is {start}")
    if start >= n:
        raise ValueError(f"i_start is {start}, but the graph's vertices are 0 to {n - 1}")
    return start


def sound_rows(matrix: Any) -> tuple[Array, Array]:
    """Return offsets and neighbours in the types of the core, or say what is wrong with them."""
    offsets = matrix.indptr.astype(np.int64)
    neighbors = np.array(matrix.indices[: offsets[-1]], dtype=np.int32)  # a copy: it is trusted
    if offsets[0] != 0 or (np.diff(offsets) < 0).any() or len(neighbors) != offsets[-1]:
        raise GraphError("csgraph is no sound CSR array: indptr must rise from 0")
    return offsets, neighbors


def bad_indices(n: int) -> GraphError:
    """Return the error for an index that is no vertex."""
    return GraphError(f"csgraph is no sound CSR array: indices must be from 0 to {n - 1}")
