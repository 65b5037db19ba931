"""The k shortest paths between two vertices, or between those of many pairs."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from kleene.backends.task import KShortestTask
from kleene.calls.arguments import Call, Progress, as_pairs, make_ask, require_graph
from kleene.engine import solve as engine
from kleene.engine.planned import plan_value, planned
from kleene.engine.value import run_value, timed
from kleene.errors import Code, GraphError, PathOverflowError, RequestError
from kleene.graph import Graph
from kleene.graph.labels import is_one_vertex
from kleene.graph.weight_names import warn_of_numbers_left
from kleene.planning.facts import graph_facts
from kleene.planning.plan import Plan
from kleene.results.k_shortest import KShortest, KShortestPairs
from kleene.system.machine import as_threads, this_machine

__all__ = ["k_shortest"]

Array = NDArray[Any]
Report = Callable[[int, int], object]

#: Distances to targets that are kept at a time, at least one row per thread: 32 MiB.
_CHUNK = 2**22

#: Up to here float64, in which paths are compared, counts without gaps.
_EXACT = 2**53


@overload
def k_shortest(
    graph: Graph,
    source: Hashable,
    target: Hashable,
    k: int,
    *,
    threads: int | None = None,
    device: str = "auto",
    progress: Progress = None,
) -> KShortest: ...
@overload
def k_shortest(
    graph: Graph,
    *,
    k: int,
    pairs: Any,
    threads: int | None = None,
    device: str = "auto",
    progress: Progress = None,
) -> KShortestPairs: ...
def k_shortest(
    graph: Graph,
    source: Hashable | None = None,
    target: Hashable | None = None,
    k: int | None = None,
    *,
    pairs: Any = None,
    threads: int | None = None,
    device: str = "auto",
    progress: Progress = None,
) -> KShortest | KShortestPairs:
    """Return up to ``k`` shortest paths from one vertex to another, shortest first.

    No path visits a vertex twice. There are fewer than ``k`` where the graph has no more. An
    unweighted graph counts hops.

    Parameters
    ----------
    graph : Graph
        The graph. Weights may be negative, but no negative cycle may lead to a target.
    source, target : vertex
        The ends of the paths.
    k : int
        The number of paths.
    pairs : sequence of (source, target), optional
        Many pairs instead of one: a list, an array of shape (pairs, 2) or a table of two columns.
        Pairs with the same target are cheaper, and all cores work on different pairs.
    threads : int, optional
        How many threads may be used; all cores unless given.
    device : str
        Where the distances to the targets are computed; the paths are found by the CPU.
    progress : bool or function, optional
        True for a bar, or a function of (pairs done, all pairs).

    Returns
    -------
    KShortest, or KShortestPairs
        ``distances``, ``paths`` and ``routes()`` of the pair; with ``pairs``, one such result for
        each. Distances are int64 where the weights are integers, else float64.

    Raises
    ------
    NegativeCycleError
        When a cycle of negative length leads to a target; the error's ``cycle`` lists it.
    PathOverflowError
        When path lengths may exceed a quarter of the largest float64, or integers what it counts
        exactly (2^53).

    Examples
    --------
    >>> import kleene as kl
    >>> g = kl.Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3], [1.0, 2.0, 1.0, 3.0])
    >>> r = kl.k_shortest(g, 0, 3, 5)
    >>> r
    KShortest(2 paths from 0 to 3, length 2 to 5)
    >>> list(r.paths)
    [[0, 1, 3], [0, 2, 3]]
    >>> kl.k_shortest(g, k=1, pairs=[(0, 3), (1, 3)])[1].distances.tolist()
    [1.0]
    """
    require_graph(graph)
    count = _as_count(k)
    ends = _as_ends(graph, source, target, pairs)
    warn_of_numbers_left(graph)
    _require_exact(graph)
    team = as_threads(threads) or this_machine().cores
    ask = make_ask(
        "k_shortest", device="cpu", sources=min(team, len(ends[0])), predecessors=False,
        dtype=np.float64,
    )  # fmt: skip
    plan = plan_value(graph_facts(graph), ask)
    search = partial(_solve, graph, plan, *ends, count, team, device)
    each, _ = timed(search, progress, f"{plan.problem} by {plan.method}")
    return each[0] if pairs is None else KShortestPairs(each)


def _as_count(k: Any) -> int:
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
        raise RequestError(
            Code("k"), f" must be the number of paths, a positive integer, not {k!r}"
        )
    return min(int(k), 2**62)  # more paths than any graph in memory has


def _as_ends(graph: Graph, source: Any, target: Any, pairs: Any) -> tuple[Array, Array]:
    """Return the positions where paths begin, and where they end."""
    if pairs is not None:
        if not (source is None and target is None):
            raise RequestError(
                "pairs already name both ends of every path: leave out source and target"
            )
        return as_pairs(graph, pairs)
    if source is None or target is None:
        raise RequestError(
            "k_shortest needs a source and a target, or ", Code("pairs=[(source, target)]")
        )
    if not (is_one_vertex(source) and is_one_vertex(target)):
        raise RequestError("pass several pairs by keyword: k_shortest(g, k=3, pairs=[...])")
    first, last = (np.array([graph.index(v)], dtype=graph.id_dtype) for v in (source, target))
    return first, last


def _require_exact(graph: Graph) -> None:
    if graph.id_dtype != np.int32:
        raise GraphError(
            f"k_shortest takes fewer than 2^31 vertices, but the graph has {graph.n:,}"
        )
    dtype = graph.weight_dtype
    if dtype is not None and dtype.kind == "i" and graph.stats.path_bound >= _EXACT:
        raise PathOverflowError(
            f"path lengths may reach {graph.stats.path_bound:g}, but k_shortest compares integers "
            "only up to 2^53",
            advice=["scale the weights down, or graph.reweight with floats"],
        )


def _solve(
    graph: Graph,
    plan: Plan,
    sources: Array,
    targets: Array,
    count: int,
    threads: int,
    device: str,
    report: Report | None,
) -> list[KShortest]:
    """Return the paths of each pair, in order; some targets at a time."""
    whole = graph.weight_dtype is None or graph.weight_dtype.kind == "i"
    step = max(threads, _CHUNK // max(1, graph.n))
    found: dict[int, KShortest] = {}
    distinct, row_of = np.unique(targets, return_inverse=True)
    ask = make_ask(
        "sssp", sources=min(step, len(distinct)), predecessors=False, dtype=np.float64,
        device=device, threads=threads,
    )  # fmt: skip
    search = Call(ask, graph, distinct, None, None, None, None, False, reverse=True)
    made = planned(search)
    for begin in range(0, len(distinct), step):
        some = distinct[begin : begin + step]
        chosen = np.flatnonzero((row_of >= begin) & (row_of < begin + step))
        part = engine.solve(search._replace(sources=some), made=made).answer
        remaining = part.answer.whole_values
        rows = (row_of[chosen] - begin).astype(np.int32)
        task = KShortestTask(
            graph, sources[chosen], some, rows, count, remaining, min(threads, len(chosen)),
            None if report is None else _shifted(report, len(found), len(sources)),
        )  # fmt: skip
        (lengths, vertices, sizes, counts), _ = run_value(plan, task)
        if whole:
            lengths = lengths.astype(np.int64)
        last = np.concatenate([[0], np.cumsum(counts)])
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        for i, first, end in zip(chosen.tolist(), last[:-1], last[1:], strict=True):
            own = offsets[first : end + 1]
            found[i] = KShortest(
                graph, (int(sources[i]), int(targets[i])), lengths[first:end],
                vertices[own[0] : own[-1]], own - own[0],
            )  # fmt: skip
    return [found[i] for i in range(len(sources))]


def _shifted(report: Report, done: int, total: int) -> Report:
    return lambda more, _: report(done + more, total)
