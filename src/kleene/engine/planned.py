"""The one place where calls are planned: on arcs or a prepared graph, here or for workers."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from kleene.engine.call import Call
from kleene.errors import MemoryBudgetError, RequestError
from kleene.graph import Graph
from kleene.graph.checks import memory_for
from kleene.planning.ask import ARC_BY_ARC, Ask
from kleene.planning.device_split import choose_devices
from kleene.planning.facts import Facts, graph_facts
from kleene.planning.machine import live_machine
from kleene.planning.plan import FEWER_ROWS, IN_A_FILE, Plan, plan_call
from kleene.planning.rules import choose_method, unknown_method
from kleene.prepared.known import DEVICES, Known
from kleene.registry import find
from kleene.system.device_names import INDEXED
from kleene.system.formatting import format_bytes
from kleene.system.suggestions import no_such

if TYPE_CHECKING:
    from kleene.prepared.form import PreparedForm

__all__ = ["Planned", "answers", "as_planned_here", "look_closer", "plan_prepared", "planned"]


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
    form = call.prepared
    if form is not None and answers(form, ask):
        if call.pairs is not None:
            return Planned(plan_prepared(form, ask, len(call.pairs[0])))
        n, what = call.graph.n, ask.what
        rows = ask.output.block_rows or (n if what.sources is None else what.sources)
        width = n if call.targets is None or not call.as_block else len(call.targets)
        return Planned(plan_prepared(form, ask, rows * width))
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


# ---- prepared graphs ----------------------------------------------------------------------------


def answers(prepared: PreparedForm, ask: Ask) -> bool:
    """Return whether a prepared graph has what a call asks for.

    All else is a search in the original graph: with a limit, by another method, on another device,
    in another type or semiring, or with predecessors that are the same in every run.
    """
    what, where = ask.what, ask.where
    return (
        what.problem != "bfs"
        and where.method in ("auto", "prepared")
        and where.device in ("auto", *DEVICES)
        and what.semiring == prepared.semiring
        and what.dtype in (None, str(prepared.dtype))
        and not (what.limited or what.deterministic or where.options)
    )


def plan_prepared(prepared: PreparedForm, ask: Ask, entries: int) -> Plan:
    """Return the plan of an answer with so many values; raise if they do not fit in memory."""
    what, graph, dtype = ask.what, prepared.graph, prepared.dtype
    memory = 0 if ask.output.given else entries * dtype.itemsize
    available = memory_for(memory)
    if memory > available:
        possible = {"sources": FEWER_ROWS, "out": IN_A_FILE}
        several = what.sources != 1
        advice = [text for name, text in possible.items() if several and ask.advises(name)]
        raise MemoryBudgetError(
            f"{what.problem} on {graph.n:,} vertices needs {format_bytes(memory)} and "
            f"{format_bytes(available)} are available",
            advice=advice or ["a machine with more memory"],
            needed=memory,
            available=available,
        )
    device, why_devices = _device(ask), ""
    devices: tuple[str, ...] = ()
    row = find(what.problem, "prepared", device)
    if row is not None and device != "cpu":
        devices, why_devices = choose_devices(graph_facts(graph), ask, live_machine(), device, row)
    return Plan(
        what.problem,
        "prepared",
        device,
        prepared.semiring,
        str(dtype),
        ask.where.threads or live_machine().cores,
        memory,
        available if available < 2**62 else None,
        (
            "prepared: the vertices were eliminated before, and a row is a climb and a sweep",
            f"{dtype}: the type of the prepared graph",
            *((why_devices,) if why_devices else ()),
        ),
        devices=devices,
        form="prepared",
    )


def _device(ask: Ask) -> str:
    """Return where a prepared graph answers a call."""
    if ask.where.device == "auto":
        return "cpu" if ask.output.keep == "host" else "cuda"
    if ask.where.device not in DEVICES:
        raise RequestError(no_such("device", ask.where.device, ("auto", *DEVICES)), option="device")
    return ask.where.device


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
