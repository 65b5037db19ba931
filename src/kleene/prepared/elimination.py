"""The symbolic part: which pairs of vertices are joined once all vertices are eliminated.

How many pairs there will be is counted first, in time nearly linear in the arcs
(native/core/prepared/elimination/symbolic.cpp), so that nothing of their size is allocated where it
would not fit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kleene import _native
from kleene.backends.task import Progress
from kleene.errors import Code, KleeneError, MemoryBudgetError, RequestError, Text
from kleene.graph.core import Graph
from kleene.graph.forms import adopt
from kleene.prepared import order as orders
from kleene.system.cached_property import cached_property
from kleene.system.formatting import format_bytes
from kleene.system.machine import available_memory, threads_for

__all__ = [
    "BYTES_A_PAIR",
    "BYTES_A_VERTEX",
    "MOST_TRIANGLES",
    "Elimination",
    "Expectation",
    "Fill",
    "Lower",
    "affordable_order",
    "count_fill",
    "eliminate",
    "expect",
    "fill_of",
    "hopeless",
    "is_small",
    "require_affordable",
    "too_much",
]

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


# ---- How much elimination makes of a graph, and how much is too much ----------------------------

#: Bytes that a pair takes: a head, its entry in the transposed form, and two values of 64 bits.
BYTES_A_PAIR = 4 + 8 + 16

#: Bytes that a vertex takes: order, rank, parent, depth, size, and two offsets.
BYTES_A_VERTEX = 5 * 4 + 2 * 8

#: Of the free memory, what a prepared graph may take.
_MEMORY_SHARE = 0.5

#: More triangles are refused: one core takes some minutes for these, for each set of weights.
MOST_TRIANGLES = 10**12

_ADVICE = (
    "search the graph as it is, by kl.sssp or kl.apsp: graphs without small separators, such as "
    "social networks, do not gain by elimination",
    Text("pass a better ", Code("order=")),
)


class Fill(NamedTuple):
    """What elimination makes of a graph."""

    pairs: int  # vertices joined to an upward neighbor
    triangles: int  # relaxed for each set of weights
    depth: int  # of the elimination tree: the most ancestors of a vertex
    bytes: int  # of the prepared graph with values of 64 bits in both directions

    @staticmethod
    def of(n: int, pairs: int, triangles: int, depth: int) -> Fill:
        """Return the fill of n vertices with its memory."""
        return Fill(pairs, triangles, depth, BYTES_A_PAIR * pairs + BYTES_A_VERTEX * (n + 1))


def fill_of(parents: Array, offsets: Array) -> Fill:
    """Return the fill, by the elimination tree and the offsets of each rank's pairs."""
    degrees = np.diff(offsets).astype(np.float64)  # triangles may exceed 64 bits
    return Fill.of(
        len(parents),
        pairs=int(offsets[-1]),
        triangles=int((degrees * (degrees - 1)).sum() / 2),
        depth=int(_native.prepared_depths(parents).max(initial=0)),
    )


def too_much(
    fill: Fill, most_bytes: int | None = None, about: str = "", slack: float = 1.0
) -> KleeneError | None:
    """Return the error for a prepared graph that takes too much memory or time, or None.

    ``most_bytes`` is half of the free memory by default. Estimates may exceed limits by ``slack``.
    """
    joins = f"elimination would join {about}{fill.pairs:,} pairs of vertices"
    if most_bytes is None:
        free = available_memory()
        most_bytes = 2**62 if free is None else int(_MEMORY_SHARE * free)
    if fill.bytes > slack * most_bytes:
        return MemoryBudgetError(
            f"{joins}, which take {about}{format_bytes(fill.bytes)}; a prepared graph may take "
            f"{format_bytes(most_bytes)} here",
            advice=_ADVICE,
        )
    if fill.triangles > slack * MOST_TRIANGLES:
        return RequestError(
            f"{joins} and relax {about}{fill.triangles:.2g} triangles for each set of weights, "
            f"more than {MOST_TRIANGLES:.0e}",
            advice=_ADVICE,
        )
    return None


def require_affordable(fill: Fill, most_bytes: int | None = None) -> None:
    """Raise if a prepared graph takes too much memory, or its weights too much time."""
    if error := too_much(fill, most_bytes):
        raise error


# ---- How many pairs elimination would join, from a look at small pieces of a graph --------------
# Pieces of two sizes are cut out by breadth-first searches, ordered and counted. How pairs,
# triangles and depth grow from the small pieces to the large ones is continued to the whole graph:
# on roads and meshes the estimates are within a factor of four, mostly of two. This takes 0.1 s,
# however large the graph. What that takes, in seconds, is a matter of the plan
# (``planning/prepared_cost.py``).
#
# Small pieces of a random graph are trees, and so are those of a tree. Where much of a piece is its
# boundary, the whole graph is reduced, and halved by METIS to see what separates it.

#: Pieces: how many, of how many vertices, and of how many arcs at most.
_SMALL, _LARGE = (4, 1024, 16_000), (2, 8192, 128_000)

#: A graph of so many vertices and arcs is ordered as a whole.
_WHOLE = 16_384, 256_000

#: The share of boundary vertices in a piece that growth cannot be judged by. In meshes of three
#: dimensions it is 0.16, on roads 0.01; on random graphs of degree 6 it is 0.8.
_MOSTLY_BOUNDARY = 0.3

