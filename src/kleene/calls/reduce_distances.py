"""Sums, maxima and histograms of distances from many sources, without the distances.

Rows are computed a batch at a time into one buffer, and reduced there. On a cluster, workers do
that and return the few numbers of each row.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kleene.calls.arguments import Devices, Progress, Vertices, check_call
from kleene.calls.execution import runner_for
from kleene.engine.reduce import Reduction
from kleene.errors import Code, RequestError, Text
from kleene.graph import Graph
from kleene.graph.checks import as_flag, require_memory, require_unmasked
from kleene.results.distance_reduction import DistanceReduction, Reduced, reduce_rows

if TYPE_CHECKING:
    from kleene.calls.prepared_graph import PreparedGraph

__all__ = ["as_edges", "numbers_of", "reduce_distances"]

Array = NDArray[Any]


def reduce_distances(
    graph: Graph | PreparedGraph,
    *,
    sources: Vertices | None = None,
    hops: bool = False,
    reverse: bool = False,
    limit: float | None = None,
    bins: int | ArrayLike | None = None,
    on: Any = None,
    device: str = "auto",
    devices: Devices = None,
    threads: int | None = None,
    progress: Progress = None,
) -> DistanceReduction:
    """Return the sum, the maximum and the number of the distances from each source.

    Closeness, eccentricity and the mean distance follow from them. The distances themselves are
    not kept: memory is that of the graph, of the histogram and of some rows, at least one a thread
    and otherwise 32 MiB. On a dense graph, a matrix of all pairs is built where it takes no more
    than 64 MiB, or eight times the memory of the graph.

    Parameters
    ----------
    graph : Graph or PreparedGraph
        The graph; weights may be negative.
    sources : sequence of vertices, optional
        Where paths begin; all vertices by default.
    hops : bool
        Count arcs instead of adding weights, as NetworkX and igraph do unless weights are named.
    reverse : bool
        Whether paths lead to the sources instead of from them.
    limit : number, optional
        The length, or the number of hops, beyond which a vertex counts as not reached.
    bins : int or sequence of numbers, optional
        The edges of a histogram, ascending; bin j counts the distances from edge j up to, but not
        including, edge j + 1. A number k stands for the edges 0, 1, ..., k.
    on : dask.distributed.Client or str, optional
        A Dask cluster, or the address of its scheduler, whose workers compute the rows.
    device : {"auto", "cuda", "cpu", "emulated", "reference"}
        Where to run; ``"auto"`` takes a GPU where one is there and pays.
    devices : sequence of int or str, optional
        The GPUs that share the sources, such as ``[0, 2]`` or ``["cuda:0", "cuda:2"]``; by default
        all of them where that pays, unless ``device`` names one (``"cuda:1"``).
    threads : int, optional
        How many threads may be used: all cores unless given; on a cluster one for each task, of
        which a worker runs as many as it has threads.
    progress : bool or function, optional
        True shows a progress bar; a function is called with (done, total).

    Returns
    -------
    DistanceReduction
        Arrays with an entry for each source.

    Raises
    ------
    ClusterError
        A worker failed: the message names it and the rows.
    NegativeCycleError
        When a source leads to a cycle of negative length.

    Examples
    --------
    >>> import kleene as kl
    >>> r = kl.reduce_distances(kl.datasets.rome(), sources=[1, 2, 3])
    >>> r.maxima.tolist(), r.reached.tolist()
    ([69102, 69295, 69483], [3353, 3353, 3353])
    >>> round(r.mean_distance)
    34782
    """
    hops = as_flag(hops, "hops")
    call = check_call(
        "apsp", graph,
        sources=sources, reverse=reverse, limit=limit, predecessors=False, device=device,
        devices=devices, threads=threads, progress=progress,
    )  # fmt: skip
    ask = call.ask._replace(keywords=("sources",))
    if hops:
        ask = ask.but(problem="bfs", sources=len(call.sources))
    call = call._replace(ask=ask, on=on)
    edges = as_edges(bins)
    counts = _require_counts(len(call.sources), edges)
    rows = Reduction.of(call, counts)
    reduced = Reduced.empty(len(call.sources), np.dtype(rows.plan.dtype), edges)
    keep = partial(numbers_of, hops, edges, rows.threads)
    _, plan, stats, kept = rows.run(keep, reduced.put, runner_for(call), "distance sums")
    return DistanceReduction(
        call.graph, plan, stats, call.sources, reduced, edges, kept, hops, call.reverse
    )


def numbers_of(hops: bool, edges: Array | None, threads: int, first: int, rows: Array) -> Reduced:
    """Return the numbers of some rows: here, or on a worker."""
    return reduce_rows(rows, hops, edges, threads)


def as_edges(bins: Any) -> Array | None:
    """Return the edges of the bins."""
    if bins is None:
        return None
    if isinstance(bins, (int, np.integer)) and not isinstance(bins, bool):
        if bins < 1:
            raise RequestError(Code("bins"), f" must be a positive integer, or edges, not {bins}")
        count = int(bins)
        require_memory(16 * (count + 1), f"a histogram of {count:,} bins", "take fewer bins")
        return np.arange(count + 1)
    require_unmasked(bins, "bins", "leave them out", RequestError)
    try:
        edges = np.array(bins)  # a copy: the caller may write to its own
    except ValueError:
        edges = np.empty(0)
    if edges.dtype == object and all(isinstance(edge, int) for edge in edges.flat):
        raise RequestError(
            "bins has edges that do not fit in int64", advice=["pass them as floats"]
        )
    right = edges.ndim == 1 and len(edges) > 1 and edges.dtype.kind in "iuf"
    if not right or not (edges[1:] > edges[:-1]).all():
        raise RequestError(
            Code("bins"), " must be an integer, or at least two edges in ascending order"
        )
    return edges


def _require_counts(sources: int, edges: Array | None) -> int:
    """Return the bytes of the counts of all sources and bins; raise if they do not fit."""
    if edges is None:
        return 0
    bins = len(edges) - 1
    require_memory(
        8 * sources * bins,
        f"a histogram of {sources:,} sources in {bins:,} bins",
        "take fewer bins",
        Text(Code("sources=[...]"), "; distance_histogram counts all sources together"),
    )
    return 8 * sources * bins
