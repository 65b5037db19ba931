"""Stores in Zarr: a group with the arrays ``distances`` and ``predecessors``, version 3.

A block of rows is one shard, hence one file, so that processes that write different blocks never
write the same file; a shard that is written anew takes the place of the old one whole. Chunks
inside a shard are about a megabyte, so that a row or a few columns are read without the rest.
Where rows or columns are those of some vertices, the arrays ``source`` and ``target`` list them.

Zarr waits for a thread of its own, by locks that Ctrl-C would leave taken for good. So all that it
does runs on threads that are not interrupted, a block at a time.
"""

from __future__ import annotations

import json
import os
import shutil
import zlib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib import import_module
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.engine.pieces import Piece
from kleene.errors import Code, MemoryBudgetError, RequestError, StoreError, Text
from kleene.stores.ledger import naming, sync_folder
from kleene.stores.writer import DISTANCES, PARTIAL, StoreWriter, refuse_existing
from kleene.system.formatting import format_bytes
from kleene.system.machine import available_memory
from kleene.system.threads import uninterrupted

__all__ = ["ZarrWriter"]

Array = NDArray[Any]

#: Entries of a chunk: a megabyte of four bytes each; and columns, of which a row has many chunks.
_CHUNK, _COLUMNS = 2**18, 2**16

#: What Zarr and its codecs raise for damaged bytes; Blosc and Zstandard those of the last line.
_UNDECODED = (
    *(ArithmeticError, EOFError, LookupError, TypeError, ValueError, zlib.error),
    *(RuntimeError, SystemError),
)

_POSITIONS = {"description": "positions of vertices in the graph, from 0"}
_METADATA = "zarr.json"  # of the group, and of each array