#: Arcs of the rest that METIS halves in some seconds; more are taken for an expander.
_HALVED_ARCS = 1 << 22

#: The share of the vertices that separates an expander.
_SEPARATING = 0.15

#: Of the entries of a matrix, the share from which on a graph is a clique for all purposes here.
_DENSE = 0.125

#: How far estimates may be beyond what fits before a graph is not ordered.
_SLACK = 4.0


class _Piece(NamedTuple):
    """A part of the graph, eliminated."""

    n: int
    arcs: int  # within
    boundary: int  # vertices with arcs out of it
    fill: Fill


class Expectation(NamedTuple):
    """What elimination would make of a graph."""

    fill: Fill
    exact: bool  # the graph is small: the fill was counted
    refusal: str  # why it would be refused, or empty


def expect(graph: Graph) -> Expectation:
    """Return what elimination would make of a graph, without preparing it."""
    orders.require_ranks(graph)
    exact = is_small(graph)
    if exact:
        fill = _eliminated(orders.adjacency(graph)).fill
    elif graph.m > _DENSE * graph.n * graph.n:
        fill = _clique_fill(graph.n, graph.n)
    else:
        small, large = (_pieces(graph, *sizes) for sizes in (_SMALL, _LARGE))
        fill = _extrapolated(graph, small, large)
        unsure = _total(large, "boundary") > _MOSTLY_BOUNDARY * _total(large, "n")
        if unsure and too_much(fill, slack=_SLACK) is None:
            fill = max(fill, _clique_fill(graph.n, _separator(graph)))
    return Expectation(fill, exact, str(too_much(fill, about="" if exact else "about ") or ""))


def hopeless(graph: Graph, most_bytes: int | None) -> KleeneError | None:
    """Return the error for a graph that should not even be ordered, or None.

    Estimates may be wrong, and pairs are counted once there is an order, so this is only for graphs
    far beyond what fits. Ordering these could take hours.
    """
    orders.require_ranks(graph)
    if is_small(graph):
        return None
    return too_much(expect(graph).fill, most_bytes, "about ", slack=_SLACK)


def is_small(graph: Graph) -> bool:
    """Return whether a look at a graph orders all of it."""
    return graph.n <= _WHOLE[0] and graph.m <= _WHOLE[1]


def _pieces(graph: Graph, count: int, vertices: int, arcs: int) -> list[_Piece]:
    """Return pieces from all over the graph."""
    found = []
    for i in range(count):
        source = (2 * i + 1) * graph.n // (2 * count)
        offsets, neighbors, boundary = _native.prepared_sample(
            graph.offsets, graph.neighbors, source, vertices, arcs
        )
        found.append(_eliminated(orders.symmetric(offsets, neighbors), len(neighbors), boundary))
    return found


def _eliminated(adjacency: orders.Adjacency, arcs: int = 0, boundary: int = 0) -> _Piece:
    order = orders.completed(orders.reduced(adjacency))
    *_, parents, offsets = _native.prepared_count_pairs(*adjacency, order)
    return _Piece(adjacency.n, arcs, boundary, fill_of(parents, offsets))


def _extrapolated(graph: Graph, small: Sequence[_Piece], large: Sequence[_Piece]) -> Fill:
    """Continue the growth from small pieces to large ones up to the whole graph."""
    size, larger = (_total(pieces, "n") / len(pieces) for pieces in (small, large))
    # Where degrees differ much, pieces are denser than the graph: it is as large as its arcs say.
    n = min(graph.n, graph.m * _total(large, "n") // max(1, _total(large, "arcs")))

    def grown(name: str, least: float) -> int:
        few, many = (
            sum(getattr(piece.fill, name) for piece in pieces) / _total(pieces, "n") + 1e-9
            for pieces in (small, large)
        )
        exponent = max(least, math.log(many / few) / math.log(max(1.5, larger / size)))
        return int(n * many * math.pow(n / larger, exponent))

    most = _clique_fill(graph.n, graph.n)
    return Fill.of(
        graph.n,
        pairs=min(most.pairs, grown("pairs", 0) + min(graph.m, 2 * (graph.n - n))),
        triangles=min(most.triangles, grown("triangles", 0) + min(graph.m, graph.n - n)),
        depth=min(most.depth, grown("depth", -1)),
    )


def _separator(graph: Graph) -> int:
    """Return about how many vertices separate the halves of a graph, at least."""
    rest = orders.reduced(orders.adjacency(graph)).rest
    if rest.n <= _WHOLE[0]:
        return 0
    halves = orders.halves(rest) if len(rest.neighbors) <= _HALVED_ARCS else None
    if halves is None:
        return int(_SEPARATING * rest.n)
    tails = np.repeat(np.arange(rest.n), np.diff(rest.offsets))
    cut = tails[halves[tails] < halves[rest.neighbors]]
    return len(np.unique(cut)) // 2  # one side of the cut separates, and is not the least that does


def _clique_fill(n: int, size: int) -> Fill:
    """Return the fill of n vertices with a clique of this size."""
    pairs = size * (size - 1) // 2
    return Fill.of(n, pairs, triangles=pairs * max(0, size - 2) // 3, depth=size)


def _total(pieces: Sequence[_Piece], name: str) -> int:
    return sum(getattr(piece, name) for piece in pieces)
