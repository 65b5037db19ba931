"""Calls whose rows the workers of a Dask cluster compute.

The client plans the call and shares the graph. Workers repeat the call for some rows at a time:
they choose method and device by themselves, prove a row of every piece, and write to the store, or
return what is small. Rows never pass through the client.
"""

from __future__ import annotations

import os
import random
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.api.arguments import Call
from kleene.api.cluster_graphs import share_call_graph
from kleene.api.execution import cycle_by_label
from kleene.api.number_arguments import as_limit
from kleene.api.reduce_distances import ReduceWork, rows_together
from kleene.api.row_calls import RowCall, plan_rows
from kleene.api.stored_rows import BlockSize, plan_stored
from kleene.api.tiles_on_cluster import plan_tiles, solve_in_tiles
from kleene.backends.common.on_demand import MatrixAnswer
from kleene.distributed.dask_client import open_client, worker_threads
from kleene.distributed.dask_graphs import SharedGraph
from kleene.distributed.dask_rows import Work, run_pieces
from kleene.distributed.pieces import Piece, split
from kleene.distributed.store import Receipt, Store, StoreWriter
from kleene.distributed.tile_checkpoints import Checkpoints
from kleene.errors import Code, NegativeCycleError, RequestError, Text
from kleene.graph.checks import require_memory
from kleene.planning.ask import ARC_BY_ARC
from kleene.planning.plan import Plan, with_notes
from kleene.registry import find
from kleene.results.distance_reduction import Reduced
from kleene.results.result import Result
from kleene.results.searched_rows import SearchedRows
from kleene.results.timings import Timings
from kleene.system.formatting import format_bytes
from kleene.system.progress import reporter
from kleene.system.threads import Future, ThreadPool

__all__ = ["BLOCKS", "describe_workers", "reduce_on_cluster", "solve_on_cluster"]

Array = NDArray[Any]

#: Blocks of a store take half a second, so that a piece has several, and a sixteenth of this memory
#: at most: workers are not asked how much they have.
BLOCKS = BlockSize(seconds=0.5, memory=2**31)

#: Bytes of an answer that may pass through the client.
_SMALL = 2**30


# ---- on a worker --------------------------------------------------------------------------------


@dataclass(frozen=True)
class RowsWork:
    """Some blocks of rows: into a store, or back to the client."""

    rows: RowCall
    sources: Array  # of all blocks, one after the other
    blocks: tuple[Piece, ...]
    memory: int
    writer: StoreWriter | None = None
    shared: SharedGraph | None = None  # whose file is beside the store, as long as the client lives

    def __call__(self, graph: Any) -> list[Receipt] | Array:
        """Compute the blocks one by one; prove a row of one of them.

        A block is written while the next one is computed, in the memory of the one before.
        """
        begin = self.blocks[0].first
        proved = random.Random(begin).choice(self.blocks)
        parts: list[Future[Any]] = []
        buffers = self._buffers()
        with ThreadPool(1) as pool:
            for block, buffer in zip(self.blocks, cycle(buffers), strict=False):
                own = self.sources[block.first - begin : block.stop - begin]
                result = self.rows.solve(graph, own, None if buffer is None else buffer[: len(own)])
                if block is proved:
                    result.verify(sample=1, seed=block.first)
                if parts:
                    parts[-1].result()  # no more than two blocks are in memory
                parts.append(pool.submit(self._keep, block, result))
        done = [part.result() for part in parts]
        return done if self.writer is not None else np.concatenate(done)

    def _buffers(self) -> Sequence[Array | None]:
        """Return memory for two blocks: new memory for each takes longer than to write it."""
        if self.writer is None or self.rows.targets is not None:
            return (None,)
        rows = max(block.stop - block.first for block in self.blocks)
        shape, dtype = (rows, *self.writer.spec.shape[1:]), self.writer.spec.dtype
        return [np.empty(shape, dtype) for _ in self.blocks[:2]]

    def _keep(self, block: Piece, result: Result) -> Receipt | Array:
        """Write a block to the store, or return it where there is none."""
        if self.writer is None:
            return result.distances
        self._require_client()
        links = result._answer.predecessors if self.writer.spec.predecessors else None
        return self.writer.write(block, result.distances, links)

    def _require_client(self) -> None:
        """Refuse to write where the store is not, and for a client that is gone.

        The client may have been killed, and another one may be at work on the same store.
        """
        assert self.shared is not None
        if not os.path.exists(self.shared.path):
            raise RequestError(
                Code("out"),
                f" must be in a folder that every worker sees, and on {socket.gethostname()} "
                f"there is no {self.shared.path}",
            )


