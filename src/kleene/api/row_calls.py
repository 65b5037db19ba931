"""Some rows of a call at a time: the same answer as all at once, in less memory, or elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from kleene.api.arguments import Call
from kleene.api.closer_look import look_closer
from kleene.api.execution import solve
from kleene.graph import Graph
from kleene.planning.cost_model import searched_seconds
from kleene.planning.plan import Plan, plan_call
from kleene.planning.prepared_cost import prepared_seconds
from kleene.planning.request import Facts, Request, graph_facts
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

    request: Request
    targets: Array | None = None
    limit: float | None = None
    reverse: bool = False

    @staticmethod
    def of(call: Call, plan: Plan) -> RowCall:
        """Return the rows of a call, with what was decided for all of them."""
        request = call.request
        if plan.dtype != "bool":
            request = request._replace(dtype=plan.dtype)
        if plan.method == "prepared" and call.prepared is None:
            request = request._replace(method="prepared")
        return RowCall(request._replace(out=False), call.targets, call.limit, call.reverse)

    def solve(
        self, graph: Graph | PreparedGraph, sources: Array, out: Array | None = None
    ) -> Result:
        """Return the rows of some sources, by position."""
        prepared = None if isinstance(graph, Graph) else graph
        own = graph if isinstance(graph, Graph) else graph.graph
        request = self.request._replace(sources=len(sources), out=out is not None)
        return solve(
            Call(
                request, own, sources.astype(own.id_dtype, copy=False), self.targets, self.limit,
                None, out, False, self.reverse, None, prepared,
            )
        )  # fmt: skip


def plan_rows(call: Call, order: bool = True) -> Plan:
    """Return the plan of a call whose rows are not kept in memory all at once.

    ``order`` says whether vertices may be put into order to decide, which takes time.
    """
    request = call.request._replace(predecessors=False, out=True, keep="host")
    if call.prepared is not None:
        from kleene.api.prepared_calls import has_answer, plan_prepared

        if has_answer(call.prepared, call.request):
            return plan_prepared(call.prepared, request, 0)
    graph = call.graph.transpose() if call.reverse else call.graph
    hops = request.problem == "bfs"
    here = request if call.on is None else planned_here(request)
    plan = look_closer(graph, here, plan_call(graph_facts(graph, hops), here), order=order)
    return plan if call.on is None else run_by_workers(plan, request, graph_facts(graph, hops))


def planned_here(request: Request) -> Request:
    """Return the request of a call on a cluster as the client plans it.

    Workers open the device that was asked for; this machine need not have it.
    """
    if request.device not in INDEXED:
        return request
    if request.method != "auto" and not find(request.problem, request.method, request.device):
        unknown_method(request, [request.device])
    here = request._replace(device="cpu", devices=())
    if find(request.problem, request.method, "cpu") is None:
        here = here._replace(method="auto", options=())
    return here


def run_by_workers(plan: Plan, request: Request, facts: Facts) -> Plan:
    """Return the plan of the client, with the device that was asked for and a method of it."""
    if request.device not in INDEXED:
        return plan
    reasons = (f"device: {request.device!r} on the workers, as asked", *plan.reasons[1:])
    method = plan.method
    if request.method != "auto" or not find(plan.problem, method, request.device):
        searched = replace(facts, prepared=_NOT_PREPARED)  # the client decided not to prepare it
        row, why = choose_method(searched, request._replace(arc_by_arc=True), request.device)
        method, reasons = row.name, (reasons[0], why, *reasons[2:])
    return replace(
        plan, device=request.device, devices=request.devices, method=method, reasons=reasons
    )


def seconds_per_row(call: Call, plan: Plan, rows: int = 64) -> float:
    """Estimate the seconds that a row takes on one core, where so many are computed together."""
    request = call.request._replace(sources=rows, threads=1)
    facts = graph_facts(call.graph, request.problem == "bfs")
    if plan.method == "prepared":
        seconds = prepared_seconds(facts, request, 1).rows
    else:
        seconds = searched_seconds(facts, request, 1)
    return max(seconds / rows, 1e-7)
