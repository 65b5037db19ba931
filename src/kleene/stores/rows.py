"""Answers in stores: rows are read when something asks for them, the whole only where it fits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.answer import Answer, LateRows, WholeRows
from kleene.stores.writer import DISTANCES, PREDECESSORS, StoreWriter
from kleene.system.cached_property import cached_property

__all__ = ["StoredRows", "answer_in_store"]

Array = NDArray[Any]


#: Bytes that are read at once, and kept, for one row: its neighbours are often asked for next.
_WINDOW = 2**22


class StoredRows(LateRows):
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

    @cached_property
    def array(self) -> Array:
        """All rows: mapped from ``.npy``, read from Zarr if there is memory for them."""
        return self.files.whole(self.name)

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

    def __reduce__(self) -> tuple[Any, ...]:
        return StoredRows, (self.files, self.name)


def answer_in_store(
    files: StoreWriter, horizons: Array | None = None, rest: WholeRows | None = None
) -> Answer:
    """Return the answer in a finished store; ``rest`` is given where it holds targets alone."""
    links = None if files.spec.predecessors is None else StoredRows(files, PREDECESSORS)
    return Answer(StoredRows(files, DISTANCES), links, horizons, rest)