class ZarrWriter(StoreWriter):
    """One Zarr group, a directory."""

    def create(self, vertices: Mapping[str, Array]) -> None:
        """Make the group under its partial name, without data; with lists of vertices."""
        _import_zarr()
        partial = self._partial
        refuse_existing(self.path)
        with naming(self.path):
            if partial.exists():
                shutil.rmtree(partial)
            uninterrupted(self._create_group, vertices)
            for file in sorted(partial.rglob("*")):
                _sync(file)
            sync_folder(partial)
            sync_folder(partial.parent)

    def validate(self, done: Iterable[int]) -> None:
        """Raise StoreError unless the arrays are right and the shards of these blocks there."""
        if not self._root.is_dir():
            raise self._damaged(f"{self._root.name} is missing")
        for name, dtype in self.spec.arrays.items():
            with naming(self.path):
                array = uninterrupted(self._open, name)
            shape, shards = self.spec.shape, self._shards
            if (array.shape, array.shards, array.dtype) != (shape, shards, dtype):
                raise self._damaged(f"{name} was replaced by another array")
            for block in done if self.spec.row_items else ():
                if not self._shard(name, block).is_file():
                    raise self._damaged(f"block {block} of {name} is missing")

    def vertices(self, name: str) -> Array | None:
        """Return the list of sources, or of targets, if the store has one."""
        if not (self._root / name).is_dir():
            return None
        try:
            return uninterrupted(lambda: np.asarray(self._open(name)[:]))
        except StoreError:
            raise
        except _UNDECODED as error:
            raise self._damaged(f"{name} cannot be read ({error})") from None

    def discard(self) -> None:
        """Remove the group if it has its partial name."""
        shutil.rmtree(self._partial, ignore_errors=True)

    def finish(self) -> None:
        """Give the group its final name."""
        with naming(self.path):
            if self._partial.exists():
                for left in self._partial.rglob(f"*{PARTIAL}"):  # of processes that were killed
                    left.unlink()
                self._partial.rename(self.path)
            sync_folder(self.path.parent)

    def whole(self, name: str) -> Array:
        """Return an array of a finished store, read into memory; MemoryBudgetError without room."""
        rows, dtype = self.spec.shape[0], self.spec.arrays[name]
        needed, available = rows * self.spec.row_items * dtype.itemsize, available_memory()
        if available is not None and needed > available:
            advice = (
                Text(Code(f"zarr.open_array('{self.path / name}')"), " to read a part"),
                Text(Code("out='distances.npy'"), ", which is mapped into memory"),
            )
            raise MemoryBudgetError(
                f"the {name} in {self.path} take {format_bytes(needed)} and "
                f"{format_bytes(available)} are available",
                advice=advice,
                needed=needed,
                available=available,
            )
        return self.read(name, 0, rows)

    @property
    def unfinished(self) -> bool:
        """Whether the group still has its partial name."""
        return self._partial.exists()

    @property
    def _partial(self) -> Path:
        return self.path.with_name(self.path.name + PARTIAL)

    @property
    def _root(self) -> Path:
        partial = self._partial
        return partial if partial.exists() else self.path

    @property
    def _chunks(self) -> tuple[int, ...]:
        """The shape of a chunk; its rows divide those of a block."""
        columns = [
            max(1, ceil(side / max(1, ceil(side / _COLUMNS)))) for side in self.spec.shape[1:]
        ]
        most = max(1, _CHUNK // int(np.prod(columns, dtype=np.int64)))
        block = self.spec.block_rows
        return next(d for d in range(min(most, block), 0, -1) if block % d == 0), *columns

    @property
    def _shards(self) -> tuple[int, ...]:
        """The shape of a shard: whole chunks that cover a block."""
        rest = zip(self.spec.shape[1:], self._chunks[1:], strict=True)
        return self.spec.block_rows, *(max(1, ceil(side / chunk)) * chunk for side, chunk in rest)

    def _shard(self, name: str, block: int) -> Path:
        return self._root.joinpath(name, "c", str(block), *("0" for _ in self.spec.shape[1:]))

    def _create_group(self, vertices: Mapping[str, Array]) -> None:
        zarr = _import_zarr()
        group = zarr.create_group(
            zarr.storage.LocalStore(self._partial), attributes={"kleene": self._attributes()}
        )
        for name, dtype in self.spec.arrays.items():
            self._create_array(group, name, dtype)
        for name, ids in vertices.items():
            group.create_array(name, data=ids, dimension_names=(name,), attributes=_POSITIONS)

    def _create_array(self, group: Any, name: str, dtype: np.dtype[Any]) -> None:
        zarr = _import_zarr()
        group.create_array(
            name,
            shape=self.spec.shape,
            dtype=dtype,
            chunks=self._chunks,
            shards=self._shards,
            # 205 MB of distances below 1000 take 0.6 s and 65 MB, by Zstandard 2.0 s and 89 MB.
            compressors=zarr.codecs.BloscCodec(
                cname="lz4", clevel=3, shuffle="bitshuffle", typesize=dtype.itemsize
            ),
            dimension_names=("source", "target")[-len(self.spec.shape) :],
            attributes=self._meaning(name),
        )

    def _attributes(self) -> dict[str, Any]:
        """Return what the group says of itself."""
        fields = self.spec._asdict()
        return {name: fields[name] for name in ("call", "graph", "sources", "block_rows")}

    def _meaning(self, name: str) -> dict[str, Any]:
        """Return what an array says of itself."""
        call = self.spec.call
        if name == DISTANCES:
            what = f"best path values ({call.get('problem')}, {call.get('semiring', 'min_plus')})"
            no_path = call.get("no_path")
        else:
            what, no_path = "the vertex before each vertex on its path, by position", -1
        return {"description": what, "no_path": no_path}

    def _open(self, name: str) -> Any:
        folder = self._root / name
        try:
            found = (folder / _METADATA).stat()
            return _opened(folder, found.st_ino, found.st_mtime_ns)
        except (ValueError, TypeError, KeyError, FileNotFoundError, json.JSONDecodeError) as error:
            raise self._damaged(f"{name} cannot be read ({error})") from None

    def _write(self, name: str, piece: Piece, block: Array) -> None:
        if not block.size:
            return
        shard = self._shard(name, piece.index)
        shard.unlink(missing_ok=True)  # Zarr would read what an earlier process left there
        uninterrupted(self._put, name, piece, block)
        _sync(shard)
        for folder in list(shard.parents)[: len(self.spec.shape)]:
            sync_folder(folder)

    def _put(self, name: str, piece: Piece, block: Array) -> None:
        self._open(name)[piece.first : piece.stop] = block

    def _read(self, name: str, first: int, stop: int) -> Array:
        found = np.empty((stop - first, *self.spec.shape[1:]), self.spec.arrays[name])
        step = self.spec.block_rows
        try:
            for block in range(first // step, -(-stop // step)):
                own = range(max(first, block * step), min(stop, (block + 1) * step))
                rows = found[own.start - first : own.stop - first]
                uninterrupted(self._get, name, own, rows)
        except _UNDECODED as error:
            raise self._unreadable(name, first, stop, error) from None
        return found

    def _get(self, name: str, rows: range, to: Array) -> None:
        to[...] = self._open(name)[rows.start : rows.stop]


@lru_cache(maxsize=16)
def _opened(folder: Path, *_: int) -> Any:
    """Open an array whose metadata has not changed since: it takes milliseconds."""
    zarr = _import_zarr()
    array = zarr.open_array(zarr.storage.LocalStore(folder), mode="r+")
    return array.with_config({"write_empty_chunks": True})  # or such shards would have no file


def _sync(file: Path) -> None:
    if file.is_dir():
        sync_folder(file)
        return
    with open(file, "rb") as opened:
        os.fsync(opened.fileno())


def _import_zarr() -> Any:
    try:
        zarr = import_module("zarr")
        import_module("zarr.storage")
        import_module("zarr.codecs")
    except ImportError:
        raise RequestError(
            'a store in Zarr needs the package zarr: pip install "kleene[zarr]", or name an .npy '
            "file"
        ) from None
    return zarr
