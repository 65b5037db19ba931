"""How many pairs elimination would join, from a look at small pieces of a graph.

Pieces of two sizes are cut out by breadth-first searches, ordered and counted. How pairs, triangles
and depth grow from the small pieces to the large ones is continued to the whole graph: on roads and
meshes the estimates are within a factor of four, mostly of two. This takes 0.1 s, however large the
graph. What that takes, in seconds, is a matter of the plan (``planning/prepared_cost.py``).

Small pieces of a random graph are trees, and so are those of a tree. Where much of a piece is its
boundary, the whole graph is reduced, and halved by METIS to see what separates it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kleene import _native
from kleene.errors import KleeneError
from kleene.graph.core import Graph
from kleene.prepared import order as orders
from kleene.prepared.fill import Fill, fill_of, too_much

__all__ = ["Expectation", "expect", "hopeless", "is_small"]

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
