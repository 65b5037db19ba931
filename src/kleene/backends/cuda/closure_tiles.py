"""Steps on single tiles of a matrix, on a GPU: see ``backends/common/closure_tiles``.

A tile is copied to the device, takes a step by the kernels of ``closure_tiled``, and is copied
back. Tiles that are not square are padded with "no path".
"""

from __future__ import annotations

import numpy as np

from kleene.backends.common.closure_tiles import Tile
from kleene.backends.common.dense_driver import MatrixForm
from kleene.backends.cuda.closure_kernels import ClosureKernels, DeviceRows, TileSet
from kleene.backends.cuda.closure_layout import BLOCK, TileLayout
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.runtime.interface import Array, Device, HostArray, ceil_div

__all__ = ["DeviceTiles", "open_tiles"]


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
