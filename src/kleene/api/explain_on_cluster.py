"""What a call would do on a Dask cluster: pieces, bytes, and about how long."""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kleene.api.arguments import Call
from kleene.api.cluster_graphs import graph_bytes
from kleene.api.on_cluster import BLOCKS, describe_workers
from kleene.api.row_calls import plan_rows, planned_here, seconds_per_row
from kleene.api.stored_rows import with_block_rows
from kleene.api.tiles_on_cluster import explain_tiles, plan_tiles
from kleene.distributed.dask_client import open_client, worker_threads
from kleene.distributed.dask_rows import PIECE_SECONDS
from kleene.errors import Code, RequestError
from kleene.graph import Graph
from kleene.planning.ask import Ask
from kleene.planning.facts import graph_facts
from kleene.planning.plan import Plan
from kleene.system.formatting import format_bytes, format_duration

if TYPE_CHECKING:
    from kleene.api.prepared_graph import PreparedGraph

__all__ = ["explain_on_cluster"]

_STORE = Path("d.zarr")


def explain_on_cluster(graph: Graph, prepared: PreparedGraph | None, ask: Ask, on: Any) -> Plan:
    """Return the plan of the rows, with what the cluster makes of it."""
    rows = graph.n if ask.what.sources is None else ask.what.sources
    if ask.what.problem in ("bfs", "sssp") and rows == 1:
        raise RequestError(
            "one source is one search: leave out ", Code("on="), ", or give ", Code("sources=[...]")
        )
    sources = np.arange(rows)  # which ones they are makes no difference
    call = Call(ask, graph, sources, None, None, None, None, False, False, None, prepared, on)
    tiles = plan_tiles(call)
    if tiles is not None:
        return explain_tiles(call, tiles)
    plan = plan_rows(call, order=False)
    with open_client(on) as client:
        threads = worker_threads(client)
    row = graph.n * np.dtype(plan.dtype).itemsize
    row += graph.n * graph.id_dtype.itemsize if ask.what.predecessors else 0
    seconds = rows * seconds_per_row(call, plan)
    hops = ask.what.problem == "bfs"
    here = planned_here(ask)
    blocks = with_block_rows(graph_facts(graph, hops), here, _STORE, BLOCKS).output.block_rows
    together = min(rows, blocks)
    pieces = min(ceil(rows / together), max(1, ceil(seconds / PIECE_SECONDS)))
    sent = graph_bytes(graph, hops) if prepared is None else prepared.nbytes
    shared = seconds / max(1, sum(threads.values()))
    notes = (
        f"cluster: {describe_workers(threads)}; each has the graph once, {format_bytes(sent)}",
        f"pieces: about {pieces:,} of up to {PIECE_SECONDS:g} s, in blocks of {together:,} rows, "
        f"{format_bytes(together * row)} each",
        f"bytes: workers write {format_bytes(rows * row)} to the store",
        f"time: about {format_duration(shared)}, by estimate for CPUs",
    )
    return replace(plan, reasons=(*plan.reasons, *notes), memory=together * row)
