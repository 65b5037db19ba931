"""The symbolic part: which pairs of vertices are joined once all vertices are eliminated.

How many pairs there will be is counted first, in time nearly linear in the arcs
(native/core/prepared/symbolic.cpp), so that nothing of their size is allocated where it would not
fit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kleene import _native
from kleene.errors import MemoryBudgetError, RequestError
from kleene.graph.core import Graph
from kleene.graph.frozen import adopt
from kleene.prepared import order as orders
from kleene.system.cached_property import cached_property
from kleene.system.formatting import format_bytes
from kleene.system.machine import available_memory, threads_for

__all__ = ["Elimination", "Fill", "Lower", "count_fill", "eliminate"]

Array = NDArray[Any]
Progress = Callable[[int, int], object]

#: Bytes that a pair takes: a head, its entry in the transposed form, and two values of 64 bits.
BYTES_A_PAIR = 4 + 8 + 16

#: Bytes that a vertex takes: order, rank, parent, depth, size, and two offsets.
BYTES_A_VERTEX = 5 * 4 + 2 * 8

#: Of the free memory, what a prepared graph may take by itself.
_MEMORY_SHARE = 0.5

#: More triangles are refused: two cores take half an hour for these, for each set of weights.
MOST_TRIANGLES = 10**12

#: Of the progress that is reported; nested dissection takes most of the time.
_STEPS = 100


class Fill(NamedTuple):
    """What elimination makes of a graph."""

    pairs: int  # vertices joined to an upward neighbor
    triangles: int  # relaxed for each set of weights
    depth: int  # of the elimination tree: the most ancestors of a vertex
    bytes: int  # of the prepared graph with values of 64 bits in both directions


class Lower(NamedTuple):
    """The pairs by their upper end: the lower neighbors of each rank."""

    offsets: NDArray[np.int64]  # n + 1
    tails: Array  # int32, ascending
    places: Array  # of each pair in ``heads``; int32, or int64 from 2^31 pairs


@dataclass(frozen=True, eq=False)
class Elimination:
    """A graph whose vertices were eliminated in an order; direction and weights do not matter.

    The *rank* of a vertex is its place in the order. To eliminate a vertex is to join all its
    neighbors that are left, pair by pair. What a vertex was joined to when its turn came are its
    upward neighbors; the lowest of them is its parent in the elimination tree, and all others are
    ancestors in that tree. Ranks are a postorder of the tree: the descendants of v are the ranks
    just below v.
    """

    order: Array  # int32, the vertex of each rank
    ranks: Array  # int32, the rank of each vertex
    parents: Array  # int32, by rank; -1 for roots
    offsets: Array  # int64, n + 1
    heads: Array  # int32, the upward neighbors of each rank, ascending

    @property
    def n(self) -> int:
        """The number of vertices."""
        return len(self.order)

    @property
    def arcs(self) -> int:
        """The number of joined pairs."""
        return len(self.heads)

    @cached_property
    def fill(self) -> Fill:
        """The numbers of pairs and triangles, the depth of the tree, and the memory."""
        return _fill(self.parents, self.offsets)

    @cached_property
    def depths(self) -> Array:
        """The number of ancestors of each rank; roots have none."""
        depths: Array = adopt(_native.prepared_depths(self.parents))
        return depths

    @cached_property
    def sizes(self) -> Array:
        """The number of vertices in the subtree of each rank, itself included."""
        sizes: Array = adopt(_native.prepared_subtree_sizes(self.parents))
        return sizes

    @cached_property
    def lower(self) -> Lower:
        """The lower neighbors of each rank."""
        integer = np.int32 if self.arcs < 2**31 else np.int64
        places = np.arange(self.arcs, dtype=integer)
        threads = threads_for(self.arcs)
        made = _native.csr_transpose(self.offsets, self.heads, places, threads)
        return Lower(*map(adopt, made))


def _fill(parents: Array, offsets: Array) -> Fill:
    """Return the counts for a tree, and the places of its pairs."""
    n, pairs = len(parents), int(offsets[-1])
    degrees = np.diff(offsets).astype(np.float64)  # triangles may exceed 64 bits
    return Fill(
        pairs=pairs,
        triangles=int((degrees * (degrees - 1)).sum() / 2),
        depth=int(_native.prepared_depths(parents).max(initial=0)),
        bytes=BYTES_A_PAIR * pairs + BYTES_A_VERTEX * (n + 1),
    )


def count_fill(graph: Graph, order: ArrayLike) -> Fill:
    """Return what elimination in this order would make, without doing it."""
    arcs = orders.adjacency(graph)
    *_, parents, offsets = _native.prepared_count_pairs(*arcs, orders.as_order(order, graph.n))
    return _fill(parents, offsets)


def eliminate(
    graph: Graph,
    order: ArrayLike | None = None,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
    most_bytes: int | None = None,
) -> Elimination:
    """Eliminate all vertices of a graph.

    Parameters
    ----------
    graph : Graph
        Any graph of less than 2^31 vertices.
    order : array, optional
        The positions of the vertices, the first to be eliminated first; by default, that of
        :func:`kleene.prepared.order.elimination_order`. It is replaced by an equivalent postorder.
    threads : int, optional
        Not more than so many.
    progress : function, optional
        Called with (done, total).
    most_bytes : int, optional
        What the prepared graph may take; by default half of the free memory.

    Raises
    ------
    MemoryBudgetError, RequestError
        If elimination would join too many pairs: they are counted before they are stored.
    """
    report = progress or (lambda done, total: None)
    arcs = orders.adjacency(graph)
    if order is None:
        found = orders.reduced(arcs)
        report(10, _STEPS)
        chosen = orders.completed(found)
    else:
        chosen = orders.as_order(order, graph.n)
    report(90, _STEPS)
    final, ranks, parents, offsets = _native.prepared_count_pairs(*arcs, chosen)
    require_affordable(_fill(parents, offsets), most_bytes)
    report(95, _STEPS)
    heads = _native.prepared_join_pairs(*arcs, final, ranks, parents, offsets)
    report(_STEPS, _STEPS)
    return Elimination(*map(adopt, (final, ranks, parents, offsets, heads)))


def require_affordable(fill: Fill, most_bytes: int | None = None, about: str = "") -> None:
    """Raise if a prepared graph takes too much memory, or its weights too much time."""
    if most_bytes is None:
        free = available_memory()
        most_bytes = 2**62 if free is None else int(_MEMORY_SHARE * free)
    joins = f"elimination would join {about}{fill.pairs:,} pairs of vertices"
    if fill.bytes > most_bytes:
        raise MemoryBudgetError(
            f"{joins}, which take {format_bytes(fill.bytes)}; a prepared graph may take "
            f"{format_bytes(most_bytes)} here",
            _ADVICE,
        )
    if fill.triangles > MOST_TRIANGLES:
        raise RequestError(
            f"{joins} and relax {about}{fill.triangles:.2g} triangles for each set of weights, "
            f"more than {MOST_TRIANGLES:.0e}; {', or '.join(_ADVICE)}"
        )


_ADVICE = (
    "search the graph as it is: kl.sssp, kl.apsp (graphs without small separators, such as social "
    "networks, do not gain by elimination)",
    "pass a better order=",
)
