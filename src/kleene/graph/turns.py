"""A graph with turns: vertices are split where a turn from arc to arc is forbidden or delayed.

The arcs into a vertex that have such a turn end at a copy of the vertex instead, each at its own.
From the copy lead the arcs that leave the vertex, without those that are forbidden, and longer by
their delays. So a copy knows by which arc it was entered. All other vertices and arcs stay as they
are (Caldwell 1961 searches over arcs everywhere; here only where turns need it).

T. Caldwell, "On finding minimum routes in a network with turn penalties", 1961.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.graph.checks import id_dtype
from kleene.graph.core import Graph
from kleene.graph.forms import spans

__all__ = ["FORBIDDEN", "Expansion", "Turns", "expand"]

Array = NDArray[Any]

#: The delay of a forbidden turn.
FORBIDDEN = np.inf

#: Integers up to here are the same in float64.
_EXACT = 2**53


class Turns(NamedTuple):
    """Turn ``i`` leads from arc ``entering[i]`` into arc ``leaving[i]``, and takes its delay."""

    entering: Array
    leaving: Array
    delays: Array  # floats

    def __or__(self, other: Turns) -> Turns:
        """Return these turns, and of the others those that are not among them."""
        most = 1 + max(int(x.leaving.max(initial=0)) for x in (self, other))
        own, others = (x.entering * most + x.leaving for x in (self, other))
        new = ~np.isin(others, own)
        return Turns(*(np.concatenate([a, b[new]]) for a, b in zip(self, other, strict=True)))

    def longest(self) -> Turns:
        """Return each turn once, with the longest of its delays."""
        order = np.lexsort([self.delays, self.leaving, self.entering])
        entering, leaving, delays = (column[order] for column in self)
        last = np.ones(len(order), bool)
        last[:-1] = (entering[1:] != entering[:-1]) | (leaving[1:] != leaving[:-1])
        return Turns(entering[last], leaving[last], delays[last])

    def restricted(self) -> Turns:
        """Return the turns that take time, or are forbidden."""
        kept = self.delays != 0
        return Turns(*(column[kept] for column in self))


class Expansion(NamedTuple):
    """A graph with copies of vertices; vertices from 0 to n - 1 are those of the original graph.

    The copies of original vertex ``v``, itself the first, are
    ``copies[offsets[v]:offsets[v + 1]]``.
    """

    graph: Graph
    vertex: Array  # of the original graph, for each vertex
    copies: Array
    offsets: Array


def expand(graph: Graph, turns: Turns) -> Expansion:
    """Split vertices for the turns, each of which is listed once."""
    n, tails, heads = graph.n, graph.coo.sources, graph.neighbors
    split, copy = np.unique(turns.entering, return_inverse=True)
    ids = id_dtype(n + len(split))
    head = heads.astype(ids)  # of each arc, its copy if there is one
    head[split] = n + np.arange(len(split))

    # 1. The arcs out of the copies, as positions of the arcs out of their vertices.
    via = heads[split]
    begin, degree = graph.offsets[via], graph.stats.degrees[via]
    owner, arc = spans(begin, degree)

    # 2. Their delays.
    delays = np.zeros(len(owner))
    delays[(np.cumsum(degree) - degree - begin)[copy] + turns.leaving] = turns.delays
    kept = delays != FORBIDDEN
    owner, arc, delays = owner[kept], arc[kept], delays[kept]

    made = Graph.from_edges(
        np.concatenate([tails, n + owner], dtype=ids),
        np.concatenate([head, head[arc]]),
        _weights(graph, arc, delays),
        n=n + len(split),
    )
    vertex = np.concatenate([np.arange(n), via])
    copies = np.argsort(vertex, kind="stable")
    offsets = np.searchsorted(vertex[copies], np.arange(n + 1))
    return Expansion(Graph(made.csr), vertex, copies, offsets)  # without the rows of the lists


def _weights(graph: Graph, arc: Array, delays: Array) -> Array | None:
    """Return the weights of the original arcs, then those of the arcs out of copies."""
    weights = graph.weights
    if not delays.any():
        return None if weights is None else np.concatenate([weights, weights[arc]])
    if weights is None:
        weights = np.ones(graph.m, np.int32)
    whole = (np.abs(delays) < _EXACT) & (delays == np.round(delays))
    if weights.dtype.kind == "i" and whole.all():
        delays = delays.astype(np.int64)
    longer = weights[arc] + delays
    if longer.dtype.kind == "i" and np.abs(longer).max() <= np.iinfo(weights.dtype).max:
        longer = longer.astype(weights.dtype)
    return np.concatenate([weights, longer])
