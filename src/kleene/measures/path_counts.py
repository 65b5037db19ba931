"""How many shortest paths lead from a source to each vertex.

Distances come from any search; then the arcs on shortest paths are found and the paths are counted
along them, in whole numbers: ``native/core/measures/path_counts.hpp``. Floats are rounded from
these.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.backends.common.native_search import swallowed_weights
from kleene.engine.call import Timings
from kleene.errors import Code, RequestError, Text, VerificationError
from kleene.graph import Graph
from kleene.graph.checks import memory_for, over_budget
from kleene.graph.forms import adopt
from kleene.graph.no_path import NO_HOPS, no_path
from kleene.measures.measure import Measure
from kleene.planning.plan import Plan
from kleene.proofs.claim import require_numbers
from kleene.proofs.paths import Proof, choose_rows
from kleene.results.tables import Block

__all__ = ["PathCounts", "count_paths"]

Array = NDArray[Any]

#: 64-bit words of numbers up to the largest float: 1024 bits, and one that rounding may hide.
_FLOAT_WORDS = 17


def count_paths(graph: Graph, distances: Array, source: int, hops: bool, exact: bool) -> Array:
    """Return the number of shortest paths to each vertex, from the distances of all vertices.

    Integer distances are exact; floats are float64, added arc by arc from the source.
    """
    unit = hops or graph.weights is None
    lengths = None if unit else graph.weights.astype(distances.dtype, copy=False)  # type: ignore[union-attr]
    # untestable: many times what the counts take
    most = 8 * graph.n * (1 + graph.m // 64)  # an arc at most doubles a count
    # untestable: memory for the integers, roughly
    available = memory_for(most) // (3 if exact else 1)  # Python's integers come on top
    try:
        words = _native.path_counts(
            graph.offsets, graph.neighbors, lengths, distances,
            NO_HOPS if hops else no_path(distances.dtype), source,
            most if exact else _FLOAT_WORDS, available,
        )  # fmt: skip
    except _native.MemoryNeeded as needed:
        advice = [Text("leave out ", Code("exact=True"))] if exact else []
        raise over_budget(
            needed.args[0], available, "the number of paths", *advice, Text("set a ", Code("limit"))
        ) from None
    if isinstance(words, tuple):
        raise swallowed_weights(graph, *words)
    if words is None:
        raise _too_many()
    return _as_integers(words, graph.n) if exact else _as_floats(words, graph.n)


def _whole(words: Array, n: int) -> Iterator[int]:
    data, size = words.tobytes(), 8 * len(words) // n
    return (int.from_bytes(data[i : i + size], "little") for i in range(0, len(data), size))


def _as_integers(words: Array, n: int) -> Array:
    """Return int64 where all fit, else Python's integers."""
    low, *high = words.reshape(n, -1).T
    if int(low.max()) < 2**63 and not any(part.any() for part in high):
        return low.astype(np.int64)
    return np.fromiter(_whole(words, n), dtype=object, count=n)


def _as_floats(words: Array, n: int) -> Array:
    if len(words) == n:
        return words.astype(np.float64)
    try:
        return np.fromiter(_whole(words, n), dtype=np.float64, count=n)
    except OverflowError:
        raise _too_many() from None


def _too_many() -> RequestError:
    return RequestError(
        "some vertex has more shortest paths than the largest float, 1.8e308",
        advice=[
            Text("pass ", Code("exact=True"), " for whole numbers"),
            Text("set a ", Code("limit")),
        ],
        lead=": ",
    )


