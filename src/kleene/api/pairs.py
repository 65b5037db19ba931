"""Shortest paths of a list of pairs, without a row of the answer for every origin.

Where the graph is prepared, or there are so many origins that it pays, every pair is two climbs in
the elimination tree (``kleene.prepared.pairs``).

Otherwise pairs with the same origin share a search. Searches run in batches, with the method that
the same call with these sources would have; of each batch only what its pairs ask for is kept.
Where there are fewer destinations than origins, the searches start there, on the reversed graph.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.api.arguments import Call
from kleene.api.closer_look import look_closer
from kleene.planning.ask import Ask, Output
from kleene.planning.facts import graph_facts
from kleene.planning.machine import live_machine
from kleene.planning.plan import Plan, plan_call
from kleene.registry import find
from kleene.results.pairs import PairsResult
from kleene.results.paths import Walks, follow_links
from kleene.results.result import Result
from kleene.results.timings import Timings
from kleene.system.progress import reporter

__all__ = ["solve_pairs"]

Array = NDArray[Any]

#: Bytes of the rows of a batch: distances and predecessors.
_BATCH = 2**29
_SMALL = 2**24  # that many are there: do not ask


def solve_pairs(call: Call, solve_rows: Callable[[Call], Result]) -> PairsResult:
    """Answer a call with pairs: by climbs, or by searches, batch by batch."""
    assert call.pairs is not None
    prepared = _solve_by_climbs(call, *call.pairs)
    if prepared is not None:
        return prepared
    origins, destinations = call.pairs
    graph = call.graph
    by_target = _is_faster_by_target(call)
    named, far = (destinations, origins) if by_target else (origins, destinations)
    roots, root_of = np.unique(named, return_inverse=True)
    order = np.argsort(root_of, kind="stable")  # pairs by root
    bounds = np.searchsorted(root_of[order], np.arange(len(roots) + 1))
    step = _rows_together(len(roots), graph.n)
    found = _Found(len(origins), call.ask.what.predecessors)
    with reporter(call.progress, f"{call.ask.what.problem} of pairs") as report:
        for first in range(0, max(1, len(roots)), step):
            batch = roots[first : first + step]
            pairs = order[bounds[first] : bounds[min(first + step, len(roots))]]
            every = call.ask.what.problem == "apsp" and len(batch) == graph.n
            # Methods on matrices are open to all sources.
            ask = call.ask.but(sources=None if every else len(batch))
            result = solve_rows(
                replace(
                    call, ask=ask, sources=batch.astype(graph.id_dtype, copy=False),
                    targets=np.unique(far[pairs]), pairs=None, reverse=by_target, progress=None,
                )
            )  # fmt: skip
            found.add(result, pairs, root_of[pairs] - first, far[pairs])
            if report is not None:
                report(min(first + step, len(roots)), len(roots))
    assert found.plan is not None
    return PairsResult(
        graph, found.plan, found.stats, call.pairs, found.values, found.walks(), found.limit,
        by_target,
    )  # fmt: skip


def _solve_by_climbs(call: Call, origins: Array, destinations: Array) -> PairsResult | None:
    """Return the answer of a prepared graph, or None where searches are to answer."""
    ask, graph = call.ask, call.graph
    suits = ask.what.problem in ("sssp", "apsp") and ask.where.method in ("auto", "prepared")
    if not suits or ask.what.limited or ask.what.deterministic:
        return None
    roots = min(len(np.unique(ends)) for ends in (origins, destinations))
    what = ask.what._replace(sources=roots, predecessors=False)
    no_rows = Ask(what, ask.where, Output(given=True), ask.frozen, ask.keywords)
    plan = look_closer(graph, no_rows, plan_call(graph_facts(graph), no_rows))
    method = find(plan.problem, plan.method, plan.device)
    if method is None or "entries" not in method.makes:
        return None
    from kleene.api.climbs import answer_by_climbs
    from kleene.prepared.cache import Preparation

    threads, ends = plan.threads, (origins, destinations)
    began = time.perf_counter()
    parts = Preparation.of(graph).sure_parts(
        graph, ask.what.semiring, np.dtype(plan.dtype), threads=threads
    )
    if parts is None:
        return None
    with reporter(call.progress, f"{ask.what.problem} of pairs") as report:
        lengths, walks = answer_by_climbs(
            graph, parts, ends, ask.what.predecessors, threads, report
        )
    seconds = time.perf_counter() - began
    stats = Timings(compute=seconds, total=seconds)
    return PairsResult(graph, plan, stats, ends, lengths, walks, None, by_target=False)


def _rows_together(count: int, n: int) -> int:
    """Return how many rows a batch may have: of bounded size, in a quarter of what is free."""
    row = 16 * max(1, n)
    if count * row <= _SMALL:
        return max(1, count)
    free = live_machine().free_memory()
    return max(1, (_BATCH if free is None else min(_BATCH, free // 4)) // row)


def _is_faster_by_target(call: Call) -> bool:
    """Return whether to search from the destinations, against the arcs.

    Not where the answer could be another one: a search meets other negative cycles there, and a sum
    of floats may round to the other side of a limit.
    """
    assert call.pairs is not None
    origins, destinations = (len(np.unique(ends)) for ends in call.pairs)
    hops = call.ask.what.problem == "bfs"
    return destinations < origins and (
        hops or (call.limit is None and not call.graph.stats.negative)
    )


class _Found:
    """What the batches found, in the order of the pairs."""

    def __init__(self, count: int, paths: bool) -> None:
        self._count, self._paths = count, paths
        self._batches: list[tuple[Array, Walks]] = []
        self.plan: Plan | None = None
        self.stats = Timings()
        self.limit: int | float | None = None
        self.values: Array = np.empty(0)

    def add(self, result: Result, pairs: Array, rows: Array, far: Array) -> None:
        """Take what these pairs ask for from the rows of a batch."""
        answer = result._answer
        if self.plan is None:
            self.plan, self.limit = result.plan, result._limit
            self.values = np.empty(self._count, dtype=answer.values.dtype)
        values = answer.values[rows, far]
        self.values[pairs] = values
        stats = (self.stats, result.stats)
        self.stats = Timings(
            sum(s.copy_in for s in stats), sum(s.compute for s in stats),
            sum(s.copy_out for s in stats), sum(s.total for s in stats),
        )  # fmt: skip
        if self._paths:
            assert answer.predecessors is not None
            starts = np.where(values == result.no_path, -1, far)
            walks = follow_links(answer.predecessors, rows, starts, result.reverse)
            self._batches.append((pairs, walks))

    def walks(self) -> Walks | None:
        """Return the paths of all pairs, by position."""
        if not self._paths:
            return None
        offsets = np.zeros(self._count + 1, dtype=np.int64)
        for pairs, (_, starts) in self._batches:
            offsets[pairs + 1] = np.diff(starts)
        np.cumsum(offsets, out=offsets)
        dtype = self._batches[0][1][0].dtype
        positions = np.empty(offsets[-1], dtype=dtype)
        for pairs, (walked, starts) in self._batches:
            shift = np.repeat(offsets[pairs] - starts[:-1], np.diff(starts))
            positions[shift + np.arange(len(walked))] = walked
        return positions, offsets
