"""Distances by Kleene's engines, and the order and paths that NetworkX would have found.

NetworkX's searches settle nodes by distance and break ties by age; ``_native.visit`` does the same
given the distances, so dictionaries come in NetworkX's order and, of several shortest paths, the
one that NetworkX finds is the one that is returned.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.api.apsp import apsp
from kleene.api.bfs import bfs
from kleene.api.sssp import sssp
from kleene.errors import NegativeCycleError
from kleene.graph import Graph
from kleene.interop.networkx.graph import Arcs
from kleene.system.machine import as_threads, threads_for

__all__ = ["Visit", "chunks", "hop_limit", "rows", "search", "visit_rows"]

Array = NDArray[Any]

#: Entries of a chunk of rows: enough for the engines to be busy, and not much memory.
_CHUNK = 2**22
#: Nodes up to which a dense graph is searched quickly enough, and up to which a table of all
#: distances is no burden.
_DENSE, _ONE_TABLE = 512, 8192


class Visit(NamedTuple):
    """A search from some sources: what it found, in NetworkX's order."""

    order: NDArray[np.int32]  # the ids of nodes found; the sources come first
    row: Array  # the distance of every node, or ``no_path``
    arrivals: NDArray[np.int64]  # the arc that leads to each node; -1 for sources and others
    arcs: Arcs

    @property
    def parents(self) -> NDArray[np.int32]:
        """The node before each, -1 for sources and nodes not found."""
        if not len(self.arcs.owners):
            return np.full(self.arcs.n, -1, dtype=np.int32)
        return np.where(self.arrivals < 0, np.int32(-1), self.arcs.owners[self.arrivals])


def search(
    arcs: Arcs, sources: list[int], limit: float | None = None, target: int | None = None
) -> Visit:
    """Search from all sources together; up to a distance, or until the target is settled."""
    if limit is not None and limit < 0:
        limit = 0
        arcs = arcs.only(np.zeros(len(arcs.neighbors), dtype=bool))
    row = _distances(arcs, sources, limit, target)
    return next(_visits(arcs, row[None], np.array([sources], dtype=np.int32)))


def by_the_book(
    arcs: Arcs, sources: list[int], limit: float | None = None, target: int | None = None
) -> Visit:
    """Run Dijkstra's algorithm where weights are negative, as NetworkX would.

    It is no method for such weights: NetworkX's notices that, or happens to be right.
    """
    assert arcs.weights is not None
    offsets, neighbors = arcs.offsets.tolist(), arcs.neighbors.tolist()
    weights = arcs.weights.tolist()
    seen = dict.fromkeys(sources, 0)
    settled: dict[int, Any] = {}
    arrivals = np.full(arcs.n, -1, dtype=np.int64)
    fringe = [(0, age, s) for age, s in enumerate(seen)]
    age = len(fringe)
    while fringe:
        distance, _, v = heappop(fringe)
        if v in settled:
            continue
        settled[v] = distance
        if v == target:
            break
        for arc in range(offsets[v], offsets[v + 1]):
            u, longer = neighbors[arc], distance + weights[arc]
            if limit is not None and longer > limit:
                continue
            if u in settled:
                if longer < settled[u]:
                    raise ValueError("Contradictory paths found:", "negative weights?")
            elif u not in seen or longer < seen[u]:
                seen[u] = longer
                arrivals[u] = arc
                heappush(fringe, (longer, age, u))
                age += 1
    row = np.full(arcs.n, no_path(arcs), dtype=arcs.weights.dtype)
    order = np.fromiter(settled, dtype=np.int32, count=len(settled))
    row[order] = np.fromiter(settled.values(), dtype=row.dtype, count=len(settled))
    return Visit(order, row, arrivals, arcs)


def hop_limit(cutoff: float | None) -> int | None:
    """Return how many levels fit a cutoff of NetworkX's unweighted functions."""
    return None if cutoff is None or cutoff == math.inf else max(0, math.ceil(cutoff))


def no_path(arcs: Arcs) -> Any:
    """Return the distance that stands for "no path"."""
    if arcs.weights is None:
        return -1
    return math.inf if arcs.weights.dtype.kind == "f" else np.iinfo(np.int64).max