@dataclass(frozen=True)
class ReductionWork:
    """The reduction of some rows, and the proof of one of them."""

    work: ReduceWork
    sources: Array
    memory: int

    def __call__(self, graph: Any) -> Reduced:
        """Return the numbers of the rows."""
        proved = random.Random(int(self.sources[0])).randrange(len(self.sources))
        return self.work.reduce(graph, self.sources, verify=proved)


# ---- on the client ------------------------------------------------------------------------------


def solve_on_cluster(call: Call) -> Result:
    """Answer a call by the workers of its cluster."""
    _refuse(call)
    if call.out is not None:  # workers have working directories of their own
        call = replace(call, out=Path(os.path.abspath(str(call.out))))
    try:
        tiles = plan_tiles(call)
        if tiles is not None:
            return solve_in_tiles(call, tiles)
        return _solve_targets(call) if call.out is None else _solve_into_store(call)
    except NegativeCycleError as error:
        raise cycle_by_label(error, call.graph) from None


def _refuse(call: Call) -> None:
    """Refuse what a cluster does not do, and say what does."""
    if call.single:
        raise RequestError(
            "one source is one search: leave out ", Code("on="), ", or give ", Code("sources=[...]")
        )
    if call.pairs is not None:
        raise RequestError(Code("on="), " takes sources and targets, and no pairs")
    if call.ask.output.keep != "host":
        raise RequestError(Code("on="), " leaves nothing on a device: leave out keep")
    if call.out is None and call.targets is None:
        raise RequestError(
            "workers write rows to a store, never through this process: give ",
            Code("out='d.zarr'"),
            " in a folder that all of them see; or ",
            Code("targets=[...]"),
            " for a small answer; or use reduce_distances for sums and maxima",
        )
    if isinstance(call.out, np.ndarray):
        raise RequestError(
            "with ", Code("on="), ", out is the name of a store: ", Code("out='d.zarr'")
        )


def _solve_into_store(call: Call) -> Result:
    """Let workers write the blocks that a store lacks; return the result that reads from it."""
    stored = plan_stored(call, blocks=BLOCKS)
    assert stored is not None
    began = time.perf_counter()
    with Store.open(stored.path, stored.spec, stored.vertices) as store:
        spec, writer = store.spec, store.writer()
        rows = _row_call(call, stored.plan)
        keeps = spec.predecessors is not None
        rows = replace(rows, ask=rows.ask.but(predecessors=keeps))
        memory = 2 * spec.block_rows * call.graph.n * (np.dtype(spec.dtype).itemsize + 4 * keeps)

        def make(shared: SharedGraph, blocks: Sequence[Piece]) -> RowsWork:
            own = call.sources[blocks[0].first : blocks[-1].stop]
            return RowsWork(rows, own, tuple(blocks), memory, writer, shared)

        plan, missing = stored.plan, store.missing()
        if missing:
            work = Rows(call, plan, missing, make, folder=stored.path.parent)
            with open_client(call.on) as client:
                for blocks, receipts in work.run(client):
                    for block, receipt in zip(blocks, receipts, strict=True):
                        store.record(block, receipt)
            plan = work.plan
        else:
            Checkpoints.discard(store.path)
        store.finish()
        seconds = time.perf_counter() - began
        timings = Timings(compute=seconds, total=seconds)
        return replace(stored, plan=plan).result(writer, timings)


def _solve_targets(call: Call) -> Result:
    """Return the distances of the targets, a small matrix of which workers return rows."""
    assert call.targets is not None
    plan = plan_rows(call)
    dtype = np.dtype(plan.dtype)
    size = len(call.sources) * len(call.targets) * dtype.itemsize
    if size > _SMALL:
        raise RequestError(
            f"this matrix of {format_bytes(size)} is too large to pass through this process: give ",
            Code("out='d.zarr'"),
            " in a folder that all workers see",
        )
    require_memory(size, "the matrix", Text(Code("out='d.zarr'"), " to keep it in a store"))
    matrix = np.empty((len(call.sources), len(call.targets)), dtype)
    rows, n = _row_call(call, plan), call.graph.n
    method = find(plan.problem, plan.method, plan.device)
    width = len(call.targets) if method is not None and "block" in method.makes else n
    step = rows_together(width, dtype.itemsize, 1)

    def make(shared: SharedGraph, blocks: Sequence[Piece]) -> RowsWork:
        own = call.sources[blocks[0].first : blocks[-1].stop]
        return RowsWork(rows, own, tuple(blocks), step * n * dtype.itemsize)

    began = time.perf_counter()
    with open_client(call.on) as client:
        work = Rows(call, plan, split(len(call.sources), step), make)
        for blocks, part in work.run(client):
            matrix[blocks[0].first : blocks[-1].stop] = part
        plan = work.plan
    seconds = time.perf_counter() - began
    hops = plan.problem == "bfs"
    limit = as_limit(call.limit, call.graph, dtype, hops)
    searched = SearchedRows(call.graph, plan.semiring, dtype, call.reverse, hops, limit)
    paths = call.ask.what.predecessors
    answer = MatrixAnswer(matrix, call.sources, call.targets, searched, paths)
    return Result(
        call.graph, plan, Timings(compute=seconds, total=seconds), answer, call.sources,
        call.targets, limit, False, call.reverse,
    )  # fmt: skip


