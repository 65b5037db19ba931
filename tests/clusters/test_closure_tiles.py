"""Blocked rounds on single tiles, by the engines of all devices: equal to a matrix in one piece."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kleene as kl
from kleene.backends.answer import Answer
from kleene.backends.common.dense_driver import MatrixForm, engine_form, finish_rows
from kleene.backends.common.tiles import (
    Tile,
    TileEngine,
    arc_tile,
    relax_panel,
    relax_tile,
    take_column,
)
from kleene.backends.cpu.closure import CpuTiles
from kleene.backends.semiring import SEMIRINGS
from kleene.backends.task import Task
from kleene.clusters.dask import tile_tasks
from kleene.clusters.dask.tile_tasks import TileDevices
from kleene.engine.tiles import plans_of_a_tile
from kleene.planning.ask import Ask
from kleene.planning.facts import Facts
from kleene.registry import Method
from kleene.stores.tile_grid import Cluster, TileGrid, choose_layout
from kleene.system.machine import Machine, this_machine

DEVICES = [d for d in ("cpu", "emulated", "cuda") if d in this_machine().devices]
CASES = [
    ("boolean", "bool", False), ("boolean", "bool", True), ("max_min", "float64", True),
    ("max_times", "float32", True), ("min_plus", "float32", False), ("min_plus", "float64", True),
    ("min_plus", "int32", False), ("min_plus", "int32", True), ("min_plus", "int64", True),
]  # fmt: skip


def graph(semiring: str, dtype: str, n: int = 150) -> kl.Graph:
    rng = np.random.default_rng(n)
    m = 6 * n
    weights: Any = rng.random(m)
    if dtype.startswith("int"):
        weights = rng.integers(0, 90_000 if dtype == "int64" else 100, m)
    kind = "float32" if dtype == "bool" else dtype
    return kl.Graph.from_edges(
        rng.integers(0, n, m), rng.integers(0, n, m), weights.astype(kind), n=n
    )


def rounds(
    engine: TileEngine, form: MatrixForm, task: Task, grid: TileGrid
) -> dict[tuple[int, int], Tile] | None:
    """Close all tiles; None at a cycle."""
    count = range(grid.tiles)
    tiles = {
        (i, j): arc_tile(task, form, grid.vertices(i), grid.vertices(j))
        for i in count
        for j in count
    }
    for k in range(grid.rounds):
        own, part = grid.round(k)
        columns = [take_column(engine, tiles[i, own], part, i == own) for i in count]
        found = [column for column in columns if column is not None]
        if len(found) < len(columns):
            return None
        closed = found[own].closed
        assert closed is not None
        panels = [relax_panel(engine, tiles[own, j], closed, part, j == own) for j in count]
        tiles = {
            (i, j): relax_tile(engine, tile, found[i].values, panels[j], part if i == own else None)
            for (i, j), tile in tiles.items()
        }
    return tiles


def answer(engine: TileEngine, form: MatrixForm, task: Task, grid: TileGrid) -> Answer:
    tiles = rounds(engine, form, task, grid)
    assert tiles is not None
    count = range(grid.tiles)

    def joined(field: int) -> Any:
        return np.vstack([np.hstack([tiles[i, j][field] for j in count]) for i in count])

    links = joined(1) if task.predecessors else None
    assert form.semiring != "min_plus" or (np.diagonal(joined(0)) >= 0).all()
    return finish_rows(form, task, joined(0), links)


def engine_of(device: str, form: MatrixForm, nonnegative: bool) -> TileEngine:
    if device == "cpu":
        return CpuTiles(form, 1)
    from kleene.backends.cuda.closure.rounds import DeviceTiles

    return DeviceTiles(device, form, nonnegative)


@pytest.mark.parametrize("tiles", [(64, 64), (128, 64), (192, 128)], ids=str)
@pytest.mark.parametrize("case", CASES, ids=lambda c: "-".join(map(str, c)))
@pytest.mark.parametrize("device", DEVICES)
def test_rounds_of_tiles_close_the_matrix(
    device: str, case: tuple[str, str, bool], tiles: tuple[int, int]
) -> None:
    semiring, dtype, paths = case
    g = graph(semiring, dtype)
    ids = np.arange(g.n, dtype=np.int32)
    task = Task(g, SEMIRINGS[semiring], ids, None, None, paths, np.dtype(dtype), 1)
    form = engine_form("tiled", task)
    found = answer(engine_of(device, form, True), form, task, TileGrid(g.n, *tiles))
    wanted = kl.closure(g, semiring, predecessors=paths, dtype=None if dtype == "bool" else dtype)
    if dtype.startswith("float"):
        assert np.allclose(found.values, wanted.values, rtol=1e-6)
    else:
        assert np.array_equal(found.values, wanted.values)
    if paths:
        result = kl.Result(g, wanted.plan, wanted.stats, found, ids, None, None, single=False)
        result.verify()


@pytest.mark.parametrize("device", DEVICES)
def test_negative_weights_and_cycles(device: str) -> None:
    n, rng = 130, np.random.default_rng(5)
    heights = rng.integers(0, 50, n)
    tails, heads = rng.integers(0, n, 800), rng.integers(0, n, 800)
    weights = rng.integers(0, 20, 800) + heights[tails] - heights[heads]
    g = kl.Graph.from_edges(tails, heads, weights, n=n)
    assert g.stats.min_weight < 0
    ids = np.arange(n, dtype=np.int32)
    task = Task(g, SEMIRINGS["min_plus"], ids, None, None, True, np.dtype(np.int64), 1)
    form = engine_form("tiled", task)
    engine = engine_of(device, form, False)
    found = answer(engine, form, task, TileGrid(n, 128, 64))
    assert np.array_equal(found.values, kl.apsp(g).distances)
    cycle = kl.Graph.from_edges([*tails, 3, 100], [*heads, 100, 3], [*weights, -900, 1], n=n)
    task = Task(cycle, SEMIRINGS["min_plus"], ids, None, None, True, np.dtype(np.int64), 1)
    assert rounds(engine, form, task, TileGrid(n, 128, 64)) is None


# ---- the plans of a tile ------------------------------------------------------------------------


def devices_of(side: int = 8192, **asked: Any) -> TileDevices:
    """Return what workers are sent for a matrix of 100,000 vertices."""
    facts = Facts(100_000, 10**6, "float32", 0.0, 1.0, 1e5, device="cuda", placed="cuda:0")
    ask = Ask.of("apsp", predecessors=False, **asked)
    form = MatrixForm("tiled", "min_plus", np.dtype(np.float32), np.inf)
    return TileDevices(plans_of_a_tile(facts, ask, side), form, True)


def names(devices: TileDevices) -> list[str]:
    return [tile.plan.first_device for tile in devices.plans]


def test_a_tile_is_planned_for_the_devices_that_pay() -> None:
    assert names(devices_of()) == ["cuda", "cpu"]
    assert names(devices_of(side=64)) == ["cpu"]
    assert names(devices_of(device="emulated", devices=("emulated:1", "emulated:2"))) == [
        "emulated:1"
    ]
    assert {tile.plan.threads for tile in devices_of().plans} == {1}
    assert [tile.plan.threads for tile in devices_of(device="cpu", threads=3).plans] == [3]


@pytest.mark.parametrize(
    ("machine", "opened"),
    [
        (Machine(1, None, "", ("cpu", "reference")), "cpu"),
        (Machine(1, None, "", ("cuda", "cpu"), gpu_memory=None), "cpu"),  # it does not open
        (Machine(1, None, "", ("cuda", "cpu"), gpu_memory=2**29), "cpu"),  # a tile takes half of it
        (Machine(1, None, "", ("cuda", "cpu"), gpu_memory=2**32), "cuda"),
    ],
    ids=["absent", "closed", "full", "there"],
)
def test_a_worker_opens_the_first_device_that_it_has(
    machine: Machine, opened: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def load(method: Method) -> Any:
        return lambda *given: asked.append((method.device, *given[1:]))

    monkeypatch.setattr(tile_tasks, "live_machine", lambda: machine)
    monkeypatch.setattr(Method, "load_tiles", load)
    tile_tasks._open_slot.cache_clear()
    devices = devices_of()
    assert devices.open() is devices.open()
    assert asked == [(opened, opened, 1, True)]
    tile_tasks._open_slot.cache_clear()


def test_a_worker_without_the_device_that_was_asked_for_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine = Machine(1, None, "", ("cpu",), (("cuda", "no driver"),))
    monkeypatch.setattr(tile_tasks, "live_machine", lambda: machine)
    tile_tasks._open_slot.cache_clear()
    with pytest.raises(kl.DeviceError, match=r"'cuda' .* is not available here: no driver"):
        devices_of(device="cuda").open()


# ---- the choice of tiles ------------------------------------------------------------------------


@pytest.mark.parametrize("slots", [1, 2, 3, 4, 7, 16, 64])
def test_every_worker_owns_tiles_in_every_row_or_column(slots: int) -> None:
    cluster = Cluster(tuple(map(str, range(slots))), None, 40e9)
    rows, columns = cluster.shape
    assert rows * columns == slots
    assert rows <= columns
    assert {cluster.owner(i, j) for i in range(rows) for j in range(columns)} == set(cluster.slots)
    assert cluster.owner(rows, columns) == cluster.owner(0, 0)


@pytest.mark.parametrize("slots", [1, 2, 8, 64])
@pytest.mark.parametrize("n", [8192, 32768, 100_000])
def test_the_scheduler_takes_a_small_part_of_the_time(n: int, slots: int) -> None:
    layout = choose_layout(n, 4, Cluster(("a",) * slots, None, 40e9))
    assert layout is not None
    assert layout.grid.side % 64 == 0
    assert layout.grid.tiles * layout.grid.side >= n
    assert layout.grid.depth <= layout.grid.side
    assert layout.scheduler <= 0.05 * layout.seconds
    if n >= 4096 * slots:  # enough tiles for all of them
        assert layout.seconds <= 1.3 * n**3 / (slots * 40e9)


def test_small_matrices_are_one_tile() -> None:
    for n in (1, 63, 64, 600):
        layout = choose_layout(n, 4, Cluster(("a", "b"), None, 40e9))
        assert layout is not None
        assert layout.grid.rounds == 1
        assert layout.grid.vertices(0) == range(n)


def test_tiles_fit_into_the_memory_of_the_workers() -> None:
    n, matrix = 32768, 4 * 32768**2
    assert choose_layout(n, 4, Cluster(("a", "b"), matrix // 2, 40e9)) is None
    tight = choose_layout(n, 4, Cluster(("a", "b"), matrix * 5 // 4, 40e9))
    ample = choose_layout(n, 4, Cluster(("a", "b"), 4 * matrix, 40e9))
    assert tight is not None
    assert ample is not None
    assert tight.grid.side <= ample.grid.side


def test_a_resumed_run_keeps_its_tiles() -> None:
    layout = choose_layout(8192, 4, Cluster(("a",) * 5, None, 40e9), TileGrid(8192, 640, 320))
    assert layout is not None
    assert layout.grid == TileGrid(8192, 640, 320)
