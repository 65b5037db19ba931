"""Statistics of a graph for the planner and for users; each is computed once, on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.graph.forms import adopt
from kleene.system.cached_property import cached_property
from kleene.system.formatting import format_number
from kleene.system.html import card
from kleene.system.machine import threads_for

if TYPE_CHECKING:
    from kleene.graph.core import Graph

__all__ = ["Statistics", "heaviest_of_rows", "magnitude_sum"]

Array = NDArray[Any]


#: Larger graphs show what was computed before: a display takes milliseconds.
_COMPUTED_FOR_DISPLAY = 2**20  # vertices and arcs


class Statistics:
    """Statistics of one graph; each is computed on first access and cached.

    Prints as a table. On graphs of more than a million vertices and arcs, it shows those
    statistics that were computed before.

    Examples
    --------
    >>> import kleene as kl
    >>> s = kl.Graph.from_edges([0, 0, 1], [1, 2, 2], [3, 7, -2]).stats
    >>> s.min_weight, s.max_weight, s.max_degree, s.symmetric
    (-2, 7, 2, False)
    """

    def __init__(self, graph: Graph, path_bound: int | float | None = None) -> None:
        self._graph = graph
        if path_bound is not None:  # known before
            self.path_bound = path_bound

    def is_shown(self, name: str) -> bool:
        """Return whether a display shows this statistic: it is known, or the graph is small."""
        return name in self.__dict__ or self._graph.n + self._graph.m <= _COMPUTED_FOR_DISPLAY

    def _text(self, name: str) -> str:
        if not self.is_shown(name):
            return "not computed yet"
        value = getattr(self, name)
        return str(value) if isinstance(value, bool) else format_number(value)

    def _facts(self) -> dict[str, str]:
        """Return what is displayed, by name."""
        weights = () if self._graph.weight_dtype is None else ("min_weight", "max_weight")
        return {
            "vertices": f"{self._graph.n:,}",
            "arcs": f"{self._graph.m:,}",
            "mean_degree": f"{self.mean_degree:.3g}",
            "max_degree": self._text("max_degree"),
            "density": f"{self.density:.3g}",
            **{name: self._text(name) for name in weights},
            "symmetric": self._text("symmetric"),
            "diameter_estimate": self._text("diameter_estimate"),
        }

    def __repr__(self) -> str:
        name = f" of {self._graph.name!r}" if self._graph.name else ""
        facts = self._facts()
        width = max(map(len, facts))
        lines = (f"  {fact.ljust(width)}  {value}" for fact, value in facts.items())
        return "\n".join([f"Statistics{name}", *lines])

    def _repr_html_(self) -> str:
        return card("Statistics", self._graph.name, self._facts())

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """The number of outgoing arcs of each vertex."""
        degrees: NDArray[np.int64] = adopt(np.diff(self._graph.offsets))
        return degrees

    @cached_property
    def in_degrees(self) -> NDArray[np.int64]:
        """The number of incoming arcs of each vertex."""
        counts = np.bincount(self._graph.neighbors, minlength=self._graph.n)
        degrees: NDArray[np.int64] = adopt(counts.astype(np.int64, copy=False))
        return degrees

    @cached_property
    def max_degree(self) -> int:
        """The largest number of outgoing arcs of a vertex."""
        return int(self.degrees.max(initial=0))

    @cached_property
    def mean_degree(self) -> float:
        """The mean number of arcs per vertex."""
        return self._graph.m / self._graph.n if self._graph.n else 0.0

    @cached_property
    def density(self) -> float:
        """The number of arcs divided by n (n - 1); 0 to 1."""
        pairs = self._graph.n * (self._graph.n - 1)
        return self._graph.m / pairs if pairs else 0.0

    @cached_property
    def min_weight(self) -> Any:
        """The smallest weight; 1 for an unweighted graph, 0 for a graph without arcs."""
        return self._extreme("min")

    @cached_property
    def max_weight(self) -> Any:
        """The largest weight; 1 for an unweighted graph, 0 for a graph without arcs."""
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
        """The statistics of a graph made from a matrix; None for other graphs."""
        return self._graph.__dict__.get("_dense_arcs")

    @property
    def negative(self) -> bool:
        """Whether any weight is negative."""
        return bool(self.min_weight < 0)

    @cached_property
    def path_bound(self) -> int | float:
        """An upper bound on the absolute length of every simple path.

        A simple path leaves each vertex at most once, so the sum over all vertices of the largest
        absolute weight of an outgoing arc is a bound, and so is n times the largest absolute
        weight. Exact for integers; infinite where floats overflow.
        """
        g = self._graph
        if g.m == 0:
            return 0
        if g.weight_dtype is None:
            return g.n
        bound: int | float = g.n * max(abs(self.min_weight), abs(self.max_weight))
        if bound <= np.iinfo(np.int32).max:
            return bound
        return min(bound, magnitude_sum(self._heaviest()))

    def _heaviest(self) -> Array:
        """Return the largest magnitude of a weight in each row that has arcs."""
        g = self._graph
        if self._matrix is not None:
            heaviest: Array = self._matrix.heaviest
            return heaviest
        assert g.weights is not None
        return heaviest_of_rows(g.offsets, g.weights)

    @cached_property
    def symmetric(self) -> bool:
        """Whether every arc has a reverse arc of the same weight."""
        g = self._graph
        return not g.directed or _native.csr_is_symmetric(*g.csr, threads_for(g.m))

    @cached_property
    def diameter_estimate(self) -> int:
        """A lower bound, usually close, on the largest hop distance.

        Two breadth-first searches: from the vertex of highest degree, then from a farthest vertex
        found. O(n + m), on one core.
        """
        g = self._graph
        if g.m == 0:
            return 0
        start = int(self.degrees.argmax())
        depth, last, _ = _native.bfs_eccentricity(g.offsets, g.neighbors, start)
        return max(depth, _native.bfs_eccentricity(g.offsets, g.neighbors, last)[0])


def heaviest_of_rows(offsets: Array, weights: Array) -> Array:
    """Return the largest magnitude of a weight in each row that has arcs."""
    magnitudes = np.abs(weights)
    if magnitudes.dtype.kind == "i":  # |-2^31| overflows to itself; it is right as unsigned
        magnitudes = magnitudes.view(f"u{magnitudes.dtype.itemsize}").astype(np.uint64)
    return np.maximum.reduceat(magnitudes, offsets[:-1][np.diff(offsets) > 0])


def magnitude_sum(magnitudes: Array) -> int | float:
    """Return the sum of magnitudes: exact for integers, infinite where floats overflow."""
    if magnitudes.dtype.kind == "f":
        with np.errstate(over="ignore"):  # infinite: no type holds every path
            return float(magnitudes.sum(dtype=np.float64))
    low, high = magnitudes & np.uint64(0xFFFFFFFF), magnitudes >> np.uint64(32)
    return (int(high.sum()) << 32) + int(low.sum())
