"""Dense closures larger than the memory: the answer goes to a store, by rounds through files."""

from __future__ import annotations

import time
from functools import partial

import numpy as np

from kleene.backends.answer import Answer
from kleene.backends.semiring import SEMIRINGS
from kleene.backends.task import Task
from kleene.distributed.rounds import RoundCounts, close_in_rounds
from kleene.distributed.store import Store
from kleene.distributed.store_sink import StoreSink
from kleene.distributed.stored_answer import complete_rows, stored_columns
from kleene.engine.call import Call, Outcome, Part, Timings
from kleene.engine.solve import cycle_by_label
from kleene.engine.work import with_idle_memory
from kleene.errors import NegativeCycleError
from kleene.planning.plan import Plan, with_notes
from kleene.registry import find
from kleene.results.result import Result
from kleene.system.progress import reporter

__all__ = ["solve_in_rounds"]


def solve_in_rounds(call: Call, sink: StoreSink, plan: Plan) -> Result:
    """Compute what is missing of a closure in rounds, and return the result over its store."""
    spec = sink.spec
    method = find(plan.problem, plan.method, plan.device)
    assert method is not None
    assert plan.rounds is not None
    began = time.perf_counter()
    with reporter(call.progress, f"{plan.problem} by {plan.method}, in rounds") as report:
        task = Task(
            call.graph.transpose() if call.reverse else call.graph,
            SEMIRINGS[call.ask.what.semiring],
            call.sources,
            None,
            spec.call["limit"],
            spec.predecessors is not None,
            np.dtype(spec.dtype),
            plan.threads,
            report,
            None,
            plan.first_device,
            False,
        )

        def finish(own: Task, answer: Answer) -> Answer:
            answer = complete_rows(own, answer, call.ask.what.deterministic)
            return stored_columns(answer, call.targets)

        try:
            close = partial(
                close_in_rounds,
                task, method.load_rounds(), plan.rounds.split, sink.path, spec, sink.vertices,
                finish,
            )  # fmt: skip
            counts = with_idle_memory(plan, close)
        except NegativeCycleError as error:
            raise cycle_by_label(error, call.graph, call.reverse) from None
    seconds = time.perf_counter() - began
    store = Store.look(sink.path)
    assert store is not None
    if note := _note(counts):
        plan = with_notes(plan, note)
    answer, timings = Part(sink.answer(store.writer())), Timings(compute=seconds, total=seconds)
    return Result._of(call, Outcome(answer, plan, timings, spec.call["limit"]))


def _note(counts: RoundCounts) -> str:
    """Say what was there already."""
    if not counts.rounds:
        return "resumed: the answer was there"
    there = [f"{counts.done:,} of {counts.rounds:,} rounds"] * bool(counts.done)
    there += [f"{counts.blocks_done:,} blocks of the answer"] * bool(counts.blocks_done)
    return f"resumed: {' and '.join(there)} were there" if there else ""
