"""The files of a closure in rounds: two copies of the matrix, and the ledger of what is written.

``d.npy.rounds`` is a directory. Round 0 reads the graph and writes the copy ``even``, round 1 reads
that and writes ``odd``, and so on. A line of the ledger says that some rows of a round are on the
disk. Whatever a process was writing when it ended, the rows that the round reads are whole: they
are in the other copy, which no write of this round touches.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.common.dense_driver import MatrixForm
from kleene.backends.common.tiles import Tile
from kleene.errors import StoreError
from kleene.stores.ledger import Entry, Ledger, naming, read_all, sync_folder, write_all
from kleene.stores.store import ledger_of
from kleene.system.atomic_file import reserve_space

__all__ = ["MatrixFile", "RoundFiles", "RoundProgress", "RoundTarget", "uncovered"]

Array = NDArray[Any]

_LEDGER = "ledger"
_COPIES = ("even", "odd")


class MatrixFile:
    """A copy of the matrix: a file of values, and one of predecessors where paths are kept."""

    def __init__(self, path: Path, form: MatrixForm, n: int, paths: bool) -> None:
        row = Tile.empty(form, 1, n, paths)
        files = (path.with_suffix(".values"), path.with_suffix(".predecessors"))
        self._parts = list(zip(files, map(len, row.buffers), strict=False))
        self._n, self._item = n, form.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all files."""
        return sum(self._n * row for _, row in self._parts)

    @property
    def exists(self) -> bool:
        """Whether the files are there, in their size."""
        return all(p.exists() and p.stat().st_size == self._n * row for p, row in self._parts)

    def create(self) -> None:
        """Make the files, with their space on the disk reserved."""
        for path, row in self._parts:
            with naming(path), open(path, "wb") as file:
                reserve_space(file.fileno(), 0, self._n * row, path)
                os.fsync(file.fileno())
            sync_folder(path.parent)

    def remove(self) -> None:
        """Remove the files, if they are there."""
        for path, _ in self._parts:
            path.unlink(missing_ok=True)

    def read(self, first: int, rows: Tile) -> None:
        """Read rows, from the first on."""
        for (path, row), data in zip(self._parts, rows.buffers, strict=True):
            with naming(path), open(path, "rb", buffering=0) as file:
                file.seek(first * row)
                if not read_all(file, data):
                    raise StoreError(f"{path} is too short: remove {path.parent} to start again")

    def write(self, first: int, rows: Tile) -> None:
        """Write rows; they are on the disk when this returns."""
        for (path, row), data in zip(self._parts, rows.buffers, strict=True):
            with naming(path), open(path, "r+b", buffering=0) as file:
                file.seek(first * row)
                write_all(file, data)
                os.fsync(file.fileno())

    def diagonal(self, form: MatrixForm) -> Array:
        """Return the values of the diagonal, of a matrix that is not bits."""
        found = np.empty(self._n, form.dtype)
        (path, row), data = self._parts[0], found.view(np.uint8).data
        with naming(path), open(path, "rb", buffering=0) as file:
            for i in range(self._n):
                file.seek(i * (row + self._item))
                file.readinto(data[i * self._item : (i + 1) * self._item])
        return found


class RoundProgress:
    """How far a computation is, by the entries of its ledger.

    An entry says that some rows of the round of some vertices are written. The rows of a round
    count together, unless rounds of other vertices were begun between them.

    >>> progress = RoundProgress(4)
    >>> entries = [([0, 2], [0, 3]), ([0, 2], [3, 4]), ([2, 4], [0, 0]), ([2, 4], [1, 2])]
    >>> all(progress.add({"vertices": v, "rows": r}) for v, r in entries)
    True
    >>> progress.finished, progress.eliminated, progress.begun, progress.missing
    (1, 2, range(2, 4), [range(0, 1), range(2, 4)])
    """

    def __init__(self, n: int) -> None:
        self._n = n
        self.finished = self.eliminated = 0  # rounds, and vertices
        self.begun: range | None = None
        self._rows: list[range] = []

    @property
    def started(self) -> bool:
        """Whether some rows are written."""
        return self.finished > 0 or any(self._rows)

    @property
    def missing(self) -> list[range]:
        """The rows of the round begun that are not written; all, if none is."""
        return uncovered(self._n, self._rows)

    def add(self, entry: Entry) -> bool:
        """Add an entry; False if it cannot be one."""
        vertices, rows = _as_range(entry.get("vertices")), _as_range(entry.get("rows"))
        if vertices is None or rows is None or max(vertices.stop, rows.stop) > self._n:
            return False
        if vertices.start != self.eliminated or not vertices:
            return False
        if vertices != self.begun:
            self.begun, self._rows = vertices, []
        self._rows.append(rows)
        if not self.missing:
            self.finished += 1
            self.eliminated = vertices.stop
            self.begun, self._rows = None, []
        return True


