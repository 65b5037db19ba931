"""From a Graph to the arrays that SciPy returns: float64, infinity, -9999."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.calls.apsp import apsp
from kleene.calls.bfs import bfs
from kleene.calls.sssp import sssp
from kleene.graph import Graph
from kleene.graph.checks import holds
from kleene.graph.derive import with_root
from kleene.graph.forms import adopt
from kleene.graph.no_path import no_path
from kleene.system.machine import threads_for

__all__ = ["NULL", "Ours", "may_overflow", "require_no_cycle", "solve"]

Array = NDArray[Any]

#: What SciPy writes where there is no predecessor.
NULL = -9999

#: Sources from which on it pays to look whether all lengths are whole.
_MANY = 16


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
        "dtype": None if hops else wanted,
    }
    if single:
        assert sources is not None
        result = (bfs if hops else sssp)(graph, int(sources[0]), **keywords)
    else:
        result = apsp(graph, sources=sources, out=out, **keywords)
    values = result.distances.reshape(shape)
    if values.dtype != wanted:
        values = _converted(values, result.no_path, wanted)
    tree = result.predecessors
    if tree is not None:
        tree = tree.reshape(shape)
        _export(tree)
    return values, tree


def may_overflow(graph: Graph, ours: Ours) -> bool:
    """Return whether SciPy has to answer: path lengths may not be safe in float64.

    Other types are refused in that case, as everywhere in Kleene.
    """
    float64 = np.dtype(np.float64)
    return not holds(float64, graph.stats.path_bound) and ours.dtype in (None, float64)


def require_no_cycle(graph: Graph, ours: Ours) -> None:
    """Raise if there is a negative cycle anywhere, whether a source leads to it or not."""
    if graph.stats.negative:
        everywhere = with_root(graph, np.arange(graph.n))
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
    return Graph(graph.csr._replace(weights=adopt(whole)), graph.directed)


def _converted(hops: Array, absent: int, wanted: np.dtype[Any]) -> Array:
    made = hops.astype(wanted)
    made[hops == absent] = no_path(wanted)
    return made


def _export(predecessors: Array) -> None:
    """Write SciPy's value for "no predecessor", in place, on all threads."""
    rows = np.arange(len(predecessors), dtype=np.int32)
    highest = np.iinfo(predecessors.dtype).max - 1
    threads = threads_for(predecessors.size)
    _native.closure_export(predecessors, rows, 0, highest, NULL, predecessors, threads)
