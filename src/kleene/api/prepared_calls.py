"""Calls on a prepared graph: checked as all calls are, answered by climbs and sweeps."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.api.arguments import Call
from kleene.api.climbs import answer_by_climbs
from kleene.api.execution import output_memory
from kleene.backends.common.on_demand import MatrixAnswer, RowSource, TreesAnswer
from kleene.backends.semiring import SEMIRINGS
from kleene.backends.task import Answer
from kleene.errors import MemoryBudgetError, RequestError
from kleene.graph import Graph
from kleene.graph.checks import memory_for
from kleene.planning.ask import Ask
from kleene.planning.device_split import choose_devices
from kleene.planning.facts import graph_facts
from kleene.planning.machine import live_machine
from kleene.planning.plan import FEWER_ROWS, IN_A_FILE, Plan
from kleene.prepared.customization import Customization
from kleene.prepared.elimination import Elimination
from kleene.prepared.rows import PreparedRows
from kleene.registry import find
from kleene.results.pairs import PairsResult
from kleene.results.result import Result
from kleene.results.searched_rows import SearchedRows
from kleene.results.timings import Timings
from kleene.system.cached_property import cached_property
from kleene.system.formatting import format_bytes
from kleene.system.progress import reporter
from kleene.system.suggestions import no_such

__all__ = ["DEVICES", "Prepared", "has_answer", "plan_prepared", "solve_prepared"]

#: Where prepared graphs compute.
DEVICES = ("cpu", "cuda", "emulated")

Array = NDArray[Any]


class Prepared:
    """What answers come from: a graph, its elimination, and the weights of its pairs."""

    graph: Graph
    _elimination: Elimination
    _customization: Customization

    @property
    def semiring(self) -> str:
        """What "best path" means: ``"min_plus"`` is the shortest."""
        return self._customization.semiring

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the path values."""
        return self._customization.dtype

    @cached_property
    def no_path(self) -> Any:
        """The value in arrays that stands for "no path": infinity, or the largest integer."""
        return SEMIRINGS[self.semiring].zero(self.dtype)

    @property
    def _parts(self) -> tuple[Elimination, Customization]:
        return self._elimination, self._customization

    def _rows(self, reverse: bool, threads: int | None) -> PreparedRows:
        return PreparedRows(*self._parts, reverse, threads)

    def _require_lengths(self, what: str) -> None:
        if self.semiring != "min_plus":
            raise RequestError(
                f"{what} for lengths, and this graph is prepared for {self.semiring!r}: "
                "use customize(semiring='min_plus')"
            )


def has_answer(prepared: Prepared, ask: Ask) -> bool:
    """Return whether a prepared graph has what a call asks for.

    All else is a search in the original graph: with a limit, by another method, on another device,
    in another type or semiring, or with predecessors that are the same in every run.
    """
    return (
        ask.what.problem != "bfs"
        and ask.where.method in ("auto", "prepared")
        and ask.where.device in ("auto", *DEVICES)
        and ask.what.semiring == prepared.semiring
        and ask.what.dtype in (None, str(prepared.dtype))
        and not (ask.what.limited or ask.what.deterministic or ask.where.options)
    )


def _device(ask: Ask) -> str:
    """Return where a prepared graph answers a call."""
    if ask.where.device == "auto":
        return "cpu" if ask.output.keep == "host" else "cuda"
    if ask.where.device not in DEVICES:
        raise RequestError(no_such("device", ask.where.device, ("auto", *DEVICES)), option="device")
    return ask.where.device


def solve_prepared(prepared: Prepared, call: Call, out_for_targets: bool = False) -> Result:
    """Answer a call; its ``out`` is for whole rows, or for the targets alone."""
    if call.pairs is not None:
        return _solve_pairs(prepared, call, call.pairs)
    ask, sources, targets = call.ask, call.sources, call.targets
    if call.out is not None and not out_for_targets:
        targets = None  # the caller brought memory for whole rows
    rows, device = prepared._rows(call.reverse, ask.where.threads), _device(ask)
    shape = (len(sources), call.graph.n if targets is None else len(targets))
    plan = plan_prepared(prepared, ask, shape[0] * shape[1])
    source: RowSource = rows
    if not ask.what.predecessors:  # the result lets go of the prepared graph
        source = SearchedRows(call.graph, plan.semiring, prepared.dtype, call.reverse)
    with (
        reporter(call.progress, f"{plan.problem} by {plan.method}") as report,
        output_memory(call.out, shape, prepared.dtype, call.single) as memory,
    ):
        began = time.perf_counter()
        if ask.output.keep == "device":
            answer = _kept_on_device(rows, plan.first_device, call, targets, source, report)
        else:
            if device != "cpu":
                values = _sweep_on_devices(rows, plan, ask, sources, targets, memory, report)
            elif targets is None:
                values = rows.values(sources, memory, report)
            else:
                values = rows.matrix(sources, targets, memory, report)
            if targets is not None:
                answer = MatrixAnswer(values, sources, targets, source, ask.what.predecessors)
            elif ask.what.predecessors:
                answer = TreesAnswer(values, sources, rows)
            else:
                answer = Answer(values, None)
        stats = _timings(began)
    return Result(
        call.graph, plan, stats, answer, sources, call.targets, None, call.single, call.reverse
    )


