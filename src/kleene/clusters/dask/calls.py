"""Calls whose rows the workers of a Dask cluster compute.

The client plans the call and shares the graph. Workers run the same work for some pieces at a time:
they choose method and device by themselves, prove a row of every run of pieces, and write to the
store, or return what is small. Rows never pass through the client.
"""

from __future__ import annotations

import os
import random
import secrets
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kleene.backends.answer import Answer, WholeRows
from kleene.backends.common.limits import as_limit
from kleene.clusters.dask.client import import_dask, open_client, worker_threads
from kleene.clusters.dask.closure import explain_tiles, plan_tiles, solve_in_tiles
from kleene.clusters.dask.graphs import graph_bytes, share_call_graph
from kleene.clusters.dask.runner import RUN_SECONDS, run_pieces, verify_part
from kleene.engine.call import Call, Outcome, Part, Sink
from kleene.engine.fit import require_fit, sink_of
from kleene.engine.pieces import Piece
from kleene.engine.planned import EXPLAINING, planned, show
from kleene.engine.reduce import Reduce, planned_rows, rows_together
from kleene.engine.searched_rows import SearchedRows
from kleene.engine.solve import solve
from kleene.engine.work import Work, count_rows
from kleene.errors import Code, RequestError, Text
from kleene.graph import Graph
from kleene.graph.checks import require_memory
from kleene.planning.ask import ARC_BY_ARC, Ask
from kleene.planning.cost_model import searched_seconds
from kleene.planning.facts import graph_facts
from kleene.planning.plan import Plan, with_notes
from kleene.planning.prepared_cost import prepared_seconds
from kleene.registry import find, methods
from kleene.results.result import Result
from kleene.stores.sink import store_sink
from kleene.system.formatting import counted, format_bytes, format_duration

if TYPE_CHECKING:
    from kleene.backends.task import Progress

__all__ = ["count_workers", "on_workers", "solve_on_cluster"]

#: Bytes of an answer that may pass through the client.
_SMALL = 2**30

#: Rows that are computed together, of a call that is explained.
_TOGETHER = 64


# ---- on a worker --------------------------------------------------------------------------------


@dataclass
class WorkerPieces:
    """Some pieces of a call, as they travel: without the graph."""

    work: Work
    memory: int  # bytes that they take, beside the graph

    def __call__(self, graph: Any) -> list[Any]:
        """Compute the pieces, and return their receipts; prove a row of one of them."""
        work, form = self.work, None if isinstance(graph, Graph) else graph
        own = graph if form is None else form.graph
        ask, sources = work.call.ask, work.call.sources.astype(own.id_dtype, copy=False)
        if ask.where.threads is None:  # not all cores of the machine
            ask = ask.but(threads=import_dask().get_worker().state.nthreads)
        call = work.call._replace(ask=ask, graph=own, form=form, sources=sources)
        rows = max(piece.stop - piece.first for piece in work.pieces)
        plan = planned(call, ask.but(sources=rows)).plan
        begin = work.pieces[0].first
        proved = random.Random(begin).choice(work.pieces)
        limit = as_limit(call.limit, own, np.dtype(plan.dtype), plan.problem == "bfs")

        def look(pieces: Sequence[Piece], call: Call, part: Part) -> None:
            if call.computes is not None or proved in pieces:
                verify_part(call, plan, part, limit, proved.first)

        receipts: list[Any] = []
        own_work = work._replace(call=call, plan=plan, limit=limit, first=begin)
        arcs = isinstance(own, Graph)  # that a proof needs
        own_work.run(lambda piece, receipt: receipts.append(receipt), look=look if arcs else None)
        return receipts


# ---- on the client ------------------------------------------------------------------------------


def solve_on_cluster(call: Call) -> Result:
    """Answer a call for rows by the workers of its cluster."""
    if EXPLAINING.on and sink_of(call) == "rows":
        call = call._replace(out=Path(f"{secrets.token_hex(16)}.zarr"))  # it can be left out
    require_fit(call)
    if call.out is not None:  # workers have working directories of their own
        call = call._replace(out=Path(os.path.abspath(str(call.out))))
    tiles = plan_tiles(call)
    if tiles is not None:
        if EXPLAINING.on:
            show(explain_tiles(call, tiles))
        return solve_in_tiles(call, tiles)
    if call.out is None:
        return _solve_block(call)
    found = store_sink(call, _describe)
    assert found is not None
    return Result._of(call, solve(call, *found, on_workers))


def _solve_block(call: Call) -> Result:
    """Return the distances of the targets, a small matrix of which workers return rows."""
    assert call.targets is not None
    made = planned_rows(call)
    plan, dtype = made.plan, np.dtype(made.plan.dtype)
    size = len(call.sources) * len(call.targets) * dtype.itemsize
    if size > _SMALL:
        raise RequestError(
            f"this matrix of {format_bytes(size)} is too large to pass through this process: give ",
            Code("out='d.zarr'"),
            " in a folder that all workers see",
        )
    require_memory(size, "the matrix", Text(Code("out='d.zarr'"), " to keep it in a store"))
    makes = plan._row.makes if call.form is None else call.form._answers(call.ask)
    width = len(call.targets) if "block" in makes else call.graph.n
    matrix = np.empty((len(call.sources), len(call.targets)), dtype)

    def put(first: int, rows: Any) -> None:
        matrix[first : first + len(rows)] = rows

    sink = Reduce(rows_together(width, dtype.itemsize, 1), _whole, put)
    rows = call._replace(ask=call.ask.but(predecessors=False))
    _, plan, stats, limit = solve(rows, sink, made, on_workers)
    searched = SearchedRows(
        call.graph, plan.semiring, dtype, call.reverse, plan.problem == "bfs", limit
    )
    rest = WholeRows(call.sources, call.targets, searched, call.ask.what.predecessors)
    answer = Answer(matrix, None, rest=rest)
    return Result._of(call, Outcome(Part(answer), plan, stats, limit))


