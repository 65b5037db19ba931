"""Values of the pairs that elimination joined: triangles relaxed from the lowest rank up.

Lengths of integers are computed in 32 bits where that is enough: where the bound on simple paths
says so, or else where the values themselves prove it. Sums of lengths that are not negative lose
nothing but paths that are too long for the type. Let ``r`` be the root of a weak component, and
call a vertex *apart* if there is no way from it to ``r``, or none from ``r`` to it. Those vertices
of a shortest path that are not apart follow one another, and their part of the path is at most as
long as the farthest way to ``r`` and the farthest way from it. Each of the others is left by one
arc, and so is the last of the part. If all that is short enough, so is every distance.

Negative cycles are those of ``backends/common/johnson``. Floats that are negative may have cycles
of about zero, which rounding makes negative; triangles could go around one again at every rank, and
double what rounding lost each time. So values in which some pair, there and back, is below zero are
computed again with weights that rise: by more than all rounding along a path, which is a sum of
sums, as deep as the tree. Then no such cycle can be of use. In the end, the weights as they are get
added up along the paths that were found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kleene import _native
from kleene.backends.common.johnson import is_negative
from kleene.backends.task import Progress
from kleene.errors import Code, GraphError, NegativeCycleError, Text
from kleene.graph import Graph
from kleene.graph.checks import overflow_error
from kleene.prepared.elimination import Elimination
from kleene.system.cached_property import cached
from kleene.system.machine import threads_for

__all__ = [
    "Customization",
    "customize",
    "find_pair_arcs",
    "lengths",
    "narrow_values",
]

Array = NDArray[Any]
Values = TypeVar("Values")


@dataclass(frozen=True, eq=False)
class Customization:
    """The weights of a graph, carried over to the pairs of its elimination.

    ``up`` and ``down`` may have a narrower type than the answers, where all path lengths fit; in
    integers, half the largest value of their type stands for "no path".
    """

    semiring: str
    dtype: np.dtype[Any]  # of the answers
    negative: bool  # may a value be below zero?
    up: Array  # by arc of the elimination: the best path from the vertex to its upward neighbor
    down: Array  # and back; the same array for a symmetric graph
    graph: Graph | None = None  # whose weights these are, where it is known

    def __reduce__(self) -> tuple[Any, ...]:  # without what is cached
        parts = self.semiring, self.dtype, self.negative, self.up, self.down, self.graph
        return Customization, parts

    @property
    def symmetric(self) -> bool:
        """Whether paths have the same value in both directions."""
        return self.up is self.down

    @property
    def key(self) -> tuple[str, str]:
        """The semiring and the type of the answers."""
        return self.semiring, str(self.dtype)

    def has_cycle_below_zero(self, elimination: Elimination) -> bool:
        """Return whether a cycle is below zero, if only by rounding: paths through it are not sure.

        Computed at the first call. Integers have none, since :func:`customize` raises, and other
        semirings have no sums.
        """
        if self.semiring != "min_plus" or not self.negative or self.up.dtype.kind != "f":
            return False
        return cached(
            self, "_below_zero",
            lambda: _native.prepared_first_negative(*_arrays(elimination), self.up, self.down) >= 0,
        )  # fmt: skip

    def middles(self, elimination: Elimination) -> tuple[Array, Array]:
        """Return the middle of every pair, upward and downward: a rank, -1 for an arc of the graph.

        Of several vertices that the best path may go through it is the lowest. Computed at the
        first call; for a symmetric graph both are one array.
        """

        def find() -> tuple[Array, Array]:
            weights = None if self.graph is None else lengths(self.graph, self.up.dtype)
            return self._find_middles(elimination, weights)

        return cached(self, "_middles", find)

    def _find_middles(self, elimination: Elimination, weights: Array | None) -> tuple[Array, Array]:
        threads = threads_for(elimination.arcs)
        up = np.empty(elimination.arcs, dtype=np.int32)
        down = up if self.symmetric else np.empty_like(up)
        graph = self.graph
        arcs = None if graph is None else find_pair_arcs(elimination, graph, threads)
        _native.prepared_find_middles(
            *_arrays(elimination), _supernodes(elimination), arcs, weights, self.semiring,
            self.negative, self.up, self.down, up, down, threads
        )  # fmt: skip
        return up, down

    def last_vertices(self, elimination: Elimination) -> tuple[Array, Array]:
        """Return the vertex before the end of each pair's path, upward and downward.

        Vertices of the graph, not ranks; without meaning where there is no path. Computed at the
        first call.
        """

        def find() -> tuple[Array, Array]:
            return _native.prepared_find_last_vertices(
                *_arrays(elimination), _supernodes(elimination), elimination.order,
                *self.middles(elimination), threads_for(elimination.arcs)
            )  # fmt: skip

        return cached(self, "_last_vertices", find)


def customize(
    elimination: Elimination,
    graph: Graph,
    semiring: str = "min_plus",
    *,
    dtype: DTypeLike,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Customization:
    """Return the values of all pairs for the weights of a graph.

    Parameters
    ----------
    elimination : Elimination
        Of a graph with the same arcs, or more.
    graph : Graph
        The weights; in a graph without weights every arc counts one.
    semiring : {"min_plus", "max_min", "max_times", "boolean"}
        What paths are compared by.
    dtype : dtype
        The type of the answers, wide enough for every path (``planning/dtype_choice.py``).
    threads : int, optional
        All cores by default, one for small graphs.
    progress : function, optional
        Called with (done, total) now and then.

    Raises
    ------
    NegativeCycleError
        With positions of vertices.

    Examples
    --------
    >>> import kleene as kl
    >>> from kleene.prepared.elimination import eliminate
    >>> g = kl.Graph.from_edges([0, 1], [1, 2], [3, 4], directed=False)
    >>> customize(eliminate(g, [1, 0, 2]), g, dtype="int64").up.tolist()
    [3, 4, 7]
    """
    task = _Task(elimination, graph, semiring, np.dtype(dtype),
                 threads_for(elimination.arcs, threads), progress)  # fmt: skip
    if task.dtype.kind == "b":
        return task.values(np.uint8)
    if semiring != "min_plus":
        return task.values(dtype)
    if task.arcs.loop >= 0:  # graphs keep no others than negative ones
        raise NegativeCycleError([task.arcs.loop])
    if task.dtype.kind == "f":
        return task.lengths_of_floats()
    return task.lengths_of_integers()


def narrow_values(
    graph: Graph,
    values: Callable[[DTypeLike], Values],
    reach: Callable[[Values], tuple[int, int]],
) -> Values | None:
    """Return values in 32 bits, or None where 64 are needed: see the text of the module.

    ``reach`` returns the longest way over a root, at least, and the number of vertices apart.
    """
    too_long = np.iinfo(np.int32).max // 2  # stands for "no path"
    stats = graph.stats
    if stats.path_bound < too_long:
        return values(np.int32)
    wide = np.dtype(np.int64)
    most = int(np.iinfo(wide).max) // 2 - 1
    if stats.path_bound > most:
        advice = (Text("pass ", Code("dtype='float64'")), "scale the weights down")
        raise overflow_error(wide, stats.path_bound, *advice, safe=most)
    heaviest = int(stats.max_weight)
    if stats.negative or heaviest >= too_long:
        return None
    found = values(np.int32)
    farthest, apart = reach(found)
    beside = (apart + 1) * heaviest if apart else 0
    return found if farthest + beside < too_long else None


class _Task:
    """The arguments of :func:`customize`."""

    def __init__(
        self,
        elimination: Elimination,
        graph: Graph,
        semiring: str,
        dtype: np.dtype[Any],
        threads: int,
        progress: Progress | None,
    ) -> None:
        self.elimination, self.graph, self.semiring = elimination, graph, semiring
        self.dtype, self.threads, self.progress = dtype, threads, progress
        self.arcs = find_pair_arcs(elimination, graph, threads)

    def values(self, compute: DTypeLike, weights: Array | None = None) -> Customization:
        """Return values in a type, of the graph's weights or of others."""
        e, compute = self.elimination, np.dtype(compute)
        weights = lengths(self.graph, compute) if weights is None else weights
        symmetric = _native.prepared_are_symmetric(self.arcs, weights, self.threads)
        up = np.empty(e.arcs, dtype=compute)
        down = up if symmetric else np.empty_like(up)
        negative = weights is not None and self.graph.stats.negative
        _native.prepared_customize(
            *_arrays(e), _supernodes(e), self.arcs, weights, self.semiring, negative, up, down,
            self.threads, self.progress
        )  # fmt: skip
        return Customization(self.semiring, self.dtype, negative, up, down, self.graph)

    # ---- sums ------------------------------------------------------------------------------------

    def lengths_of_integers(self) -> Customization:
        """Return values in 32 bits if these are enough, or in 64."""
        found = narrow_values(self.graph, self.values, self._reach) or self.values(np.int64)
        if found.negative and (pair := self._first_negative(found)) >= 0:
            self._raise_cycle(pair, found.middles(self.elimination))
        return found

    def _reach(self, found: Customization) -> tuple[int, int]:
        farthest, apart = _native.prepared_reach_of_roots(
            *_arrays(self.elimination), _supernodes(self.elimination), found.up, found.down,
            self.threads
        )  # fmt: skip
        return farthest, apart

    def lengths_of_floats(self) -> Customization:
        """Return values that no rounding has led around a cycle."""
        found = self.values(self.dtype)
        if not found.negative or self._first_negative(found) < 0:
            return found
        weights = lengths(self.graph, self.dtype)
        assert weights is not None
        middles = found.middles(self.elimination)
        self._raise_cycle_beyond_rounding(weights, middles)
        rise = (2 + self.elimination.fill.depth) * np.finfo(self.dtype).eps
        risen = (weights + rise * np.abs(weights)).astype(self.dtype, copy=False)
        found = self.values(self.dtype, risen)
        middles = found._find_middles(self.elimination, risen)
        self._raise_cycle_beyond_rounding(weights, middles)
        found.__dict__["_middles"] = middles
        _native.prepared_add_up(
            *_arrays(self.elimination), self.arcs, weights, *middles, found.up, found.down
        )
        return found

    # ---- negative cycles -------------------------------------------------------------------------

    def _first_negative(self, found: Customization) -> int:
        return _native.prepared_first_negative(*_arrays(self.elimination), found.up, found.down)

    def _raise_cycle_beyond_rounding(self, weights: Array, middles: tuple[Array, Array]) -> None:
        pair = _native.prepared_first_negative_beyond_rounding(
            *_arrays(self.elimination), self.arcs, weights, *middles
        )
        if pair >= 0:
            self._raise_cycle(pair, middles)

    def _raise_cycle(self, pair: int, middles: tuple[Array, Array]) -> None:
        """Raise NegativeCycleError: the way of this pair, there and back, is negative."""
        e = self.elimination
        low = int(np.searchsorted(e.offsets, pair, side="right")) - 1
        high = int(e.heads[pair])
        ranks = _path(e, middles, low, high) + _path(e, middles, high, low)
        for cycle in _simple_cycles(e.order[ranks].tolist()):
            if is_negative(self.graph, cycle, self.dtype):
                raise NegativeCycleError(cycle)


