"""Closures of matrices in parts: their task, and plans of tiles for workers not known yet.

The plan of a call on a cluster says what is computed, and in which type. Where is each worker's own
choice: it gets plans of a tile for the devices that pay, the best first, and opens the first that
it has.

The rounds are not here: matrices in files, streamed through a GPU and on workers have a schedule
each (``docs/architecture.md``, "Dense graphs", says what differs).
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kleene.backends.semiring import SEMIRINGS
from kleene.backends.task import Progress, Task
from kleene.engine.call import Call
from kleene.planning.ask import Ask, Decision, Output, What, Where
from kleene.planning.cost_model import gpu_cost, searched_seconds
from kleene.planning.facts import Facts, graph_facts
from kleene.planning.plan import Plan, make_plan
from kleene.registry import DEVICES
from kleene.system.devices import INDEXED
from kleene.system.machine import Machine, this_machine

__all__ = ["TilePlan", "closure_task", "plan_of_tiles", "plans_of_a_tile"]


class TilePlan(NamedTuple):
    """The plan of closing a tile on some device, and about how long it takes there."""

    plan: Plan
    side: int
    seconds: float


def plan_of_tiles(call: Call, method: str) -> Plan:
    """Return the plan of a closure by workers.

    The memory of this process makes no difference, and a worker chooses its device by itself.
    """
    ask, graph = call.ask, call.graph.transpose() if call.reverse else call.graph
    device = ask.where.device
    here = "cpu" if device in ("auto", *INDEXED) else device
    why = "device: each worker's own choice"
    if device != "auto":
        why = f"device: {device!r} on the workers, as asked"
    asked = ask.but(method=method, predecessors=False, given=True, device=here)
    asked = asked.freeze(Decision("device", here, why))
    plan = make_plan(graph_facts(graph), asked, replace(this_machine(), memory=None))
    return plan if device == "auto" else replace(plan, device=device)


def plans_of_a_tile(facts: Facts, ask: Ask, side: int) -> tuple[TilePlan, ...]:
    """Return plans of closing a tile: for the device that was asked for, or for those that pay."""
    what, where, side = ask.what, ask.where, min(side, facts.n)
    tile, threads = facts.of_square(side), where.threads or 1
    ask = ask._replace(
        what=What("closure", what.semiring, predecessors=what.predecessors, dtype=what.dtype),
        where=Where("tiled", threads=threads),
        output=Output(given=True),
    )
    # A worker that has all devices, one of each kind.
    worker = Machine(threads, None, "", tuple(DEVICES))

    def plan_on(device: str) -> TilePlan:
        plan = make_plan(tile, ask.but(device=device), worker)
        if plan.device == "cpu":
            return TilePlan(plan, side, searched_seconds(tile, ask, threads))
        plan = replace(plan, devices=where.devices[:1] or plan.devices)
        return TilePlan(plan, side, gpu_cost(replace(tile, device=plan.device), ask, "tiled").total)

    best = plan_on(where.device)
    others = [plan_on("cpu")] if where.device == "auto" and best.plan.device != "cpu" else []
    return best, *others


def closure_task(call: Call, plan: Plan, report: Progress | None = None) -> Task:
    """Return the task of closing a matrix, or of some of its rows."""
    what = call.ask.what
    return Task(
        call.graph.transpose() if call.reverse else call.graph,
        SEMIRINGS[plan.semiring],
        call.sources,
        None,
        None,  # limits are applied to closed rows
        what.predecessors and call.targets is None,
        np.dtype(plan.dtype),
        plan.threads,
        report,
        device=plan.first_device,
    )