class PathCounts(Measure):
    """How many shortest paths lead from the source to each vertex; see :func:`path_counts`.

    Attributes
    ----------
    values : array
        The number of paths to each vertex, by position; 1 for the source, 0 where there is none.
    distances : array
        The length of these paths.
    source : vertex
        Where paths begin: a label where the graph has labels.
    hops, reverse : bool
        Whether arcs were counted instead of weights, and whether paths lead to the source.

    Examples
    --------
    >>> import kleene as kl
    >>> counts = kl.path_counts(kl.generate.grid(3, 3), 0)
    >>> counts
    PathCounts(paths of 9 vertices, most 6 at 8)
    >>> counts.values.reshape(3, 3).tolist(), counts.verify().arcs
    ([[1.0, 1.0, 1.0], [1.0, 2.0, 3.0], [1.0, 3.0, 6.0]], 24)
    """

    def __init__(
        self,
        graph: Graph,
        values: Array,
        distances: Array,
        source: int,
        hops: bool,
        reverse: bool,
        limit: int | float | None,
        plan: Plan,
        stats: Timings,
    ) -> None:
        super().__init__(graph, "paths", values, plan, stats)
        self.distances, self.hops, self.reverse = adopt(distances), hops, reverse
        self._source, self._limit = source, limit

    @property
    def source(self) -> Any:
        """The source, by label where the graph has labels."""
        return self.graph.label(self._source)

    def verify(self, sample: int | None = None, seed: int = 0) -> Proof:
        """Count again in plain Python and compare, or raise VerificationError.

        Distances come from Dijkstra's algorithm with a binary heap; paths are counted back from
        each vertex, in Python's integers.

        Parameters
        ----------
        sample : int, optional
            How many vertices to check; None for all.
        seed : int
            Chooses the sample.

        Examples
        --------
        >>> import kleene as kl
        >>> kl.path_counts(kl.generate.grid(9, 9), 0, exact=True).verify(sample=5).tolerance
        '5 of 81 numbers, exact'
        """
        began = time.perf_counter()
        graph = self.graph.transpose() if self.reverse else self.graph
        require_numbers(self.values, self.name, (graph.n,))
        require_numbers(self.distances, "distances", (graph.n,))
        right = _PlainCounts(graph, self._source, self.hops, self._limit)
        unreached = NO_HOPS if self.hops else no_path(self.distances.dtype)
        chosen = choose_rows(graph.n, graph.n, sample, seed)
        for v in chosen.tolist():
            distance = right.distances.get(v, unreached)
            if self.distances[v] != distance:
                raise VerificationError(
                    f"vertex {self.graph.label(v)!r} has the distance {self.distances[v]}, but the "
                    f"plain method gives {distance}"
                )
            found, wanted = self.values.item(v), right.count(v)
            if found != (wanted if self.values.dtype.kind != "f" else float(wanted)):
                raise VerificationError(
                    f"vertex {self.graph.label(v)!r} has {Decimal(found):.17g} shortest paths, but "
                    f"the plain method gives {Decimal(wanted):.17g}"
                )
        exact = "rounded once" if self.values.dtype.kind == "f" else "exact"
        checked = f"{len(chosen):,} of {graph.n:,} numbers, {exact}"
        return Proof(1, 1, graph.m, checked, time.perf_counter() - began)

    @property
    def _magnitudes(self) -> Array:
        """The logarithms: numbers of paths grow by factors; 0 where there is none."""
        return np.array([math.log10(value) if value else 0.0 for value in self.values.tolist()])

    def _blocks(self) -> Iterator[Block]:
        """Yield the table; integers beyond int64 become text, which every format has."""
        for block in super()._blocks():
            if self.values.dtype == object:
                text = [f"{Decimal(value):f}" for value in block[self.name]]  # str() has a limit
                block[self.name] = np.array(text, dtype=object)
            yield block

    def __repr__(self) -> str:
        if self.values.dtype != object:
            return super().__repr__()
        label, value = self.top(1)[0]  # untestable (1 to 2): the first of the two largest
        most = f"{Decimal(value):.6g}"  # may be beyond floats
        return f"PathCounts(paths of {self._size}, most {most} at {label!r})"


class _PlainCounts:
    """Shortest paths from a source, counted back from a vertex, in plain Python."""

    def __init__(self, graph: Graph, source: int, hops: bool, limit: int | float | None) -> None:
        self._source = source
        self.distances: dict[int, Any] = {}
        self._counts = {source: 1}
        incoming: list[list[tuple[int, Any]]] = [[] for _ in range(graph.n)]
        outgoing: list[list[tuple[int, Any]]] = [[] for _ in range(graph.n)]
        unit = hops or graph.weights is None
        lengths = [1] * graph.m if unit else graph.weights.tolist()  # type: ignore[union-attr]
        ends = (end.tolist() for end in graph.coo[:2])
        for tail, head, length in zip(*ends, lengths, strict=True):
            outgoing[tail].append((head, length))
            incoming[head].append((tail, length))
        self._incoming = incoming
        heap = [(0, source)]
        while heap:
            distance, u = heapq.heappop(heap)
            if u in self.distances:
                continue
            self.distances[u] = distance
            for v, length in outgoing[u]:
                if v not in self.distances and (limit is None or distance + length <= limit):
                    heapq.heappush(heap, (distance + length, v))

    def count(self, vertex: int) -> int:
        """Return the number of paths to a vertex: the sum over those before it."""
        counts, stack = self._counts, [vertex]
        while stack:
            v = stack[-1]
            before = self._before(v) if v not in counts else []
            missing = [u for u in before if u not in counts]
            if missing:
                stack.extend(missing)
                continue
            if v not in counts:
                counts[v] = sum(counts[u] for u in before)
            stack.pop()
        return counts[vertex]

    def _before(self, v: int) -> list[int]:
        distance = self.distances
        if v not in distance:
            return []
        return [
            u for u, length in self._incoming[v]
            if u in distance and distance[u] + length == distance[v]
        ]  # fmt: skip
