"""Searches from both ends of a path, with the ties and the sums of NetworkX.

``native/core/sssp/two_sided_search.hpp`` does what NetworkX does. For that it needs the
predecessors of each node in NetworkX's order, too.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.interop.networkx.graph import Arcs, KleeneGraph
from kleene.interop.networkx.search import refuse_negative

__all__ = ["TwoSided"]

Array = NDArray[Any]
Found = tuple[Any, list[int]]  # a length, 0 without weights, and a path of positions


class TwoSided:
    """Searches from both ends of a graph, with the ties of NetworkX.

    Parameters
    ----------
    G : KleeneGraph
    arcs : Arcs
        The arcs under a weight, which is no function.
    weighted : bool
        Whether to search by length, as NetworkX does where a weight is named, or by levels.
    """

    def __init__(self, G: KleeneGraph, arcs: Arcs, weighted: bool) -> None:
        refuse_negative(arcs)
        self._arcs = arcs
        incoming: tuple[Any, Any, Any] = (None, None, None)
        if arcs.directed:
            back = G.incoming(arcs)
            incoming = (back.offsets, back.neighbors, _lengths(back, weighted))
        self._rows = (arcs.offsets, arcs.neighbors, _lengths(arcs, weighted), *incoming)

    def path(self, source: int, target: int, latest: bool = False) -> Found | None:
        """Return a shortest path, or None; ``latest`` as ``nx.bidirectional_dijkstra`` does."""
        found: Found | None = _native.two_sided_path(*self._rows, source, target, latest)
        return found

    def spurs(self, path: list[int], found: list[list[int]]) -> list[Found | None]:
        """Return, for each node of a path but the last, a way on from it to the end, or None.

        It avoids the nodes before, and the arcs by which paths found so far leave the same way.
        """
        arcs: list[tuple[int, int]] = []
        ends, alike = [], found
        for i in range(1, len(path)):
            alike = [other for other in alike if other[i - 1] == path[i - 1]]
            arcs.extend(dict.fromkeys((other[i - 1], other[i]) for other in alike))
            ends.append(len(arcs))
        tails, heads = np.array(arcs, dtype=np.int32).reshape(-1, 2).T.copy()
        nodes, each = np.array(path, dtype=np.int32), np.array(ends, dtype=np.int64)
        return _native.spur_paths(*self._rows, nodes, tails, heads, each)

    def total(self, length: Any, path: list[int]) -> Any:
        """Return the length of a path: an integer where all of its weights are."""
        if self._arcs.is_float is None:
            return length
        whole = all(isinstance(self.length(u, v), int) for u, v in pairwise(path))
        return int(length) if whole else length

    def length(self, tail: int, head: int) -> Any:
        """Return the weight of an arc."""
        if self._arcs.weights is None:
            return 1
        arc = self._arcs.between(tail, head)
        value = self._arcs.weights[arc].item()
        real = self._arcs.is_float is None or self._arcs.is_float[arc]
        return value if real else int(value)


def _lengths(arcs: Arcs, weighted: bool) -> Array | None:
    """Return the weights, also where all of them are 1."""
    if arcs.weights is None and weighted:
        return np.ones(len(arcs.neighbors), dtype=np.int64)
    return arcs.weights
