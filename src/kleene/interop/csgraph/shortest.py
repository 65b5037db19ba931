"""SciPy's shortest-path functions on Kleene's methods.

SciPy's function names say which algorithm runs. Here they say which of SciPy's conventions apply
(what is an arc, which cycles are errors, which warnings are given); whatever is fastest runs.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse.csgraph
from numpy.typing import NDArray

from kleene.interop.csgraph.bounded import nearest_source, within_limit
from kleene.interop.csgraph.direct import close_directly, search_directly
from kleene.interop.csgraph.errors import renamed_cycles
from kleene.interop.csgraph.solve import Ours, may_overflow, require_no_cycle, solve
from kleene.interop.csgraph.validation import (
    as_graph,
    as_indices,
    as_matrix_graph,
    count_arcs,
    from_pydata,
    require_square,
)

__all__ = ["bellman_ford", "dijkstra", "floyd_warshall", "johnson", "shortest_path"]

Array = NDArray[Any]
Arrays = Array | tuple[Array, ...]


def shortest_path(
    csgraph: Any,
    method: str = "auto",
    directed: bool = True,
    return_predecessors: bool = False,
    unweighted: bool = False,
    overwrite: bool = False,
    indices: Any = None,
    *,
    device: str = "auto",
    threads: int | None = None,
    dtype: Any = None,
) -> Any:
    """Find shortest paths as ``scipy.sparse.csgraph.shortest_path`` does.

    Parameters
    ----------
    csgraph : array, sparse array or nested lists
        The lengths of arcs: entry (i, j) is the arc from i to j. In a dense array zero, NaN and
        infinities mean "no arc"; in a sparse array every stored entry is an arc.
    method : {"auto", "FW", "D", "BF", "J"}
        Whose conventions to follow: those of :func:`floyd_warshall`, :func:`dijkstra`,
        :func:`bellman_ford` or :func:`johnson`. The fastest method runs, whatever the name.
    directed : bool
        If False, an arc may be travelled both ways, by the shorter of the two entries.
    return_predecessors : bool
        Also return the predecessors on shortest paths, -9999 where there is none.
    unweighted : bool
        Count arcs, whatever their lengths.
    overwrite : bool
        Put the distances into the memory of ``csgraph``, if that is a float64 array in C order.
    indices : int or array of int, optional
        The sources; all vertices by default.
    device : {"auto", "cpu", "cuda", ...}
        Where to compute; not in SciPy.
    threads : int, optional
        Threads to use, all cores by default; not in SciPy.
    dtype : optional
        The type of the distances, float64 by default; not in SciPy. No path is infinity, or the
        largest value of an integer type.

    Examples
    --------
    >>> from kleene import csgraph
    >>> csgraph.shortest_path([[0, 1, 2], [0, 0, 1], [4, 0, 0]]).tolist()
    [[0.0, 1.0, 2.0], [5.0, 0.0, 1.0], [4.0, 5.0, 0.0]]
    """
    csgraph = from_pydata(csgraph)
    require_square(csgraph)
    if method == "auto":
        arcs, negative = count_arcs(csgraph)
        n = np.shape(csgraph)[0]
        sparse = indices is not None or arcs < n * n / 4
        method = "FW" if not sparse else "J" if negative else "D"
    if method == "FW" and indices is not None:
        raise ValueError("Cannot specify indices with method == 'FW'.")
    ours: dict[str, Any] = {"device": device, "threads": threads, "dtype": dtype}
    if method == "FW":
        return floyd_warshall(csgraph, directed, return_predecessors, unweighted, overwrite, **ours)
    searches = {"D": dijkstra, "BF": bellman_ford, "J": johnson}
    if method not in searches:
        raise ValueError(f"unrecognized method '{method}'")
    return searches[method](csgraph, directed, indices, return_predecessors, unweighted, **ours)


def floyd_warshall(
    csgraph: Any,
    directed: bool = True,
    return_predecessors: bool = False,
    unweighted: bool = False,
    overwrite: bool = False,
    *,
    device: str = "auto",
    threads: int | None = None,
    dtype: Any = None,
) -> Any:
    """Find shortest paths between all pairs as ``scipy.sparse.csgraph.floyd_warshall`` does.

    The diagonal of the graph counts for nothing.

    Parameters
    ----------
    csgraph : array, sparse array or nested lists
        The lengths of arcs: entry (i, j) is the arc from i to j. In a dense array zero, NaN and
        infinities mean "no arc"; in a sparse array every stored entry is an arc.
    directed : bool
        If False, an arc may be travelled both ways, by the shorter of the two entries.
    return_predecessors : bool
        Also return the predecessors on shortest paths, -9999 where there is none.
    unweighted : bool
        Count arcs, whatever their lengths.
    overwrite : bool
        Put the distances into the memory of ``csgraph``, if that is a float64 array in C order.
    device : {"auto", "cpu", "cuda", ...}
        Where to compute; not in SciPy.
    threads : int, optional
        Threads to use, all cores by default; not in SciPy.
    dtype : optional
        The type of the distances, float64 by default; not in SciPy. No path is infinity, or the
        largest value of an integer type.

    Examples
    --------
    >>> from kleene import csgraph
    >>> distances, predecessors = csgraph.floyd_warshall(
    ...     [[0, 3, 8], [0, 0, 2], [0, 0, 0]], return_predecessors=True
    ... )
    >>> distances[0].tolist(), predecessors[0].tolist()
    ([0.0, 3.0, 5.0], [-9999, 0, 1])
    """
    ours = Ours(device, threads, dtype)
    csgraph = from_pydata(csgraph)
    out = _memory_to_overwrite(csgraph) if overwrite and dtype is None else None
    if out is None:
        answer = close_directly(csgraph, directed, return_predecessors, unweighted, ours)
        if answer is not None:
            return answer
    graph = as_matrix_graph(csgraph, bool(directed), bool(unweighted), threads)
    if may_overflow(graph, ours):
        return scipy.sparse.csgraph.floyd_warshall(
            csgraph, directed, return_predecessors, unweighted, overwrite
        )
    with renamed_cycles("Negative cycle in nodes {1}"):
        distances, predecessors = solve(graph, None, bool(return_predecessors), ours, out=out)
    return _answer(distances, predecessors, (graph.n, graph.n))


def dijkstra(
    csgraph: Any,
    directed: bool = True,
    indices: Any = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
    limit: float = np.inf,
    min_only: bool = False,
    *,
    device: str = "auto",
    threads: int | None = None,
    dtype: Any = None,
) -> Any:
    """Find shortest paths from some or all vertices as ``scipy.sparse.csgraph.dijkstra`` does.

    Negative lengths are warned of, as by SciPy, and the answer is right all the same; a negative
    cycle, on which SciPy's search may not end, is an error.

    Parameters
    ----------
    csgraph : array, sparse array or nested lists
        The lengths of arcs: entry (i, j) is the arc from i to j. In a dense array zero, NaN and
        infinities mean "no arc"; in a sparse array every stored entry is an arc.
    directed : bool
        If False, an arc may be travelled both ways, by the shorter of the two entries.
    indices : int or array of int, optional
        The sources; all vertices by default.
    return_predecessors : bool
        Also return the predecessors on shortest paths, -9999 where there is none.
    unweighted : bool
        Count arcs, whatever their lengths.
    limit : float
        The largest distance; vertices beyond it count as unreached.
    min_only : bool
        Return one row: for each vertex the distance from the nearest source. With predecessors,
        the sources of that are returned too.
    device : {"auto", "cpu", "cuda", ...}
        Where to compute; not in SciPy.
    threads : int, optional
        Threads to use, all cores by default; not in SciPy.
    dtype : optional
        The type of the distances, float64 by default; not in SciPy. No path is infinity, or the
        largest value of an integer type.

    Examples
    --------
    >>> from kleene import csgraph
    >>> graph = [[0, 1, 9, 0], [0, 0, 1, 9], [0, 0, 0, 1], [1, 0, 0, 0]]
    >>> csgraph.dijkstra(graph, indices=0).tolist()
    [0.0, 1.0, 2.0, 3.0]
    >>> csgraph.dijkstra(graph, indices=[0, 3], min_only=True).tolist()
    [0.0, 1.0, 2.0, 0.0]
    """
    ours = Ours(device, threads, dtype)
    limit = _as_limit(limit)
    answer = search_directly(
        csgraph, directed, indices, return_predecessors, unweighted, ours, limit, min_only
    )
    if answer is not None:
        return answer
    graph, negative = as_graph(csgraph, bool(directed), bool(unweighted), threads)
    if may_overflow(graph, ours):
        return scipy.sparse.csgraph.dijkstra(
            csgraph, directed, indices, return_predecessors, unweighted, limit, min_only
        )
    if negative:
        warnings.warn(
            "Graph has negative weights: dijkstra will give inaccurate results if the graph "
            "contains negative cycles. Consider johnson or bellman_ford.",
            UserWarning,
            stacklevel=2,
        )
    sources, shape = _sources(indices, graph.n)
    with renamed_cycles():
        if min_only:
            chosen = np.arange(graph.n, dtype=np.int32) if sources is None else sources
            return nearest_source(graph, chosen, bool(return_predecessors), limit, ours)
        distances, predecessors = within_limit(
            graph, sources, bool(return_predecessors), limit, ours
        )
    return _answer(distances, predecessors, (*shape, graph.n))


def bellman_ford(
    csgraph: Any,
    directed: bool = True,
    indices: Any = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
    *,
    device: str = "auto",
    threads: int | None = None,
    dtype: Any = None,
) -> Any:
    """Find shortest paths as ``scipy.sparse.csgraph.bellman_ford`` does; lengths may be negative.

    A negative cycle is an error if one of the sources leads to it.

    Parameters
    ----------
    csgraph : array, sparse array or nested lists
        The lengths of arcs: entry (i, j) is the arc from i to j. In a dense array zero, NaN and
        infinities mean "no arc"; in a sparse array every stored entry is an arc.
    directed : bool
        If False, an arc may be travelled both ways, by the shorter of the two entries.
    indices : int or array of int, optional
        The sources; all vertices by default.
    return_predecessors : bool
        Also return the predecessors on shortest paths, -9999 where there is none.
    unweighted : bool
        Count arcs, whatever their lengths.
    device : {"auto", "cpu", "cuda", ...}
        Where to compute; not in SciPy.
    threads : int, optional
        Threads to use, all cores by default; not in SciPy.
    dtype : optional
        The type of the distances, float64 by default; not in SciPy. No path is infinity, or the
        largest value of an integer type.

    Examples
    --------
    >>> from kleene import csgraph
    >>> csgraph.bellman_ford([[0, 4, 2], [0, 0, 0], [0, -1, 0]], indices=0).tolist()
    [0.0, 1.0, 2.0]
    """
    ours = Ours(device, threads, dtype)
    answer = search_directly(csgraph, directed, indices, return_predecessors, unweighted, ours)
    if answer is not None:
        return answer
    graph, _ = as_graph(csgraph, bool(directed), bool(unweighted), threads)
    if may_overflow(graph, ours):
        return scipy.sparse.csgraph.bellman_ford(
            csgraph, directed, indices, return_predecessors, unweighted
        )
    sources, shape = _sources(indices, graph.n)
    with renamed_cycles():
        distances, predecessors = solve(graph, sources, bool(return_predecessors), ours)
    return _answer(distances, predecessors, (*shape, graph.n))


def johnson(
    csgraph: Any,
    directed: bool = True,
    indices: Any = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
    *,
    device: str = "auto",
    threads: int | None = None,
    dtype: Any = None,
) -> Any:
    """Find shortest paths as ``scipy.sparse.csgraph.johnson`` does; lengths may be negative.

    A negative cycle is an error, wherever in the graph it is.

    Parameters
    ----------
    csgraph : array, sparse array or nested lists
        The lengths of arcs: entry (i, j) is the arc from i to j. In a dense array zero, NaN and
        infinities mean "no arc"; in a sparse array every stored entry is an arc.
    directed : bool
        If False, an arc may be travelled both ways, by the shorter of the two entries.
    indices : int or array of int, optional
        The sources; all vertices by default.
    return_predecessors : bool
        Also return the predecessors on shortest paths, -9999 where there is none.
    unweighted : bool
        Count arcs, whatever their lengths.
    device : {"auto", "cpu", "cuda", ...}
        Where to compute; not in SciPy.
    threads : int, optional
        Threads to use, all cores by default; not in SciPy.
    dtype : optional
        The type of the distances, float64 by default; not in SciPy. No path is infinity, or the
        largest value of an integer type.

    Examples
    --------
    >>> from kleene import csgraph
    >>> csgraph.johnson([[0, 4, 2], [0, 0, 0], [0, -1, 0]]).tolist()
    [[0.0, 1.0, 2.0], [inf, 0.0, inf], [inf, -1.0, 0.0]]
    """
    if unweighted:
        return dijkstra(
            csgraph, directed, indices, return_predecessors, unweighted,
            device=device, threads=threads, dtype=dtype,
        )  # fmt: skip
    ours = Ours(device, threads, dtype)
    answer = search_directly(csgraph, directed, indices, return_predecessors, False, ours)
    if answer is not None:
        return answer
    graph, _ = as_graph(csgraph, bool(directed), False, threads)
    if may_overflow(graph, ours):
        return scipy.sparse.csgraph.johnson(csgraph, directed, indices, return_predecessors)
    sources, shape = _sources(indices, graph.n)
    with renamed_cycles():
        if sources is not None:  # from all vertices a search meets every cycle
            require_no_cycle(graph, ours)
        distances, predecessors = solve(graph, sources, bool(return_predecessors), ours)
    return _answer(distances, predecessors, (*shape, graph.n))


# ---- inside -------------------------------------------------------------------------------------


def _answer(distances: Array, predecessors: Array | None, shape: tuple[int, ...]) -> Arrays:
    if predecessors is None:
        return distances.reshape(shape)
    return distances.reshape(shape), predecessors.reshape(shape)


def _sources(indices: Any, n: int) -> tuple[Array | None, tuple[int, ...]]:
    return (None, (n,)) if indices is None else as_indices(indices, n)


def _as_limit(limit: Any) -> float:
    number = float(limit) if not isinstance(limit, str) else None
    if number is None:
        raise TypeError("must be real number, not str")
    if not number >= 0:
        raise ValueError("limit must be >= 0")
    return number


def _memory_to_overwrite(csgraph: Any) -> Array | None:
    """Return the memory that SciPy puts the distances into when it may overwrite the graph."""
    array = np.ma.getdata(csgraph) if np.ma.isMaskedArray(csgraph) else csgraph
    if not isinstance(array, np.ndarray) or array.dtype != np.float64:
        return None
    if not array.flags.writeable:
        raise ValueError("assignment destination is read-only")
    return np.asarray(array) if array.flags.c_contiguous else None
