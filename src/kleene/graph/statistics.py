"""Facts about a graph that the planner and curious people need; each computed once, on demand."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.system.machine import threads_for

if TYPE_CHECKING:
    from kleene.graph.core import Graph

__all__ = ["Statistics"]

Array = NDArray[Any]


class Statistics:
    """Facts about one graph, computed when first asked for and then kept.

    Examples
    --------
    >>> import kleene as kl
    >>> s = kl.Graph.from_edges([0, 0, 1], [1, 2, 2], [3, 7, -2]).stats
    >>> s.min_weight, s.max_weight, s.max_degree, s.symmetric
    (-2, 7, 2, False)
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """Arcs leaving each vertex."""
        degrees = np.diff(self._graph.offsets)
        degrees.flags.writeable = False
        return degrees

    @cached_property
    def in_degrees(self) -> NDArray[np.int64]:
        """Arcs entering each vertex."""
        degrees = np.bincount(self._graph.neighbors, minlength=self._graph.n).astype(np.int64)
        degrees.flags.writeable = False
        return degrees

    @cached_property
    def max_degree(self) -> int:
        """Return the most arcs that leave one vertex."""
        return int(self.degrees.max(initial=0))

    @cached_property
    def mean_degree(self) -> float:
        """Arcs per vertex."""
        return self._graph.m / self._graph.n if self._graph.n else 0.0

    @cached_property
    def density(self) -> float:
        """Arcs over the number of ordered pairs of distinct vertices, 0 to 1."""
        pairs = self._graph.n * (self._graph.n - 1)
        return self._graph.m / pairs if pairs else 0.0

    @cached_property
    def min_weight(self) -> Any:
        """Return the smallest weight; 1 when there are no weights, 0 when there are no arcs."""
        return self._extreme("min")

    @cached_property
    def max_weight(self) -> Any:
        """Return the largest weight; 1 when there are no weights, 0 when there are no arcs."""
        return self._extreme("max")

    def _extreme(self, which: str) -> Any:
        g = self._graph
        if g.m == 0:
            return 0
        if g.weight_dtype is None:
            return 1
        if self._matrix is not None:
            return getattr(self._matrix, f"{which}_weight")
        return getattr(g.weights, which)().item()

    @property
    def _matrix(self) -> Any:
        """What a graph that came as a matrix knows of its weights."""
        return self._graph.__dict__.get("_dense_arcs")

    @property
    def negative(self) -> bool:
        """Is any weight below zero?"""
        return bool(self.min_weight < 0)

    @cached_property
    def path_bound(self) -> int | float:
        """Return a bound on the length, in absolute value, of every path without repeated vertices.

        Such a path leaves a vertex at most once, and leaves one vertex fewer than it visits: the
        sum over the vertices of their heaviest arc bounds it, and so does n times the
        heaviest arc of all. Exact for integers.
        """
        g = self._graph
        if g.m == 0:
            return 0
        if g.weight_dtype is None:
            return g.n
        bound: int | float = g.n * max(abs(self.min_weight), abs(self.max_weight))
        if bound <= np.iinfo(np.int32).max:
            return bound
        heaviest = self._heaviest()
        if heaviest.dtype.kind == "f":
            return min(bound, float(heaviest.sum(dtype=np.float64)))
        low, high = heaviest & np.uint64(0xFFFFFFFF), heaviest >> np.uint64(32)
        return min(bound, (int(high.sum()) << 32) + int(low.sum()))

    def _heaviest(self) -> Array:
        """Return the largest magnitude of a weight in each row that has arcs."""
        g = self._graph
        if self._matrix is not None:
            heaviest: Array = self._matrix.heaviest
            return heaviest
        assert g.weights is not None
        magnitudes = np.abs(g.weights)
        if magnitudes.dtype.kind == "i":  # |-2^31| wraps to itself; unsigned, it is right again
            magnitudes = magnitudes.view(f"u{magnitudes.dtype.itemsize}").astype(np.uint64)
        return np.maximum.reduceat(magnitudes, g.offsets[:-1][self.degrees > 0])

    @cached_property
    def symmetric(self) -> bool:
        """Does every arc have a twin in the other direction with the same weight?"""
        g = self._graph
        return not g.directed or _native.csr_is_symmetric(*g.csr, threads_for(g.m))

    @cached_property
    def diameter_estimate(self) -> int:
        """Return a lower bound, usually close, on the largest hop distance.

        Two breadth-first sweeps: from the vertex of highest degree to a farthest vertex, and from
        there. O(n + m), on one core.
        """
        g = self._graph
        if g.m == 0:
            return 0
        start = int(self.degrees.argmax())
        depth, last, _ = _native.bfs_sweep(g.offsets, g.neighbors, start)
        return max(depth, _native.bfs_sweep(g.offsets, g.neighbors, last)[0])
