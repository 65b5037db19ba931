"""What SciPy takes for a graph, made into a Graph.

The rules are SciPy's, and not those of the rest of Kleene: a zero (or what is nearer to it than
1e-8), a NaN or an infinity in a dense array is no arc; whatever a sparse array stores is one, zeros
included, except that a length of NaN or infinity never makes a path shorter; a masked array has an
arc where it is not masked, however short (but for zeros, in Floyd and Warshall's matrix). Arcs that
a CSR array of float64 stores twice are parallel; any other type adds them. Floyd and Warshall's
matrix is dense, whatever it was made from, and has no diagonal.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from kleene import _native
from kleene.errors import GraphError
from kleene.graph import Graph
from kleene.graph.checks import explain_bad_arc
from kleene.graph.forms import CSR, adopt
from kleene.system.machine import as_threads, threads_for

__all__ = [
    "CSR_TYPES", "NEAR_ZERO", "as_csr", "as_graph", "as_indices", "as_matrix_graph", "bad_rows",
    "checked_rows", "count_arcs", "from_pydata", "require_square", "stored_rows",
]  # fmt: skip

# ---- rows: as they are stored, or as checked copies ----------------------------------------------


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


Array = NDArray[Any]

#: Up to here float64 counts without gaps, so that sums of whole numbers are the same in any type.
_EXACT = 2**53

#: Up to here SciPy takes an entry of a dense array for zero, which is not an arc: the tolerance of
#: ``np.ma.masked_values``.
NEAR_ZERO = 1e-8

#: What needs no conversion, if it holds float64.
CSR_TYPES = frozenset((scipy.sparse.csr_array, scipy.sparse.csr_matrix))


def from_pydata(csgraph: Any) -> Any:
    """Return an array of the package ``sparse`` as one of SciPy, anything else as it is."""
    if not hasattr(csgraph, "to_scipy_sparse"):
        return csgraph
    from scipy.sparse import _sputils

    fill_values = [0, np.inf, np.nan]
    return _sputils.convert_pydata_sparse_to_scipy(csgraph, accept_fv=fill_values)


def require_square(csgraph: Any) -> None:
    """Raise what SciPy raises for a graph of the wrong shape."""
    if scipy.sparse.issparse(csgraph):
        if csgraph.ndim != 2:
            raise ValueError("compressed-sparse graph must be 2-D")
        if csgraph.shape[0] != csgraph.shape[1]:
            raise ValueError("compressed-sparse graph must be shape (N, N)")
        return
    shape = np.shape(csgraph)
    if len(shape) != 2:
        raise ValueError("graph should have two dimensions")
    if shape[0] != shape[1]:
        raise ValueError("graph should be a square array")


def count_arcs(csgraph: Any) -> tuple[int, bool]:
    """Return how many arcs SciPy counts, and whether any of them is negative."""
    if scipy.sparse.issparse(csgraph):
        data = csgraph.data if csgraph.format in ("csr", "csc", "coo") else csgraph.tocoo().data
        return csgraph.nnz, bool(np.any(data < 0))
    if np.ma.isMaskedArray(csgraph):
        return int(csgraph.count()), bool(np.any(csgraph.compressed() < 0))
    array = np.asarray(csgraph)
    present = np.isfinite(array) & (array != 0)
    return int(np.count_nonzero(present)), bool(np.any(present & (array < 0)))


def as_csr(csgraph: Any, directed: bool) -> Any:
    """Return the CSR array that SciPy's searches work on, stored arcs in the same order."""
    if type(csgraph) in CSR_TYPES and csgraph.data.dtype == np.float64:
        if csgraph.ndim != 2 or csgraph.shape[0] != csgraph.shape[1]:
            require_square(csgraph)
        return csgraph
    csgraph = from_pydata(csgraph)
    if scipy.sparse.issparse(csgraph):
        if not directed and csgraph.format == "csc":
            csgraph = csgraph.T
        csgraph = csgraph.tocsr()
        if csgraph.dtype != np.float64 and not csgraph.has_canonical_format:
            # Arcs that are stored twice are two arcs, but SciPy adds them when it converts numbers.
            csgraph = csgraph.copy()
            csgraph.sum_duplicates()
    elif np.ma.isMaskedArray(csgraph):
        csgraph = scipy.sparse.csgraph.csgraph_from_masked(csgraph)
    else:
        csgraph = _rows_of_dense(csgraph)
    require_square(csgraph)
    return csgraph


def as_graph(
    csgraph: Any, directed: bool, unweighted: bool, threads: int | None
) -> tuple[Graph, bool]:
    """Return the graph that SciPy's searches see, and whether any length is negative."""
    csgraph = from_pydata(csgraph)
    require_square(csgraph)
    if not scipy.sparse.issparse(csgraph) and not np.ma.isMaskedArray(csgraph):
        graph = _from_dense(csgraph, True, threads)
        negative = graph.stats.negative
        if unweighted:
            graph = Graph(graph.csr._replace(weights=None))
    else:
        matrix = as_csr(csgraph, directed)
        graph = _from_csr(matrix, None if unweighted else _weights(matrix.data))
        negative = bool(np.any(matrix.data < 0)) if unweighted else graph.stats.negative
    return (graph if directed else graph.symmetrise()), negative


