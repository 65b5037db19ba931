"""From a checked call to its result: plan, find the method, run it, time it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kleene.api.arguments import Call, Out
from kleene.api.closer_look import look_closer
from kleene.api.number_arguments import as_limit
from kleene.api.pairs import solve_pairs
from kleene.backends.common.limits import apply_limit
from kleene.backends.common.predecessors import choose_predecessors
from kleene.backends.semiring import SEMIRINGS
from kleene.backends.task import Answer, Task
from kleene.errors import Code, MemoryBudgetError, NegativeCycleError, RequestError
from kleene.graph import Graph
from kleene.graph.incoming import IncomingArcs
from kleene.planning.ask import Ask
from kleene.planning.facts import graph_facts
from kleene.planning.plan import Plan, plan_call, with_notes
from kleene.registry import Method, find
from kleene.results.result import Result, Timings
from kleene.system.atomic_file import atomic_array
from kleene.system.progress import reporter

if TYPE_CHECKING:
    from kleene.backends.cuda.runtime.timing import CallTimer, Share

__all__ = ["cycle_by_label", "output_memory", "solve", "with_idle_memory"]

Array = NDArray[Any]
T = TypeVar("T")

_DEVICES = ("cuda", "emulated")  # with memory of their own

#: Bytes on a device for which free memory is looked up before a call: that takes 50 us.
_WORTH_ASKING = 2**28


def solve(call: Call) -> Result:
    """Plan and run a path problem; whatever it says of vertices, it says by label."""
    if call.on is not None:
        from kleene.api.on_cluster import solve_on_cluster

        return solve_on_cluster(call)
    if isinstance(call.out, (str, Path)):
        from kleene.api.stored_rows import solve_stored

        result = solve_stored(call, solve)
        if result is not None:
            return result
    if call.prepared is not None:
        from kleene.api.prepared_calls import has_answer, solve_prepared

        if has_answer(call.prepared, call.ask):
            return solve_prepared(call.prepared, call)
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
    ask = call.ask
    graph = call.graph.transpose() if call.reverse else call.graph
    hops = ask.what.problem == "bfs"
    incoming = _incoming_arcs(graph, ask) if hops else None
    plan = plan_call(graph_facts(graph, hops), ask)
    looked = 0.0
    if plan.method == "prepared":
        began = time.perf_counter()
        plan = look_closer(graph, ask, plan)
        looked = time.perf_counter() - began
    method = find(plan.problem, plan.method, plan.device)
    assert method is not None
    dtype = np.dtype(plan.dtype)
    with (
        reporter(call.progress, f"{plan.problem} by {plan.method}") as report,
        output_memory(call.out, (len(call.sources), graph.n), dtype, call.single) as memory,
    ):
        task = Task(
            graph,
            SEMIRINGS[ask.what.semiring],
            call.sources,
            call.targets,
            as_limit(call.limit, graph, dtype, hops),
            ask.what.predecessors,
            dtype,
            plan.threads,
            report,
            memory,
            plan.first_device,
            hops,
            # What is changed on the host afterwards is copied back to the device.
            keep=ask.output.keep == "device" and not ask.what.deterministic,
        )
        began = time.perf_counter() - looked
        with _meter(plan.device) as meter:
            answer = apply_limit(task, _run(method, task, plan, ask, meter))
            if ask.what.deterministic:
                choose_predecessors(task, answer)
            if ask.output.keep == "device":
                answer = _on_device(task, answer)
        stats = _timings(time.perf_counter() - began, meter)
    if meter is not None and meter.shares:
        plan = with_notes(plan, _split_in_words(meter.shares))
    if incoming is not None:
        plan = _noted(plan, incoming, stats)
    return Result(
        call.graph, plan, stats, answer, call.sources, call.targets, task.limit, call.single,
        call.reverse,
    )  # fmt: skip


def _run(method: Method, task: Task, plan: Plan, ask: Ask, meter: CallTimer | None) -> Answer:
    """Run a method, on the devices of its plan."""
    run: Callable[[Task], Answer] = method.load()
    if ask.where.options:
        run = partial(run, **dict(ask.where.options))
    if len(plan.devices) > 1 and method.splits == "rows":
        task = replace(task, devices=plan.devices)
    elif len(plan.devices) > 1:
        run = partial(_run_split, run, plan.devices, bool(ask.where.devices), meter)
    return with_idle_memory(plan, partial(run, task))


def with_idle_memory(plan: Plan, run: Callable[[], T]) -> T:
    """Run the work of a plan, with the memory that searches of placed graphs hold if need be."""
    if plan.device_memory >= _WORTH_ASKING:
        _free_idle(plan.devices, plan.device_memory)
    try:
        return run()
    except MemoryBudgetError:
        if not _free_idle(plan.devices):
            raise
        return run()


def _run_split(
    run: Callable[[Task], Answer],
    devices: tuple[str, ...],
    every: bool,
    meter: CallTimer | None,
    task: Task,
) -> Answer:
    """Run a method on several devices, each for some of the sources."""
    from kleene.backends.cuda.source_split import run_split

    answer, shares = run_split(run, task, devices, every=every)
    if meter is not None:
        meter.add_shares(shares)
    return answer


def _split_in_words(shares: Sequence[Share]) -> str:
    return "split: " + ", ".join(f"{share.rows:,} rows by {share.device}" for share in shares)


def _free_idle(devices: tuple[str, ...], needed: int | None = None) -> bool:
    """Free what placed graphs keep for later calls, or only if as much as needed is not free."""
    if not devices:
        return False
    from kleene.backends.cuda.device_graph import free_idle

    freed = [free_idle(device, needed) for device in devices]
    return any(freed)


def _on_device(task: Task, answer: Answer) -> Answer:
    from kleene.backends.cuda.device_answer import to_device
    from kleene.backends.cuda.runtime.device import open_device

    return to_device(task, open_device(task.device), answer)


def _incoming_arcs(graph: Graph, ask: Ask) -> IncomingArcs | None:
    """Prepare the incoming arcs of a graph that lacks them, where the method would use them."""
    if not IncomingArcs.matter(graph) or ask.where.method not in ("auto", "direction_optimizing"):
        return None
    incoming = IncomingArcs.of(graph)
    incoming.prepare(graph)
    return incoming


def _noted(plan: Plan, incoming: IncomingArcs, stats: Timings) -> Plan:
    """Count a search without incoming arcs, or say where it has them from."""
    if incoming.note:
        return with_notes(plan, incoming.note)
    if plan.device == "cpu" and plan.method == "direction_optimizing":
        incoming.record(stats.total)
    return plan


def _meter(device: str) -> AbstractContextManager[CallTimer | None]:
    """Return a timer of copies and kernels, on devices that have both."""
    if device not in _DEVICES:
        return nullcontext()
    from kleene.backends.cuda.runtime.timing import timed_call

    return timed_call()


def _timings(total: float, meter: CallTimer | None) -> Timings:
    if meter is None:
        return Timings(compute=total, total=total)
    copy_in, copy_out = meter.seconds("copy_in") or 0.0, meter.seconds("copy_out") or 0.0
    compute = meter.seconds("compute")
    rest = max(0.0, total - copy_in - copy_out)  # for methods that do not time their kernels
    return Timings(copy_in, rest if compute is None else compute, copy_out, total)


def output_memory(
    out: Out, shape: tuple[int, int], dtype: np.dtype[Any], single: bool
) -> AbstractContextManager[Array | None]:
    """Return a context with two-dimensional memory for the values, or None."""
    if out is None:
        return nullcontext()
    outer = shape[1:] if single else shape
    if isinstance(out, (str, Path)):
        return _file_output(out, shape, outer, dtype)
    if not isinstance(out, np.ndarray):
        raise RequestError(
            Code("out"), f" must be an array or a file name, not {type(out).__name__}"
        )
    if out.shape != outer or out.dtype != dtype or not out.flags.writeable:
        kind = "" if out.flags.writeable else "read-only "
        raise RequestError(
            Code("out"),
            f" must be a writable {dtype} array of shape {outer}, and is a {kind}{out.dtype} "
            f"array of shape {out.shape}",
        )
    if not out.flags.c_contiguous:
        raise RequestError(Code("out"), " must be C-contiguous")
    return nullcontext(out.reshape(shape))


@contextmanager
def _file_output(
    out: str | Path, shape: tuple[int, int], outer: tuple[int, ...], dtype: np.dtype[Any]
) -> Iterator[Array]:
    """Yield a mapped file, which appears under its name at the end."""
    with atomic_array(out, outer, dtype) as mapped:
        yield mapped.reshape(shape)
