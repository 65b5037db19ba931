"""What a worker does with tiles: makes them, takes them through rounds, keeps them, writes rows.

Tasks get the work by pickle and tiles as Dask moves them. They change nothing that they are given,
and give the same bits whenever they are run again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.backends.answer import Answer
from kleene.backends.common.closure_tiles import (
    Column,
    Tile,
    TileEngine,
    arc_tile,
    relax_panel,
    relax_tile,
    take_column,
)
from kleene.backends.common.dense_driver import MatrixForm, finish_rows
from kleene.backends.common.johnson import johnson
from kleene.backends.common.native_sssp import potentials
from kleene.backends.semiring import SEMIRINGS
from kleene.backends.task import Task
from kleene.distributed.dask_client import import_dask
from kleene.distributed.dask_graphs import SharedGraph, find_graph
from kleene.distributed.store import Receipt, StoreWriter
from kleene.distributed.stored_answer import complete_rows, stored_columns
from kleene.distributed.tile_checkpoints import Checkpoint
from kleene.distributed.tile_grid import TileGrid
from kleene.engine.pieces import Piece
from kleene.errors import KleeneError
from kleene.graph import Graph
from kleene.planning.ask import Ask
from kleene.planning.cost_model import gpu_cost, searched_seconds
from kleene.planning.facts import Facts
from kleene.planning.plan import plan_call
from kleene.results.claim import PathValues
from kleene.results.verify import verify

Array = NDArray[Any]

__all__ = [
    "CycleFoundError", "NoGraphError", "Slot", "TileWork", "check_diagonal", "fill_tile",
    "find_cycle", "finish_band", "has_graph", "keep_tile", "load_tile", "measure_slot",
    "relax_round_panel", "relax_round_tile", "search_band", "take_round_column",
]  # fmt: skip

#: A row is proved in about so many seconds an arc (assumed); the part of the time of its band that
#: it may take. Where arcs are many, a proof takes longer than all rounds of a row.
_PROOF, _PROOF_PART = 1e-8, 0.02


class CycleFoundError(KleeneError):
    """A negative cycle showed on the diagonal; it may be one of rounding."""


class NoGraphError(KleeneError):
    """A worker has no copy of the graph."""


@dataclass(frozen=True)
class TileWork:
    """All that workers need to know of a closure, beside its graph."""

    ask: Ask
    facts: Facts
    form: MatrixForm
    grid: TileGrid
    dtype: str
    limit: int | float | None
    targets: Array | None = None  # the columns that the store has, if not all

    def task(self, graph: Graph, sources: range) -> Task:
        """Return the task of some rows."""
        ask = self.ask
        return Task(
            graph, SEMIRINGS[ask.what.semiring], np.arange(*_ends(sources), dtype=graph.id_dtype),
            None, self.limit, ask.what.predecessors, np.dtype(self.dtype), ask.where.threads or 1,
        )  # fmt: skip

    def slot(self) -> Slot:
        """Return what this worker's own plan chooses for a tile."""
        return _open_slot(self.ask, self.facts, self.form, self.grid.side)


class Slot(NamedTuple):
    """What takes tiles through rounds on a worker, and about how fast."""

    engine: TileEngine
    rate: float  # relaxations a second


def _ends(vertices: range) -> tuple[int, int]:
    return vertices.start, vertices.stop


@lru_cache(maxsize=4)
def _open_slot(ask: Ask, facts: Facts, form: MatrixForm, side: int) -> Slot:
    side, threads = min(side, facts.n), ask.where.threads or 1
    tile = replace(facts, n=side, m=side * side, csc=False, device="cpu", prepared=None)
    ask = ask.but(
        problem="closure", method="tiled", sources=None, limited=False, given=True, options=(),
        deterministic=False, threads=threads,
    )  # fmt: skip
    plan = plan_call(tile, ask)
    device = plan.device
    if device == "cpu":
        from kleene.backends.cpu.closure_tiles import CpuTiles

        seconds = searched_seconds(tile, ask, threads)
        return Slot(CpuTiles(form, threads), side**3 / seconds)
    from kleene.backends.cuda.closure_tiles import DeviceTiles

    seconds = gpu_cost(replace(tile, device=device), ask, "tiled").total
    return Slot(DeviceTiles(plan.first_device, form, facts.min_weight >= 0), side**3 / seconds)


def _graph(shared: SharedGraph) -> Graph:
    worker = import_dask().get_worker()
    graph: Graph | None = find_graph(shared, worker)
    if graph is None:
        raise NoGraphError(worker.address)
    return graph