def _whole(first: int, rows: Any) -> Any:
    """Return what is kept of the values of the targets: all of them."""
    return rows


def on_workers(work: Work, sink: Sink, report: Progress | None) -> Plan:
    """Run work by the workers of the call's cluster: a runner of the engine."""
    call, plan, pieces = work.call, work.plan, work.pieces
    if not pieces:
        return plan
    ask, writer = _ask_of_workers(call, plan, work.writer.alone), work.writer
    what = f"{plan.problem} {writer.unit}"
    bare = call.bare(ask)
    total = work.total
    done = total - count_rows(pieces)
    runs = 0
    with open_client(call.on) as client:
        threads = worker_threads(client)
        with share_call_graph(client, call, plan, sink.folder) as shared:

            def make(run: Sequence[Piece]) -> WorkerPieces:
                some = bare.some([slice(run[0].first, run[-1].stop)])
                own = Work(some, plan, tuple(run), writer.share(run, shared))
                return WorkerPieces(own, writer.needs(run, call._replace(ask=ask), plan))

            with closing(run_pieces(client, shared, what, pieces, make, writer.apart)) as finished:
                for run, receipts in finished:
                    for piece, receipt in zip(run, receipts, strict=True):
                        sink.record(piece, receipt)
                    runs, done = runs + 1, done + count_rows(run)
                    if report is not None:
                        report(done, total)
    note = f"cluster: {_in_words(threads)}, {sink.ran(runs)}"
    rows = call.computes is None and isinstance(call.graph, Graph)
    proved = ", a row of each proved" if rows else ""
    return with_notes(plan, note + proved)


def _in_words(threads: dict[str, int]) -> str:
    """Return the size of a cluster in words."""
    return f"{counted(len(threads), 'worker')} with {counted(sum(threads.values()), 'thread')}"


def count_workers(on: Any) -> int:
    """Return how many workers a cluster has."""
    with open_client(on) as client:
        return len(worker_threads(client))


def _ask_of_workers(call: Call, plan: Plan, alone: bool) -> Ask:
    """Return the request as workers make it: one thread a task, of which they run several.

    The method is that of the plan where all devices have it that workers may choose. Otherwise a
    worker chooses, among methods that add floats in the same order, so that every worker gives the
    same distances.
    """
    threads = call.ask.where.threads or (None if alone else 1)
    ask = call.ask.but(threads=threads, given=False)._replace(frozen=(ARC_BY_ARC,))
    if plan.dtype != "bool":
        ask = ask.but(dtype=plan.dtype)
    where = ask.where
    names = ("cuda", "cpu") if where.device == "auto" else (where.device,)
    having = [name for name in names if methods(plan.problem, name)]
    if where.method == "auto" and all(find(plan.problem, plan.method, name) for name in having):
        ask = ask.but(method=plan.method)
    return ask


# ---- explain ------------------------------------------------------------------------------------


def _describe(call: Call, plan: Plan, pieces: Sequence[Piece]) -> tuple[str, ...]:
    """Say what the cluster makes of the pieces that a store lacks: bytes, and time."""
    rows = count_rows(pieces)
    if not rows:
        return ()
    with open_client(call.on) as client:
        threads = worker_threads(client)
    graph = call.graph
    row = np.dtype(plan.dtype).itemsize * (graph.n if call.targets is None else len(call.targets))
    if call.ask.what.predecessors and call.targets is None:
        row += graph.n * graph.id_dtype.itemsize
    form: Any = call.form  # a prepared graph
    sent = graph_bytes(graph, call.hops) if form is None else form.nbytes
    seconds = rows * _seconds_per_row(call, plan)
    runs = min(len(pieces), max(1, ceil(seconds / RUN_SECONDS)))
    together = max(piece.stop - piece.first for piece in pieces)
    return (
        f"cluster: {_in_words(threads)}; each has the graph once, {format_bytes(sent)}",
        f"pieces: about {runs:,} of up to {RUN_SECONDS:g} s, in blocks of {together:,} rows, "
        f"{format_bytes(together * row)} each",
        f"bytes: workers write {format_bytes(rows * row)} to the store",
        f"time: about {format_duration(seconds / max(1, sum(threads.values())))}, by estimate for "
        "CPUs",
    )


def _seconds_per_row(call: Call, plan: Plan) -> float:
    """Estimate the seconds that a row takes on one core, where some are computed together."""
    ask = call.ask.but(sources=_TOGETHER, threads=1)
    facts = graph_facts(call.graph, ask.what.problem == "bfs")
    if plan.method == "prepared":
        seconds = prepared_seconds(facts, ask, 1).rows
    else:
        seconds = searched_seconds(facts, ask, 1)
    return max(seconds / _TOGETHER, 1e-7)