def _sweep_on_devices(
    rows: PreparedRows,
    plan: Plan,
    ask: Ask,
    sources: Array,
    targets: Array | None,
    out: Array | None,
    progress: Any,
) -> Array:
    """Return rows of values, or those of some targets, that GPUs swept."""
    from kleene.backends.cuda import prepared_trees
    from kleene.backends.cuda.source_split import split_rows

    parts, columns = (rows.elimination, rows.customization), rows.elimination.n
    shape = (len(sources), columns if targets is None else len(targets))
    values = np.empty(shape, rows.customization.dtype) if out is None else out

    def sweep(device: str, part: slice, report: Any) -> None:
        where: dict[str, Any] = {"device": device, "reverse": rows.reverse, "threads": rows.threads}
        if targets is None:
            prepared_trees.trees(*parts, sources[part], values[part], progress=report, **where)
        else:
            prepared_trees.matrix(
                *parts, sources[part], targets, values[part], progress=report, **where
            )

    if len(plan.devices) > 1:
        split_rows(plan.devices, len(sources), sweep, progress, every=bool(ask.where.devices))
    else:
        sweep(plan.first_device, slice(None), progress)
    return values


def _kept_on_device(
    rows: PreparedRows,
    device: str,
    call: Call,
    targets: Array | None,
    source: RowSource,
    progress: Any,
) -> Answer:
    """Return an answer that stays on the GPU; whole rows have their predecessors there as well."""
    from kleene.backends.cuda import prepared_trees
    from kleene.backends.cuda.device_answer import DeviceAnswer, DeviceMatrixAnswer

    parts, sources = (rows.elimination, rows.customization), call.sources
    where: dict[str, Any] = {"device": device, "reverse": rows.reverse, "progress": progress}
    paths = call.ask.what.predecessors
    if targets is None:
        kept = prepared_trees.trees_on_device(*parts, sources, predecessors=paths, **where)
        return DeviceAnswer(kept, None)
    kept = prepared_trees.matrix_on_device(*parts, sources, targets, **where)
    return DeviceMatrixAnswer(kept, sources, targets, source, paths)


def _solve_pairs(prepared: Prepared, call: Call, ends: tuple[Array, Array]) -> PairsResult:
    plan = plan_prepared(prepared, call.ask, len(ends[0]))
    parts, threads = prepared._parts, call.ask.where.threads
    with reporter(call.progress, f"{plan.problem} of pairs") as report:
        began = time.perf_counter()
        values, walks = answer_by_climbs(
            call.graph, parts, ends, call.ask.what.predecessors, threads, report
        )
        stats = _timings(began)
    return PairsResult(call.graph, plan, stats, ends, values, walks, None, by_target=False)


def plan_prepared(prepared: Prepared, ask: Ask, entries: int) -> Plan:
    """Return the plan of an answer with so many values; raise if they do not fit in memory."""
    memory = 0 if ask.output.given else entries * prepared.dtype.itemsize
    available = memory_for(memory)
    if memory > available:
        possible = {
            "sources": FEWER_ROWS,
            "out": IN_A_FILE,
        }
        several = ask.what.sources != 1
        advice = [text for name, text in possible.items() if several and ask.advises(name)]
        raise MemoryBudgetError(
            f"{ask.what.problem} on {prepared.graph.n:,} vertices needs {format_bytes(memory)} and "
            f"{format_bytes(available)} are available",
            advice=advice or ["a machine with more memory"],
            needed=memory,
            available=available,
        )
    device, why_devices = _device(ask), ""
    devices: tuple[str, ...] = ()
    row = find(ask.what.problem, "prepared", device)
    if row is not None and device != "cpu":
        facts = graph_facts(prepared.graph)
        devices, why_devices = choose_devices(facts, ask, live_machine(), device, row)
    return Plan(
        ask.what.problem,
        "prepared",
        device,
        prepared.semiring,
        str(prepared.dtype),
        ask.where.threads or live_machine().cores,
        memory,
        available if available < 2**62 else None,
        (
            "prepared: the vertices were eliminated before, and a row is a climb and a sweep",
            f"{prepared.dtype}: the type of the prepared graph",
            *((why_devices,) if why_devices else ()),
        ),
        devices=devices,
    )


def _timings(began: float) -> Timings:
    seconds = time.perf_counter() - began
    return Timings(compute=seconds, total=seconds)
