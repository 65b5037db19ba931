"""Some pieces of a call, where they are computed: the only place that runs a path method.

The steps of a piece are the same in this process and on a worker of a cluster: direction, method,
limit, rule of predecessors, and then the writer of the sink.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from kleene.backends import devices
from kleene.backends.answer import Answer
from kleene.backends.common.limits import apply_limit
from kleene.backends.common.predecessors import choose_predecessors
from kleene.backends.semiring import SEMIRINGS
from kleene.backends.task import Progress, Task
from kleene.engine.call import Call, Part, Writer
from kleene.engine.pieces import Piece
from kleene.errors import MemoryBudgetError
from kleene.graph.incoming import PULLING, IncomingArcs
from kleene.planning.plan import Plan

if TYPE_CHECKING:
    from kleene.system.threads import Future, ThreadPool

__all__ = [
    "Work", "compute", "count_rows", "fills_matrix", "run_method", "run_rows", "with_idle_memory",
]  # fmt: skip

Array = NDArray[Any]
T = TypeVar("T")

#: Bytes on a device for which free memory is looked up before a call: that takes 50 us.
_WORTH_ASKING = 2**28


class Work(NamedTuple):
    """Some pieces of a call, with its plan; nothing is planned while it runs."""

    call: Call  # its sources are those of the pieces
    plan: Plan
    pieces: Sequence[Piece]
    writer: Writer
    limit: int | float | None = None  # in the type of the values
    first: int = 0  # the number of the first source

    @property
    def total(self) -> int:
        """How many rows there are, or pairs; some may have been computed before."""
        return max(len(self.call.sources), self.pieces[-1].stop if self.pieces else 0)

    def complete(self, piece: Piece, rows_of: Callable[[Task], Answer]) -> tuple[Call, Part]:
        """Return the call for a piece whose rows are there, and these rows as it returns them."""
        call = self.writer.narrow(self.call, [piece], self.first)
        return call, compute(call, self.plan, self.limit, rows_of=rows_of)

    def alone(self, piece: Piece, device: str, report: Progress | None) -> Any:
        """Return the receipt of one piece, computed on one device."""
        call = self.writer.narrow(self.call, (piece,), self.first)
        part = compute(call, replace(self.plan, devices=(device,)), self.limit, None, report)
        return self.writer.write(piece, part, slice(0, piece.stop - piece.first), call)

    def run(
        self,
        record: Callable[[Piece, Any], object],
        report: Progress | None = None,
        look: Callable[[Sequence[Piece], Call, Part], object] | None = None,
    ) -> None:
        """Compute the pieces, and hand their receipts to ``record``.

        A writer that is ``behind`` writes a part while the next one is computed, in a thread that
        Ctrl-C does not interrupt and that records. What was computed is written and recorded also
        when the work on the next part fails. ``look`` sees each part before it is written.
        """

        def write(group: Sequence[Piece], part: Part, call: Call) -> None:
            row = 0
            for piece in group:
                rows = slice(row, row + piece.stop - piece.first)
                record(piece, self.writer.write(piece, part, rows, call))
                row = rows.stop

        plan, writer = self.plan, self.writer
        pieces = self.pieces
        whole = len(pieces) == 1 or (pieces and writer.together and fills_matrix(plan))
        together = [pieces] if whole else [[piece] for piece in pieces]
        tell = None
        if report is not None and not writer.tells_steps:
            tell = _Told(report, self.total, pieces)
        with _thread() if writer.behind else nullcontext() as thread:
            last: Future[None] | None = None
            for group in together:
                call = writer.narrow(self.call, group, self.first)
                memory = writer.memory(group, call, plan)
                shown = report if tell is None else tell.part(group)
                part = compute(call, plan, self.limit, memory, shown)
                if tell is not None:
                    tell.end(group)
                if look is not None:
                    look(group, call, part)
                if thread is None:
                    write(group, part, call)
                    continue
                if last is not None:
                    last.result()  # no more than two parts are in memory
                last = thread.submit(write, group, part, call)
            if last is not None:
                last.result()


class _Told:
    """The progress of all rows, told piece by piece: it never goes back."""

    def __init__(self, report: Progress, total: int, pieces: Sequence[Piece]) -> None:
        self._report, self._total = report, total
        self._done = self._told = total - count_rows(pieces)

    def part(self, group: Sequence[Piece]) -> Progress:
        """Return the function that a method tells its own progress."""
        rows = count_rows(group)
        return lambda part, of: self._tell(self._done + rows * part // max(1, of))

    def end(self, group: Sequence[Piece]) -> None:
        """Take note that some pieces are done."""
        self._done += count_rows(group)
        if self._done > self._told:
            self._tell(self._done)

    def _tell(self, rows: int) -> None:
        self._told = rows
        self._report(rows, self._total)


def count_rows(pieces: Sequence[Piece]) -> int:
    """Return how many rows, or pairs, some pieces have."""
    return sum(piece.stop - piece.first for piece in pieces)


def _thread() -> ThreadPool:
    """Return the thread that writes."""
    from kleene.system.threads import ThreadPool  # few sinks write behind

    return ThreadPool(1)


def fills_matrix(plan: Plan) -> bool:
    """Return whether the method computes all rows at once, whatever rows are asked for."""
    return plan.form == "arcs" and plan._row.cuts == "never"


def compute(
    call: Call,
    plan: Plan,
    limit: int | float | None,
    memory: Array | None = None,
    report: Progress | None = None,
    rows_of: Callable[[Task], Answer] | None = None,
) -> Part:
    """Return the rows of a call's sources, or what a prepared graph or a computation answers.

    ``rows_of`` gives rows that are there, those of a closed matrix: no method is run for them.
    """
    if call.computes is not None:
        return Part(call.computes.compute(call, plan, report))
    if plan.form != "arcs":
        assert call.form is not None
        return call.form._compute(call, plan, memory, report)
    ask, what = call.ask, call.ask.what
    keep = ask.output.keep == "device"
    task = Task(
        call.graph.transpose() if call.reverse else call.graph,
        SEMIRINGS[plan.semiring],
        call.sources,
        call.targets,
        limit,
        what.predecessors,
        np.dtype(plan.dtype),
        plan.threads,
        report,
        memory,
        plan.first_device,
        plan.problem == "bfs",
        # What is changed on the host afterwards is copied back to the device.
        keep=keep and not what.deterministic,
    )
    answer = _run(task, plan, call) if rows_of is None else rows_of(task)
    if limit is not None:
        answer = apply_limit(task, answer)
    if what.deterministic:
        choose_predecessors(task, answer)
    return Part(devices.on_device(task, answer) if keep else answer)


def _run(task: Task, plan: Plan, call: Call) -> Answer:
    """Run the method of a plan, on its devices."""
    method = plan._row
    run: Callable[[Task], Answer] = method.load()
    if call.ask.where.options:
        run = partial(run, **dict(call.ask.where.options))
    if len(plan.devices) > 1 and method.splits == "rows":
        task = replace(task, devices=plan.devices)
    elif len(plan.devices) > 1:
        run = partial(run_rows, run, plan, call)
    lacking = IncomingArcs.lacking(task.graph) if plan.method in PULLING else None
    if lacking is None:
        return with_idle_memory(plan, partial(run, task))
    lacking.prepare(task.graph)
    began = perf_counter()
    answer = with_idle_memory(plan, partial(run, task))
    if plan.device == "cpu" and not lacking.note:
        lacking.record(perf_counter() - began)
    return answer


def run_rows(run: Callable[[Task], Answer], plan: Plan, call: Call, task: Task) -> Answer:
    """Run what computes rows of values, on all devices of a plan."""
    if len(plan.devices) < 2:
        return run(task)
    from kleene.engine.devices import run_split  # few calls need it

    return run_split(run, plan.devices, bool(call.ask.where.devices), task)


def run_method(plan: Plan, task: Any, *more: Any) -> Any:
    """Run the method of a plan on a task that is not a path problem; ``more`` is its own."""
    run = plan._row.load()
    if not plan.device_memory:
        return run(task, *more)
    return with_idle_memory(plan, partial(run, task, *more))


def with_idle_memory(plan: Plan, run: Callable[[], T]) -> T:
    """Run the work of a plan, with the memory that searches of placed graphs hold if need be."""
    if plan.device_memory >= _WORTH_ASKING:
        devices.free_idle(plan.devices, plan.device_memory)
    try:
        return run()
    except MemoryBudgetError:
        if not devices.free_idle(plan.devices):
            raise
        return run()
