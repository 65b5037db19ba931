"""Steps on single tiles of a matrix, on the CPU: see ``backends/common/closure_tiles``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from kleene import _native
from kleene.backends.common.closure_tiles import Tile
from kleene.backends.common.dense_driver import MatrixForm

__all__ = ["CpuTiles", "open_tiles"]


def open_tiles(form: MatrixForm, device: str, threads: int, nonnegative: bool) -> CpuTiles:
    """Return the engine for tiles of this form."""
    return CpuTiles(form, threads)


@dataclass(frozen=True)
class CpuTiles:
    """The steps by the native tiled engine."""

    form: MatrixForm
    threads: int

    def close(self, tile: Tile) -> bool:
        """Close a square; False at a negative cycle."""
        return _native.closure("tiled", self.form.semiring, *tile, self.threads)

    def relax(self, tile: Tile, left: NDArray[Any], right: Tile) -> None:
        """Relax a tile: take the best of it and left times right."""
        columns = tile.values.shape[1] * (64 if self.form.dtype == "uint64" else 1)
        _native.closure_multiply(
            self.form.semiring, left, *right, *tile, len(right.values), columns, self.threads
        )
