"""Stores of ``.npy`` files: ``d.npy``, and ``d.predecessors.npy`` beside it.

Where rows or columns are those of some vertices, ``d.source.npy`` and ``d.target.npy`` list them.

The files have their full size from the start, with their space on the disk reserved, so that a
disk without room is noticed before anything is computed. Blocks are written to their places.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from kleene.engine.pieces import Piece
from kleene.stores.ledger import naming, sync_folder, write_all
from kleene.stores.writer import (
    DISTANCES,
    PARTIAL,
    PREDECESSORS,
    SOURCE,
    TARGET,
    StoreWriter,
    refuse_existing,
)
from kleene.system.atomic_file import reserve_space
from kleene.system.npy_header import read_array, write_array, write_header

__all__ = ["NpyWriter"]

Array = NDArray[Any]


#: All arrays, in the order in which they get their final names.
_NAMES = (TARGET, SOURCE, PREDECESSORS, DISTANCES)


class NpyWriter(StoreWriter):
    """One ``.npy`` file for each array."""

    def create(self, vertices: Mapping[str, Array]) -> None:
        """Make the files under their partial names, empty; with lists of sources and targets."""
        for name in (*self.spec.arrays, *vertices):
            refuse_existing(self.final(name))
        with naming(self.path):
            for name, ids in vertices.items():
                with open(self._partial(name), "wb") as file:
                    write_array(file, ids)
                    file.flush()
                    os.fsync(file.fileno())
        for name in self.spec.arrays:
            header, partial = self._header(name), self._partial(name)
            with naming(self.path), open(partial, "wb") as file:
                file.write(header)
                file.flush()
                reserve_space(file.fileno(), len(header), self._size(name), partial)
                os.fsync(file.fileno())
        with naming(self.path):
            sync_folder(self.path.parent)

    def validate(self, done: Iterable[int]) -> None:
        """Raise StoreError unless the files are there and of the right shapes and types."""
        for name in self.spec.arrays:
            file = self.file(name)
            if not file.is_file():
                raise self._damaged(f"{file.name} is missing")
            with naming(file), open(file, "rb") as opened:
                self._require_own(name, opened)

    def vertices(self, name: str) -> Array | None:
        """Return the list of sources, or of targets, if the store has one."""
        file = self.file(name)
        if not file.is_file():
            return None
        try:
            with naming(file), open(file, "rb") as opened:
                return read_array(opened)
        except ValueError as error:
            raise self._damaged(f"{file.name} cannot be read ({error})") from None

    def discard(self) -> None:
        """Remove the files that have partial names."""
        for name in _NAMES:
            self._partial(name).unlink(missing_ok=True)

    def finish(self) -> None:
        """Give the files their final names; the distances last, which says that all is done."""
        with naming(self.path):
            for name in _NAMES:
                partial = self._partial(name)
                if partial.exists():
                    partial.replace(self.final(name))
            sync_folder(self.path.parent)

    def whole(self, name: str) -> Array:
        """Return an array of a finished store, mapped."""
        file, dtype = self.final(name), self.spec.arrays[name].newbyteorder("<")
        with naming(file), open(file, "rb") as opened:
            self._require_own(name, opened)
            if not self.spec.row_items:  # there is nothing to map
                return np.empty(self.spec.shape, dtype)
            return np.memmap(opened, dtype, "r", len(self._header(name)), self.spec.shape)

    @property
    def unfinished(self) -> bool:
        """Whether the distances still have their partial name."""
        return self._partial(DISTANCES).exists()

    def final(self, name: str) -> Path:
        """Return the file of an array when it is finished."""
        return self.path if name == DISTANCES else self.path.with_suffix(f".{name}.npy")

    def file(self, name: str) -> Path:
        """Return the file of an array, finished or not."""
        partial = self._partial(name)
        return partial if partial.exists() else self.final(name)

    def _partial(self, name: str) -> Path:
        final = self.final(name)
        return final.with_name(final.name + PARTIAL)

    def _header(self, name: str) -> bytes:
        text = io.BytesIO()
        write_header(text, self.spec.arrays[name].newbyteorder("<"), self.spec.shape)
        return text.getvalue()

    def _row_bytes(self, name: str) -> int:
        return self.spec.arrays[name].itemsize * self.spec.row_items

    def _size(self, name: str) -> int:
        return len(self._header(name)) + self.spec.shape[0] * self._row_bytes(name)

    def _require_own(self, name: str, file: IO[bytes]) -> None:
        """Refuse an open file that has another shape or type."""
        header = self._header(name)
        same = file.read(len(header)) == header
        if not same or os.fstat(file.fileno()).st_size != self._size(name):
            raise self._damaged(f"{Path(file.name).name} was replaced by another file")

    def _write(self, name: str, piece: Piece, block: Array) -> None:
        data = block.reshape(-1).view(np.uint8).data
        with open(self.file(name), "r+b", buffering=0) as file:
            self._require_own(name, file)
            file.seek(len(self._header(name)) + piece.first * self._row_bytes(name))
            write_all(file, data)
            os.fsync(file.fileno())

    def _read(self, name: str, first: int, stop: int) -> Array:
        items, dtype = self.spec.row_items, self.spec.arrays[name].newbyteorder("<")
        offset = len(self._header(name)) + first * self._row_bytes(name)
        found = np.fromfile(self.file(name), dtype, (stop - first) * items, offset=offset)
        if len(found) < (stop - first) * items:
            raise self._unreadable(name, first, stop, "the file is too short")
        return found.reshape(stop - first, *self.spec.shape[1:])