class RoundTarget:
    """Where the rows of a round go: to a copy of the matrix, and into the ledger."""

    def __init__(
        self, file: MatrixFile, missing: list[range], record: Callable[[int, int], None]
    ) -> None:
        self._file, self._missing, self._record = file, missing, record

    def write(self, first: int, rows: Tile) -> None:
        """Write rows and record them, unless they were when the round was resumed."""
        stop = first + len(rows.values)
        if any(first < part.stop and part.start < stop for part in self._missing):
            self._file.write(first, rows)
            self._record(first, stop)


class RoundFiles:
    """The directory of a closure in rounds, held by this process; a context manager."""

    def __init__(self, folder: Path, ledger: Ledger, form: MatrixForm, n: int, paths: bool) -> None:
        self.folder, self._ledger, self._n, self._lock = folder, ledger, n, Lock()
        self._copies = [MatrixFile(folder / name, form, n, paths) for name in _COPIES]
        self.progress = RoundProgress(n)
        for number, entry in enumerate(ledger.entries, 2):
            if not self.progress.add(entry):
                raise StoreError(f"{ledger.path}:{number}: this is not an entry of a round")

    @staticmethod
    def folder_of(path: Path) -> Path:
        """Return the directory for the answer of this name."""
        return ledger_of(path).with_suffix(".rounds")

    @staticmethod
    def kept(folder: Path) -> Entry:
        """Return the header of the ledger in a directory; without fields where there is none."""
        found = Ledger.read(folder / _LEDGER)
        return {} if found is None else found[0]

    @classmethod
    def open(
        cls,
        folder: Path,
        header: Entry,
        adopt: Iterable[str],
        form: MatrixForm,
        n: int,
        paths: bool,
    ) -> RoundFiles:
        """Begin in a directory, or resume what is there; StoreError if that is other work."""
        new = not folder.exists()
        with naming(folder):
            folder.mkdir(exist_ok=True)
        try:
            return cls(folder, Ledger.open(folder / _LEDGER, header, adopt), form, n, paths)
        except BaseException:
            if new:
                shutil.rmtree(folder, ignore_errors=True)
            raise

    def prepare(self, rounds: int) -> None:
        """Make the copies that so many rounds need; those in use must be there."""
        done, used = self.progress.finished, set()
        if done:
            used.add(self.copy_of(done - 1))
        if self.progress.begun:
            used.add(self.copy_of(done))
        for copy in self._copies[: rounds if self.progress.eliminated < self._n else 0]:
            if copy not in used and not copy.exists:
                copy.create()
        for copy in used:
            if not copy.exists:
                raise StoreError(
                    f"{self.folder}: a file is missing or of another size, but the ledger says "
                    "that it is in use",
                    advice=["put it back, or remove the directory to start again"],
                )

    def copy_of(self, index: int) -> MatrixFile:
        """Return the copy that holds the matrix after a round, counted from 0."""
        return self._copies[index % len(_COPIES)]

    def begin(self, vertices: range) -> RoundTarget:
        """Begin the next round, or go on with it; return where its rows go."""
        if self.progress.begun != vertices:  # rows of a round of other vertices count no more
            self._record(vertices, 0, 0)
        copy, missing = self.copy_of(self.progress.finished), self.progress.missing
        return RoundTarget(copy, missing, partial(self._record, vertices))

    def _record(self, vertices: range, first: int, stop: int) -> None:
        entry = {"vertices": [vertices.start, vertices.stop], "rows": [first, stop]}
        with self._lock:
            self._ledger.append(entry)
            self.progress.add(entry)

    def remove(self) -> None:
        """Remove the directory; the ledger last, which tells that files are there."""
        for copy in self._copies:
            copy.remove()
        self.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def close(self) -> None:
        """Let other processes open it."""
        self._ledger.close()

    def __enter__(self) -> RoundFiles:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and not self.progress.started:
            self.remove()  # there is nothing to go on with
        self.close()


def _as_range(ends: Any) -> range | None:
    """Return the range of a pair of numbers as JSON has it."""
    right = isinstance(ends, list) and len(ends) == 2 and all(type(end) is int for end in ends)
    return range(*ends) if right and 0 <= ends[0] <= ends[1] else None


def uncovered(n: int, ranges: Iterable[range]) -> list[range]:
    """Return what ranges leave of 0 .. n - 1.

    >>> uncovered(10, [range(4, 6), range(0, 2), range(5, 9)])
    [range(2, 4), range(9, 10)]
    """
    left, at = [], 0
    for covered in sorted(ranges, key=lambda part: part.start):
        if covered.start > at:
            left.append(range(at, covered.start))
        at = max(at, covered.stop)
    return [*left, range(at, n)] if at < n else left
