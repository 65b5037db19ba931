"""Checkpoints of a matrix in tiles: a file for each, and a ledger of those that are complete.

A checkpoint is the matrix after some rounds, tile by tile, each with its checksum, in one file that
workers write to at once. It counts when the ledger says so, which is after all tiles are on the
disk; the file before it is removed then. A run that resumes begins with the last one. Names of
files have a random part, so that a task of a process that was killed never writes to a file in use.
"""

from __future__ import annotations

import os
import secrets
import struct
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from kleene.backends.common.dense_driver import MatrixForm
from kleene.backends.common.tiles import Tile
from kleene.errors import NegativeCycleError, StoreError
from kleene.stores.ledger import Ledger, naming, read_all, sync_folder, write_all
from kleene.stores.tile_grid import TileGrid
from kleene.system.atomic_file import reserve_space

__all__ = ["Checkpoint", "Checkpoints"]

#: After the bytes of a tile: their checksum, and the rounds that it went through.
_TRAILER = struct.Struct("<IQ")

#: Tiles begin at multiples of this, so that machines with a shared file system write whole pages.
_PAGE = 4096


class Checkpoint(NamedTuple):
    """The file of a checkpoint, which travels to workers."""

    path: str
    rounds: int  # that the tiles went through
    grid: TileGrid
    form: MatrixForm
    paths: bool

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self.grid.tiles**2 * self._slot

    @property
    def _slot(self) -> int:
        row = Tile.empty(self.form, 1, self.grid.side, self.paths)
        tile = self.grid.side * sum(map(len, row.buffers))
        return -(-(tile + _TRAILER.size) // _PAGE) * _PAGE

    def create(self) -> None:
        """Make the file, with its space on the disk."""
        with naming(Path(self.path)), open(self.path, "xb") as file:
            reserve_space(file.fileno(), 0, self.size, self.path)

    def write(self, i: int, j: int, tile: Tile) -> None:
        """Write a tile; it is on the disk when this returns."""
        with naming(Path(self.path)), open(self.path, "r+b", buffering=0) as file:
            file.seek(self._offset(i, j))
            check = 0
            for part in tile.buffers:
                check = zlib.crc32(part, check)
                write_all(file, part)
            write_all(file, memoryview(_TRAILER.pack(check, self.rounds)))
            os.fsync(file.fileno())

    def read(self, i: int, j: int) -> Tile:
        """Return a tile; StoreError if it is not what was written."""
        rows, columns = (len(self.grid.vertices(x)) for x in (i, j))
        tile = Tile.empty(self.form, rows, columns, self.paths)
        with naming(Path(self.path)), open(self.path, "rb", buffering=0) as file:
            file.seek(self._offset(i, j))
            check, whole = 0, True
            for part in tile.buffers:
                whole, check = whole and read_all(file, part), zlib.crc32(part, check)
            if not whole or file.read(_TRAILER.size) != _TRAILER.pack(check, self.rounds):
                raise StoreError(
                    f"{self.path}: tile {i},{j} is damaged",
                    advice=["remove this file and its ledger to start again"],
                )
        return tile

    def _offset(self, i: int, j: int) -> int:
        return (i * self.grid.tiles + j) * self._slot


class Checkpoints:
    """The checkpoints of a store, and their ledger, open for this process alone."""

    def __init__(
        self, store: Path, header: dict[str, Any], grid: TileGrid, form: MatrixForm, paths: bool
    ) -> None:
        self._name = store.with_name(store.name + ".tiles")
        self._contents = (grid, form, paths)
        self._ledger = Ledger.open(f"{self._name}.ledger", header)
        self.last = self._find()
        self._remove_others()

    def start(self, rounds: int) -> Checkpoint:
        """Return a new checkpoint, with room on the disk for all tiles."""
        path = f"{self._name}-{secrets.token_hex(4)}"
        checkpoint = Checkpoint(path, rounds, *self._contents)
        checkpoint.create()
        return checkpoint

    def record(self, checkpoint: Checkpoint) -> None:
        """Make a checkpoint the last one: all of its tiles are on the disk."""
        sync_folder(self._name.parent)
        name = Path(checkpoint.path).name
        self._ledger.append({"rounds": checkpoint.rounds, "file": name})
        self.last = checkpoint
        self._remove_others()

    def remove(self) -> None:
        """Remove all of it, once the answer is complete."""
        self.last = None
        self._remove_others()
        self._ledger.path.unlink(missing_ok=True)

    @staticmethod
    def exist(store: Path) -> bool:
        """Return whether a store has a ledger of checkpoints."""
        return store.with_name(f"{store.name}.tiles.ledger").exists()

    @staticmethod
    def discard(store: Path) -> None:
        """Remove what a process left that was killed after it had finished the store."""
        name = f"{store.name}.tiles"
        for file in (*store.parent.glob(f"{name}-*"), store.with_name(f"{name}.ledger")):
            with suppress(OSError):
                file.unlink()

    def __enter__(self) -> Checkpoints:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        hopeless = kind is not None and issubclass(kind, NegativeCycleError)
        if kind is not None and (self.last is None or hopeless):
            self.remove()  # there is nothing to resume, and other calls may take the name
        self._ledger.close()

    def _find(self) -> Checkpoint | None:
        """Return the last checkpoint of the ledger, if its file is there."""
        for entry in self._ledger.entries[-1:]:
            path = self._name.with_name(str(entry["file"]))
            found = Checkpoint(str(path), int(entry["rounds"]), *self._contents)
            if path.is_file() and path.stat().st_size == found.size:
                return found
        return None

    def _remove_others(self) -> None:
        """Remove the files that were not completed, or are not the last."""
        kept = None if self.last is None else Path(self.last.path).name
        for file in self._name.parent.glob(f"{self._name.name}-*"):
            if file.name != kept:
                with suppress(OSError):
                    file.unlink()
