"""What a ledger records of a call, field by field: equal records resume each other."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.common.limits import as_limit
from kleene.backends.semiring import SEMIRINGS
from kleene.engine.call import Call
from kleene.errors import StoreError
from kleene.graph import Graph
from kleene.graph.no_path import NO_HOPS
from kleene.planning.ask import Ask
from kleene.planning.plan import Plan
from kleene.registry import PATH_PROBLEMS
from kleene.stores.store import Store, StoreSpec, ledger_of
from kleene.stores.writer import SOURCE, TARGET

__all__ = [
    "TILES", "checked_call", "digest_of_vertices", "lists_of_vertices", "record_answer",
    "record_call",
]  # fmt: skip

Array = NDArray[Any]

#: What the call in a store holds of tiles, on whose rounds floats depend in their last bits: their
#: side, and the vertices of a round.
TILES = ("tile", "depth")


def record_call(call: Call, plan: Plan, ask: Ask, begun_by: str | None = None) -> StoreSpec:
    """Return what the store of a call holds, by its plan and the size of the blocks.

    ``begun_by`` is the method that the store records, where it is resumed by another one.
    """
    what, dtype = ask.what, np.dtype(plan.dtype)
    arguments = {
        "problem": what.problem,
        "semiring": what.semiring,
        "method": begun_by or plan.method,
        "limit": as_limit(call.limit, call.graph, dtype, what.problem == "bfs"),
        "reverse": call.reverse,
        "deterministic": what.deterministic,
        "options": dict(ask.where.options),
    }
    return record_answer(
        arguments, call.graph, call.sources, call.targets, dtype, what.predecessors,
        ask.output.block_rows,
    )  # fmt: skip


def record_answer(
    arguments: dict[str, Any],
    graph: Graph,
    sources: Array,
    targets: Array | None,
    dtype: np.dtype[Any],
    paths: bool,
    block_rows: int,
) -> StoreSpec:
    """Return what the store of an answer holds, of a call with these arguments."""
    hops = arguments["problem"] == "bfs"
    no_path = NO_HOPS if hops else SEMIRINGS[arguments["semiring"]].zero(dtype)
    shown = no_path if isinstance(no_path, (bool, int)) else str(float(no_path))
    count = None if targets is None else len(targets)
    return StoreSpec(
        {**arguments, "targets": count, "no_path": shown},
        graph._digest(),
        digest_of_vertices(sources, targets),
        (len(sources), graph.n if count is None else count),
        str(dtype),
        str(graph.id_dtype) if paths and count is None else None,
        block_rows,
    )


def lists_of_vertices(graph: Graph, sources: Array, targets: Array | None) -> dict[str, Array]:
    """Return the lists that a store keeps: the sources if they are not all, and the targets."""
    lists = {SOURCE: sources, TARGET: targets}
    if np.array_equal(sources, np.arange(graph.n)):
        del lists[SOURCE]
    return {name: ids for name, ids in lists.items() if ids is not None}


def digest_of_vertices(*positions: Array | None) -> str:
    """Return what a store keeps to recognize its sources and targets."""
    digest = hashlib.sha256()
    for ids in positions:
        digest.update(b"all" if ids is None else np.ascontiguousarray(ids, "<i8").data)
        digest.update(b";")
    return digest.hexdigest()[:32]


def checked_call(store: Store) -> dict[str, Any]:
    """Return the arguments in a ledger, which may have been edited."""
    call = store.spec.call
    limit = call.get("limit")
    right = (
        call.get("problem") in PATH_PROBLEMS
        and call.get("semiring") in SEMIRINGS
        and isinstance(call.get("reverse"), bool)
        and isinstance(call.get("method"), str)
        and (limit is None or (type(limit) in (int, float) and limit >= 0))
    )
    if not right:
        raise StoreError(f"{ledger_of(store.path)} holds arguments that no call has")
    return call
