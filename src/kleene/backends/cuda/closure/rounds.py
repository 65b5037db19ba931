"""Rounds of the closure of a matrix in files, on a GPU: see ``backends/common/bands``.

A round is that of ``closure/streamed``: the panel is on the device, and bands of the other rows
pass through it. Rows come from one copy of the matrix and go to the other. The order of additions
depends on the heights of bands and panel, so a resumed computation keeps those.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from kleene.backends.common.bands import RoundEngine, RoundSplit, RowSource, RowTarget
from kleene.backends.common.dense_driver import MatrixForm
from kleene.backends.common.tiles import Tile
from kleene.backends.cuda.closure.kernels import (
    BLOCK,
    ClosureKernels,
    DeviceRows,
    TileLayout,
    TileSet,
)
from kleene.backends.cuda.closure.streamed import BandSplit, StreamedClosure, open_streamed
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.runtime.interface import Array, Device, HostArray, ceil_div
from kleene.backends.task import Task
from kleene.errors import MemoryBudgetError
from kleene.system.formatting import format_bytes
from kleene.system.threads import Future, ThreadPool

__all__ = [
    "DeviceTiles",
    "GpuRounds",
    "open_rounds",
    "open_tiles",
]


def open_rounds(
    task: Task, form: MatrixForm, split: RoundSplit, kept: list[int] | None
) -> RoundEngine:
    """Return an engine with the bands that a ledger has kept, or that suit the device memory."""
    device, graph = open_device(task.device), task.graph
    layout = TileLayout.of(form, graph.n, bool(graph.stats.min_weight >= 0), task.predecessors)
    if kept:
        try:
            engine = StreamedClosure(device, layout, BandSplit(*kept))
        except MemoryBudgetError:
            raise MemoryBudgetError(
                f"these rounds were begun with more free memory on {device.name} than the "
                f"{format_bytes(device.free_memory())} of now, and a resumed computation keeps the "
                "sizes of its bands; free memory there, or remove the directory of the rounds to "
                "start again"
            ) from None
        return GpuRounds(task, form, engine)
    return GpuRounds(task, form, open_streamed(device, layout))


class GpuRounds:
    """Rounds by the streamed closure."""

    def __init__(self, task: Task, form: MatrixForm, engine: StreamedClosure) -> None:
        self._task, self._engine = task, engine
        self._like = Tile.empty(form, 1, task.graph.n, task.predecessors)

    @property
    def split(self) -> list[int]:
        """The heights of bands and panel."""
        return [*self._engine.cut]

    @property
    def vertices(self) -> int:
        """The vertices of a round."""
        return self._engine.cut.panel * self._engine.cut.height

    def next_round(self, first: int, begun: range | None) -> range:
        """Return the vertices of the round from ``first`` on."""
        return range(first, min(first + self.vertices, self._task.graph.n))

    def run(
        self,
        vertices: range,
        source: RowSource,
        target: RowTarget,
        missing: list[range],
        report: Callable[[int], None],
    ) -> bool:
        """Take all rows through a round, those in the target once more; False at a cycle."""
        n, cut = self._task.graph.n, self._engine.cut
        visits = list(cut.round_visits(vertices.start // cut.height))

        def progress(done: int, total: int) -> None:
            report(n - n * done // total)

        task = replace(self._task, progress=progress)
        return self._engine.run_visits(task, _FileBands(self._like, source, target), visits)


class _FileBands:
    """Bands that are read from a source and written to a target."""

    def __init__(self, like: Tile, source: RowSource, target: RowTarget) -> None:
        self.like, self._source, self._target = like, source, target

    def load(self, threads: ThreadPool, first: int, to: Tile) -> list[Future[None]]:
        """Start to read rows, from the first on."""
        return [threads.submit(self._source.read, first, to)]

    def save(self, threads: ThreadPool, first: int, rows: Tile) -> list[Future[None]]:
        """Start to write rows."""
        return [threads.submit(self._target.write, first, rows)]


# ---- Steps on single tiles of a matrix, on a GPU: see ``backends/common/tiles`` -----------------
# A tile is copied to the device, takes a step by the kernels of ``closure/tiled``, and is copied
# back. Tiles that are not square are padded with "no path".


def open_tiles(form: MatrixForm, device: str, threads: int, nonnegative: bool) -> DeviceTiles:
    """Return the engine for tiles of this form, of a graph that may have no negative weights."""
    return DeviceTiles(device, form, nonnegative)


class DeviceTiles:
    """The steps on one device."""

    def __init__(self, device: str, form: MatrixForm, nonnegative: bool) -> None:
        self._device, self._form, self._nonnegative = open_device(device), form, nonnegative

    def close(self, tile: Tile) -> bool:
        """Close a square; False at a negative cycle."""
        step = self._step(len(tile.values), tile)
        rows = step.upload(tile, "tile")
        left = self._device.empty((BLOCK, step.layout.rows), step.layout.word, "left")
        step.kernels.transpose(rows, 0, left, None)
        step.kernels.close_rows(rows, 0, left, 0, left, None)
        if self._device.download(step.kernels.cycle)[0]:
            return False
        step.download(rows, tile)
        return True

    def relax(self, tile: Tile, left: HostArray, right: Tile) -> None:
        """Relax a tile: take the best of it and left times right."""
        columns = tile.values.shape[1] * (64 if self._form.dtype == np.uint64 else 1)
        depth = len(right.values)
        step = self._step(max(len(tile.values), depth, columns), tile)
        rows, closed = step.upload(tile, "tile"), step.upload(right, "right")
        factor = step.upload(Tile(left, None), "left")
        shape = (ceil_div(depth, BLOCK) * BLOCK, step.layout.rows)
        across = self._device.empty(shape, step.layout.word, "left columns")
        step.kernels.transpose(factor, 0, across, None)
        tiles = TileSet.without(step.layout.tile_columns, range(0))
        step.kernels.multiply(rows, closed, across, tiles, None)
        step.download(rows, tile)

    def _step(self, side: int, tile: Tile) -> _Step:
        paths = tile.predecessors is not None
        return _Step(self._device, TileLayout.of(self._form, side, self._nonnegative, paths))


class _Step:
    """One step: tiles of one layout on the device, and the kernels for it."""

    def __init__(self, device: Device, layout: TileLayout) -> None:
        self._device, self.layout = device, layout
        self.kernels = ClosureKernels(device, layout)

    def upload(self, tile: Tile, name: str) -> DeviceRows:
        """Copy a tile to the device."""
        layout = self.layout._replace(paths=tile.predecessors is not None)
        rows = DeviceRows.empty(self._device, layout, layout.rows, name)
        self.kernels.to_device(rows, tile, self._copy_in)
        return rows

    def download(self, rows: DeviceRows, tile: Tile) -> None:
        """Copy a tile to the host."""
        self.kernels.to_host(tile, rows, lambda to, source: self._device.download(source, to))

    def _copy_in(self, to: Array, source: HostArray) -> None:
        self._device.copy(to, np.ascontiguousarray(source))
