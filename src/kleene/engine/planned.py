"""The one place where calls are planned: on arcs or a prepared graph, here or for workers.

``explain`` makes the call itself. Where the plan is made and work would begin, ``show`` hands the
plan to it instead, so that what is explained is what would run. Until then a call that is explained
learns cheap facts only: no vertices are ordered, and nothing is written.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple, NoReturn

from kleene.engine.call import Call
from kleene.engine.pieces import Piece
from kleene.graph import Graph
from kleene.graph.incoming import PULLING, IncomingArcs
from kleene.planning.ask import Ask
from kleene.planning.facts import Facts, graph_facts
from kleene.planning.plan import Plan, plan_call, with_notes

__all__ = [
    "EXPLAINING", "Describe", "Planned", "explained", "plan_value", "planned", "show", "show_call",
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
        return call.computes.plan(call if ask is call.ask else call._replace(ask=ask))
    if call.on is not None:
        ask = ask.for_workers()
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
    if plan.method in PULLING and call.on is None:
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
    from kleene.prepared.cache import Preparation  # few graphs are prepared

    preparation = Preparation.of(graph)
    steps = (preparation.look,) if EXPLAINING.on else (preparation.look, preparation.count)
    for step in steps:
        if plan.method == "prepared":
            step(graph)
            plan = plan_call(graph_facts(graph, hops), ask)
    return plan