def reduce_on_cluster(call: Call, plan: Plan, edges: Array | None, on: Any) -> tuple[Plan, Reduced]:
    """Return the plan and the numbers of all rows of a reduction."""
    rows, dtype = _row_call(call, plan), np.dtype(plan.dtype)
    step = rows_together(call.graph.n, dtype.itemsize, 1)
    hops, threads = plan.problem == "bfs", rows.ask.where.threads
    reduce = ReduceWork(rows, step, plan.dtype, hops, edges, threads or 1)
    found = Reduced.empty(len(call.sources), dtype, edges)

    def make(shared: SharedGraph, blocks: Sequence[Piece]) -> ReductionWork:
        own = call.sources[blocks[0].first : blocks[-1].stop]
        return ReductionWork(reduce, own, step * call.graph.n * dtype.itemsize)

    with open_client(on) as client:
        work = Rows(call, plan, split(len(call.sources), step), make, "distance sums")
        for blocks, part in work.run(client):
            found.put(blocks[0].first, part)
    return work.plan, found


class Rows:
    """The rows of a call on a cluster: its blocks, and the work that they are."""

    def __init__(
        self,
        call: Call,
        plan: Plan,
        blocks: Sequence[Piece],
        make: Callable[[SharedGraph, Sequence[Piece]], Work],
        what: str | None = None,
        folder: Path | None = None,
    ) -> None:
        self.call, self.plan, self.blocks = call, plan, blocks
        self._make, self._folder = make, folder
        self._what = what or f"{call.ask.what.problem} rows"

    def run(self, client: Any) -> Iterator[tuple[Sequence[Piece], Any]]:
        """Yield blocks and what came of them; the plan says then what the cluster was."""
        call, done = self.call, len(self.call.sources) - sum(b.stop - b.first for b in self.blocks)
        threads = worker_threads(client)
        pieces = 0
        with (
            reporter(call.progress, self._what) as report,
            share_call_graph(client, call, self.plan, self._folder) as shared,
            closing(
                run_pieces(client, shared, self._what, self.blocks, partial(self._make, shared))
            ) as finished,
        ):
            for blocks, value in finished:
                yield blocks, value
                pieces, done = pieces + 1, done + blocks[-1].stop - blocks[0].first
                if report is not None:
                    report(done, len(call.sources))
        count = f"{pieces:,} piece{'' if pieces == 1 else 's'}"
        note = f"cluster: {describe_workers(threads)}, {count}, a row of each proved"
        self.plan = with_notes(self.plan, note)


def describe_workers(threads: dict[str, int]) -> str:
    """Return the size of a cluster in words."""
    workers = f"{len(threads)} worker{'' if len(threads) == 1 else 's'}"
    total = sum(threads.values())
    return f"{workers} with {total} thread{'' if total == 1 else 's'}"


def _row_call(call: Call, plan: Plan) -> RowCall:
    """Return the call as workers repeat it: one thread a task, of which they run several.

    The method is that of the plan where all devices have it that workers may choose. Otherwise a
    worker chooses, among methods that add floats in the same order, so that every worker gives the
    same distances.
    """
    rows = RowCall.of(call, plan)
    ask = rows.ask.but(threads=call.ask.where.threads or 1)
    if ask.where.method == "auto":
        devices = ("cuda", "cpu") if ask.where.device == "auto" else (ask.where.device,)
        everywhere = all(find(plan.problem, plan.method, device) for device in devices)
        ask = ask.but(method=plan.method if everywhere else "auto")
        ask = ask._replace(frozen=(ARC_BY_ARC,))
    return replace(rows, ask=ask)
