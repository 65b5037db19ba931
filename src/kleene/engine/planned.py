"""The one place where calls are planned: on arcs or a prepared graph, here or for workers.

``explain`` makes the call itself. Where the plan is made and work would begin, ``show`` hands the
plan to it instead, so that what is explained is what would run. Until then a call that is explained
learns cheap facts only: no vertices are put into order, and nothing is written.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple, NoReturn

from kleene.engine.call import Call
from kleene.engine.pieces import Piece
from kleene.graph import Graph
from kleene.graph.incoming import IncomingArcs
from kleene.planning.ask import ARC_BY_ARC, Ask
from kleene.planning.facts import Facts, graph_facts
from kleene.planning.plan import Plan, plan_call, with_notes
from kleene.planning.rules import choose_method, unknown_method
from kleene.prepared.known import Known
from kleene.registry import find
from kleene.system.device_names import INDEXED

__all__ = [
    "EXPLAINING", "Describe", "Planned", "as_planned_here", "explained", "plan_value", "planned",
    "planned_for_workers", "show", "show_call",
]  # fmt: skip


class Planned(NamedTuple):
    """A plan, and what it took to look closer at the graph."""

    plan: Plan
    seconds: float = 0.0


def planned(call: Call, ask: Ask | None = None) -> Planned:
    """Plan a call, or another request for what it is about."""
    if ask is None:
        ask = call.ask
    if call.computes is not None:
        return call.computes.plan(call._replace(ask=ask))
    form = call.form
    if form is not None and (call.by_form or form._answers(ask)):
        if call.pairs is not None:
            return Planned(form._plan(ask, len(call.pairs[0])))
        n, what = call.graph.n, ask.what
        rows = ask.output.block_rows or (n if what.sources is None else what.sources)
        width = n if call.targets is None or not call.as_block else len(call.targets)
        return Planned(form._plan(ask, rows * width))
    graph = call.graph.transpose() if call.reverse else call.graph
    facts = graph_facts(graph, ask.what.problem == "bfs")
    if call.on is not None:
        here = as_planned_here(ask)
        plan = _look_closer(graph, here, plan_call(facts, here))
        return Planned(planned_for_workers(plan, ask, facts))
    plan = plan_call(facts, ask)
    if plan.method != "prepared":
        return Planned(plan)
    began = time.perf_counter()
    plan = _look_closer(graph, ask, plan)
    return Planned(plan, time.perf_counter() - began)


def plan_value(facts: Facts, ask: Ask, graph: Graph | None = None, hops: bool = False) -> Plan:
    """Plan a call whose answer has no rows, by facts; ``graph`` may be looked at closer."""
    plan = plan_call(facts, ask)
    if plan.method == "prepared" and graph is not None:
        plan = _look_closer(graph, ask, plan, hops)
    if EXPLAINING.on:
        show(plan)
    return plan


# ---- plans that are explained -------------------------------------------------------------------


class _Explaining(threading.local):
    """Whether this thread makes a call to learn its plan."""

    on = False


EXPLAINING = _Explaining()


class _Explained(BaseException):
    """Ends a call that is explained; no handler of errors takes it for one."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan


def explained(call: Callable[[], object]) -> Plan:
    """Return the plan of a call, which ends where it is made."""
    before, EXPLAINING.on = EXPLAINING.on, True
    try:
        call()
    except _Explained as found:
        return found.plan
    finally:
        EXPLAINING.on = before
    raise AssertionError("the call was not planned")


def show(plan: Plan) -> Plan:
    """Return a plan that is about to run, or end the call if it is explained."""
    if EXPLAINING.on:
        raise _Explained(plan)
    return plan


#: Says of the pieces of a planned call how they would run elsewhere.
Describe = Callable[[Call, Plan, Sequence[Piece]], tuple[str, ...]]


def show_call(
    call: Call, made: Planned | None = None, describe: Describe | None = None,
    pieces: Sequence[Piece] = (),
) -> NoReturn:  # fmt: skip
    """End a path call that is explained, with its plan and what will become of incoming arcs."""
    plan = (made or planned(call)).plan
    if plan.problem == "bfs" and call.on is None:
        graph = call.graph.transpose() if call.reverse else call.graph
        outlook = IncomingArcs.of(graph).outlook(graph)
        plan = with_notes(plan, outlook) if outlook else plan
    if describe is not None:
        plan = with_notes(plan, *describe(call, plan, pieces))
    raise _Explained(plan)


# ---- graphs that may be prepared ----------------------------------------------------------------


def _look_closer(graph: Graph, ask: Ask, plan: Plan, hops: bool = False) -> Plan:
    """Return the plan, or another one where a first step of preparing shows that it is faster.

    A plan knows the numbers of vertices and arcs, and takes a road-like graph for one that suits
    elimination. Before a call prepares it, small pieces of the graph show how pairs grow; then its
    order, which takes most of the time, shows how many there are; a call that is explained does
    without. What was found out stays with the graph (``kleene.prepared.cache``).
    """
    if plan.method != "prepared" or ask.where.method != "auto":
        return plan
    from kleene.prepared.cache import Preparation

    preparation = Preparation.of(graph)
    steps = (preparation.look,) if EXPLAINING.on else (preparation.look, preparation.count)
    for step in steps:
        if plan.method == "prepared":
            step(graph)
            plan = plan_call(graph_facts(graph, hops), ask)
    return plan


# ---- calls on a cluster -------------------------------------------------------------------------

_NOT_PREPARED = Known(0, 0, "counted", refused="the client did not prepare it")


def as_planned_here(ask: Ask) -> Ask:
    """Return the request of a call on a cluster as the client plans it.

    Workers open the device that was asked for; this machine need not have it.
    """
    problem, where = ask.what.problem, ask.where
    if where.device not in INDEXED:
        return ask
    if where.method != "auto" and not find(problem, where.method, where.device):
        unknown_method(ask, [where.device])
    here = ask.but(device="cpu", devices=())
    if find(problem, where.method, "cpu") is None:
        here = here.but(method="auto", options=())
    return here


def planned_for_workers(plan: Plan, ask: Ask, facts: Facts) -> Plan:
    """Return the plan of the client, with the device that was asked for and a method of it."""
    device = ask.where.device
    if device not in INDEXED:
        return plan
    reasons = (f"device: {device!r} on the workers, as asked", *plan.reasons[1:])
    method = plan.method
    if ask.where.method != "auto" or not find(plan.problem, method, device):
        searched = replace(facts, prepared=_NOT_PREPARED)  # the client decided not to prepare it
        row, why = choose_method(searched, ask._replace(frozen=(ARC_BY_ARC,)), device)
        method, reasons = row.name, (reasons[0], why, *reasons[2:])
    return replace(plan, device=device, devices=ask.where.devices, method=method, reasons=reasons)