def has_graph(shared: SharedGraph, dask_worker: Any) -> bool:
    """Return whether a worker sees the graph, or received it."""
    return find_graph(shared, dask_worker) is not None


# ---- rounds -------------------------------------------------------------------------------------


def fill_tile(i: int, j: int, shared: SharedGraph, work: TileWork) -> Tile:
    """Make a tile of the matrix of arcs."""
    rows, columns = work.grid.vertices(i), work.grid.vertices(j)
    return arc_tile(work.task(_graph(shared), rows), work.form, rows, columns)


def take_round_column(i: int, tile: Tile, k: int, work: TileWork) -> Column:
    """Return the columns of round k in the i-th row of tiles; on the diagonal, close it."""
    own, part = work.grid.round(k)
    column = take_column(work.slot().engine, tile, part, i == own)
    if column is None:
        raise CycleFoundError("a negative cycle")
    return column


def relax_round_panel(j: int, tile: Tile, column: Column, k: int, work: TileWork) -> Tile:
    """Return the rows of round k in the j-th column of tiles, relaxed through the diagonal."""
    own, part = work.grid.round(k)
    assert column.closed is not None  # it is that of the diagonal
    return relax_panel(work.slot().engine, tile, column.closed, part, j == own)


def relax_round_tile(
    i: int, tile: Tile, column: Column, panel: Tile, k: int, work: TileWork
) -> Tile:
    """Return a tile of the i-th row of tiles after round k."""
    own, part = work.grid.round(k)
    return relax_tile(work.slot().engine, tile, column.values, panel, part if i == own else None)


def check_diagonal(tile: Tile, work: TileWork) -> None:
    """Raise an error if a tile of the diagonal shows a cycle that appeared late."""
    if work.form.semiring == "min_plus" and (np.diagonal(tile.values) < 0).any():
        raise CycleFoundError("a negative cycle")


def keep_tile(i: int, j: int, tile: Tile, checkpoint: Checkpoint) -> None:
    """Write a tile to a checkpoint."""
    checkpoint.write(i, j, tile)


def load_tile(i: int, j: int, checkpoint: Checkpoint) -> Tile:
    """Read a tile of a checkpoint."""
    return checkpoint.read(i, j)


# ---- rows of the answer -------------------------------------------------------------------------


def finish_band(
    piece: Piece, tiles: list[Tile], shared: SharedGraph, work: TileWork, writer: StoreWriter
) -> Receipt:
    """Write the rows of a band of closed tiles to the store."""
    task = work.task(_graph(shared), range(piece.first, piece.stop))
    values = np.concatenate([tile.values for tile in tiles], axis=1)
    links = None
    if task.predecessors:
        links = np.concatenate([tile.predecessors for tile in tiles], axis=1)
    answer = finish_rows(work.form, task, values, links)
    assert answer is not None  # the diagonal was checked
    return _write(task, answer, piece, work, writer)


def search_band(piece: Piece, shared: SharedGraph, work: TileWork, writer: StoreWriter) -> Receipt:
    """Write rows that are searched for, where lengths cannot be closed as a matrix."""
    task = work.task(_graph(shared), range(piece.first, piece.stop))
    return _write(task, johnson(task), piece, work, writer)


def _write(
    task: Task, answer: Answer, piece: Piece, work: TileWork, writer: StoreWriter
) -> Receipt:
    """Write rows as a call returns them; prove one of them, where that takes little time."""
    answer = complete_rows(task, answer, work.ask.what.deterministic)
    graph = task.graph
    seconds = len(task.sources) * float(graph.n) ** 2 / work.slot().rate
    if graph.m * _PROOF <= _PROOF_PART * seconds:
        claim = PathValues(
            graph, task.semiring, task.sources, answer.values, answer.predecessors,
            answer.horizons, False, None, task.limit,
        )  # fmt: skip
        verify(claim, sample=1, seed=piece.index)
    kept = stored_columns(answer, work.targets)
    return writer.write(piece, kept.values, kept.predecessors)


# ---- before the rounds --------------------------------------------------------------------------


def find_cycle(shared: SharedGraph, work: TileWork) -> None:
    """Raise NegativeCycleError if there is a negative cycle that is not one of rounding."""
    potentials(work.task(_graph(shared), range(work.grid.n)))


def measure_slot(work: TileWork, dask_worker: Any) -> tuple[int, float]:
    """Return the bytes for each task of a worker, 0 without a limit, and relaxations a second."""
    memory = dask_worker.memory_manager.memory_limit or 0
    return memory // dask_worker.state.nthreads, work.slot().rate
