"""The k shortest paths between two vertices as SciPy returns them."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import scipy.sparse.csgraph

from kleene.calls.k_shortest import k_shortest
from kleene.interop.csgraph.errors import renamed_cycles
from kleene.interop.csgraph.solve import NULL, Ours, may_overflow, require_no_cycle
from kleene.interop.csgraph.validation import as_graph

__all__ = ["yen"]


def yen(
    csgraph: Any,
    source: int,
    sink: int,
    K: int,
    *,
    directed: bool = True,
    return_predecessors: bool = False,
    unweighted: bool = False,
    device: str = "auto",
    threads: int | None = None,
    dtype: Any = None,
) -> Any:
    """Return the K shortest paths without repeated vertices as ``scipy.sparse.csgraph.yen`` does.

    Parameters
    ----------
    csgraph : array, sparse array or nested lists
        The lengths of arcs: entry (i, j) is the arc from i to j. In a dense array zero, NaN and
        infinities mean "no arc"; in a sparse array every stored entry is an arc.
    source, sink : int
        The ends of the paths.
    K : int
        The number of paths; fewer are returned if there are fewer.
    directed : bool
        If False, an arc may be travelled both ways, by the shorter of the two entries.
    return_predecessors : bool
        Also return the predecessors on shortest paths, -9999 where there is none.
    unweighted : bool
        Count arcs, whatever their lengths.
    device, threads
        The device, and the number of threads, for the distances to the sink; the paths themselves
        are computed on one core.
    dtype : optional
        The type of the lengths, float64 unless given.

    Examples
    --------
    >>> from kleene import csgraph
    >>> graph = [[0, 1, 2, 0], [0, 0, 0, 1], [2, 0, 0, 3], [0, 0, 0, 0]]
    >>> lengths, predecessors = csgraph.yen(
    ...     graph, 0, 3, 2, directed=False, return_predecessors=True
    ... )
    >>> lengths.tolist(), predecessors.tolist()
    ([2.0, 5.0], [[-9999, 0, -9999, 1], [-9999, -9999, 0, 2]])
    """
    graph, _ = as_graph(csgraph, bool(directed), bool(unweighted), threads)
    ours = Ours(device, threads, dtype)
    if may_overflow(graph, ours):
        return scipy.sparse.csgraph.yen(
            csgraph, source, sink, K,
            directed=directed, return_predecessors=return_predecessors, unweighted=unweighted,
        )  # fmt: skip
    n = graph.n
    if not 0 <= source < n or not 0 <= sink < n:
        raise ValueError(
            "For csgraph with shape (N, N), must have 0 <= source < N and 0 <= sink < N. "
            f"Got N={n}, source={source}, sink={sink}."
        )
    count = operator.index(K)
    if count < 0:
        raise ValueError("negative dimensions are not allowed")
    with renamed_cycles():
        require_no_cycle(graph, ours)
        found = k_shortest(
            graph, int(source), int(sink), max(count, 1), device=device, threads=threads
        )
    lengths = found.distances[:count].astype(np.float64 if dtype is None else dtype)
    if not return_predecessors:
        return lengths
    predecessors = np.full((len(lengths), n), NULL, np.int32)
    for row, path in zip(predecessors, found.paths, strict=False):
        row[path[1:]] = path[:-1]
    return lengths, predecessors