def _arrays(elimination: Elimination) -> tuple[Array, Array, Array]:
    return elimination.offsets, elimination.heads, elimination.parents


def _supernodes(elimination: Elimination) -> _native.Supernodes:
    """Return the supernodes of an elimination, found once."""
    return cached(
        elimination, "_supernodes", lambda: _native.prepared_find_supernodes(*_arrays(elimination))
    )


def _path(
    elimination: Elimination, middles: tuple[Array, Array], tail: int, head: int
) -> list[int]:
    """Return the ranks on the path of a pair, without the last."""
    path, left = [], [(tail, head)]
    while left:
        tail, head = left.pop()
        low, high = min(tail, head), max(tail, head)
        begin, end = elimination.offsets[low], elimination.offsets[low + 1]
        place = begin + np.searchsorted(elimination.heads[begin:end], high)
        middle = int(middles[tail > head][place])
        if middle < 0:
            path.append(tail)
        else:
            left += [(middle, head), (tail, middle)]
    return path


def _simple_cycles(walk: list[int]) -> list[list[int]]:
    """Return the simple cycles that a closed walk consists of; its end is not repeated."""
    cycles: list[list[int]] = []
    places: dict[int, int] = {}  # of the vertices on the chain, which is simple
    chain: list[int] = []
    for vertex in [*walk, walk[0]]:
        begin = places.get(vertex)
        if begin is not None:
            cycles.append(chain[begin:])
            for passed in cycles[-1]:
                del places[passed]
            del chain[begin:]
        places[vertex] = len(chain)
        chain.append(vertex)
    return cycles


