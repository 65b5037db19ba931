"""Answers in stores: rows are read when something asks for them, the whole only where it fits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.common.limits import apply_limit
from kleene.backends.common.on_demand import MatrixAnswer, RowSource
from kleene.backends.common.predecessors import choose_predecessors
from kleene.backends.task import Answer, Task
from kleene.distributed.store_writer import DISTANCES, PREDECESSORS, StoreWriter
from kleene.system.cached_property import cached_property

__all__ = ["StoredAnswer", "StoredMatrix", "StoredRows", "complete_rows", "stored_columns"]

Array = NDArray[Any]


#: Bytes that are read at once, and kept, for one row: its neighbours are often asked for next.
_WINDOW = 2**22


def complete_rows(task: Task, answer: Answer, deterministic: bool) -> Answer:
    """Return rows of a closed matrix as a call returns them: within the limit, by rule if asked."""
    answer = apply_limit(task, answer)
    if deterministic:
        choose_predecessors(task, answer)
    return answer


def stored_columns(answer: Answer, targets: Array | None) -> Answer:
    """Return what a store holds of rows: all of them, or the values of the targets."""
    return answer if targets is None else Answer(answer.values[:, targets], None)


class StoredRows:
    """An array of a store, read by rows: ``stored[row]``, ``stored[first:stop]``, ``stored[rows]``.

    Parameters
    ----------
    files : StoreWriter
        The files of the store.
    name : str
        The array: ``"distances"`` or ``"predecessors"``.
    """

    def __init__(self, files: StoreWriter, name: str) -> None:
        self.files, self.name = files, name
        self._window: tuple[int, Array] = (0, np.empty(0))  # its first row, and some rows

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return self.files.spec.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its entries."""
        return self.files.spec.arrays[self.name]

    def __getitem__(self, which: int | slice | Array) -> Array:
        count = self.shape[0]
        if isinstance(which, slice):
            first, stop, step = which.indices(count)
            if step == 1:
                return self.files.read(self.name, first, max(first, stop))
            which = np.arange(first, stop, step)
        if isinstance(which, (int, np.integer)):
            return self._row(range(count)[which])
        rows = np.arange(count)[which]
        found = np.empty((len(rows), *self.shape[1:]), self.dtype)
        starts = np.flatnonzero(np.diff(rows, prepend=-2) != 1).tolist()
        for first, stop in zip(starts, [*starts[1:], len(rows)], strict=True):  # runs of rows
            found[first:stop] = self.files.read(
                self.name, int(rows[first]), int(rows[stop - 1]) + 1
            )
        return found

    def _row(self, row: int) -> Array:
        first, kept = self._window
        if not first <= row < first + len(kept):
            row_bytes = self.dtype.itemsize * self.files.spec.row_items
            count = max(1, _WINDOW // max(1, row_bytes))
            first = row - row % count
            kept = self.files.read(self.name, first, min(first + count, self.shape[0]))
            self._window = first, kept
        found: Array = kept[row - first]
        return found


class StoredAnswer(Answer):
    """Whole rows in a store."""

    _files: StoreWriter

    def __init__(self, files: StoreWriter, horizons: Array | None) -> None:
        self.__dict__.update(_files=files, horizons=horizons)

    @cached_property
    def values(self) -> Array:
        """All values: mapped from ``.npy``, read from Zarr if there is memory for it."""
        return self._files.whole(DISTANCES)

    @cached_property
    def predecessors(self) -> Array | None:
        """All predecessors, likewise."""
        return None if self._files.spec.predecessors is None else self._files.whole(PREDECESSORS)

    @cached_property
    def row_arrays(self) -> tuple[StoredRows, StoredRows | None]:
        """Values and predecessors, to read row by row."""
        links = None
        if self._files.spec.predecessors is not None:
            links = StoredRows(self._files, PREDECESSORS)
        return StoredRows(self._files, DISTANCES), links

    def rows(self, which: Array) -> Answer:
        """Return some rows."""
        values, links = self.row_arrays
        horizons = None if self.horizons is None else self.horizons[which]
        return Answer(values[which], None if links is None else links[which], horizons)

    def at(self, rows: int | slice, vertices: Array) -> Array:
        """Return the values of some vertices in some rows."""
        found: Array = self.row_arrays[0][rows][..., vertices]
        return found

    def links(self, rows: slice) -> Array | None:
        """Return some rows of the predecessors."""
        links = self.row_arrays[1]
        return None if links is None else links[rows]

    def __reduce__(self) -> tuple[Any, ...]:
        return StoredAnswer, (self._files, self.horizons)


class StoredMatrix(MatrixAnswer):
    """The values of some targets in a store; whole rows and paths are searched for."""

    _files: StoreWriter

    def __init__(
        self,
        files: StoreWriter,
        sources: Array,
        targets: Array,
        source_rows: RowSource,
        paths: bool,
    ) -> None:
        super().__init__(None, sources, targets, source_rows, paths)
        self.__dict__["_files"] = files

    @cached_property
    def _held(self) -> StoredRows:
        return StoredRows(self._files, DISTANCES)

    @cached_property
    def matrix(self) -> Array:
        """The values of the targets, mapped or read."""
        return self._files.whole(DISTANCES)

    def at(self, rows: int | slice, vertices: Array) -> Array:
        """Return the values of some of the targets in some rows."""
        values = self._held[rows]
        return values if vertices is self._targets else values[..., self._columns(vertices)]

    def __reduce__(self) -> tuple[Any, ...]:
        return StoredMatrix, (
            self._files, self._sources, self._targets, self._source_rows, self.paths
        )  # fmt: skip
