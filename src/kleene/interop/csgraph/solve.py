"""From a Graph to the arrays that SciPy returns: float64, infinity, -9999."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.api.solve import apsp, bfs, explain, sssp
from kleene.graph import Graph
from kleene.graph.forms import CSR
from kleene.system.machine import threads_for

__all__ = ["NULL", "Ours", "farthest", "require_no_cycle", "rooted", "solve"]

Array = NDArray[Any]

#: What SciPy writes where there is no predecessor.
NULL = -9999

#: Sources from which on it pays to look whether all lengths are whole.
_MANY = 16

#: Sources that are searched from at once where answers are converted, as many as a search without
#: weights shares its way among; and pairs of vertices from which on batches are worth it.
_BATCH, _WORTH_BATCHES = 512, 2**21


class Ours(NamedTuple):
    """The keywords that SciPy does not have."""

    device: str = "auto"
    threads: int | None = None
    dtype: Any = None  # None for float64


def solve(
    graph: Graph,
    sources: Array | None,
    predecessors: bool,
    ours: Ours,
    limit: float = np.inf,
    out: Array | None = None,
) -> tuple[Array, Array | None]:
    """Return one row of distances and predecessors per source; None stands for every vertex.

    ``out`` is memory for float64 distances.
    """
    count = graph.n if sources is None else len(sources)
    shape = (count, graph.n)
    wanted = np.dtype(np.float64 if ours.dtype is None else ours.dtype)
    if 0 in shape:
        return np.empty(shape, wanted), np.empty(shape, np.int32) if predecessors else None
    if count >= _MANY and ours.dtype is None:
        graph = _whole(graph)
    single = sources is not None and count == 1
    hops = single and graph.weights is None
    keywords: dict[str, Any] = {
        "predecessors": predecessors,
        "device": ours.device,
        "threads": ours.threads,
        "limit": None if limit == np.inf else limit,
        "dtype": None if ours.dtype is None or hops else wanted,
    }
    if single:
        assert sources is not None
        result = (bfs if hops else sssp)(graph, int(sources[0]), **keywords)
    else:
        if ours.dtype is None and count * graph.n >= _WORTH_BATCHES:
            plan = explain(graph, "apsp", sources=sources, **keywords)
            if (plan.method, plan.device) == ("batched", "cpu") and plan.dtype != wanted:
                chosen = np.arange(count) if sources is None else sources
                return _by_batches(graph, chosen, np.dtype(plan.dtype), keywords, out)
        result = apsp(graph, sources=sources, **keywords)
    values = result.distances.reshape(shape)
    if values.dtype != wanted or out is not None:
        values = _converted(values, result.no_path, wanted, out)
    parents = result.predecessors
    if parents is not None:
        parents = parents.reshape(shape)
        _export(parents, 0, NULL, parents)
    return values, parents


def _by_batches(
    graph: Graph, sources: Array, dtype: np.dtype[Any], keywords: dict[str, Any], out: Array | None
) -> tuple[Array, Array | None]:
    """Search from some sources at a time, and convert rows while they are in the cache."""
    shape = (len(sources), graph.n)
    values = np.empty(shape) if out is None else out
    parents = np.empty(shape, np.int32) if keywords["predecessors"] else None
    room = np.empty((_BATCH, graph.n), dtype)
    lowest = np.iinfo(dtype).min
    for first in range(0, len(sources), _BATCH):
        rows = slice(first, first + _BATCH)
        batch = sources[rows]
        result = apsp(graph, sources=batch, out=room[: len(batch)], **{**keywords, "dtype": dtype})
        _export(result.distances, lowest, np.inf, values[rows])
        if parents is not None:
            _export(result.predecessors, 0, NULL, parents[rows])
    return values, parents


def farthest(dtype: np.dtype[Any]) -> Any:
    """Return the value of "no path"."""
    return np.inf if dtype.kind == "f" else np.iinfo(dtype).max


def rooted(graph: Graph, sources: Array) -> Graph:
    """Return the graph with one vertex more, from which arcs of no length lead to the sources."""
    ends = np.unique(sources).astype(graph.neighbors.dtype)
    offsets = np.append(graph.offsets, graph.m + len(ends))
    weights = graph.weights
    if weights is None:
        weights = np.ones(graph.m, np.int32)
    lengths = np.concatenate([weights, np.zeros(len(ends), weights.dtype)])
    return Graph(CSR(offsets, np.concatenate([graph.neighbors, ends]), lengths))


def require_no_cycle(graph: Graph, ours: Ours) -> None:
    """Raise if there is a negative cycle anywhere, whether a source leads to it or not."""
    if graph.stats.negative:
        everywhere = rooted(graph, np.arange(graph.n))
        sssp(everywhere, graph.n, predecessors=False, device=ours.device, threads=ours.threads)


def _whole(graph: Graph) -> Graph:
    """Return the same graph with integer weights where all are whole.

    Sums of whole numbers are exact in float64 up to 2^53, and so the same; integers are compared
    faster, several at a time.
    """
    weights = graph.weights
    if weights is None or weights.dtype.kind != "f" or graph.stats.path_bound >= 2**31:
        return graph
    few = weights[:1024]
    if (few != np.trunc(few)).any():
        return graph
    whole = weights.astype(np.int32)
    if (whole != weights).any():
        return graph
    return Graph(graph.csr._replace(weights=whole), graph.directed)


def _converted(values: Array, no_path: Any, wanted: np.dtype[Any], out: Array | None) -> Array:
    made = np.empty(values.shape, wanted) if out is None else out
    if made.dtype == np.float64 and values.dtype.kind == "i":
        _export(values, 0 if no_path == -1 else np.iinfo(values.dtype).min, np.inf, made)
        return made
    made[...] = values
    if values.dtype.kind == "i":
        made[values == no_path] = farthest(wanted)
    return made


def _export(values: Any, lowest: int, no_path: float, to: Array) -> None:
    """Copy integers, with another value for those below ``lowest`` and for the largest of all."""
    rows = np.arange(len(values), dtype=np.int32)
    highest = np.iinfo(values.dtype).max - 1
    _native.dense_export(values, rows, lowest, highest, no_path, to, threads_for(values.size))
