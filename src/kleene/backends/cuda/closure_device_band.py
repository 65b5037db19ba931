"""A band of rows of a matrix on one device, and its part in the rounds of the tiled closure.

``closure_tiled`` has the order of the rounds, and ``closure_devices`` the copies between devices.
On one device the band is the whole matrix.
"""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import Any

import numpy as np

from kleene.backends.common.closure_tiles import Tile
from kleene.backends.cuda.closure_copies import copy_in, copy_out
from kleene.backends.cuda.closure_kernels import ClosureKernels, DeviceRows, TileSet
from kleene.backends.cuda.closure_layout import BLOCK, TileLayout
from kleene.backends.cuda.runtime.interface import Array, Device, Event, HostArray, Stream
from kleene.backends.cuda.runtime.structs import Struct
from kleene.backends.task import Task

__all__ = ["DeviceBand"]


class DeviceBand:
    """Some rows of a matrix on a device.

    The urgent stream computes what the next round starts with; the other one computes the rest.
    """

    def __init__(self, device: Device, layout: TileLayout, vertices: range, shared: bool) -> None:
        """Allocate the rows of some vertices; ``shared`` says that other devices have others."""
        self.device, self.layout, self.vertices = device, layout, vertices
        self.kernels = ClosureKernels(device, layout)
        self.rows = DeviceRows.empty(device, layout, len(vertices), "matrix")
        # Double-buffered: the next round is prepared while this one runs.
        depth = layout.round_blocks * BLOCK
        shape = (depth, len(vertices))
        self._left = [device.empty(shape, layout.word, "left") for _ in range(2)]
        self._spare = device.empty((BLOCK, depth), layout.word, "left of a round's rows")
        self.panels = [
            DeviceRows.empty(device, layout, depth, "panel") for _ in range(2 if shared else 0)
        ]
        # Of the products of even and of odd rounds: those ahead, the rest, all of the last round.
        self._params: dict[tuple[int, str], tuple[Struct, TileSet]] = {}
        self.rest, self.urgent = device.stream(), device.stream(urgent=True)
        self.copies = device.stream(urgent=True) if shared else None  # from other devices
        self.done: deque[Event] = deque(maxlen=2)  # after the products of the last two rounds
        self.copied: list[Event] = []  # after copies of its closed rows to other devices

    # ---- copies ---------------------------------------------------------------------------------

    def upload(self, task: Task, matrix: HostArray, predecessors: HostArray | None) -> None:
        """Copy its rows of a whole matrix and of predecessors to the device."""
        tile = Tile(matrix, predecessors).rows(self.matrix_rows)
        self.kernels.to_device(self.rows, tile, partial(copy_in, self.device, task))

    def download(self, task: Task, matrix: HostArray, predecessors: HostArray | None) -> None:
        """Copy its rows and their predecessors to those of a whole matrix on the host."""
        tile = Tile(matrix, predecessors).rows(self.matrix_rows)
        self.kernels.to_host(tile, self.rows, partial(copy_out, self.device, task))

    @property
    def matrix_rows(self) -> range:
        """Its rows without padding."""
        return range(self.vertices.start, min(self.vertices.stop, self.layout.n))

    def clear_diagonal(self) -> bool:
        """Return whether an entry of the diagonal is negative; set all of them to zero if not."""
        words, first = self.rows.words, self.vertices.start
        count, item = len(self.matrix_rows), words.dtype.itemsize
        strides = (words.strides[0] + item, item)
        diagonal = Array(
            words.address + first * item, (count, 1), words.dtype, strides, words.owner
        )
        if (self.device.download(diagonal) < 0).any():
            return True
        self.device.copy(diagonal, np.zeros((count, 1), words.dtype))
        return False

    # ---- rounds ---------------------------------------------------------------------------------

    def begin(self) -> None:
        """Start after what is in the main stream."""
        began = self.device.main.record()
        for stream in self._streams():
            stream.wait(began)

    def end(self, first: Stream) -> None:
        """Make the main stream wait for all work, and that of the first device."""
        for stream in self._streams():
            event = stream.record()
            for main in (self.device.main, first):
                main.wait(event)

    def _streams(self) -> list[Stream]:
        return [stream for stream in (self.urgent, self.rest, self.copies) if stream is not None]

    def owns(self, vertices: range) -> bool:
        """Return whether the rows of a round are in the band."""
        return vertices.start in self.vertices

    def closed_rows(self, current: int, vertices: range) -> DeviceRows:
        """Return the closed rows of a round: its own, or the copy on this device."""
        if self.owns(vertices):
            first = vertices.start - self.vertices.start
            return self.rows[first : first + len(vertices)]
        return self.panels[current % 2][: len(vertices)]

    def transpose(self, current: int, vertices: range) -> None:
        """Transpose the columns of the vertices of a round."""
        left = self._left[current % 2][: len(vertices)]
        self.kernels.transpose(self.rows, vertices.start, left, self.urgent)

    def close_rows(self, current: int, vertices: range) -> None:
        """Close the band's own rows of a round over its vertices."""
        depth = len(vertices)
        self.kernels.close_rows(
            self.closed_rows(current, vertices),
            vertices.start,
            self._left[current % 2][:depth],
            vertices.start - self.vertices.start,
            self._spare[:, :depth],
            self.urgent,
        )

    def multiply(self, current: int, vertices: range, following: range | None) -> Event:
        """Relax all rows but those of a round through its vertices; return an event after that.

        What the ``following`` round starts with is computed first, in the urgent stream.
        """
        columns, own = self.layout.tile_columns, self._blocks(vertices)
        self.rest.wait(self.urgent.record())
        if self.done:
            self.urgent.wait(self.done[-1])
        if following is None:
            self._launch(current, "all", TileSet.without(columns, own), vertices, self.rest)
        else:
            ahead = self._blocks(following)
            strip = self.layout.tile_range(following.start, following.stop)
            urgent = TileSet.ahead(columns, own, ahead, strip)
            self._launch(current, "ahead", urgent, vertices, self.urgent)
            rest = TileSet.rest(columns, own, ahead, strip)
            self._launch(current, "rest", rest, vertices, self.rest)
            if self.panels:  # both products have used the panel then
                self.rest.wait(self.urgent.record())
        event: Event = self.rest.record()
        self.done.append(event)
        return event

    def _blocks(self, vertices: range) -> range:
        """Return the rows of tiles of some vertices within the band.

        Of vertices elsewhere it is empty and at the nearer end: the rows of two successive rounds
        are next to each other in every band.
        """
        first, high = self.vertices.start, len(self.vertices)
        begin, end = (min(max(v - first, 0), high) for v in (vertices.start, vertices.stop))
        return range(begin // BLOCK, end // BLOCK)

    def _launch(
        self, current: int, part: str, tiles: TileSet, vertices: range, stream: Any
    ) -> None:
        """Launch a product; from one round to the next only few of its parameters change."""
        closed = self.closed_rows(current, vertices)
        if (current % 2, part) in self._params:
            params, before = self._params[current % 2, part]
            changed: dict[str, Any] = {
                name: value
                for name, value, old in zip(TileSet._fields, tiles, before, strict=True)
                if value != old
            }
            if self.layout.paths:
                changed["right_predecessors"] = closed.predecessors
            params.update(right=closed.words, depth=len(vertices), **changed)
        else:
            left = self._left[current % 2][: len(vertices)]
            params = self.kernels.pack_product(self.rows, closed, left, tiles)
        self._params[current % 2, part] = params, tiles
        count = tiles.count(len(self.vertices) // BLOCK)
        self.kernels.launch_product(params, count, stream)
