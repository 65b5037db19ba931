"""A call with its store: what the store records of it, and its pieces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.api.arguments import Call
from kleene.api.number_arguments import as_limit
from kleene.api.stored_results import digest_of_graph, digest_of_vertices, stored_result
from kleene.backends.semiring import SEMIRINGS
from kleene.backends.task import Progress
from kleene.distributed.pieces import Piece
from kleene.distributed.store import Store, StoreSpec, StoreWriter
from kleene.distributed.store_writer import SOURCE, TARGET
from kleene.errors import Code, StoreError
from kleene.graph.no_path import NO_HOPS
from kleene.planning.ask import Ask
from kleene.planning.plan import Plan
from kleene.results.result import Result, Timings

__all__ = ["TILES", "StoredCall", "stored_call", "with_tiles"]

Array = NDArray[Any]

#: What the call in a store holds of tiles: their side, and the vertices of a round.
TILES = ("tile", "depth")


@dataclass(frozen=True)
class StoredCall:
    """A call with its plan and its store, which is not open yet."""

    call: Call
    plan: Plan
    path: Path
    spec: StoreSpec

    def piece_call(self, pieces: Sequence[Piece], progress: Progress | None = None) -> Call:
        """Return the call for the rows of some pieces, by the same method as all others."""
        call = self.call
        sources = np.concatenate([call.sources[p.first : p.stop] for p in pieces])
        ask = call.ask.but(
            sources=len(sources),
            method=self.plan.method,
            dtype=None if self.spec.dtype == "bool" else self.spec.dtype,
            predecessors=self.spec.predecessors is not None,
            given=False,
            block_rows=0,
        )
        return replace(call, ask=ask, sources=sources, out=None, single=False, progress=progress)

    @property
    def vertices(self) -> dict[str, Array]:
        """Lists of vertices to store: the sources if they are not all, and the targets."""
        call = self.call
        lists = {SOURCE: call.sources, TARGET: call.targets}
        everything = np.array_equal(call.sources, np.arange(call.graph.n))
        if everything:
            del lists[SOURCE]
        return {name: ids for name, ids in lists.items() if ids is not None}

    def result(self, files: StoreWriter, stats: Timings) -> Result:
        """Return the result that reads from a finished store."""
        call = self.call
        return stored_result(
            files, call.graph, self.plan, stats, call.sources, call.targets,
            call.ask.what.predecessors, call.single,
        )  # fmt: skip


def stored_call(
    call: Call, path: Path, plan: Plan, ask: Ask, begun_by: str | None = None
) -> StoredCall:
    """Return a call with its store, by its plan and the size of the blocks.

    ``begun_by`` is the method that the store records, where it is resumed by another one.
    """
    width = call.graph.n if call.targets is None else len(call.targets)
    dtype = np.dtype(plan.dtype)
    hops = ask.what.problem == "bfs"
    limit = as_limit(call.limit, call.graph, dtype, hops)
    no_path = NO_HOPS if hops else SEMIRINGS[ask.what.semiring].zero(dtype)
    kept = ask.what.predecessors and call.targets is None
    spec = StoreSpec(
        {
            "problem": ask.what.problem,
            "semiring": ask.what.semiring,
            "method": begun_by or plan.method,
            "limit": limit,
            "reverse": call.reverse,
            "deterministic": ask.what.deterministic,
            "options": dict(ask.where.options),
            "targets": None if call.targets is None else len(call.targets),
            "no_path": no_path if isinstance(no_path, (bool, int)) else str(float(no_path)),
        },
        digest_of_graph(call.graph),
        digest_of_vertices(call.sources, call.targets),
        (len(call.sources), width),
        plan.dtype,
        str(call.graph.id_dtype) if kept else None,
        ask.output.block_rows,
    )
    return StoredCall(call, plan, path, spec)


def with_tiles(stored: StoredCall, found: Store) -> StoredCall:
    """Return a call that opens a store which a cluster computed in tiles; it cannot resume one."""
    tiles = {name: found.spec.call[name] for name in TILES if name in found.spec.call}
    if tiles and not found.finished:
        raise StoreError(
            f"{stored.path} was begun in tiles on a cluster, and is not finished: give ",
            Code("on="),
            " to resume it, or choose another name",
        )
    spec = stored.spec
    return replace(stored, spec=spec._replace(call={**spec.call, **tiles}))
