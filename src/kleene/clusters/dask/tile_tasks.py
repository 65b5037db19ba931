"""What a worker does with tiles: makes them, takes them through rounds, keeps them, writes rows.

Tasks get the work by pickle, planned by the client, and tiles as Dask moves them. They change
nothing that they are given, and give the same bits whenever they are run again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from kleene.backends.answer import Answer
from kleene.backends.common.dense_driver import MatrixForm, finish_rows
from kleene.backends.common.johnson import johnson
from kleene.backends.common.native_search import potentials
from kleene.backends.common.tiles import (
    Column,
    Tile,
    TileEngine,
    arc_tile,
    relax_panel,
    relax_tile,
    take_column,
)
from kleene.backends.task import Task
from kleene.clusters.dask.client import import_dask
from kleene.clusters.dask.graphs import SharedGraph, find_graph
from kleene.clusters.dask.runner import verify_part
from kleene.engine.pieces import Piece
from kleene.engine.tiles import TilePlan, closure_task
from kleene.engine.work import Work
from kleene.errors import KleeneError
from kleene.graph import Graph
from kleene.graph.checks import require_memory
from kleene.planning.device_choice import require_device
from kleene.planning.machine import live_machine
from kleene.stores.checkpoints import Checkpoint
from kleene.stores.store import Receipt
from kleene.stores.tile_grid import TileGrid

__all__ = [
    "CycleFoundError", "NoGraphError", "Slot", "TileDevices", "TileWork", "check_diagonal",
    "fill_tile", "find_cycle", "finish_band", "has_graph", "keep_tile", "load_tile",
    "measure_slot", "relax_round_panel", "relax_round_tile", "search_band", "take_round_column",
]  # fmt: skip

#: A row is proved in about so many seconds an arc (assumed); the part of the time of its band that
#: it may take. Where arcs are many, a proof takes longer than all rounds of a row.
_PROOF, _PROOF_PART = 1e-8, 0.02

#: Tiles on a device in a step: the one that is relaxed, and two factors.
_STEP_TILES = 3


class CycleFoundError(KleeneError):
    """A negative cycle showed on the diagonal; it may be one of rounding."""


class NoGraphError(KleeneError):
    """A worker has no copy of the graph."""


class Slot(NamedTuple):
    """What takes tiles through rounds on a worker, and about how fast."""

    engine: TileEngine
    rate: float  # relaxations a second


class TileDevices(NamedTuple):
    """What workers take tiles through rounds by: each opens the first device that it has."""

    plans: tuple[TilePlan, ...]  # of closing a tile, the best first; the last has to do
    form: MatrixForm
    nonnegative: bool  # no weight is below zero

    def open(self) -> Slot:
        """Open the device of this worker, once."""
        return _open_slot(self)


@lru_cache(maxsize=4)
def _open_slot(devices: TileDevices) -> Slot:
    *better, last = devices.plans
    plan, side, seconds = next(filter(_has_room, better), last)
    require_device(plan.device, live_machine())
    require_memory(plan.memory, f"a tile of {side:,} vertices", "workers with more memory")
    open_tiles = plan._row.load_tiles()
    engine = open_tiles(devices.form, plan.first_device, plan.threads, devices.nonnegative)
    return Slot(engine, side**3 / seconds)


def _has_room(tile: TilePlan) -> bool:
    """Return whether the GPU of a plan is here, with room for a tile and two factors."""
    plan, machine = tile.plan, live_machine()
    if plan.device not in machine.devices:
        return False
    return (machine.free_gpu_memory(plan.first_device) or 0) > _STEP_TILES * plan.device_memory


class TileWork(NamedTuple):
    """All that workers need to know of a closure, beside its graph."""

    work: Work  # without the graph; each task takes some of its rows
    devices: TileDevices
    grid: TileGrid

    @property
    def engine(self) -> TileEngine:
        """What takes tiles through rounds on this worker."""
        return self.devices.open().engine

    def rows(self, shared: SharedGraph, first: int, stop: int) -> Work:
        """Return the work on some rows of the graph that this worker has."""
        graph = _graph(shared)
        sources = np.arange(first, stop, dtype=graph.id_dtype)
        call = self.work.call._replace(graph=graph, sources=sources)
        return self.work._replace(call=call, first=first)


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
    own = work.rows(shared, rows.start, rows.stop)
    return arc_tile(closure_task(own.call, own.plan), work.devices.form, rows, columns)


def take_round_column(i: int, tile: Tile, k: int, work: TileWork) -> Column:
    """Return the columns of round k in the i-th row of tiles; on the diagonal, close it."""
    own, part = work.grid.round(k)
    column = take_column(work.engine, tile, part, i == own)
    if column is None:
        raise CycleFoundError("a negative cycle")
    return column


def relax_round_panel(j: int, tile: Tile, column: Column, k: int, work: TileWork) -> Tile:
    """Return the rows of round k in the j-th column of tiles, relaxed through the diagonal."""
    own, part = work.grid.round(k)
    assert column.closed is not None  # it is that of the diagonal
    return relax_panel(work.engine, tile, column.closed, part, j == own)


def relax_round_tile(
    i: int, tile: Tile, column: Column, panel: Tile, k: int, work: TileWork
) -> Tile:
    """Return a tile of the i-th row of tiles after round k."""
    own, part = work.grid.round(k)
    return relax_tile(work.engine, tile, column.values, panel, part if i == own else None)


def check_diagonal(tile: Tile, work: TileWork) -> None:
    """Raise an error if a tile of the diagonal shows a cycle that appeared late."""
    if work.devices.form.semiring == "min_plus" and (np.diagonal(tile.values) < 0).any():
        raise CycleFoundError("a negative cycle")


def keep_tile(i: int, j: int, tile: Tile, checkpoint: Checkpoint) -> None:
    """Write a tile to a checkpoint."""
    checkpoint.write(i, j, tile)


def load_tile(i: int, j: int, checkpoint: Checkpoint) -> Tile:
    """Read a tile of a checkpoint."""
    return checkpoint.read(i, j)


# ---- rows of the answer -------------------------------------------------------------------------


def finish_band(piece: Piece, tiles: list[Tile], shared: SharedGraph, work: TileWork) -> Receipt:
    """Write the rows of a band of closed tiles to the store."""
    values = np.concatenate([tile.values for tile in tiles], axis=1)
    links = None
    if tiles[0].predecessors is not None:
        links = np.concatenate([tile.predecessors for tile in tiles], axis=1)
    return _write(
        piece, lambda task: finish_rows(work.devices.form, task, values, links), shared, work
    )


def search_band(piece: Piece, shared: SharedGraph, work: TileWork) -> Receipt:
    """Write rows that are searched for, where lengths cannot be closed as a matrix."""
    return _write(piece, johnson, shared, work)


def _write(
    piece: Piece, rows_of: Callable[[Task], Answer], shared: SharedGraph, work: TileWork
) -> Receipt:
    """Write rows as a call returns them; prove one of them, where that takes little time."""
    own = work.rows(shared, piece.first, piece.stop)
    call, part = own.complete(piece, rows_of)
    seconds = len(call.sources) * float(call.graph.n) ** 2 / work.devices.open().rate
    if call.graph.m * _PROOF <= _PROOF_PART * seconds:
        verify_part(call, own.plan, part, own.limit, piece.index)
    receipt: Receipt = own.writer.write(piece, part, slice(None), call)
    return receipt


# ---- before the rounds --------------------------------------------------------------------------


def find_cycle(shared: SharedGraph, work: TileWork) -> None:
    """Raise NegativeCycleError if there is a negative cycle that is not one of rounding."""
    own = work.rows(shared, 0, work.grid.n)
    potentials(closure_task(own.call, own.plan))


def measure_slot(devices: TileDevices, dask_worker: Any) -> tuple[int, float]:
    """Return the bytes for each task of a worker, 0 without a limit, and relaxations a second."""
    memory = dask_worker.memory_manager.memory_limit or 0
    return memory // dask_worker.state.nthreads, devices.open().rate
