"""Sums, maxima and histograms of distances from many sources, without the distances.

Rows are computed a batch at a time into one buffer, and reduced there. On a cluster, workers do
that and return the few numbers of each row.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kleene.api.arguments import Call, Progress, Vertices, check_call
from kleene.api.number_arguments import as_limit
from kleene.api.row_calls import RowCall, plan_rows
from kleene.errors import Code, RequestError, Text
from kleene.graph import Graph
from kleene.graph.checks import as_flag, memory_for, require_memory, require_unmasked
from kleene.planning.plan import Plan
from kleene.registry import find
from kleene.results.distance_reduction import DistanceReduction, Reduced, reduce_rows
from kleene.results.timings import Timings
from kleene.system.progress import reporter

if TYPE_CHECKING:
    from kleene.api.prepared_graph import PreparedGraph
    from kleene.backends.task import Progress as Report
    from kleene.results.result import Result

__all__ = ["ReduceWork", "as_edges", "plan_reduction", "reduce_distances", "rows_together"]

Array = NDArray[Any]

#: Bytes of the rows of a batch, and rows that are enough for every method: 512 searches share work.
_BATCH_BYTES, _BATCH_ROWS = 2**25, 512

#: Bytes that a matrix of all pairs may take, where a dense method pays; or how many times the bytes
#: of the graph's own arrays. Beyond, rows of 400 arcs a vertex, n = 5000, took about five times as
#: long (two EPYC cores, busy).
_MATRIX_BYTES, _MATRIX_GRAPHS = 2**26, 8


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
        threads=threads, progress=progress,
    )  # fmt: skip
    ask = call.ask._replace(keywords=("sources",))
    if hops:
        ask = ask.but(problem="bfs", sources=len(call.sources))
    call = replace(call, ask=ask)
    edges = as_edges(bins)
    counts = _require_counts(len(call.sources), edges)
    began = time.perf_counter()
    if on is None:
        plan = plan_reduction(call)
        work = ReduceWork.of(call, plan, edges)
        with reporter(call.progress, "reducing distances") as report:
            reduced = work.reduce(call.prepared or call.graph, call.sources, report)
    else:
        from kleene.api.on_cluster import reduce_on_cluster

        call = replace(call, on=on)
        plan, reduced = reduce_on_cluster(call, plan_rows(call), edges, on)
    plan = replace(plan, memory=plan.memory + counts)
    stats = Timings(total=time.perf_counter() - began)
    kept = as_limit(call.limit, call.graph, np.dtype(plan.dtype), hops)
    return DistanceReduction(
        call.graph, plan, stats, call.sources, reduced, edges, kept, hops, call.reverse
    )


def as_edges(bins: Any) -> Array | None:
    """Return the edges of the bins."""
    if bins is None:
        return None
    if isinstance(bins, (int, np.integer)) and not isinstance(bins, bool):
        if bins < 1:
            raise RequestError(
                Code("bins"), f" must be a whole number from 1 on, or edges, and is {bins}"
            )
        count = int(bins)
        require_memory(16 * (count + 1), f"a histogram of {count:,} bins", "take fewer bins")
        return np.arange(count + 1)
    require_unmasked(bins, "bins", "leave them out", RequestError)
    try:
        edges = np.array(bins)  # a copy: the caller may write to its own
    except ValueError:
        edges = np.empty(0)
    if edges.dtype == object and all(isinstance(edge, int) for edge in edges.flat):
        raise RequestError("bins has edges that do not fit in int64; pass them as floats")
    right = edges.ndim == 1 and len(edges) > 1 and edges.dtype.kind in "iuf"
    if not right or not (edges[1:] > edges[:-1]).all():
        raise RequestError(
            Code("bins"), " must be a whole number, or at least two edges in ascending order"
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


def rows_together(n: int, itemsize: int, threads: int) -> int:
    """Return how many rows are computed together: at least one a thread."""
    return max(threads, min(_BATCH_ROWS, _BATCH_BYTES // max(1, n * itemsize)))


def plan_reduction(call: Call) -> Plan:
    """Plan a call that reduces rows; its memory includes the matrix, where a small one is built."""
    plan, n = plan_rows(call), call.graph.n
    if not _fills_matrix(plan):
        return plan
    item = np.dtype(plan.dtype).itemsize
    arrays = sum(array.nbytes for array in call.graph.csr if array is not None)
    rows = item * n * len(call.sources)
    total = plan.memory + rows
    if item * n * n > max(_MATRIX_BYTES, _MATRIX_GRAPHS * arrays) or total > memory_for(total):
        plan = plan_rows(replace(call, ask=call.ask.but(in_batches=True)))
        if not _fills_matrix(plan):  # as it does on a GPU where weights are negative
            return plan
    return replace(plan, memory=plan.memory + rows)


def _fills_matrix(plan: Plan) -> bool:
    """Return whether the method fills a matrix of all pairs, whatever rows are asked for."""
    method = find(plan.problem, plan.method, plan.device)
    return method is not None and method.cuts == "never"


@dataclass(frozen=True)
class ReduceWork:
    """The reduction of some rows, here or on a worker."""

    rows: RowCall
    step: int  # rows that are computed together
    dtype: str
    hops: bool
    edges: Array | None
    threads: int

    @staticmethod
    def of(call: Call, plan: Plan, edges: Array | None) -> ReduceWork:
        """Return the work of a call; of a matrix, all rows are computed together."""
        dtype, hops = np.dtype(plan.dtype), call.ask.what.problem == "bfs"
        threads = plan.threads if call.ask.where.threads is None else call.ask.where.threads
        step = rows_together(call.graph.n, dtype.itemsize, threads)
        matrix, rows = _fills_matrix(plan), len(call.sources) * call.graph.n * dtype.itemsize
        if matrix and rows <= memory_for(rows):
            step = max(step, len(call.sources))
        ask = call.ask.but(in_batches=not matrix)
        own = RowCall.of(replace(call, ask=ask), plan)
        return ReduceWork(own, step, plan.dtype, hops, edges, threads)

    def reduce(
        self,
        graph: Graph | PreparedGraph,
        sources: Array,
        report: Report | None = None,
        verify: int | None = None,
    ) -> Reduced:
        """Return the numbers of some sources; the batch of one source may be verified."""
        found = Reduced.empty(len(sources), np.dtype(self.dtype), self.edges)
        for first, rows, result in self.batches(graph, sources, report):
            if verify is not None and first <= verify < first + len(rows):
                result.verify(sample=1, seed=verify)
            found.put(first, reduce_rows(rows, self.hops, self.edges, self.threads))
        return found

    def batches(
        self, graph: Graph | PreparedGraph, sources: Array, report: Report | None = None
    ) -> Iterator[tuple[int, Array, Result]]:
        """Yield some rows at a time: the first one's position, the distances, and their result.

        The next rows take the place of these.
        """
        n = graph.n if isinstance(graph, Graph) else graph.graph.n
        buffer = np.empty((min(self.step, len(sources)), n), self.dtype)
        for first in range(0, len(sources), self.step):
            batch = sources[first : first + self.step]
            rows = buffer[: len(batch)]
            yield first, rows, self.rows.solve(graph, batch, rows)
            if report is not None:
                report(first + len(batch), len(sources))
