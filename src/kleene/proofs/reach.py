"""Proof of what bounded searches return, by the arcs that leave what was reached.

The facts are those of ``paths.py``, for rows that hold only what was reached:

1. the source is stored, with distance 0 and no predecessor;
2. no arc from a stored vertex offers its head less than is stored there, and none leads to a
   vertex that is not stored, unless the offer is beyond the limit; in a row that holds its k
   nearest, unless it is no nearer than the farthest of them;
3. tight arcs lead from the source to every stored vertex: those of the predecessors, where these
   are kept.

Lengths are added as searches add them, one by one from the source, so that comparisons are exact in
the type of the distances. The work is proportional to the arcs that leave what was reached.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from kleene.backends.task import WithinAnswer
from kleene.errors import VerificationError
from kleene.graph import Graph
from kleene.graph.no_path import no_path
from kleene.proofs.paths import Proof
from kleene.proofs.row_arcs import search_along

__all__ = ["verify_reach"]

Array = NDArray[Any]

#: Arcs looked at together.
_PIECE = 2**20


def verify_reach(
    graph: Graph,
    answer: WithinAnswer,
    sources: Array,
    limit: int | float | None,
    k: int | None,
    unit: bool,
) -> Proof:
    """Prove every row, or raise VerificationError at the first fault."""
    began = time.perf_counter()
    checker = _Checker(graph, answer, sources, limit, k, unit)
    arcs = sum(checker.check(first, end) for first, end in checker.pieces())
    dtype = answer.distances.dtype
    tolerance = f"exact in {dtype}" if dtype.kind == "f" else "exact"
    count = len(sources)
    return Proof(count, count, arcs // max(1, count), tolerance, time.perf_counter() - began)


class _Checker:
    """Checks rows, many at a time."""

    def __init__(
        self,
        graph: Graph,
        answer: WithinAnswer,
        sources: Array,
        limit: int | float | None,
        k: int | None,
        unit: bool,
    ) -> None:
        self.graph, self.sources, self.limit, self.k = graph, sources, limit, k
        self.offsets, self.vertices, self.distances, self.predecessors = answer
        self.weights = None if unit else graph.weights
        if len(self.offsets) != len(sources) + 1 or self.offsets[-1] != len(self.vertices):
            raise VerificationError("the rows do not match the sources")
        if ((self.vertices < 0) | (self.vertices >= graph.n)).any():
            raise VerificationError("a row holds an id that is not a vertex")

    def pieces(self) -> Iterator[tuple[int, int]]:
        """Yield ranges of rows from which about so many arcs leave."""
        leaving = np.diff(self.graph.offsets)[self.vertices]
        arcs = np.append(0, np.cumsum(leaving))[self.offsets]
        first = 0
        while first < len(self.sources):
            end = int(np.searchsorted(arcs, arcs[first] + _PIECE, side="right")) - 1
            end = min(max(end, first + 1), len(self.sources))
            yield first, end
            first = end

    def fail(self, row: Any, what: str) -> NoReturn:
        raise VerificationError(f"from source {self.sources[row]}: {what}")

    def fail_at(self, wrong: Array, rows: Array, held: slice, what: str) -> None:
        """Complain of the first stored vertex that is wrong, if there is one."""
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            v, d = self.vertices[held][at], self.distances[held][at]
            self.fail(rows[at], f"vertex {v} holds {d}, {what}")

    def check(self, first: int, end: int) -> int:
        """Check the rows from the first to the end; return how many arcs leave their vertices."""
        held = slice(int(self.offsets[first]), int(self.offsets[end]))
        rows = np.repeat(np.arange(first, end), np.diff(self.offsets[first : end + 1]))
        vertices, distances = self.vertices[held], self.distances[held]
        keys = rows * self.graph.n + vertices
        if (keys[1:] <= keys[:-1]).any():
            raise VerificationError("the vertices of a row are not in order")
        if self.limit is not None:
            self.fail_at(distances > self.limit, rows, held, f"beyond the limit {self.limit}")
        starts = self.check_sources(first, end, keys, held, rows)
        horizons = self.horizons(first, end)

        # Every arc that leaves a stored vertex: from which entry, to which vertex or entry.
        degrees = np.diff(self.graph.offsets)[vertices]
        tails = np.repeat(np.arange(len(vertices)), degrees)
        shift = self.graph.offsets[vertices] - np.append(0, np.cumsum(degrees)[:-1])[: len(degrees)]
        arcs = np.arange(len(tails)) + np.repeat(shift, degrees)
        one = distances.dtype.type(1)
        lengths = one if self.weights is None else self.weights[arcs].astype(distances.dtype)
        offers = distances[tails] + lengths
        wanted = rows[tails] * self.graph.n + self.graph.neighbors[arcs]
        entries = np.minimum(np.searchsorted(keys, wanted), max(0, len(keys) - 1))
        stored = keys[entries] == wanted

        better = stored & (offers < distances[entries])
        self.fail_offer(better, rows, vertices, tails, arcs, offers)
        missing = ~stored & (offers < horizons[rows[tails] - first])
        if self.limit is not None:
            missing &= offers <= self.limit
        self.fail_offer(missing, rows, vertices, tails, arcs, offers)

        tight = stored & (offers == distances[entries])
        if self.predecessors is not None:
            tight &= self.predecessors[held][entries] == vertices[tails]
        self.check_attained(tails[tight], entries[tight], starts, rows, held)
        return len(arcs)

    def check_sources(self, first: int, end: int, keys: Array, held: slice, rows: Array) -> Array:
        """Return where the sources are stored; they must be, as the starts of paths."""
        wanted = np.arange(first, end) * self.graph.n + self.sources[first:end]
        at = np.searchsorted(keys, wanted)
        there = at < len(keys)
        there[there] = keys[at[there]] == wanted[there]
        if not there.all():
            self.fail(first + int(np.flatnonzero(~there)[0]), "the source is not stored")
        is_source = np.zeros(len(keys), dtype=bool)
        is_source[at] = True
        self.fail_at(is_source & (self.distances[held] != 0), rows, held, "and is the source")
        if self.predecessors is not None:
            has = self.predecessors[held] != -1
            self.fail_at(has == is_source, rows, held, "and its predecessor is wrong")
        return at

    def horizons(self, first: int, end: int) -> Array:
        """Return, for each row, from which offer on a vertex may be missing."""
        dtype = self.distances.dtype
        horizons = np.full(end - first, no_path(dtype), dtype=dtype)
        if self.k is None:
            return horizons
        sizes = np.diff(self.offsets[first : end + 1])
        if (sizes > self.k + 1).any():
            self.fail(first + int(np.argmax(sizes)), f"more than {self.k} vertices are stored")
        held = self.distances[: self.offsets[end]]
        farthest = np.maximum.reduceat(held, self.offsets[first:end])  # no row is empty
        return np.where(sizes == self.k + 1, farthest, horizons)

    def fail_offer(
        self, wrong: Array, rows: Array, vertices: Array, tails: Array, arcs: Array, offers: Array
    ) -> None:
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            u, v = vertices[tails[at]], self.graph.neighbors[arcs[at]]
            self.fail(rows[tails[at]], f"the arc {u} -> {v} offers {offers[at]}, which is better")

    def check_attained(
        self, tails: Array, heads: Array, starts: Array, rows: Array, held: slice
    ) -> None:
        """Tight arcs must lead from the sources to all entries."""
        attained = np.zeros(len(rows), dtype=bool)
        attained[starts] = True  # untestable: what is not marked here, the search below decides
        falls = self.distances[held][tails] < self.distances[held][heads]
        # untestable: what is not marked here, the search below decides
        attained[heads[falls]] = True
        if not attained.all():  # arcs of length zero: they must not go round
            attained[:] = False
            attained[search_along(tails, heads, starts, len(rows))[0]] = True
        self.fail_at(~attained, rows, held, "but no path attains that")
