"""Graphs from matrices: the graph keeps the matrix in canonical form and derives the CSR form.

Dense methods read the matrix itself. The CSR form is built, on all cores, on first access: a graph
of 16,384 vertices has 268 million arcs, and their ids alone take as much memory as the matrix.

A zero off the diagonal is an arc of weight zero, or no arc, as in SciPy and NetworkX. A matrix says
which where some other entry means "no arc". Where none does, the caller must say it.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.errors import Code, GraphError, Text
from kleene.graph.checks import as_array, as_weights, is_masked, require_memory, weight_dtype
from kleene.graph.dlpack import to_numpy
from kleene.graph.forms import CSR, is_ours
from kleene.graph.no_path import no_path
from kleene.graph.rows import require_same_axes
from kleene.system.formatting import counted
from kleene.system.machine import threads_for

__all__ = ["DenseArcs", "ambiguous_zeros", "dense_arcs"]

Array = NDArray[Any]


@dataclass(frozen=True)
class DenseArcs:
    """The arcs of a graph as a matrix, with the statistics that planning needs."""

    matrix: Array  # no_path for no arc; on the diagonal 0, or a negative self-loop
    offsets: NDArray[np.int64]
    min_weight: int | float
    max_weight: int | float
    heaviest: Array  # the largest magnitude in each row
    weighted: bool

    def csr(self) -> CSR:
        """Return the CSR form."""
        m, dtype = int(self.offsets[-1]), self.matrix.dtype
        require_memory(
            m * (4 + dtype.itemsize),
            f"the CSR form of {m:,} arcs",
            Text("use a dense method: ", Code("method='tiled'")),
        )
        neighbors, weights = np.empty(m, np.int32), np.empty(m, dtype)
        threads = threads_for(self.matrix.size)
        _native.dense_to_csr(self.matrix, self.offsets, neighbors, weights, threads)
        return CSR(self.offsets, neighbors, weights if self.weighted else None)


def dense_arcs(matrix: Any, null_value: Any = None, out: Array | None = None) -> DenseArcs:
    """Return a square array of weights in canonical form: a copy, or in ``out``."""
    require_same_axes(matrix)
    matrix = to_numpy(matrix)
    mask = np.ma.getmaskarray(matrix) if is_masked(matrix) else None
    data = matrix if mask is None else np.ma.getdata(matrix)
    array = as_array(data, "the matrix", matrix=True)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise GraphError(f"the matrix must be square, but has shape {array.shape}")
    n, weighted = len(array), array.dtype != bool
    require_memory(
        n * n * _bytes_per_entry(array, mask is not None, out is not None),
        f"a matrix of {n:,} vertices",
        "use a sparse form",
    )
    entries, null = _entries(array, mask, null_value)
    null_nan = null is not None and null != null
    canonical = np.empty_like(entries) if out is None else out
    degrees = np.empty(n, np.int64)
    heaviest = np.empty(n, entries.dtype if entries.dtype.kind == "f" else np.uint64)
    lowest, highest, bad = _native.dense_canonical(
        entries, None if null_nan else null, null_nan, canonical, degrees, heaviest,
        threads_for(entries.size),
    )  # fmt: skip
    if bad >= 0:
        row, column = divmod(bad, n)
        raise GraphError(
            f"entry ({row}, {column}) of the matrix is {entries[row, column]}, which is not a "
            "weight",
            advice=["use inf for no arc"],
        )
    offsets = np.concatenate(([0], np.cumsum(degrees)))
    if offsets[-1] == 0:
        lowest = highest = 0
    arcs = DenseArcs(canonical, offsets, lowest, highest, heaviest, weighted)
    if null_value is None and weighted and lowest <= 0 and not is_ours(matrix):
        _require_known_zeros(entries)
    return arcs


def ambiguous_zeros(matrix: Array) -> int:
    """Return how many zeros off the diagonal may be arcs or none, since no entry there means none.

    What is on the diagonal says nothing: many fill it with infinity, whatever zeros mean.
    """
    diagonal, n = matrix.diagonal(), len(matrix)
    zeros = matrix.size - np.count_nonzero(matrix)
    zeros -= n - np.count_nonzero(diagonal)
    if not zeros:
        return 0
    others = matrix.reshape(-1)[1:].reshape(n - 1, n + 1)[:, :-1]  # all entries off the diagonal
    return 0 if others.max() == no_path(matrix.dtype) else int(zeros)


def _require_known_zeros(entries: Array) -> None:
    """Raise for a matrix in which a zero may be an arc, or none."""
    zeros = ambiguous_zeros(entries)
    if zeros:
        share = 100 * zeros / (entries.size - len(entries))
        raise GraphError(
            f"{counted(zeros, 'entry', 'entries')} of the matrix off the diagonal "
            f"{'is' if zeros == 1 else 'are'} zero ({share:.3g} %), which may mean 'no arc' or "
            "weight 0",
            advice=[
                Text(Code("null_value=0"), " if zeros mean 'no arc', as in an adjacency matrix"),
                Text(Code("null_value=inf"), " if they are arcs of weight 0"),
            ],
            lead=": pass ",
        )


def _bytes_per_entry(array: Array, masked: bool, in_place: bool) -> int:
    """Return the peak memory per entry: the canonical matrix, a converted one, and marks."""
    dtype = weight_dtype(array.dtype, "the matrix")
    marked = masked or (array.dtype.kind in "biu" and array.dtype != dtype)
    converted = marked or array.dtype != dtype or not array.flags.c_contiguous
    return (not in_place) * dtype.itemsize + converted * dtype.itemsize + 2 * marked


def _entries(array: Array, mask: Array | None, null_value: Any) -> tuple[Array, Any]:
    """Return the entries in a type of weights, and the null value where it can occur."""
    null = _null(null_value, array.dtype)
    absent = mask
    if array.dtype == bool:
        absent = ~array if mask is None else ~array | mask
        if null is not None:
            absent |= array == bool(null)
        null = None
    elif array.dtype.kind in "iu" and array.dtype not in (np.int32, np.int64):
        # The largest value of a narrower type means "no arc" too.
        largest = array == no_path(array.dtype)
        absent = largest if mask is None else largest | mask
    entries = as_weights(array, "the matrix")
    assert entries is not None
    if absent is not None and absent.any():
        entries = np.where(absent, entries.dtype.type(no_path(entries.dtype)), entries)
    return np.ascontiguousarray(entries), null


def _null(null_value: Any, dtype: np.dtype[Any]) -> int | float | None:
    """Return the null value as a number of this type; None where no entry can equal it."""
    if null_value is None:
        return None
    if not isinstance(null_value, (numbers.Real, np.bool_)):
        raise GraphError(Code("null_value"), f" must be a number, not {null_value!r}")
    number: Any = null_value
    if dtype.kind == "f":
        try:
            return float(number)
        except OverflowError:
            return None
    try:
        if not float(number).is_integer():  # not an integer, infinite or NaN
            return None
    except OverflowError:  # an integer beyond every type
        return None
    if dtype.kind == "b":
        return int(number)
    limits = np.iinfo(dtype)
    return int(number) if limits.min <= int(number) <= limits.max else None
