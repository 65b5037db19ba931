"""How every path call runs: plan, pieces, run, record, finish; timed once, here.

This module knows sinks and runners by their methods only. Pieces are computed in this process, or
by a *runner* elsewhere, such as the workers of a cluster.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from kleene.backends import devices
from kleene.backends.common.limits import as_limit
from kleene.engine.arrays import Arrays, memory_of
from kleene.engine.call import Call, Outcome, Sink, Timings
from kleene.engine.planned import EXPLAINING, Planned, planned, show_call
from kleene.engine.work import Work, compute
from kleene.errors import NegativeCycleError
from kleene.graph import Graph
from kleene.graph.incoming import PULLING, IncomingArcs
from kleene.planning.plan import Plan, with_notes
from kleene.system.progress import reporter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kleene.backends.cuda.runtime.timing import CallTimer, Share
    from kleene.backends.task import Progress

__all__ = ["Runner", "cycle_by_label", "solve"]

#: Computes pieces elsewhere, hands receipts to the sink, and returns the plan with what showed.
Runner = Callable[[Work, Sink, "Progress | None"], Plan]


def solve(
    call: Call,
    sink: Sink | None = None,
    made: Planned | None = None,
    runner: Runner | None = None,
    title: str = "",
) -> Outcome:
    """Compute a call into a sink; whatever is said of vertices is said by label."""
    if EXPLAINING.on:
        show_call(call, made)
    plan, looked = planned(call) if made is None else made
    lacking: IncomingArcs | None = None
    if plan.method in PULLING and runner is None:
        graph = call.graph.transpose() if call.reverse else call.graph
        lacking = IncomingArcs.lacking(graph)
        if lacking is not None and made is None:
            lacking.prepare(graph)
            if graph.has_csc:
                plan = planned(call).plan
    limit = call.limit
    if limit is not None:
        limit = as_limit(limit, call.graph, np.dtype(plan.dtype), plan.problem == "bfs")
    if sink is None and runner is None and call.progress is None:  # microseconds count
        out, has_clock = call.out, plan.device in devices.MEASURED
        if not has_clock and (out is None or isinstance(out, np.ndarray)):
            return _solve_here(call, plan, limit, looked, lacking)
    sink = sink or Arrays()
    meter: CallTimer | None = None
    try:
        pieces = sink.open(call, plan)
        work = Work(call, plan, pieces, sink.writer, limit)
        began = perf_counter() - looked
        has_clock = plan.device in devices.MEASURED and runner is None and len(pieces) > 0
        if runner is None and work.writer.apart and len(plan.devices) > 1:
            from kleene.engine.devices import on_devices  # few calls need it

            runner = on_devices
        what = title or f"{plan.problem} by {plan.method}"
        shown = nullcontext() if call.progress is None else reporter(call.progress, what)
        with shown as report, devices.meter() if has_clock else nullcontext() as meter:
            if runner is not None:
                plan = runner(work, sink, report)
            else:
                work.run(sink.record, report)
        answer = sink.finish()
    except NegativeCycleError as error:
        sink.abandon(error)
        raise cycle_by_label(error, call.graph, call.reverse) from None
    except BaseException as error:
        sink.abandon(error)
        raise
    total = perf_counter() - began
    stats = Timings(0.0, total, 0.0, total)
    if meter is not None:
        stats = _timings(total, meter)
        if meter.shares:
            plan = with_notes(plan, _split_in_words(meter.shares))
    if lacking is not None and pieces:
        plan = with_notes(plan, lacking.note)
    return Outcome(answer, plan, stats, limit)


def _solve_here(
    call: Call, plan: Plan, limit: int | float | None, looked: float, lacking: IncomingArcs | None
) -> Outcome:
    """Compute one piece into arrays: the short way, without contexts."""
    began = perf_counter() - looked
    try:
        part = compute(call, plan, limit, None if call.out is None else memory_of(call, plan))
    except NegativeCycleError as error:
        raise cycle_by_label(error, call.graph, call.reverse) from None
    total = perf_counter() - began
    if lacking is not None:
        plan = with_notes(plan, lacking.note)
    return Outcome(part, plan, Timings(0.0, total, 0.0, total), limit)


def cycle_by_label(
    error: NegativeCycleError, graph: Graph, reverse: bool = False
) -> NegativeCycleError:
    """Return the error with vertices by label, and in the direction of the arcs."""
    cycle = error.cycle[::-1] if reverse else error.cycle
    return NegativeCycleError(graph.label(np.asarray(cycle)).tolist())


def _split_in_words(shares: Sequence[Share]) -> str:
    return "split: " + ", ".join(f"{share.rows:,} rows by {share.device}" for share in shares)


def _timings(total: float, meter: Any) -> Timings:
    copy_in, copy_out = meter.seconds("copy_in") or 0.0, meter.seconds("copy_out") or 0.0
    compute = meter.seconds("compute")
    rest = max(0.0, total - copy_in - copy_out)  # for methods that do not time their kernels
    return Timings(copy_in, rest if compute is None else compute, copy_out, total)
