"""Distances by Kleene, and the search order and paths of NetworkX.

NetworkX's searches settle nodes by distance and break ties by insertion order. Given the distances,
``_native.settle_order`` does the same, so dictionaries have NetworkX's order and, of several
shortest paths, the one that NetworkX finds is returned.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.calls.apsp import apsp
from kleene.calls.arguments import check_call
from kleene.calls.bfs import bfs
from kleene.calls.execution import solve
from kleene.calls.sssp import sssp
from kleene.errors import NegativeCycleError
from kleene.graph import Graph
from kleene.graph.derive import with_root
from kleene.interop.networkx.graph import Arcs
from kleene.system.machine import as_threads, threads_for

__all__ = [
    "SearchResult", "chunks", "distance_rows", "hop_limit", "refuse_negative", "search",
    "search_all",
]  # fmt: skip

Array = NDArray[Any]

#: Entries of a chunk of rows: enough to keep all cores busy, with little memory.
_CHUNK = 2**22
#: Up to _DENSE nodes a dense graph is searched row by row; up to _ONE_TABLE nodes the distances of
#: all pairs are computed as one matrix.
_DENSE, _ONE_TABLE = 512, 8192


class SearchResult(NamedTuple):
    """The result of a search from some sources, in NetworkX's order."""

    order: NDArray[np.int32]  # ids of the reached nodes; the sources come first
    distances: Array  # of every node; ``no_path`` if not reached
    predecessor_arcs: NDArray[np.int64]  # index of the last arc of each path, or -1
    arcs: Arcs

    @property
    def predecessors(self) -> NDArray[np.int32]:
        """The predecessor of each node; -1 for sources and unreached nodes."""
        if not len(self.arcs.tails):
            return np.full(self.arcs.n, -1, dtype=np.int32)
        return np.where(
            self.predecessor_arcs < 0, np.int32(-1), self.arcs.tails[self.predecessor_arcs]
        )


def search(
    arcs: Arcs, sources: list[int], limit: float | None = None, target: int | None = None
) -> SearchResult:
    """Search from all sources together, up to a distance or until the target is settled."""
    if limit is not None and limit < 0:
        limit = 0
        arcs = arcs.subset(np.zeros(len(arcs.neighbors), dtype=bool))
    row = _distances(arcs, sources, limit, target)
    return next(_search_results(arcs, row[None], np.array([sources], dtype=np.int32)))


def refuse_negative(arcs: Arcs) -> None:
    """Refuse negative weights: what Dijkstra's algorithm finds, or that it raises, is by chance."""
    if arcs.negative:
        raise NotImplementedError(
            "with negative weights, NetworkX's result depends on the order of its steps"
        )


def hop_limit(cutoff: float | None) -> int | None:
    """Return the number of levels within a cutoff of NetworkX's unweighted functions."""
    if cutoff is None or cutoff == math.inf:
        return None
    return math.ceil(cutoff) if cutoff > 0 else 0


