"""Plans of calls whose store is there: by the method that began it; a finished one runs none."""

from __future__ import annotations

from kleene.api.arguments import Call
from kleene.api.stored_calls import StoredCall, stored_call, with_tiles
from kleene.api.stored_results import plan_reading
from kleene.distributed.store import Store
from kleene.planning.ask import ARC_BY_ARC, Ask
from kleene.planning.device_choice import require_device_name
from kleene.planning.dtype_choice import choose_dtype
from kleene.planning.facts import graph_facts
from kleene.planning.machine import live_machine
from kleene.registry import find, methods

__all__ = ["finished_call", "resumed_request"]


def finished_call(call: Call, found: Store) -> StoredCall:
    """Return a call that opens a finished store, without a plan: no device is looked for."""
    ask, spec = call.ask, found.spec
    require_device_name(ask.where.device)
    method = ask.where.method if ask.where.method != "auto" else str(spec.call.get("method"))
    plan = plan_reading(
        found.path, ask.what.problem, ask.what.semiring, method,
        _dtype(call, ask.but(method=method)), ask.where.device,
    )  # fmt: skip
    ask = ask.but(block_rows=spec.block_rows)
    return with_tiles(stored_call(call, found.path, plan, ask), found)


def _dtype(call: Call, ask: Ask) -> str:
    """Return the type that the values of a call have."""
    if call.prepared is not None:
        from kleene.api.prepared_calls import has_answer

        if has_answer(call.prepared, ask):
            return str(call.prepared.dtype)
    return str(choose_dtype(graph_facts(call.graph, ask.what.problem == "bfs"), ask)[0])


def resumed_request(ask: Ask, begun_by: str, on_cluster: bool) -> Ask:
    """Return the request for the missing rows of a store that the method ``begun_by`` began.

    They are computed by the same method: another one might round floats otherwise. Searches add
    floats in the same order; a device without the search that began takes one of its own.
    """
    problem, devices = ask.what.problem, [ask.where.device]
    if ask.where.device == "auto":
        own = [device for device in live_machine().devices if device != "emulated"]
        devices = ["cpu"] if on_cluster else own
    there = any(find(problem, begun_by, device) for device in devices)
    if there or not _is_search(problem, begun_by):
        return ask.but(method=begun_by)
    return ask.but(in_batches=True)._replace(frozen=(ARC_BY_ARC,))


def _is_search(problem: str, method: str) -> bool:
    return any(row.order == "arc by arc" for row in methods(problem) if row.name == method)