def as_matrix_graph(csgraph: Any, directed: bool, unweighted: bool, threads: int | None) -> Graph:
    """Return the graph of the matrix that SciPy's Floyd-Warshall works on."""
    csgraph = from_pydata(csgraph)
    if scipy.sparse.issparse(csgraph):
        if csgraph.format not in ("lil", "csr", "csc"):
            raise ValueError("csgraph must be lil, csr, or csc format")
        if csgraph.shape[0] != csgraph.shape[1]:
            raise ValueError("csgraph should be a square matrix")
        matrix = csgraph.tocsr()
        graph = _without_loops(_from_csr(matrix, _weights(matrix.data)))
    else:
        require_square(csgraph)
        masked = np.ma.isMaskedArray(csgraph)
        if masked:
            csgraph = np.where(np.ma.getmaskarray(csgraph), np.inf, np.ma.getdata(csgraph))
        graph = _from_dense(csgraph, False, threads, tiny=masked)
    if unweighted:
        graph = Graph(graph.csr._replace(weights=None))
    return graph if directed else graph.symmetrise()


def as_indices(indices: Any, n: int) -> tuple[Array, tuple[int, ...]]:
    """Return the sources as a flat array, and the shape they came in."""
    array = np.array(indices, order="C", dtype=np.int32)
    flat = np.atleast_1d(array).reshape(-1)
    flat[flat < 0] += n
    if np.any(flat < 0) or np.any(flat >= n):
        raise ValueError("indices out of range 0...N")
    return flat, array.shape


# ---- inside -------------------------------------------------------------------------------------


def _weights(data: Array) -> Array:
    """Return lengths in a type in which sums are what SciPy's float64 makes of them."""
    if data.dtype.kind in "ib" or data.dtype in (np.uint8, np.uint16, np.uint32):
        return data
    return data.astype(np.float64, copy=False)


def _from_csr(matrix: Any, weights: Array | None) -> Graph:
    """Make the graph of a CSR array."""
    stored = int(matrix.indptr[-1])  # the arrays may be longer
    ends = matrix.indices[:stored]
    if weights is not None:
        weights = weights[:stored]
    try:
        graph = Graph.from_csr(matrix.indptr, ends, weights)
    except GraphError:
        if weights is None or weights.dtype.kind != "f":
            raise
        nan = np.isnan(weights)
        if not nan.any():
            raise
        # An infinite length is not an arc, and a NaN never makes a path shorter.
        graph = Graph.from_csr(matrix.indptr, ends, np.where(nan, np.inf, weights))
    held = graph.weights
    if held is None or held.dtype.kind == "f" or graph.stats.path_bound < _EXACT:
        return graph
    return Graph(graph.csr._replace(weights=adopt(held.astype(np.float64))))


def _from_dense(array: Any, loops: bool, threads: int | None, tiny: bool = False) -> Graph:
    """Make the graph of a matrix; ``tiny`` says whether what is nearly zero is an arc."""
    matrix = np.asarray(array)
    if matrix.dtype.kind not in "biufc":
        raise TypeError(f"a graph must hold numbers, not {matrix.dtype}")
    matrix = np.ascontiguousarray(matrix, dtype=np.float64)
    team = threads_for(matrix.size, as_threads(threads))
    try:
        rows = _native.csr_from_matrix(matrix, loops, team)
    except _native.BadArc as bad:
        raise explain_bad_arc(bad, len(matrix), None, matrix, None) from None
    graph = Graph(CSR(*map(adopt, rows)))
    return graph if tiny or graph.stats.min_weight > NEAR_ZERO else _without_tiny(graph)


def _rows_of_dense(array: Any) -> Any:
    """Return a CSR array of the arcs of a matrix, without non-negative loops."""
    matrix = np.asarray(array)
    if matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1] and matrix.dtype.kind in "biuf":
        matrix = np.ascontiguousarray(matrix, dtype=np.float64)
        offsets, heads, lengths = _native.csr_from_matrix(matrix, True, threads_for(matrix.size))
        if np.abs(lengths).min(initial=1) > NEAR_ZERO:
            return scipy.sparse.csr_array((lengths, heads, offsets), shape=matrix.shape)
    return scipy.sparse.csgraph.csgraph_from_dense(array)


def _without_tiny(graph: Graph) -> Graph:
    sources, targets, weights = graph.coo
    kept = np.abs(weights) > NEAR_ZERO if weights is not None else np.ones(graph.m, bool)
    if weights is None or kept.all():
        return graph
    return Graph.from_edges(sources[kept], targets[kept], weights[kept], n=graph.n)


def _without_loops(graph: Graph) -> Graph:
    if not graph.stats.negative:  # other loops are in no graph
        return graph
    sources, targets, weights = graph.coo
    assert weights is not None
    kept = sources != targets
    return Graph.from_edges(sources[kept], targets[kept], weights[kept], n=graph.n)
