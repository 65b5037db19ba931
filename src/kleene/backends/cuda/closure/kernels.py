"""The steps of a round of the tiled closure: launches of the kernels in ``closure_tiled.cu``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kleene.backends.common.dense_driver import MatrixForm
from kleene.backends.common.tiles import Tile
from kleene.backends.cuda.runtime.interface import Array, Device, HostArray, ceil_div
from kleene.backends.cuda.runtime.structs import Struct, constant, struct_type
from kleene.backends.cuda.tuning import closure as tuning

__all__ = [
    "BLOCK",
    "ClosureKernels",
    "DeviceRows",
    "TileLayout",
    "TileSet",
]

_THREADS = constant("closure_tiled", "kThreads")
_PRODUCT_THREADS = constant("closure_tiled", "kProductThreads")
_TRANSPOSED = constant("closure_tiled", "kTransposed")
_NOTED_DEPTH = constant("closure_tiled", "kNotedDepth")
_PARAMS = struct_type("closure_tiled", "ProductParams")


@dataclass(frozen=True)
class DeviceRows:
    """Rows on the device, with optional predecessors."""

    words: Array
    predecessors: Array | None

    @classmethod
    def empty(cls, device: Device, layout: TileLayout, rows: int, name: str) -> DeviceRows:
        """Allocate rows with padding."""
        shape = (rows, layout.words)
        words = device.empty(shape, layout.word, name)
        if not layout.paths:
            return cls(words, None)
        return cls(words, device.empty(shape, np.int32, f"{name} predecessors"))

    def __getitem__(self, key: slice) -> DeviceRows:
        """Return a slice of the rows."""
        return DeviceRows(
            self.words[key], None if self.predecessors is None else self.predecessors[key]
        )

    def host_view(self, matrix: HostArray) -> Array:
        """Return the words of the rows of a host matrix, without padding and in its type."""
        return self.part(matrix.shape, matrix.dtype)

    def part(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        """Return the words of a matrix of some shape and type, without padding."""
        flat, rows = self.words.view(dtype), self.words.shape[0]
        words = flat.reshape(rows, flat.size // rows)
        return words[: shape[0], : shape[1]]


class TileSet(NamedTuple):
    """Tiles of a product: some whole rows of tiles, then a rectangle with two gaps.

    The fields are those of ``ProductParams`` in the kernels.
    """

    columns: int  # of tiles, in the matrix
    whole_row: int
    whole_rows: int
    row_gap: int
    row_gap_size: int
    first_column: int
    width: int
    column_gap: int
    column_gap_size: int

    def count(self, rows: int) -> int:
        """Return the number of tiles in so many rows of tiles."""
        return self.whole_rows * self.columns + (rows - self.row_gap_size) * self.width

    @classmethod
    def without(cls, columns: int, skipped: range) -> TileSet:
        """All tiles but some rows of tiles."""
        return cls(columns, 0, 0, skipped.start, len(skipped), 0, columns, columns, 0)

    @classmethod
    def ahead(cls, columns: int, skipped: range, rows: range, strip: range) -> TileSet:
        """What the next round starts with: its rows, and a strip of columns of all others.

        The rows follow the skipped ones.
        """
        gap = len(skipped) + len(rows)
        width = len(strip)
        return cls(columns, rows.start, len(rows), skipped.start, gap, strip.start, width, width, 0)

    @classmethod
    def rest(cls, columns: int, skipped: range, rows: range, strip: range) -> TileSet:
        """All tiles that :meth:`ahead` leaves."""
        gap, width = len(skipped) + len(rows), columns - len(strip)
        return cls(columns, 0, 0, skipped.start, gap, 0, width, strip.start, len(strip))


class ClosureKernels:
    """The kernels of one number format, and the memory that they need beside the matrix."""

    def __init__(self, device: Device, layout: TileLayout) -> None:
        self.device, self.layout = device, layout
        self._file = device.kernels(
            "closure_tiled", KL_ALGEBRA=layout.algebra, KL_PATHS=int(layout.paths)
        )
        self._product = self._file["closure_tiled_product"]
        self._diagonal = device.empty((BLOCK, BLOCK), layout.word, "diagonal")
        self.cycle = device.zeros(1, np.int32, "cycle")
        self._block: Struct | None = None  # the product of a block's rows with its diagonal block

    # ---- all words ------------------------------------------------------------------------------

    def clear(self, words: Array, stream: Any = None) -> None:
        """Set all words to no_path, padding included."""
        self._launch_over("clear", words, stream)

    def reorder(self, words: Array, stream: Any = None) -> None:
        """Convert floats to integers in the same order, or back."""
        self._launch_over("reorder", words, stream)

    def _launch_over(self, name: str, words: Array, stream: Any) -> None:
        most = tuning.BLOCKS_PER_MULTIPROCESSOR * self.device.multiprocessors
        blocks = min(ceil_div(words.size, _THREADS), most)
        kernel = self._file[f"closure_tiled_{name}"]
        kernel.launch((blocks,), (_THREADS,), (words, words.size), stream=stream)

    # ---- copies ---------------------------------------------------------------------------------

    def to_device(
        self, rows: DeviceRows, tile: Tile, copy: Callable[[Any, Any], object], stream: Any = None
    ) -> None:
        """Copy a tile of a host matrix to the device and pad it with no_path.

        ``copy`` copies an array to another one, in the stream.
        """
        view = rows.host_view(tile.values)
        if self.layout.reordered:
            self.device.fill(rows.words, 0xFF, stream)  # below all numbers after reordering
        elif view.nbytes < rows.words.nbytes:
            self.clear(rows.words, stream)
        copy(view, tile.values)
        if self.layout.reordered:
            self.reorder(rows.words, stream)
        if rows.predecessors is not None and tile.predecessors is not None:
            self.device.fill(rows.predecessors, 0xFF, stream)
            high, wide = tile.predecessors.shape
            copy(rows.predecessors[:high, :wide], tile.predecessors)

    def to_host(
        self, tile: Tile, rows: DeviceRows, copy: Callable[[Any, Any], object], stream: Any = None
    ) -> None:
        """Copy rows to a tile of a host matrix, without their padding."""
        if self.layout.reordered:
            self.reorder(rows.words, stream)
        copy(tile.values, rows.host_view(tile.values))
        if rows.predecessors is not None and tile.predecessors is not None:
            high, wide = tile.predecessors.shape
            copy(tile.predecessors, rows.predecessors[:high, :wide])

    # ---- the rows of a round --------------------------------------------------------------------

    def transpose(self, rows: DeviceRows, vertex: int, left: Array, stream: Any) -> None:
        """Transpose the columns of the vertices from ``vertex`` on into ``left``."""
        depth, high = left.shape
        self._file["closure_tiled_columns"].launch(
            (high // _TRANSPOSED, depth // _TRANSPOSED),
            (_TRANSPOSED, 8),
            (rows.words, rows.words.pitch, vertex, left, left.pitch),
            stream=stream,
        )

    def close_rows(
        self,
        own: DeviceRows,
        vertex: int,
        left: Array,
        offset: int,
        spare: Array | None,
        stream: Any,
    ) -> None:
        """Close the rows of the vertices from ``vertex`` on over these vertices, block by block.

        ``left`` has the columns of the first block, transposed, in which these rows begin at
        ``offset``; ``spare`` takes the columns of later blocks in these rows.
        """
        rows = own.words.shape[0]
        for first in range(0, rows, BLOCK):
            if first:
                assert spare is not None
                left, offset = spare, 0
                self.transpose(own, vertex + first, left, stream)
            self._file["closure_tiled_diagonal"].launch(
                (1,),
                (_THREADS,),
                (left, left.pitch, offset + first, self._diagonal, self.cycle),
                stream=stream,
            )
            block, number = own[first : first + BLOCK], first // BLOCK
            self._close_block(block, vertex + first, stream)
            if rows > BLOCK:
                others = TileSet.without(self.layout.tile_columns, range(number, number + 1))
                columns = left[:BLOCK, offset : offset + rows]
                self.multiply(own, block, columns, others, stream)

    def _close_block(self, block: DeviceRows, vertex: int, stream: Any) -> None:
        """Close the rows of a block, after its diagonal block."""
        words = block.words
        if self.layout.paths:
            self._file["closure_tiled_strips"].launch(
                (self.layout.tile_columns,),
                (_THREADS,),
                (
                    words, block.predecessors, words.pitch, vertex, self._diagonal, self.cycle,
                ),
                stream=stream,
            )  # fmt: skip
            return
        tiles = TileSet.without(self.layout.tile_columns, range(0))
        if self._block is None:
            self._block = self.pack_product(block, block, self._diagonal, tiles)
        else:
            self._block.update(words=words, right=words)
        self.launch_product(self._block, tiles.count(1), stream)

    # ---- the product ----------------------------------------------------------------------------

    def multiply(
        self, rows: DeviceRows, closed: DeviceRows, left: Array, tiles: TileSet, stream: Any
    ) -> None:
        """Relax some tiles of the rows through the vertices of closed rows."""
        depth = left.shape[0]
        step = min(depth, _NOTED_DEPTH) if self.layout.paths else depth
        for k in range(0, depth, step):
            part = slice(k, min(k + step, depth))
            params = self.pack_product(rows, closed[part], left[part], tiles)
            self.launch_product(params, tiles.count(rows.words.shape[0] // BLOCK), stream)

    def pack_product(
        self, rows: DeviceRows, closed: DeviceRows, left: Array, tiles: TileSet
    ) -> Struct:
        """Return the parameters of a product."""
        return _PARAMS.pack(
            words=rows.words,
            predecessors=rows.predecessors,
            stride=rows.words.pitch,
            left=left,
            left_stride=left.pitch,
            right=closed.words,
            right_predecessors=closed.predecessors,
            right_stride=closed.words.pitch,
            cycle=self.cycle,
            depth=left.shape[0],
            **tiles._asdict(),
        )

    def launch_product(self, params: Struct, tiles: int, stream: Any) -> None:
        """Launch a product of so many tiles."""
        if tiles:
            shared = self.layout.shared
            self._product.launch(
                (tiles,), (_PRODUCT_THREADS,), (params,), shared=shared, stream=stream
            )


# ---- How a matrix lies in device memory for the tiled closure -----------------------------------

BLOCK = constant("closure_tiled", "kBlock")  # vertices; rows of a tile
_TILE_BYTES = constant("closure_tiled", "kTileBytes")
_PANEL_BYTES = constant("closure_tiled", "kPanelBytes")

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
