"""What a store holds, and what its files have in common, whatever their format.

A writer is a name and a specification: it travels to other processes, opens files when it needs
them, and knows nothing of the ledger. Several processes may write different blocks at once.
"""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.engine.pieces import Piece, split
from kleene.errors import RequestError, StoreError
from kleene.stores.ledger import naming

__all__ = [
    "DISTANCES",
    "PARTIAL",
    "PREDECESSORS",
    "SOURCE",
    "TARGET",
    "Receipt",
    "StoreSpec",
    "StoreWriter",
    "refuse_existing",
]

Array = NDArray[Any]

DISTANCES, PREDECESSORS = "distances", "predecessors"
SOURCE, TARGET = "source", "target"  # positions of the vertices of rows and columns
PARTIAL = ".partial"  # after the name of a store that is not finished

#: Blocks that no store has: a ledger that says so was edited.
_MOST_BLOCKS = 2**24

_DTYPES = ("bool", "int32", "int64", "float32", "float64")


class StoreSpec(NamedTuple):
    """What a store holds; stores of equal specifications resume each other."""

    call: dict[str, Any]  # the arguments that the values depend on, as JSON has them
    graph: str  # digest of the graph
    sources: str  # digest of the sources and targets
    shape: tuple[int, ...]  # of the distances, and of the predecessors; blocks are rows of it
    dtype: str
    predecessors: str | None  # their type
    block_rows: int

    @property
    def pieces(self) -> list[Piece]:
        """All blocks."""
        return split(self.shape[0], self.block_rows)

    @property
    def arrays(self) -> dict[str, np.dtype[Any]]:
        """The types of the arrays, by name."""
        types = {DISTANCES: self.dtype, PREDECESSORS: self.predecessors}
        return {name: np.dtype(dtype) for name, dtype in types.items() if dtype is not None}

    @property
    def row_items(self) -> int:
        """Entries of a row of each array."""
        return int(np.prod(self.shape[1:], dtype=np.int64))

    @classmethod
    def parse(cls, header: dict[str, Any], where: Path) -> StoreSpec:
        """Return the specification that a ledger holds; StoreError if it holds none."""
        fields: dict[str, Any] = {name: header.get(name) for name in cls._fields}
        shape, block_rows = fields["shape"], fields["block_rows"]
        right = (
            isinstance(shape, list)
            and len(shape) in (1, 2)
            and all(type(side) is int and 0 <= side < 2**62 for side in shape)
            and type(block_rows) is int
            and 0 < block_rows < 2**62
            and shape[0] // block_rows < _MOST_BLOCKS
            and fields["dtype"] in _DTYPES
            and fields["predecessors"] in (None, "int32", "int64")
            and isinstance(fields["call"], dict)
            and isinstance(fields["graph"], str)
            and isinstance(fields["sources"], str)
        )
        if not right:
            raise StoreError(f"{where} is not the ledger of a store, or was edited")
        fields["shape"] = tuple(shape)
        return cls(**fields)


class Receipt(NamedTuple):
    """CRC-32 of the bytes of a block, rows one after the other, little-endian."""

    distances: int
    predecessors: int | None = None


@dataclass(frozen=True)
class StoreWriter(ABC):
    """The files of a store: writes blocks and reads rows, from any process."""

    path: Path  # the name that the store has when it is finished
    spec: StoreSpec

    def write(self, piece: Piece, values: Array, predecessors: Array | None = None) -> Receipt:
        """Write a block; it is on the disk when this returns."""
        sums: list[int] = []
        given = {DISTANCES: values, PREDECESSORS: predecessors}
        for name, dtype in self.spec.arrays.items():
            array, shape = given[name], (piece.stop - piece.first, *self.spec.shape[1:])
            assert array is not None
            assert array.shape == shape, (array.shape, shape)
            block = np.ascontiguousarray(array, dtype.newbyteorder("<"))
            with naming(self.path):
                self._write(name, piece, block)
            sums.append(_checksum(block))
        return Receipt(*sums)

    def rows(self, first: int, stop: int) -> tuple[Array, Array | None]:
        """Return some rows of the distances, and of the predecessors if there are any."""
        values = self.read(DISTANCES, first, stop)
        links = self.read(PREDECESSORS, first, stop) if self.spec.predecessors else None
        return values, links

    def read(self, name: str, first: int, stop: int) -> Array:
        """Return some rows of an array."""
        with naming(self.path):
            return self._read(name, first, stop)

    def check(self, piece: Piece, receipt: Receipt) -> None:
        """Raise StoreError if a block is not what was written."""
        for name, right in zip(self.spec.arrays, receipt, strict=False):
            if _checksum(self.read(name, piece.first, piece.stop)) != right:
                raise StoreError(
                    f"{self.path}: the {name} of rows {piece.first:,} to {piece.stop - 1:,} differ "
                    "from those written"
                )

    def require_vertices(self, vertices: Mapping[str, Array]) -> None:
        """Raise StoreError unless the store has these lists of sources and targets."""
        for name, ids in vertices.items():
            found = self.vertices(name)
            if found is None or not np.array_equal(found, ids):
                what = "missing" if found is None else "another one"
                raise self._damaged(f"its list {name!r} is {what}")

    @abstractmethod
    def whole(self, name: str) -> Array:
        """Return an array of a finished store: mapped, or read where memory suffices."""

    # ---- for the process that has the ledger ----------------------------------------------

    @abstractmethod
    def create(self, vertices: Mapping[str, Array]) -> None:
        """Make the files under their partial names, empty; with lists of sources and targets."""

    @abstractmethod
    def vertices(self, name: str) -> Array | None:
        """Return the list of sources, or of targets, if the store has one."""

    @abstractmethod
    def validate(self, done: Iterable[int]) -> None:
        """Raise StoreError unless the files are there, with these blocks, of the right shapes."""

    @abstractmethod
    def discard(self) -> None:
        """Remove the files that have partial names."""

    @abstractmethod
    def finish(self) -> None:
        """Give the files their final names; those that have them already are left."""

    @property
    @abstractmethod
    def unfinished(self) -> bool:
        """Whether the distances still have their partial name."""

    @abstractmethod
    def _write(self, name: str, piece: Piece, block: Array) -> None:
        """Write a block of an array to the disk."""

    @abstractmethod
    def _read(self, name: str, first: int, stop: int) -> Array:
        """Read rows of an array."""

    def _damaged(self, what: str) -> StoreError:
        return StoreError(
            f"{self.path}: {what}, but its ledger says that blocks of it are done",
            advice=["put the store back, or remove it and its ledger to start again"],
        )

    def _unreadable(self, name: str, first: int, stop: int, why: object) -> StoreError:
        return StoreError(
            f"{self.path}: the {name} of rows {first:,} to {stop - 1:,} cannot be read ({why})"
        )


def refuse_existing(path: Path) -> None:
    """Refuse a file that may be of another graph: it has no ledger that says whose it is.

    An empty file, as ``tempfile`` makes them, holds nothing that could be lost.
    """
    empty = path.suffix == ".npy" and path.is_file() and not path.stat().st_size
    if empty or not path.exists():
        return
    if not (path.is_file() or path.is_dir()):
        raise RequestError(f"{path} is not a regular file, and cannot hold an answer")
    raise StoreError(
        f"{path} already exists, but no ledger beside it says what it holds: remove it, or choose "
        "another name"
    )


def _checksum(block: Array) -> int:
    return zlib.crc32(np.ascontiguousarray(block).reshape(-1).view(np.uint8).data)
