"""From a checked call to its result: plan, find the method, run it, time it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kleene.api.arguments import Call, Out, as_limit
from kleene.api.pairs import solve_pairs
from kleene.backends.common.limits import apply_limit
from kleene.backends.common.predecessors import choose_predecessors
from kleene.backends.semiring import SEMIRINGS
from kleene.backends.task import Task
from kleene.errors import NegativeCycleError, RequestError
from kleene.graph import Graph
from kleene.graph.incoming import IncomingArcs
from kleene.planning.plan import Plan, plan_call
from kleene.planning.request import Request, graph_facts
from kleene.registry import find
from kleene.results.result import Result, Timings
from kleene.system.atomic_file import atomic_array
from kleene.system.progress import reporter

if TYPE_CHECKING:
    from kleene.backends.cuda.runtime.timing import CallTimer

__all__ = ["cycle_by_label", "solve"]

Array = NDArray[Any]


def solve(call: Call) -> Result:
    """Plan and run a path problem; whatever it says of vertices, it says by label."""
    try:
        return _solve_rows(call) if call.pairs is None else solve_pairs(call, _solve_rows)
    except NegativeCycleError as error:
        raise cycle_by_label(error, call.graph, call.reverse) from None


def cycle_by_label(
    error: NegativeCycleError, graph: Graph, reverse: bool = False
) -> NegativeCycleError:
    """Return the error with vertices by label, and in the direction of the arcs."""
    cycle = error.cycle[::-1] if reverse else error.cycle
    return NegativeCycleError(graph.label(np.asarray(cycle)).tolist())


def _solve_rows(call: Call) -> Result:
    """Plan and run a path problem, from each of its sources."""
    request = call.request
    graph = call.graph.transpose() if call.reverse else call.graph
    hops = request.problem == "bfs"
    incoming = _incoming_arcs(graph, request) if hops else None
    plan = plan_call(graph_facts(graph, hops), request)
    method = find(plan.problem, plan.method, plan.device)
    assert method is not None
    dtype = np.dtype(plan.dtype)
    with (
        reporter(call.progress, f"{plan.problem} by {plan.method}") as report,
        _output(call.out, (len(call.sources), graph.n), dtype, call.single) as memory,
    ):
        task = Task(
            graph,
            SEMIRINGS[request.semiring],
            call.sources,
            call.targets,
            as_limit(call.limit, dtype, hops),
            request.predecessors,
            dtype,
            plan.threads,
            report,
            memory,
            plan.device,
            hops,
        )
        began = time.perf_counter()
        with _meter(plan.device) as meter:
            answer = apply_limit(task, method.load()(task, **dict(request.options)))
            if request.deterministic:
                choose_predecessors(task, answer)
        stats = _timings(time.perf_counter() - began, meter)
    if incoming is not None:
        plan = _noted(plan, incoming, stats)
    return Result(
        call.graph, plan, stats, answer, call.sources, call.targets, task.limit, call.single,
        call.reverse,
    )  # fmt: skip


def _incoming_arcs(graph: Graph, request: Request) -> IncomingArcs | None:
    """Prepare the incoming arcs of a graph that lacks them, where the method would use them."""
    if not IncomingArcs.matter(graph) or request.method not in ("auto", "direction_optimizing"):
        return None
    incoming = IncomingArcs.of(graph)
    incoming.prepare(graph)
    return incoming


def _noted(plan: Plan, incoming: IncomingArcs, stats: Timings) -> Plan:
    """Count a search without incoming arcs, or say where it has them from."""
    if incoming.note:
        return replace(plan, reasons=(*plan.reasons, incoming.note))
    if plan.device == "cpu" and plan.method == "direction_optimizing":
        incoming.record(stats.total)
    return plan


def _meter(device: str) -> AbstractContextManager[CallTimer | None]:
    """Return a timer of copies and kernels, on devices that have both."""
    if device not in ("cuda", "emulated"):
        return nullcontext()
    from kleene.backends.cuda.runtime.timing import timed_call

    return timed_call(device)


def _timings(total: float, meter: CallTimer | None) -> Timings:
    if meter is None:
        return Timings(compute=total, total=total)
    copy_in, copy_out = meter.seconds("copy_in") or 0.0, meter.seconds("copy_out") or 0.0
    compute = meter.seconds("compute")
    rest = max(0.0, total - copy_in - copy_out)  # for methods that do not time their kernels
    return Timings(copy_in, rest if compute is None else compute, copy_out, total)


def _output(
    out: Out, shape: tuple[int, int], dtype: np.dtype[Any], single: bool
) -> AbstractContextManager[Array | None]:
    """Return a context with two-dimensional memory for the values, or None."""
    if out is None:
        return nullcontext()
    outer = shape[1:] if single else shape
    if isinstance(out, (str, Path)):
        if Path(out).suffix != ".npy":
            raise RequestError(f"out must name an .npy file, not {str(out)!r}")
        return _file_output(out, shape, outer, dtype)
    if not isinstance(out, np.ndarray):
        raise RequestError(f"out must be an array or a file name, not {type(out).__name__}")
    if out.shape != outer or out.dtype != dtype or not out.flags.writeable:
        kind = "" if out.flags.writeable else "read-only "
        raise RequestError(
            f"out must be a writable {dtype} array of shape {outer}, and is a "
            f"{kind}{out.dtype} array of shape {out.shape}"
        )
    if not out.flags.c_contiguous:
        raise RequestError("out must be C-contiguous")
    return nullcontext(out.reshape(shape))


@contextmanager
def _file_output(
    out: str | Path, shape: tuple[int, int], outer: tuple[int, ...], dtype: np.dtype[Any]
) -> Iterator[Array]:
    """Yield a mapped file, which appears under its name at the end."""
    with atomic_array(out, outer, dtype) as mapped:
        yield mapped.reshape(shape)
