"""The storage forms of a graph: CSR, CSC, COO, ELL and dense.

CSR holds outgoing arcs by tail, CSC incoming arcs by head, COO the tail and head of every arc; ELL
pads every row to the longest one, for one SIMD lane per row; dense is the adjacency matrix. Each
form is a tuple of arrays, independent of the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.graph.no_path import no_path
from kleene.system.machine import threads_for

if TYPE_CHECKING:
    from kleene.graph.core import Graph

__all__ = [
    "COO",
    "CSC",
    "CSR",
    "ELL",
    "adopt",
    "arcs_between",
    "copied",
    "csr_to_coo",
    "csr_to_dense",
    "csr_to_ell",
    "frozen",
    "is_frozen",
    "is_ours",
    "spans",
]

Array = NDArray[Any]


class CSR(NamedTuple):
    """Row ``v``, ``neighbors[offsets[v]:offsets[v + 1]]``: the heads of the arcs from ``v``."""

    offsets: NDArray[np.int64]
    neighbors: Array
    weights: Array | None


class CSC(NamedTuple):
    """Column ``v``, ``neighbors[offsets[v]:offsets[v + 1]]``: the tails of the arcs to ``v``."""

    offsets: NDArray[np.int64]
    neighbors: Array
    weights: Array | None


class COO(NamedTuple):
    """Arc ``i`` leads from its tail ``sources[i]`` to its head ``targets[i]``.

    The names are those of :meth:`Graph.from_edges`.
    """

    sources: Array
    targets: Array
    weights: Array | None


class ELL(NamedTuple):
    """``neighbors[v, k]`` is the ``k``-th neighbour of ``v``, or -1 beyond its degree."""

    neighbors: Array
    weights: Array | None


def csr_to_coo(csr: CSR) -> COO:
    """Return the COO form: each row index, repeated over its row."""
    n = len(csr.offsets) - 1
    sources = np.repeat(np.arange(n, dtype=csr.neighbors.dtype), np.diff(csr.offsets))
    return COO(sources, csr.neighbors, csr.weights)


def csr_to_ell(csr: CSR) -> ELL:
    """Return the ELL form: rows padded with -1 for ids and "no arc" for weights."""
    degrees = np.diff(csr.offsets)
    width = int(degrees.max(initial=0))
    filled = np.arange(width) < degrees[:, None]
    neighbors = np.full((len(degrees), width), -1, dtype=csr.neighbors.dtype)
    neighbors[filled] = csr.neighbors
    if csr.weights is None:
        return ELL(neighbors, None)
    weights = np.full(neighbors.shape, no_path(csr.weights.dtype), dtype=csr.weights.dtype)
    weights[filled] = csr.weights
    return ELL(neighbors, weights)


def csr_to_dense(csr: CSR, dtype: np.dtype[Any], null: Any, diagonal: Any) -> Array:
    """Return the dense matrix, with ``null`` where there is no arc."""
    n = len(csr.offsets) - 1
    dense = np.full((n, n), null, dtype=dtype)
    np.fill_diagonal(dense, diagonal)
    coo = csr_to_coo(csr)
    dense[coo.sources, coo.targets] = 1 if csr.weights is None else csr.weights
    return dense


def arcs_between(csr: CSR | Graph, tails: Array, heads: Array) -> NDArray[np.int64]:
    """Return the place of the arc from each tail to its head, in the order of COO; -1 for none."""
    low, high = csr.offsets[tails].copy(), csr.offsets[tails + 1]
    end = high.copy()
    while (open_ := low < high).any():  # a binary search in each row, all together
        middle = (low + high) // 2
        right = open_ & (csr.neighbors[np.minimum(middle, len(csr.neighbors) - 1)] < heads)
        low = np.where(right, middle + 1, low)
        high = np.where(open_ & ~right, middle, high)
    found = low < end
    found[found] = csr.neighbors[low[found]] == heads[found]
    return np.where(found, low, -1)


def spans(begins: Array, counts: Array) -> tuple[Array, Array]:
    """Return the numbers from each beginning on, so many, one span after another.

    The first array holds which span each number belongs to.
    """
    span = np.repeat(np.arange(len(begins)), counts)
    return span, np.arange(len(span)) + (begins - np.cumsum(counts) + counts)[span]


# ---- Arrays that cannot change: what a Graph keeps and gives out --------------------------------
# NumPy lets anyone write to a read-only array again if its memory belongs to an array or to another
# writable buffer. Frozen arrays therefore belong to an object that is neither: a ``_Memory`` or
# ``bytes``. A frozen array is passed on without a copy; any other is copied, unless the caller made
# it and drops it (``adopt``).


class _Memory:
    """The memory of a frozen array, which NumPy sees as read-only."""

    __slots__ = ("__array_interface__", "_owner")

    def __init__(self, owner: Array) -> None:
        interface = owner.__array_interface__
        interface["data"] = (interface["data"][0], True)
        self._owner = owner
        self.__array_interface__ = interface


def adopt(array: Any) -> Any:
    """Return a frozen array over the memory of an array to which nothing else will write.

    None stays None.
    """
    if array is None or is_frozen(array):
        return array
    if array.ndim == 1 and 0 < array.nbytes <= _SMALL and not array.dtype.hasobject:
        return np.frombuffer(array.tobytes(), array.dtype)  # faster than _Memory by 2 us
    return np.asarray(_Memory(array))


def frozen(array: Any) -> Any:
    """Return the array itself if it is frozen, otherwise a frozen copy; None stays None."""
    if array is None or is_frozen(array):
        return array
    return adopt(copied(array))


def is_frozen(array: Array) -> bool:
    """Return whether nothing can write to an array."""
    base: Any = array.base
    return type(base) in (_Memory, bytes)


def is_ours(array: Any) -> bool:
    """Return whether this is a matrix that Kleene gave out, as it stands."""
    base: Any = getattr(array, "base", None)
    return isinstance(array, np.ndarray) and type(base) is _Memory


def copied(array: Array) -> Array:
    """Return a contiguous copy, made on all cores if it is large."""
    large = array.nbytes > _SMALL and array.ndim == 1 and array.flags.c_contiguous
    if large and array.dtype in _NATIVE:
        return _native.copied(array, threads_for(len(array)))
    return np.array(array, order="C")


#: The most bytes of an array that is kept as a bytes object.
_SMALL = 4096

#: The types that the core copies.
_NATIVE = frozenset(np.dtype(t) for t in (np.int32, np.int64, np.float32, np.float64))