# ---- the arcs that the pairs of an elimination start from ---------------------------------------
# The arcs of a graph that the pairs of an elimination start from, found once for a structure.


@dataclass(frozen=True, eq=False)
class _PairArcs:
    """What was found for a graph, and for all that have the same arcs."""

    offsets: Array  # of the graph
    neighbors: Array
    found: _native.PairArcs

    def are_of(self, graph: Graph) -> bool:
        """Return whether the graph has these arcs, whatever its weights."""
        pairs = ((self.offsets, graph.offsets), (self.neighbors, graph.neighbors))
        return all(a is b or np.array_equal(a, b) for a, b in pairs)


def find_pair_arcs(elimination: Elimination, graph: Graph, threads: int) -> _native.PairArcs:
    """Return the arcs that pairs start from; the elimination keeps those of the last graph."""
    kept: _PairArcs | None = elimination.__dict__.get("_pair_arcs")
    if kept is not None and kept.are_of(graph):
        return kept.found
    if graph.n != elimination.n or graph.m > np.iinfo(np.int32).max:
        raise GraphError(
            f"the prepared graph has {elimination.n:,} vertices and at most 2^31 - 1 arcs, but "
            f"this one has {graph.n:,} and {graph.m:,}: prepare it separately"
        )
    found = _native.prepared_find_arcs(
        graph.offsets, graph.neighbors, elimination.order, elimination.ranks,
        elimination.offsets, elimination.heads, elimination.parents, threads
    )  # fmt: skip
    if found.unknown >= 0:
        tail = int(np.searchsorted(graph.offsets, found.unknown, side="right")) - 1
        head = int(graph.neighbors[found.unknown])
        raise GraphError(
            f"the arc from {graph.label(tail)!r} to {graph.label(head)!r} is not in the prepared "
            "graph, which takes new weights for its own arcs: prepare the new graph"
        )
    elimination.__dict__["_pair_arcs"] = _PairArcs(graph.offsets, graph.neighbors, found)
    return found


def lengths(graph: Graph, dtype: np.dtype[Any]) -> Array | None:
    """Return the weights of a graph in a type of values; None where every arc counts one."""
    if graph.weights is None or dtype == np.uint8:
        return None
    return graph.weights.astype(dtype, copy=False)
