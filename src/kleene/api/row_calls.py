"""Some rows of a call at a time: the same answer as all at once, in less memory, or elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from kleene.api.arguments import Call
from kleene.api.closer_look import look_closer
from kleene.api.execution import solve
from kleene.graph import Graph
from kleene.planning.ask import ARC_BY_ARC, Ask
from kleene.planning.cost_model import searched_seconds
from kleene.planning.facts import Facts, graph_facts
from kleene.planning.plan import Plan, plan_call
from kleene.planning.prepared_cost import prepared_seconds
from kleene.planning.rules import choose_method, unknown_method
from kleene.prepared.known import Known
from kleene.registry import find
from kleene.results.result import Result
from kleene.system.device_names import INDEXED

if TYPE_CHECKING:
    from kleene.api.prepared_graph import PreparedGraph

__all__ = ["RowCall", "plan_rows", "planned_here", "run_by_workers", "seconds_per_row"]

Array = NDArray[Any]

_NOT_PREPARED = Known(0, 0, "counted", refused="the client did not prepare it")


@dataclass(frozen=True)
class RowCall:
    """A call without its graph and sources, which can be sent to other processes."""

    ask: Ask
    targets: Array | None = None
    limit: float | None = None
    reverse: bool = False

    @staticmethod
    def of(call: Call, plan: Plan) -> RowCall:
        """Return the rows of a call, with what was decided for all of them."""
        ask = call.ask
        if plan.dtype != "bool":
            ask = ask.but(dtype=plan.dtype)
        if plan.method == "prepared" and call.prepared is None:
            ask = ask.but(method="prepared")
        return RowCall(ask.but(given=False), call.targets, call.limit, call.reverse)

    def solve(
        self, graph: Graph | PreparedGraph, sources: Array, out: Array | None = None
    ) -> Result:
        """Return the rows of some sources, by position."""
        prepared = None if isinstance(graph, Graph) else graph
        own = graph if isinstance(graph, Graph) else graph.graph
        ask = self.ask.but(sources=len(sources), given=out is not None)
        return solve(
            Call(
                ask, own, sources.astype(own.id_dtype, copy=False), self.targets, self.limit,
                None, out, False, self.reverse, None, prepared,
            )
        )  # fmt: skip


def plan_rows(call: Call, order: bool = True) -> Plan:
    """Return the plan of a call whose rows are not kept in memory all at once.

    ``order`` says whether vertices may be put into order to decide, which takes time.
    """
    ask = call.ask.but(predecessors=False, given=True, keep="host")
    if call.prepared is not None:
        from kleene.api.prepared_calls import has_answer, plan_prepared

        if has_answer(call.prepared, call.ask):
            return plan_prepared(call.prepared, ask, 0)
    graph = call.graph.transpose() if call.reverse else call.graph
    hops = ask.what.problem == "bfs"
    here = ask if call.on is None else planned_here(ask)
    plan = look_closer(graph, here, plan_call(graph_facts(graph, hops), here), order=order)
    return plan if call.on is None else run_by_workers(plan, ask, graph_facts(graph, hops))


def planned_here(ask: Ask) -> Ask:
    """Return the request of a call on a cluster as the client plans it.

    Workers open the device that was asked for; this machine need not have it.
    """
    if ask.where.device not in INDEXED:
        return ask
    if ask.where.method != "auto" and not find(
        ask.what.problem, ask.where.method, ask.where.device
    ):
        unknown_method(ask, [ask.where.device])
    here = ask.but(device="cpu", devices=())
    if find(ask.what.problem, ask.where.method, "cpu") is None:
        here = here.but(method="auto", options=())
    return here


def run_by_workers(plan: Plan, ask: Ask, facts: Facts) -> Plan:
    """Return the plan of the client, with the device that was asked for and a method of it."""
    if ask.where.device not in INDEXED:
        return plan
    reasons = (f"device: {ask.where.device!r} on the workers, as asked", *plan.reasons[1:])
    method = plan.method
    if ask.where.method != "auto" or not find(plan.problem, method, ask.where.device):
        searched = replace(facts, prepared=_NOT_PREPARED)  # the client decided not to prepare it
        row, why = choose_method(searched, ask._replace(frozen=(ARC_BY_ARC,)), ask.where.device)
        method, reasons = row.name, (reasons[0], why, *reasons[2:])
    return replace(
        plan, device=ask.where.device, devices=ask.where.devices, method=method, reasons=reasons
    )


def seconds_per_row(call: Call, plan: Plan, rows: int = 64) -> float:
    """Estimate the seconds that a row takes on one core, where so many are computed together."""
    ask = call.ask.but(sources=rows, threads=1)
    facts = graph_facts(call.graph, ask.what.problem == "bfs")
    if plan.method == "prepared":
        seconds = prepared_seconds(facts, ask, 1).rows
    else:
        seconds = searched_seconds(facts, ask, 1)
    return max(seconds / rows, 1e-7)
