"""What preparing a graph would take, from a look at small pieces of it.

Pieces of two sizes are cut out by breadth-first searches, ordered and counted. How pairs, triangles
and depth grow from the small pieces to the large ones is continued to the whole graph: on roads and
meshes the estimates are within a factor of four, mostly of two. This takes 0.1 s, however large the
graph.

Small pieces of a random graph are trees, and so are those of a tree. Where much of a piece is its
boundary, the whole graph is reduced, and halved by METIS to see what separates it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
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

#: Seconds on one core of a Zen 3 (3.6 GHz), measured on the world's highways: METIS by arc that the
#: reduction leaves (1.4 s for 1.24 million) ...
_ORDER_ARC = 1.15e-6
#: ... counts by vertex and arc (0.06 s for 2.2 million), and rows by pair (0.03 s for 2.4 million);
_COUNT_ARC, _JOIN_PAIR = 2.6e-8, 1.2e-8
#: customization by pair (0.056 s for 2.4 million, both ways), and by triangle where vertices have
#: many upward neighbors (0.12 s for 760 million on a grid of 500 x 500, one way);
_CUSTOMIZE_PAIR, _CUSTOMIZE_TRIANGLE = 2e-8, 1.5e-10
#: a tree in a batch of 16 by pair (0.6 ms for 2.4 million; 1.0 ms for the grid's 7.2 million).
_TREE_PAIR = 2.1e-10


class _Piece(NamedTuple):
    """A part of the graph, eliminated."""

    n: int
    arcs: int  # within
    boundary: int  # vertices with arcs out of it
    rest_arcs: int  # of the reduced graph
    fill: Fill


@dataclass(frozen=True)
class Expectation:
    """Estimates for a prepared graph, in seconds of one core."""

    fill: Fill
    exact: bool  # the graph is small: the fill was counted
    order_seconds: float
    symbolic_seconds: float
    customize_seconds: float
    tree_seconds: float  # for one of 16 at once
    refusal: str  # why it would be refused, or empty

    @property
    def prepare_seconds(self) -> float:
        """What comes before the first answer."""
        return self.order_seconds + self.symbolic_seconds + self.customize_seconds


def expect(graph: Graph) -> Expectation:
    """Return what it would take to prepare a graph, without preparing it."""
    orders.require_ranks(graph)
    if is_small(graph):
        piece = _eliminated(orders.adjacency(graph))
        fill, rest_arcs, exact = piece.fill, piece.rest_arcs, True
    elif graph.m > _DENSE * graph.n * graph.n:
        fill, rest_arcs, exact = _clique_fill(graph.n, graph.n), graph.m, False
    else:
        small, large = (_pieces(graph, *sizes) for sizes in (_SMALL, _LARGE))
        fill, exact = _extrapolated(graph, small, large), False
        unsure = _total(large, "boundary") > _MOSTLY_BOUNDARY * _total(large, "n")
        if unsure and too_much(fill, slack=_SLACK) is None:
            fill = max(fill, _clique_fill(graph.n, _separator(graph)))
        rest_arcs = graph.m * _total(large, "rest_arcs") // max(1, _total(large, "arcs"))
    return Expectation(
        fill,
        exact,
        order_seconds=_ORDER_ARC * rest_arcs,
        symbolic_seconds=_COUNT_ARC * (graph.n + graph.m) + _JOIN_PAIR * fill.pairs,
        customize_seconds=_CUSTOMIZE_TRIANGLE * fill.triangles + _CUSTOMIZE_PAIR * fill.pairs,
        tree_seconds=_TREE_PAIR * fill.pairs,
        refusal=str(too_much(fill, about="" if exact else "about ") or ""),
    )


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
    reduced = orders.reduced(adjacency)
    *_, parents, offsets = _native.prepared_count_pairs(*adjacency, orders.completed(reduced))
    rest_arcs = len(reduced.rest.neighbors)
    return _Piece(adjacency.n, arcs, boundary, rest_arcs, fill_of(parents, offsets))


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
