"""The one place where calls are planned: on arcs or a prepared graph, here or for workers."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import NamedTuple

from kleene.engine.call import Call
from kleene.graph import Graph
from kleene.planning.ask import ARC_BY_ARC, Ask
from kleene.planning.facts import Facts, graph_facts
from kleene.planning.plan import Plan, plan_call
from kleene.planning.rules import choose_method, unknown_method
from kleene.prepared.known import Known
from kleene.registry import find
from kleene.system.device_names import INDEXED

__all__ = ["Planned", "as_planned_here", "look_closer", "planned"]


class Planned(NamedTuple):
    """A plan, and what it took to look closer at the graph."""

    plan: Plan
    seconds: float = 0.0


def planned(call: Call, ask: Ask | None = None, order: bool = True) -> Planned:
    """Plan a call, or another request for what it is about.

    ``order`` says whether vertices may be put into order to decide, which takes time.
    """
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
        plan = look_closer(graph, here, plan_call(facts, here), order)
        return Planned(_planned_for_workers(plan, ask, facts))
    plan = plan_call(facts, ask)
    if plan.method != "prepared":
        return Planned(plan)
    began = time.perf_counter()
    plan = look_closer(graph, ask, plan, order)
    return Planned(plan, time.perf_counter() - began)


# ---- graphs that may be prepared ----------------------------------------------------------------


def look_closer(graph: Graph, ask: Ask, plan: Plan, order: bool = True, hops: bool = False) -> Plan:
    """Return the plan, or another one where a first step of preparing shows that it is faster.

    A plan knows the numbers of vertices and arcs, and takes a road-like graph for one that suits
    elimination. Before a call prepares it, small pieces of the graph show how pairs grow; then its
    order, which takes most of the time, shows how many there are. What was found out stays with
    the graph (``kleene.prepared.cache``).
    """
    if plan.method != "prepared" or ask.where.method != "auto":
        return plan
    from kleene.prepared.cache import Preparation

    preparation = Preparation.of(graph)
    for step in (preparation.look, preparation.count) if order else (preparation.look,):
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


def _planned_for_workers(plan: Plan, ask: Ask, facts: Facts) -> Plan:
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
