"""Communities by the method of Girvan and Newman: networkx's ``community.centrality``.

The edge with the largest betweenness is removed until the graph falls apart. Betweenness is added
up in NetworkX's order (``native/core/measures/betweenness_in_order.hpp``), since edges that are
alike differ in the last bits only; and again just for the component that has lost an edge.

M. Girvan and M. E. J. Newman, "Community structure in social and biological networks", 2002.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.interop.networkx.graph import KleeneGraph

__all__ = ["girvan_newman"]

Array = NDArray[Any]


def girvan_newman(G: KleeneGraph, most_valuable_edge: None = None) -> Iterator[tuple[Any, ...]]:
    parts = _Parts(G)
    if len(G.unweighted_arcs.neighbors) == 0:
        yield parts.sets()
        return
    while parts.left:
        while not parts.fall_apart():
            pass
        yield parts.sets()


class _Parts:
    """An undirected graph without self-loops that loses edges, its components, and betweenness."""

    def __init__(self, G: KleeneGraph) -> None:
        self._names, self._n = G.names, len(G)
        self._offsets, self._heads, self._edges = _undirected(G)
        self.left = len(self._heads) // 2
        tails = np.repeat(np.arange(self._n), np.diff(self._offsets))
        first = tails < self._heads
        self._ends = np.stack([tails[first], self._heads[first]], axis=1)
        self._removed = np.zeros(self.left, dtype=np.uint8)
        self._part = np.full(self._n, -1)
        self._values = np.zeros(self.left)
        for v in range(self._n):
            if self._part[v] < 0:
                self._number(v)

    def sets(self) -> tuple[set[Any], ...]:
        """Return the components in the order of their first nodes."""
        _, first, counts = np.unique(self._part, return_index=True, return_counts=True)
        members = self._names[np.argsort(self._part, kind="stable")]
        parts = np.split(members, np.cumsum(counts)[:-1])
        return tuple(set(parts[i].tolist()) for i in np.argsort(first).tolist())

    def fall_apart(self) -> bool:
        """Remove the edge with the largest betweenness; return whether a component fell apart."""
        scale = 1 / (self._n * (self._n - 1))
        edge = int(np.argmax(np.where(self._removed, -1, self._values * scale)))
        self._removed[edge] = 1
        self.left -= 1
        u, v = self._ends[edge].tolist()
        if self._number(u)[v]:
            return False
        self._number(v)
        return True

    def _number(self, v: int) -> Array:
        """Give the component of a node a number of its own, and its edges their betweenness."""
        inside = self._reached(v)
        self._part[inside] = v
        self._values[inside[self._ends[:, 0]]] = 0
        sources = np.flatnonzero(inside).astype(np.int32)
        _native.edge_betweenness_in_order(
            self._offsets, self._heads, self._edges, self._removed, sources, self._values
        )
        return inside

    def _reached(self, v: int) -> Array:
        """Return which nodes are in the component of a node, over edges that are left."""
        seen = np.zeros(self._n, dtype=bool)
        frontier = np.array([v])
        while len(frontier):
            seen[frontier] = True
            counts = self._offsets[frontier + 1] - self._offsets[frontier]
            ends = np.cumsum(counts)
            arcs = np.arange(counts.sum()) + np.repeat(
                self._offsets[frontier] - ends + counts, counts
            )
            heads = self._heads[arcs[self._removed[self._edges[arcs]] == 0]]
            frontier = np.unique(heads[~seen[heads]])
        return seen


def _undirected(G: KleeneGraph) -> tuple[Array, Array, Array]:
    """Return rows of neighbors as in NetworkX's copy, without loops, and the edge of each arc.

    The copy adds the edges row by row: a row has the neighbors whose rows came before, then its own
    others. Edges are numbered row by row, each in the row of its end that comes first.
    """
    arcs, n = G.unweighted_arcs, len(G)
    tails, heads = arcs.tails.astype(np.int64), arcs.neighbors.astype(np.int64)
    pairs = np.minimum(tails, heads) * n + np.maximum(tails, heads)
    _, first = np.unique(np.where(tails == heads, -1, pairs), return_index=True)
    added = np.sort(first[tails[first] != heads[first]])
    ends = np.concatenate([tails[added], heads[added]])
    others = np.concatenate([heads[added], tails[added]])
    rows = np.lexsort((np.tile(np.arange(len(added)), 2), ends))
    offsets = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(ends, minlength=n), out=offsets[1:])
    tails, heads = ends[rows], others[rows]
    event = rows % max(1, len(added))
    number = np.empty(len(added), dtype=np.int64)
    number[event[tails < heads]] = np.arange(len(added))
    return offsets, heads.astype(np.int32), number[event]
