"""The symbolic part: which pairs of vertices are joined once all vertices are eliminated.

How many pairs there will be is counted first, in time nearly linear in the arcs
(native/core/prepared/symbolic.cpp), so that nothing of their size is allocated where it would not
fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kleene import _native
from kleene.backends.task import Progress
from kleene.graph.core import Graph
from kleene.graph.frozen import adopt
from kleene.prepared import order as orders
from kleene.prepared.expectation import hopeless
from kleene.prepared.fill import Fill, fill_of, require_affordable
from kleene.system.cached_property import cached_property
from kleene.system.machine import threads_for

__all__ = ["Elimination", "Fill", "Lower", "affordable_order", "count_fill", "eliminate"]

Array = NDArray[Any]

#: Of the progress that is reported; nested dissection takes most of the time.
_STEPS = 100


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

    def __reduce__(self) -> tuple[Any, ...]:  # without what is cached
        return Elimination, (self.order, self.ranks, self.parents, self.offsets, self.heads)

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
        return fill_of(self.parents, self.offsets)

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


def count_fill(graph: Graph, order: ArrayLike) -> Fill:
    """Return what elimination in this order would make, without doing it."""
    arcs = orders.adjacency(graph)
    *_, parents, offsets = _native.prepared_count_pairs(*arcs, orders.as_order(order, graph.n))
    return fill_of(parents, offsets)


def affordable_order(
    graph: Graph, progress: Progress | None = None, most_bytes: int | None = None
) -> Array:
    """Return an order by nested dissection; raise for graphs on which that could take hours."""
    if error := hopeless(graph, most_bytes):
        raise error
    return orders.elimination_order(graph, progress=progress)


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
        The positions of the vertices, the first to be eliminated first; by default, one by nested
        dissection. It is replaced by an equivalent postorder.
    threads : int, optional
        Not more than so many; only the union with the reverse arcs uses several.
    progress : function, optional
        Called with (done, total).
    most_bytes : int, optional
        What the prepared graph may take; by default half of the free memory.

    Raises
    ------
    MemoryBudgetError, RequestError
        If elimination would join too many pairs: they are counted before they are stored. Without
        ``order``, graphs for which far too many are estimated are refused before METIS runs,
        which could take hours on them.
    """
    report = progress or (lambda done, total: None)
    if order is None:
        order = affordable_order(
            graph, lambda done, total: report(90 * done // max(1, total), _STEPS), most_bytes
        )
    chosen, arcs = orders.as_order(order, graph.n), orders.adjacency(graph, threads)
    report(90, _STEPS)
    final, ranks, parents, offsets = _native.prepared_count_pairs(*arcs, chosen)
    require_affordable(fill_of(parents, offsets), most_bytes)
    report(95, _STEPS)
    heads = _native.prepared_join_pairs(*arcs, final, ranks, parents, offsets)
    report(_STEPS, _STEPS)
    return Elimination(*map(adopt, (final, ranks, parents, offsets, heads)))
