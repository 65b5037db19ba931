"""Closures of dense matrices on a Dask cluster, in tiles that stay with the workers.

The client plans, shares the graph and hands out tasks; workers make the tiles, close them and write
rows to the store. Every call whose method is ``tiled`` goes this way, for all vertices.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kleene.backends.common.dense_driver import engine_form
from kleene.clusters.dask.client import open_client
from kleene.clusters.dask.graphs import graph_bytes, share_tiled_graph
from kleene.clusters.dask.tile_tasks import TileDevices, TileWork
from kleene.clusters.dask.tiles import close_on_cluster, measure_cluster
from kleene.engine.call import Call, Sink
from kleene.engine.fit import NOT_BOTH
from kleene.engine.planned import EXPLAINING, Planned
from kleene.engine.solve import solve
from kleene.engine.tiles import closure_task, plan_of_tiles, plans_of_a_tile
from kleene.engine.work import Work
from kleene.errors import Code, MemoryBudgetError, RequestError
from kleene.graph import Graph
from kleene.planning.facts import graph_facts
from kleene.planning.plan import Plan, with_notes
from kleene.results.result import Result
from kleene.stores.checkpoints import Checkpoints
from kleene.stores.record import TILES, record_call
from kleene.stores.resumable import find_resumable
from kleene.stores.sink import StoreSink
from kleene.stores.store import Store
from kleene.stores.tile_grid import Cluster, Layout, TileGrid, choose_layout
from kleene.system.formatting import format_bytes, format_duration

if TYPE_CHECKING:
    from kleene.backends.task import Progress

__all__ = ["explain_tiles", "plan_tiles", "solve_in_tiles"]

#: The side of the tiles that workers are asked about, before some are chosen.
_USUAL_SIDE = 4096


def plan_tiles(call: Call) -> Plan | None:
    """Return the plan of a call that is computed in tiles; None where rows are searched for."""
    ask = call.ask
    if ask.what.problem not in ("apsp", "closure") or ask.where.method not in ("auto", "tiled"):
        return None
    if call.graph.n == 0 or (call.form is not None and ask.where.method == "auto"):
        return None
    searched = ask.what.problem == "apsp" and ask.where.method == "auto"
    if searched and call.targets is not None and call.out is None:
        return None  # a small answer
    found = None if call.out is None else find_resumable(str(call.out), keep=EXPLAINING.on)
    if found is not None and ask.where.method == "auto" and not found.spec.call.keys() & set(TILES):
        return None  # it was begun by rows
    if found is not None and found.finished:
        return None  # it is only read
    plan = plan_of_tiles(call, "tiled" if found is not None else ask.where.method)
    if plan.method != "tiled":
        return None
    if np.array_equal(call.sources, np.arange(call.graph.n)):
        return plan
    if searched:
        return None
    raise RequestError(
        "a cluster closes the matrix of all vertices: leave out sources; or use apsp with another "
        "method than 'tiled' for the rows of some of them"
    )


def solve_in_tiles(call: Call, plan: Plan) -> Result:
    """Answer a call by tiles on the workers of its cluster, into a store."""
    if call.out is None:
        raise NOT_BOTH["block", "tiles"].error
    path = Path(str(call.out))
    with open_client(call.on) as client:
        tiles = _Tiles.choose(call, plan, client, Store.look(path))
        run = partial(tiles.run, client)
        sink, title = tiles.sink(call, path), f"{plan.problem} by tiles"
        return Result._of(call, solve(call, sink, Planned(plan), run, title))


def explain_tiles(call: Call, plan: Plan) -> Plan:
    """Return the plan, with what the cluster makes of it."""
    found = find_resumable(str(call.out), keep=True)
    with open_client(call.on) as client:
        tiles = _Tiles.choose(call, plan, client, found)
    if found is not None:
        found.require_same(tiles.sink(call, found.path).spec)
    tile = round(min(tiles.layout.grid.side, tiles.graph.n) ** 2 * tiles.pair_bytes)
    graph = format_bytes(graph_bytes(call.graph, False))
    memory = f"memory: {format_bytes(tile)} a tile; each worker has the graph once, {graph}"
    return replace(tiles.plan, reasons=(*tiles.plan.reasons, *tiles.notes, memory), memory=4 * tile)


class _Tiles(NamedTuple):
    """A call in tiles: what workers do, and how large tiles are."""

    graph: Graph
    plan: Plan
    devices: TileDevices
    cluster: Cluster
    layout: Layout
    pair_bytes: float

    @classmethod
    def choose(cls, call: Call, plan: Plan, client: Any, found: Store | None) -> _Tiles:
        """Ask the workers, and choose tiles; those of a store that is resumed are its own."""
        graph = call.graph.transpose() if call.reverse else call.graph
        kept = None if found is None else _tiles_of(found.spec.call, graph.n)
        n, facts, task = graph.n, graph_facts(graph), closure_task(call, plan)
        form, paths = engine_form("tiled", task), task.predecessors
        ask = call.ask.but(predecessors=paths)

        def devices(side: int) -> TileDevices:
            plans = plans_of_a_tile(facts, ask, side)
            return TileDevices(plans, form, facts.min_weight >= 0)

        cluster = measure_cluster(client, devices(kept.side if kept else _USUAL_SIDE))
        item = 1 / 8 if form.dtype == np.uint64 else form.dtype.itemsize
        pair_bytes = item + (4 if paths else 0)
        layout = choose_layout(n, pair_bytes, cluster, kept)
        if layout is None:
            memory = cluster.memory or 0
            raise MemoryBudgetError(
                f"the tiles of {n:,} vertices need {format_bytes(ceil(n * n * pair_bytes))} and as "
                f"much again to work on, and the {len(cluster.slots)} threads of the workers have "
                f"{format_bytes(memory)} each, of which tiles may take half",
                advice=["more workers, or workers with more memory", *_narrower(paths)],
            )
        return cls(graph, plan, devices(layout.grid.side), cluster, layout, pair_bytes)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was chosen, in words."""
        grid, layout, slots = self.layout.grid, self.layout, self.cluster.slots
        workers, (high, wide) = len(set(slots)), self.cluster.shape
        tiles = "one tile: larger than the matrix"
        if grid.tiles > 1:
            tiles = (
                f"{grid.tiles} x {grid.tiles} of side {grid.side:,}, {layout.tasks:,} tasks in "
                f"{grid.rounds} rounds of {grid.depth:,} vertices; Dask's scheduler takes about "
                f"{layout.scheduler / layout.seconds:.0%} of the time"
            )
        return (
            f"cluster: {workers} worker{'' if workers == 1 else 's'}, {len(slots)} "
            f"task{'' if len(slots) == 1 else 's'} at once, in a grid of {high} x {wide}",
            f"tiles: {tiles}",
            f"bytes: workers send each other about {format_bytes(layout.moved)}",
            f"time: about {format_duration(layout.seconds)}",
        )

    def sink(self, call: Call, path: Path) -> StoreSink:
        """Return the store of a call: a block is a band of tiles."""
        grid = self.layout.grid
        spec = record_call(call, self.plan, call.ask.but(block_rows=grid.side))
        tiles = dict(zip(TILES, (grid.side, grid.depth), strict=True))
        return StoreSink(call, path, spec._replace(call={**spec.call, **tiles}))

    def run(self, client: Any, work: Work, sink: Sink, report: Progress | None) -> Plan:
        """Close the tiles and write their rows, all on the workers: a runner of the engine."""
        assert isinstance(sink, StoreSink)
        files, grid = sink.files, self.layout.grid
        if work.pieces:
            call, plan = work.call, work.plan
            bare = call.bare(call.ask)._replace(sources=call.sources[:0], reverse=False)
            plan = replace(plan, threads=call.ask.where.threads or 1)
            own = work._replace(call=bare, plan=plan, pieces=())
            header = {"format": "kleene tiles", **files.spec._asdict()}
            form, paths = self.devices.form, files.spec.predecessors is not None
            with (
                share_tiled_graph(client, self.graph, sink.path.parent) as shared,
                Checkpoints(files.path, header, grid, form, paths) as checkpoints,
            ):
                close_on_cluster(
                    client, shared, TileWork(own, self.devices, grid), self.cluster, work.pieces,
                    sink.record, checkpoints, report,
                )  # fmt: skip
        return with_notes(work.plan, *self.notes)


def _tiles_of(called: dict[str, Any], n: int) -> TileGrid | None:
    """Return the tiles that a store was begun with, if any."""
    side, depth = (int(called.get(name) or 0) for name in TILES)
    return TileGrid(n, side, depth) if side > 0 and depth > 0 else None


def _narrower(paths: bool) -> tuple[str, ...]:
    return (Code("predecessors=False"),) if paths else ()