def chunks(
    arcs: Arcs, sources: Array | None = None, step: int | None = None
) -> Iterator[NDArray[np.int32]]:
    """Share all nodes (or the given ones) out into chunks whose rows fit memory."""
    ids = np.arange(arcs.n, dtype=np.int32) if sources is None else sources.astype(np.int32)
    if step is None and _is_dense(arcs) and arcs.n <= _ONE_TABLE:
        step = max(1, arcs.n)  # methods on matrices find all rows at once
    elif step is None:  # searches without weights like 512 rows at a time, if there is the memory
        step = max(1, _CHUNK // max(1, arcs.n), min(512, 2**26 // max(1, arcs.n)))
    for begin in range(0, len(ids), step):
        yield ids[begin : begin + step]


def rows(arcs: Arcs, sources: Array, limit: float | None = None, exact: bool = False) -> Array:
    """Return the distances from each source, a row for each.

    Searches add floats up arc by arc, as NetworkX does. Methods on matrices add in another order,
    which may show in the last bit, and so are left for where they are much faster.
    """
    if arcs.weights is None:
        return _engine(bfs, arcs, sources, limit)
    if arcs.weights.dtype.kind == "f" and (exact or not _is_dense(arcs)):
        return _engine(sssp, arcs, sources, limit)
    return _engine(apsp, arcs, sources, limit)


def visit_rows(arcs: Arcs, sources: Array, limit: float | None = None) -> Iterator[Visit]:
    """Search from each source by itself."""
    return _visits(arcs, rows(arcs, sources, limit, exact=True), sources.reshape(-1, 1))


# ---- inside -------------------------------------------------------------------------------------


def _is_dense(arcs: Arcs) -> bool:
    many = arcs.n > _DENSE and 8 * len(arcs.neighbors) > arcs.n**2
    return many and arcs.weights is not None


def _distances(arcs: Arcs, sources: list[int], limit: float | None, target: int | None) -> Array:
    """Return the distance of every node from the nearest of the sources."""
    graph, start = arcs.graph, sources[0]
    if len(sources) > 1:
        graph, start = _with_root(arcs, sources), arcs.n
    elif arcs.weights is None:
        out = np.empty(arcs.n, dtype=np.int32)
        _call(bfs, graph, start, limit=limit, targets=_one(target), out=out)
        return out
    dtype = np.int64 if arcs.weights is None else arcs.weights.dtype
    out = np.empty(graph.n, dtype=dtype)
    _call(sssp, graph, start, limit=limit, targets=_one(target), out=out, dtype=dtype)
    if arcs.weights is None:
        out[out == np.iinfo(np.int64).max] = -1
        return out[: arcs.n].astype(np.int32)
    return out[: arcs.n]


def _one(target: int | None) -> list[int] | None:
    return None if target is None else [target]


def _with_root(arcs: Arcs, sources: list[int]) -> Graph:
    """Return the graph with one more node, from which arcs of no length lead to the sources."""
    weights = np.ones(len(arcs.neighbors), np.int64) if arcs.weights is None else arcs.weights
    return Graph.from_csr(
        np.append(arcs.offsets, arcs.offsets[-1] + len(sources)),
        np.append(arcs.neighbors, np.array(sources, dtype=np.int32)),
        np.append(weights, np.zeros(len(sources), dtype=weights.dtype)),
    )


def _engine(problem: Any, arcs: Arcs, sources: Array, limit: float | None) -> Array:
    dtype = None if arcs.weights is None else arcs.weights.dtype
    result: Array = _call(problem, arcs.graph, sources=sources, limit=limit, dtype=dtype).distances
    return result


def _call(problem: Any, graph: Graph, *source: int, **options: Any) -> Any:
    """Call Kleene with the user's settings, and raise what NetworkX would."""
    settings = nx.config.backends.kleene
    try:
        return problem(
            graph,
            *source,
            predecessors=False,
            device=settings.device,
            threads=settings.threads,
            **options,
        )
    except NegativeCycleError as error:
        raise nx.NetworkXUnbounded("Negative cycle detected.") from error


def _visits(arcs: Arcs, values: Array, sources: Array) -> Iterator[Visit]:
    """Recover order and arrivals for rows of distances; one row of sources for each."""
    count, n = values.shape
    step = max(1, _CHUNK // max(1, n))
    for begin in range(0, count, step):
        part = np.ascontiguousarray(values[begin : begin + step])
        order = np.full(part.shape, -1, dtype=np.int32)
        arrivals = np.full(part.shape, -1, dtype=np.int64)
        counts = np.zeros(len(part), dtype=np.int64)
        _native.visit(
            arcs.offsets,
            arcs.neighbors,
            arcs.weights,
            part,
            no_path(arcs),
            np.ascontiguousarray(sources[begin : begin + step], dtype=np.int32).ravel(),
            order,
            arrivals,
            counts,
            threads_for(
                len(part) * (n + len(arcs.neighbors)),
                as_threads(nx.config.backends.kleene.threads),
            ),
        )
        for row in range(len(part)):
            found = int(counts[row])
            if arcs.negative and found < np.count_nonzero(part[row] != no_path(arcs)):
                raise NotImplementedError("rounding hides which paths are shortest")
            yield Visit(order[row, :found], part[row], arrivals[row], arcs)
