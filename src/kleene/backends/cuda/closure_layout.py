"""How a matrix lies in device memory for the tiled closure."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kleene.backends.common.dense_driver import MatrixForm
from kleene.backends.cuda.runtime.interface import ceil_div
from kleene.backends.cuda.runtime.structs import constant
from kleene.backends.cuda.tuning import closure as tuning

__all__ = ["BLOCK", "TileLayout"]

BLOCK = constant("closure_tiled", "kBlock")  # vertices; rows of a tile
_TILE_BYTES = constant("closure_tiled", "kTileBytes")
_PANEL_BYTES = constant("closure_tiled", "kPanelBytes")
_NOTED_DEPTH = constant("closure_tiled", "kNotedDepth")

_SLACK = 2**20  # bytes for what is small


class TileLayout(NamedTuple):
    """A matrix padded to whole tiles, in words of a number format."""

    algebra: str
    dtype: np.dtype[Any]  # of the host matrix
    word: np.dtype[Any]
    lanes: int  # columns per word
    n: int
    paths: bool
    reordered: bool  # floats as integers in the same order

    @classmethod
    def of(cls, form: MatrixForm, n: int, nonnegative: bool, paths: bool) -> TileLayout:
        """Choose the number format; ``nonnegative`` says that no weight is negative."""
        kind, bits = form.dtype.kind, 8 * form.dtype.itemsize
        word = np.dtype(f"i{max(4, form.dtype.itemsize)}")
        if form.dtype == np.uint64:
            return cls("KL_BOOLEAN", form.dtype, np.dtype(np.int32), 32, n, paths, False)
        if form.semiring == "max_min":
            name = "KL_MAX_MIN_INT" if bits == 32 else "KL_MAX_MIN_LONG"
            return cls(name, form.dtype, word, 1, n, paths, kind == "f")
        number = {"f4": "FLOAT", "f8": "DOUBLE", "i2": "SHORT", "i4": "INT", "i8": "LONG"}
        name = number[f"{kind}{form.dtype.itemsize}"]
        if form.semiring == "min_plus" and name == "FLOAT" and nonnegative:
            name = "LENGTH"
        if name == "SHORT":
            return cls("KL_MIN_PLUS_SHORT", form.dtype, word, 2, n, paths, False)
        algebra = f"KL_{form.semiring.upper()}_{name}"
        return cls(algebra, form.dtype, form.dtype, 1, n, paths, False)

    @property
    def tile_words(self) -> int:
        """Words per row of a tile."""
        return _TILE_BYTES // self.word.itemsize

    @property
    def rows(self) -> int:
        """Rows with padding."""
        return ceil_div(self.n, BLOCK) * BLOCK

    @property
    def words(self) -> int:
        """Words per row with padding."""
        return ceil_div(self.rows, self.lanes * self.tile_words) * self.tile_words

    @property
    def tile_columns(self) -> int:
        """Columns of tiles."""
        return self.words // self.tile_words

    def tile_range(self, begin: int, end: int) -> range:
        """Return the columns of tiles that hold some vertices."""
        tile = self.lanes * self.tile_words
        return range(begin // tile, ceil_div(end, tile))

    @property
    def round_blocks(self) -> int:
        """Blocks of vertices of a round, at most, when the whole matrix is on the device."""
        tiles = self.rows // BLOCK * self.tile_columns
        blocks = next(blocks for least, blocks in tuning.ROUND_BLOCKS if tiles >= least)
        if self.paths:
            blocks = min(blocks, _NOTED_DEPTH // BLOCK)
        return min(blocks, self.rows // BLOCK)

    def rounds(self) -> list[range]:
        """Return the vertices of each round: the first ones are short, since nothing overlaps.

        >>> kind = np.dtype("f4")
        >>> layout = TileLayout("KL_MIN_PLUS_LENGTH", kind, kind, 1, 8192, False, False)
        >>> [len(vertices) for vertices in layout.rounds()][:5]
        [128, 256, 512, 512, 512]
        """
        found, blocks, first = [], 1, 0
        while first < self.rows:
            end = min(first + blocks * BLOCK, self.rows)
            found.append(range(first, end))
            first, blocks = end, min(2 * blocks, self.round_blocks)
        return found

    @property
    def _depth(self) -> int:
        """Vertices of a round, at most."""
        return self.round_blocks * BLOCK

    @property
    def row_bytes(self) -> int:
        """Bytes of a row, and of its predecessors."""
        return self.words * (self.word.itemsize + (4 if self.paths else 0))

    @property
    def _band_row_bytes(self) -> int:
        """Device bytes of a row, and of two copies of its columns of a round."""
        return self.row_bytes + 2 * self._depth * self.word.itemsize

    @property
    def bytes(self) -> int:
        """Device bytes of the matrix and its workspace."""
        return self.rows * self._band_row_bytes + _SLACK

    @property
    def panel_bytes(self) -> int:
        """Device bytes of two panels, for rows of other devices."""
        return 2 * self._depth * self.row_bytes

    def rows_in(self, memory: int) -> int:
        """Return how many rows fit into a part of a device's memory, beside two panels."""
        spare = BLOCK * self._depth * self.word.itemsize
        return max(0, memory - self.panel_bytes - spare - _SLACK) // self._band_row_bytes

    @property
    def shared(self) -> int:
        """Shared bytes of the product: two panels."""
        depth = _PANEL_BYTES // self.word.itemsize
        return 2 * depth * (BLOCK * self.word.itemsize + _TILE_BYTES)
