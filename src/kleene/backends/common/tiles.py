"""Steps of blocked elimination on single tiles of a matrix, which may be on different machines.

A round takes all tiles through the vertices K, which are some of those of one tile of the diagonal
(the scheme of ``native/core/closure/tiled.cpp``, with K as a block):

1. take the columns K of a column of tiles, as they are, and close (K, K);
2. relax the rows K through (K, K), in every tile of a row of tiles: the panels of the round;
3. relax every other row through the panel below or above it, by its part of the columns K.

Tiles are large, so that a step takes about a second; K is small, since step 1 is for one worker
alone. Tiles are never changed: a step returns a new one, so that it can be repeated anywhere. The
bits of the answer depend on the rounds, and not on the tiles.

Rows of a matrix in files, or streamed through a device, are tiles of full width, called bands
(``bands``); these are relaxed in place.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from kleene.backends.common.dense_driver import MatrixForm, fill_rows
from kleene.backends.task import Task

__all__ = [
    "Column", "Tile", "TileEngine", "arc_tile", "relax_panel", "relax_tile", "take_column",
]  # fmt: skip

Array = NDArray[Any]


class Tile(NamedTuple):
    """A rectangle of the matrix, in the form of the engines; booleans pack 64 columns."""

    values: Array
    predecessors: Array | None

    @classmethod
    def empty(cls, form: MatrixForm, rows: int, columns: int, paths: bool) -> Tile:
        """Return memory for a tile."""
        words = -(-columns // 64) if form.dtype == np.uint64 else columns
        links = np.empty((rows, columns), np.int32) if paths else None
        return cls(np.empty((rows, words), form.dtype), links)

    def copy(self) -> Tile:
        """Return a tile of its own."""
        links = self.predecessors
        return Tile(self.values.copy(), None if links is None else links.copy())

    def rows(self, part: range) -> Tile:
        """Return some rows, in the same memory."""
        which, links = slice(part.start, part.stop), self.predecessors
        return Tile(self.values[which], None if links is None else links[which])

    def top(self, rows: int) -> Tile:
        """Return the first rows, in the same memory."""
        return self.rows(range(rows))

    def columns(self, part: range) -> Tile:
        """Return some columns, in the same memory."""
        links, words = self.predecessors, slice(part.start, part.stop)
        if self.values.dtype == np.uint64:
            words = slice(part.start // 64, -(-part.stop // 64))
        return Tile(
            self.values[:, words], None if links is None else links[:, part.start : part.stop]
        )

    @property
    def buffers(self) -> list[memoryview]:
        """The bytes of its arrays, whole rows of which follow each other."""
        return [part.reshape(-1).view(np.uint8).data for part in self if part is not None]

    def put(self, other: Tile) -> None:
        """Copy another tile of the same shape into this one."""
        self.values[...] = other.values
        if self.predecessors is not None:
            self.predecessors[...] = other.predecessors


class Column(NamedTuple):
    """The columns of a round in some rows, from before the round."""

    values: Array
    closed: Tile | None  # (K, K) after step 1, where these rows include the rows K


class TileEngine(Protocol):
    """Takes the steps on some device, in place."""

    def close(self, tile: Tile) -> bool:
        """Close a square; False at a negative cycle."""

    def relax(self, tile: Tile, left: Array, right: Tile) -> None:
        """Relax a tile: take the best of it and left times right."""


def arc_tile(task: Task, form: MatrixForm, rows: range, columns: range) -> Tile:
    """Return a tile of the matrix of arcs of the task's graph."""
    tile = Tile.empty(form, len(rows), len(columns), task.predecessors)
    fill_rows(form, task, *tile, first=rows.start, columns=columns)
    return tile


# ---- steps --------------------------------------------------------------------------------------


def take_column(engine: TileEngine, tile: Tile, part: range, diagonal: bool) -> Column | None:
    """Return the columns of the round in a tile; None at a negative cycle.

    ``part`` says which columns of the tile they are. On the diagonal, the rows of the round are
    those of the same numbers.
    """
    column = tile.columns(part)
    values = np.ascontiguousarray(column.values)
    if not diagonal:
        return Column(values, None)
    closed = column.rows(part).copy()
    return Column(values, closed) if engine.close(closed) else None


def relax_panel(engine: TileEngine, tile: Tile, closed: Tile, part: range, diagonal: bool) -> Tile:
    """Return the rows of the round in a tile, relaxed through the round's vertices."""
    if diagonal and closed.values.shape[1] == tile.values.shape[1]:
        return closed
    rows = tile.rows(part)
    panel = rows.copy()
    engine.relax(panel, closed.values, rows)
    if diagonal:
        panel.columns(part).put(closed)
    return panel


def relax_tile(
    engine: TileEngine, tile: Tile, left: Array, panel: Tile, part: range | None
) -> Tile:
    """Return a tile after the round; ``part`` says which of its rows are the panel, if any."""
    if part is None:
        best = tile.copy()
        engine.relax(best, left, panel)
        return best
    if len(part) == len(tile.values):
        return panel
    best = tile.copy()
    for others in (range(part.start), range(part.stop, len(tile.values))):
        if others:
            engine.relax(best.rows(others), left[others.start : others.stop], panel)
    best.rows(part).put(panel)
    return best
