"""Values of the pairs that elimination joined: triangles relaxed from the lowest rank up.

Lengths of integers are computed in 32 bits where that is enough: where the bound on simple paths
says so, or else where the values themselves prove it. Sums of lengths that are not negative lose
nothing but paths that are too long for the type. Let ``r`` be the root of a weak component, and
call a vertex *apart* if there is no way from it to ``r``, or none from ``r`` to it. Those vertices
of a shortest path that are not apart follow one another, and their part of the path is at most as
long as the farthest way to ``r`` and the farthest way from it. Each of the others is left by one
arc, and so is the last of the part. If all that is short enough, so is every distance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kleene import _native
from kleene.backends.common.cycles import is_negative
from kleene.errors import GraphError, NegativeCycleError, PathOverflowError
from kleene.graph import Graph
from kleene.prepared.elimination import Elimination
from kleene.system.machine import threads_for

__all__ = ["Customization", "customize"]

Array = NDArray[Any]
Progress = Callable[[int, int], object]


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

    @property
    def symmetric(self) -> bool:
        """Whether paths have the same value in both directions."""
        return self.up is self.down

    def has_cycle_below_zero(self, elimination: Elimination) -> bool:
        """Return whether a cycle is below zero, if only by rounding: paths through it are not sure.

        Computed at the first call. Integers have none, since :func:`customize` raises.
        """
        if not self.negative or self.up.dtype.kind != "f":
            return False
        if "_below_zero" not in self.__dict__:
            first = _native.prepared_first_negative(*_arrays(elimination), self.up, self.down)
            self.__dict__["_below_zero"] = first >= 0
        below: bool = self.__dict__["_below_zero"]
        return below

    def middles(self, elimination: Elimination) -> tuple[Array, Array]:
        """Return the middle of every pair, upward and downward: a rank, -1 for an arc of the graph.

        Of several vertices that the best path may go through it is the lowest. Computed at the
        first call; for a symmetric graph both are one array.
        """
        if "_middles" not in self.__dict__:
            self.__dict__["_middles"] = self._find_middles(elimination)
        middles: tuple[Array, Array] = self.__dict__["_middles"]
        return middles

    def _find_middles(self, elimination: Elimination) -> tuple[Array, Array]:
        threads = threads_for(elimination.arcs)
        up = np.empty(elimination.arcs, dtype=np.int32)
        down = up if self.symmetric else np.empty_like(up)
        arcs = None if self.graph is None else _pair_arcs(elimination, self.graph, threads)
        _native.prepared_find_middles(
            *_arrays(elimination),
            _supernodes(elimination),
            None if arcs is None else arcs.found,
            None if self.graph is None else _lengths(self.graph, self.up.dtype),
            self.semiring,
            self.negative,
            self.up,
            self.down,
            up,
            down,
            threads,
        )
        return up, down

    def last_vertices(self, elimination: Elimination) -> tuple[Array, Array]:
        """Return the vertex before the end of each pair's path, upward and downward.

        Vertices of the graph, not ranks; without meaning where there is no path. Computed at the
        first call.
        """
        if "_last_vertices" not in self.__dict__:
            self.__dict__["_last_vertices"] = _native.prepared_find_last_vertices(
                *_arrays(elimination),
                elimination.order,
                *self.middles(elimination),
                threads_for(elimination.arcs),
            )
        last: tuple[Array, Array] = self.__dict__["_last_vertices"]
        return last


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
    dtype = np.dtype(dtype)
    threads = threads_for(elimination.arcs, threads)
    arcs = _pair_arcs(elimination, graph, threads)
    if semiring == "min_plus" and arcs.found.loop >= 0:  # graphs keep no others than negative ones
        raise NegativeCycleError([arcs.found.loop])

    def values(compute: DTypeLike) -> Customization:
        return _values(elimination, graph, arcs, semiring, dtype, np.dtype(compute), threads,
                       progress)  # fmt: skip

    if dtype.kind == "b":
        return values(np.uint8)
    if semiring != "min_plus":
        return values(dtype)
    found = _narrow(elimination, graph, values) if dtype.kind == "i" else None
    if found is None:
        found = values(np.int64 if dtype.kind == "i" else dtype)
    if found.negative:
        _raise_negative_cycle(elimination, graph, arcs, found)
    return found


# ---- arcs ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _PairArcs:
    """Which arcs of a graph the pairs of an elimination start from."""

    offsets: Array  # of the graph
    neighbors: Array
    found: _native.PairArcs

    def are_of(self, graph: Graph) -> bool:
        """Return whether the graph has the same arcs, whatever its weights."""
        pairs = ((self.offsets, graph.offsets), (self.neighbors, graph.neighbors))
        return all(a is b or np.array_equal(a, b) for a, b in pairs)


def _pair_arcs(elimination: Elimination, graph: Graph, threads: int) -> _PairArcs:
    """Return the arcs that pairs start from; the elimination keeps those of the last graph."""
    kept: _PairArcs | None = elimination.__dict__.get("_pair_arcs")
    if kept is not None and kept.are_of(graph):
        return kept
    if graph.n != elimination.n or graph.m > np.iinfo(np.int32).max:
        raise GraphError(
            f"the prepared graph has {elimination.n:,} vertices and at most 2^31 - 1 arcs, this "
            f"one {graph.n:,} and {graph.m:,}: prepare it by itself"
        )
    found = _native.prepared_find_arcs(
        graph.offsets, graph.neighbors, elimination.ranks, *_arrays(elimination), threads
    )
    if found.unknown >= 0:
        tail = int(np.searchsorted(graph.offsets, found.unknown, side="right")) - 1
        head = int(graph.neighbors[found.unknown])
        raise GraphError(
            f"the arc from {graph.label(tail)!r} to {graph.label(head)!r} is not in the prepared "
            "graph, which takes new weights for its own arcs: prepare the new graph"
        )
    made = _PairArcs(graph.offsets, graph.neighbors, found)
    elimination.__dict__["_pair_arcs"] = made
    return made


def _arrays(elimination: Elimination) -> tuple[Array, Array, Array]:
    return elimination.offsets, elimination.heads, elimination.parents


def _supernodes(elimination: Elimination) -> _native.Supernodes:
    """Return the supernodes of an elimination, found once."""
    if "_supernodes" not in elimination.__dict__:
        made = _native.prepared_find_supernodes(*_arrays(elimination))
        elimination.__dict__["_supernodes"] = made
    found: _native.Supernodes = elimination.__dict__["_supernodes"]
    return found


def _lengths(graph: Graph, dtype: np.dtype[Any]) -> Array | None:
    if graph.weights is None or dtype == np.uint8:
        return None
    return graph.weights.astype(dtype, copy=False)


# ---- values --------------------------------------------------------------------------------------


def _values(
    elimination: Elimination,
    graph: Graph,
    arcs: _PairArcs,
    semiring: str,
    dtype: np.dtype[Any],
    compute: np.dtype[Any],
    threads: int,
    progress: Progress | None,
) -> Customization:
    lengths = _lengths(graph, compute)
    symmetric = _native.prepared_are_symmetric(arcs.found, lengths)
    up = np.empty(elimination.arcs, dtype=compute)
    down = up if symmetric else np.empty_like(up)
    negative = lengths is not None and graph.stats.negative
    _native.prepared_customize(
        *_arrays(elimination), _supernodes(elimination), arcs.found, lengths, semiring, negative,
        up, down, threads, progress
    )  # fmt: skip
    return Customization(semiring, dtype, negative, up, down, graph)


def _narrow(
    elimination: Elimination, graph: Graph, values: Callable[[DTypeLike], Customization]
) -> Customization | None:
    """Return values in 32 bits, or None where 64 are needed: see the text of the module."""
    too_long = np.iinfo(np.int32).max // 2  # stands for "no path"
    if graph.stats.path_bound < too_long:
        return values(np.int32)
    if graph.stats.path_bound >= np.iinfo(np.int64).max // 2:
        raise PathOverflowError(
            f"path lengths may reach {graph.stats.path_bound}, too much for int64; pass "
            "dtype='float64', or scale the weights down"
        )
    heaviest = int(graph.stats.max_weight)
    if graph.stats.negative or heaviest >= too_long:
        return None
    found = values(np.int32)
    farthest, apart = _native.prepared_reach_of_roots(*_arrays(elimination), found.up, found.down)
    beside = (apart + 1) * heaviest if apart else 0
    return found if farthest + beside < too_long else None


# ---- negative cycles -----------------------------------------------------------------------------


def _raise_negative_cycle(
    elimination: Elimination, graph: Graph, arcs: _PairArcs, found: Customization
) -> None:
    """Raise NegativeCycleError if some pair, there and back, is a negative cycle."""
    pair = _native.prepared_first_negative(*_arrays(elimination), found.up, found.down)
    if pair >= 0 and found.up.dtype.kind == "f":  # rounding, perhaps
        pair = _native.prepared_first_negative_beyond_rounding(
            *_arrays(elimination), arcs.found, _lengths(graph, found.up.dtype),
            *found.middles(elimination)
        )  # fmt: skip
    if pair < 0:
        return
    low = int(np.searchsorted(elimination.offsets, pair, side="right")) - 1
    high = int(elimination.heads[pair])
    middles = found.middles(elimination)
    ranks = [*_inner_path(elimination, middles, low, high),
             *_inner_path(elimination, middles, high, low)]  # fmt: skip
    for cycle in _simple_cycles(elimination.order[ranks].tolist()):
        if is_negative(graph, cycle, found.up.dtype):
            raise NegativeCycleError(cycle)


def _inner_path(
    elimination: Elimination, middles: tuple[Array, Array], tail: int, head: int
) -> list[int]:
    """Return the ranks on the path between a pair, without the last."""
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
