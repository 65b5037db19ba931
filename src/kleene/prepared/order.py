"""The order in which vertices are eliminated: low degrees first, then nested dissection.

Vertices of degree 0, 1 and 2 go first, in rounds of independent sets
(native/core/prepared/elimination/reduce.cpp). The rest is ordered by METIS: a small set of vertices
that separates the graph into halves is eliminated last, and so on within the halves. Where
``pymetis`` is not installed, the rest is ordered by minimum degree, which comes with SciPy: on road
networks it joins no more pairs, but the elimination tree is twice as deep.

G. Karypis, V. Kumar, "A fast and high quality multilevel scheme for partitioning irregular graphs",
1998.
J. W. H. Liu, "Modification of the minimum-degree algorithm by multiple elimination", 1985.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module, util
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kleene import _native
from kleene.errors import Code, RequestError
from kleene.graph.checks import MOST_INT32_VERTICES
from kleene.graph.core import Graph
from kleene.system.machine import threads_for

__all__ = [
    "Adjacency",
    "Reduced",
    "adjacency",
    "as_order",
    "completed",
    "dissect",
    "elimination_order",
    "halves",
    "reduced",
    "require_ranks",
    "symmetric",
]

Array = NDArray[Any]
Progress = Callable[[int, int], object]

#: METIS starts its random numbers from it, so that an order can be computed again.
_SEED = 1


class Adjacency(NamedTuple):
    """Neighbors of each vertex along arcs of any direction; loops may be among them."""

    offsets: NDArray[np.int64]
    neighbors: Array

    @property
    def n(self) -> int:
        """The number of vertices."""
        return len(self.offsets) - 1


class Reduced(NamedTuple):
    """What is left once all vertices of degree 0, 1 and 2 are eliminated."""

    eliminated: Array  # vertices, in this order
    vertices: Array  # the rest, by their places in it
    rest: Adjacency  # among these places


def require_ranks(graph: Graph) -> None:
    """Raise if the vertices are too many for ranks of 32 bits."""
    if graph.n > MOST_INT32_VERTICES:
        raise RequestError(
            f"only graphs of fewer than 2^31 vertices can be prepared, but this one has {graph.n:,}"
        )


def adjacency(graph: Graph, threads: int | None = None) -> Adjacency:
    """Return the neighbors of each vertex of a graph."""
    require_ranks(graph)
    offsets, neighbors, _ = graph.csr
    if not graph.directed:
        return Adjacency(offsets, neighbors)
    threads = threads_for(graph.m, threads)
    return symmetric(offsets, neighbors, graph.csc[:2] if graph.has_csc else None, threads)


def symmetric(
    offsets: NDArray[np.int64],
    neighbors: Array,
    incoming: tuple[NDArray[np.int64], Array] | None = None,
    threads: int = 1,
) -> Adjacency:
    """Return the union of arcs with their reverse arcs, which the caller may have."""
    if incoming is None:
        incoming = _native.csr_transpose(offsets, neighbors, None, threads)[:2]
    return Adjacency(*_native.csr_union(offsets, neighbors, None, *incoming, None, threads)[:2])


def reduced(arcs: Adjacency) -> Reduced:
    """Eliminate vertices of degree 0, 1 and 2, and those that become so."""
    count, order, offsets, neighbors = _native.prepared_reduce(*arcs)
    return Reduced(order[:count], order[count:], Adjacency(offsets, neighbors))


def dissect(arcs: Adjacency) -> Array:
    """Return the vertices in an order that joins few pairs; there must be no loops."""
    if arcs.n == 0:  # METIS would divide by it
        return np.empty(0, dtype=np.int32)
    if not _has_metis():
        return _minimum_degree(arcs).astype(np.int32)
    pymetis, csr = _for_metis(arcs)
    options = pymetis.Options(seed=_SEED, compress=0)  # equal rows are rare in sparse graphs
    return np.asarray(pymetis.nested_dissection(csr, options=options)[0]).astype(np.int32)


def halves(arcs: Adjacency) -> Array | None:
    """Return which half of the vertices each belongs to, 0 or 1; None where METIS is missing."""
    if not _has_metis():
        return None
    pymetis, csr = _for_metis(arcs)
    return np.asarray(pymetis.part_graph(2, csr, options=pymetis.Options(seed=_SEED, niter=2))[1])


def _has_metis() -> bool:
    return util.find_spec("pymetis") is not None


def _for_metis(arcs: Adjacency) -> tuple[Any, Any]:
    """Return the module, and a graph in its own type of integers."""
    pymetis: Any = import_module("pymetis")
    integer = pymetis.zero_copy_dtype()
    return pymetis, pymetis.CSRAdjacency(*(a.astype(integer, copy=False) for a in arcs))


def _minimum_degree(arcs: Adjacency) -> Array:
    """Order by multiple minimum degree, a step of SuperLU's incomplete factorization."""
    sparse: Any = import_module("scipy.sparse")
    linalg: Any = import_module("scipy.sparse.linalg")
    n = arcs.n
    small = np.full(len(arcs.neighbors), 1e-9)  # below drop_tol: nothing is factorized
    matrix = sparse.csc_matrix((small, arcs.neighbors, arcs.offsets), shape=(n, n))
    factors = linalg.spilu(
        matrix + sparse.identity(n, format="csc"),
        drop_tol=0.5, fill_factor=1, diag_pivot_thresh=0.0, permc_spec="MMD_AT_PLUS_A",
    )  # fmt: skip
    return np.argsort(factors.perm_c)


def elimination_order(graph: Graph, *, progress: Progress | None = None) -> Array:
    """Return the vertices in the order in which to eliminate them, the same in every run.

    Nothing is estimated before: on graphs without small separators this may take minutes. METIS
    cannot be interrupted, and reports no progress.
    """
    found = reduced(adjacency(graph))
    if progress is not None:
        progress(len(found.eliminated), graph.n)
    order = completed(found)
    if progress is not None:
        progress(graph.n, graph.n)
    return order


def completed(found: Reduced) -> Array:
    """Return the whole order: what was eliminated, then the rest by nested dissection."""
    return np.concatenate([found.eliminated, found.vertices[dissect(found.rest)]])


def as_order(order: ArrayLike, n: int) -> Array:
    """Check an ``order=`` argument: every vertex by its position, each once."""
    array = np.asarray(order)
    if array.shape != (n,) or (n and array.dtype.kind not in "iu"):
        raise RequestError(
            Code("order"),
            f" must list the positions of all {n:,} vertices in the order of elimination; this "
            f"array has shape {array.shape} and type {array.dtype}",
        )
    if n and not 0 <= array.min() <= array.max() < n:
        raise RequestError(
            f"order holds positions from {array.min()} to {array.max()}, but vertices are 0 to "
            f"{n - 1}"
        )
    times = np.bincount(array.astype(np.int64), minlength=n)
    if n and times.max() > 1:
        raise RequestError(
            f"order must hold each vertex once, but holds vertex {times.argmax()} {times.max()} "
            f"times and vertex {times.argmin()} not at all"
        )
    return array.astype(np.int32)
