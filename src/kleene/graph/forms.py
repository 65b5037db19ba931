"""The storage forms of a graph: CSR, CSC, COO, ELL and dense.

CSR holds outgoing arcs by tail, CSC incoming arcs by head, COO the tail and head of every arc; ELL
pads every row to the longest one, for one SIMD lane per row; dense is the adjacency matrix. Each
form is a tuple of arrays, independent of the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.graph.no_path import no_path

if TYPE_CHECKING:
    from kleene.graph.core import Graph

__all__ = [
    "COO",
    "CSC",
    "CSR",
    "ELL",
    "arcs_between",
    "csr_to_coo",
    "csr_to_dense",
    "csr_to_ell",
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
