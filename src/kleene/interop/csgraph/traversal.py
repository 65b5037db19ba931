"""SciPy's breadth-first functions, with SciPy's order of vertices.

The order is that of a first-in, first-out queue that takes arcs as they are stored, and so are the
predecessors; methods that look at arcs out of order cannot give either.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse.csgraph

from kleene import _native
from kleene.interop.csgraph.solve import NULL
from kleene.interop.csgraph.validation import CSR_TYPES, as_csr, bad_rows, checked_rows, stored_rows
from kleene.system.machine import threads_for

__all__ = ["breadth_first_order", "breadth_first_tree", "connected_components"]


def breadth_first_order(
    csgraph: Any, i_start: int, directed: bool = True, return_predecessors: bool = True
) -> Any:
    """List vertices breadth first as ``scipy.sparse.csgraph.breadth_first_order`` does.

    Vertices come in SciPy's order, with SciPy's predecessors. A start that is not a vertex of the
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
    rows = stored_rows(matrix)
    order = np.empty(n, np.int32)
    predecessors = np.empty(n, np.int32)
    reached = _native.bfs_order(*rows, not directed, start, NULL, order, predecessors)
    if reached < 0:
        raise bad_rows(n)
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
    if directed and type(csgraph) in CSR_TYPES and csgraph.has_canonical_format:
        return _tree(csgraph, predecessors)
    return scipy.sparse.csgraph.reconstruct_path(csgraph, predecessors, directed)


def _tree(matrix: Any, predecessors: Any) -> Any:
    n = matrix.shape[0]
    lengths = np.ascontiguousarray(matrix.data, dtype=np.float64)
    tree = np.empty(n), np.empty(n, np.int32), np.empty(n + 1, np.int32)
    count = _native.tree_rows(*stored_rows(matrix), lengths, predecessors, *tree[::-1])
    if count < 0:
        raise bad_rows(n)
    made = type(matrix)((tree[0][:count], tree[1][:count], tree[2]), shape=matrix.shape)
    made.has_canonical_format = True
    return made


def _as_start(i_start: Any, n: int) -> int:
    if isinstance(i_start, (str, bytes)):
        raise TypeError("an integer is required")
    start = int(i_start)
    if start < 0:
        raise OverflowError(f"i_start must not be negative, but is {start}")
    if start >= n:
        raise ValueError(f"i_start is {start}, but the graph's vertices are 0 to {n - 1}")
    return start


# ---- connected components ------------------------------------------------------------------------


def connected_components(
    csgraph: Any, directed: bool = True, connection: str = "weak", return_labels: bool = True
) -> Any:
    """Find components as ``scipy.sparse.csgraph.connected_components`` does.

    Parameters
    ----------
    csgraph, directed, connection, return_labels
        As in SciPy. Weak components are numbered by their first vertices, strong ones in the order
        in which a depth-first search on one core leaves them: no arc leads to a larger number.

    Examples
    --------
    >>> from kleene import csgraph
    >>> count, labels = csgraph.connected_components([[0, 1, 0], [0, 0, 0], [0, 0, 0]])
    >>> count, labels.tolist()
    (2, [0, 0, 1])
    """
    if connection.lower() not in ("weak", "strong"):
        raise ValueError("connection must be 'weak' or 'strong'")
    offsets, neighbors = checked_rows(as_csr(csgraph, bool(directed)))
    if directed and connection.lower() == "strong":
        labels, sizes = _native.strong_components_in_search_order(offsets, neighbors)
    else:
        team = threads_for(len(neighbors) // 8)  # below a million arcs threads do not pay
        labels, sizes = _native.weak_components(offsets, neighbors, False, team)
        if len(sizes) > 1:
            _native.number_components_by_first(labels, len(sizes))
    return (len(sizes), labels) if return_labels else len(sizes)