def chunks(arcs: Arcs, sources: Array | None = None) -> Iterator[NDArray[np.int32]]:
    """Split all nodes (or the given ones) into chunks whose rows fit in memory."""
    ids = np.arange(arcs.n, dtype=np.int32) if sources is None else sources.astype(np.int32)
    if _is_dense(arcs) and arcs.n <= _ONE_TABLE:
        step = max(1, arcs.n)  # matrix methods compute all rows at once
    else:  # bit-parallel BFS runs 512 rows at a time, memory permitting
        step = max(1, _CHUNK // max(1, arcs.n), min(512, 2**26 // max(1, arcs.n)))
    for begin in range(0, len(ids), step):
        yield ids[begin : begin + step]


def distance_rows(
    arcs: Arcs, sources: Array, limit: float | None = None, exact: bool = False
) -> Array:
    """Return the distances from each source, one row per source.

    Searches add floats arc by arc, as NetworkX does. Matrix methods add in another order, which may
    change the last bit, so they are used only where they are much faster.
    """
    if arcs.weights is None:
        return _solve_rows(bfs, arcs, sources, limit)
    if arcs.weights.dtype.kind == "f" and (exact or not _is_dense(arcs)):
        return _solve_rows(_added_arc_by_arc if exact else sssp, arcs, sources, limit)
    return _solve_rows(apsp, arcs, sources, limit)


def search_all(arcs: Arcs, limit: float | None = None) -> Iterator[tuple[int, SearchResult]]:
    """Yield every node with the result of a search from it."""
    for sources in chunks(arcs):
        values = distance_rows(arcs, sources, limit, exact=True)
        results = _search_results(arcs, values, sources.reshape(-1, 1))
        yield from zip(sources.tolist(), results, strict=True)


# ---- internals ----------------------------------------------------------------------------------


def _is_dense(arcs: Arcs) -> bool:
    many = arcs.n > _DENSE and 8 * len(arcs.neighbors) > arcs.n**2
    return many and arcs.weights is not None


def _distances(arcs: Arcs, sources: list[int], limit: float | None, target: int | None) -> Array:
    """Return the distance of every node from the nearest source."""
    graph, start = arcs.graph, sources[0]
    if len(sources) > 1:
        graph, start = with_root(graph, np.array(sources)), arcs.n
    elif arcs.weights is None:
        out = np.empty(arcs.n, dtype=np.int32)
        _solve(bfs, graph, start, limit=limit, targets=_one(target), out=out)
        return out
    dtype = np.int64 if arcs.weights is None else arcs.weights.dtype
    out = np.empty(graph.n, dtype=dtype)
    _solve(sssp, graph, start, limit=limit, targets=_one(target), out=out, dtype=dtype)
    if arcs.weights is None:
        out[out == np.iinfo(np.int64).max] = -1
        return out[: arcs.n].astype(np.int32)
    return out[: arcs.n]


def _one(target: int | None) -> list[int] | None:
    return None if target is None else [target]


def _added_arc_by_arc(graph: Graph, **options: Any) -> Any:
    """Search as ``sssp`` does, and add floats in no other order than NetworkX."""
    return solve(check_call("sssp", graph, arc_by_arc=True, **options))


def _solve_rows(problem: Any, arcs: Arcs, sources: Array, limit: float | None) -> Array:
    dtype = None if arcs.weights is None else arcs.weights.dtype
    result: Array = _solve(problem, arcs.graph, sources=sources, limit=limit, dtype=dtype).distances
    return result


def _solve(problem: Any, graph: Graph, *source: int, **options: Any) -> Any:
    """Call Kleene with the backend's configuration; raise NetworkX's errors."""
    config = nx.config.backends.kleene
    try:
        return problem(
            graph,
            *source,
            predecessors=False,
            device=config.device,
            threads=config.threads,
            **options,
        )
    except NegativeCycleError as error:
        raise nx.NetworkXUnbounded("Negative cycle detected.") from error


def _search_results(arcs: Arcs, values: Array, sources: Array) -> Iterator[SearchResult]:
    """Yield a result per row of distances: search order and predecessor arcs are recovered."""
    count, n = values.shape
    step = max(1, _CHUNK // max(1, n))
    for begin in range(0, count, step):
        part = np.ascontiguousarray(values[begin : begin + step])
        order = np.full(part.shape, -1, dtype=np.int32)
        predecessor_arcs = np.full(part.shape, -1, dtype=np.int64)
        counts = np.zeros(len(part), dtype=np.int64)
        _native.settle_order(
            arcs.offsets,
            arcs.neighbors,
            arcs.weights,
            part,
            arcs.no_path,
            np.ascontiguousarray(sources[begin : begin + step], dtype=np.int32).ravel(),
            order,
            predecessor_arcs,
            counts,
            threads_for(
                len(part) * (n + len(arcs.neighbors)),
                as_threads(nx.config.backends.kleene.threads),
            ),
        )
        for row in range(len(part)):
            reached = int(counts[row])
            if arcs.negative and reached < np.count_nonzero(part[row] != arcs.no_path):
                raise NotImplementedError("rounding errors hide which paths are shortest")
            yield SearchResult(order[row, :reached], part[row], predecessor_arcs[row], arcs)
