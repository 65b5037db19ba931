"""What a method of a path problem gives back: rows of values and predecessors.

Where rows are and what is computed late do not depend on each other. Rows are *held* as arrays, or
as :class:`LateRows`: on a device, in a store, or in what computes predecessors at the first look.
An answer of some targets holds their values alone, and has a *rest*: :class:`WholeRows`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from kleene.system.cached_property import cached_property

__all__ = ["Answer", "KeptRows", "LatePredecessors", "LateRows", "RowSource", "WholeRows"]

Array = NDArray[Any]
Rows = Any  # an array, or LateRows


# ---- where rows are -----------------------------------------------------------------------------


class LateRows:
    """Rows that are not in host memory yet: ``rows[3]``, ``rows[2:5]``, ``rows[[2, 9]]`` get some.

    A pickle or a deep copy of it is an array, unless a class has something better.
    """

    @property
    def array(self) -> Array:
        """All rows in host memory: got once."""
        raise NotImplementedError

    @property
    def on_demand(self) -> bool:
        """Whether a row is computed when it is read, and not just copied or read."""
        return False

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return self.array.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its entries."""
        return self.array.dtype

    def __getitem__(self, which: int | slice | Array) -> Array:
        found: Array = self.array[which]
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return np.asarray, (self.array,)


class LinkSource(Protocol):
    """Where predecessors come from."""

    def predecessors(self, sources: Array) -> Array:
        """Return rows of predecessors."""
        ...


class LatePredecessors(LateRows):
    """Predecessors that are computed when they are read; fewer than all are not kept."""

    def __init__(self, sources: Array, source: LinkSource) -> None:
        self._sources, self._source = sources, source

    @cached_property
    def array(self) -> Array:
        """The predecessors of all rows."""
        return self._source.predecessors(self._sources)

    @property
    def on_demand(self) -> bool:
        """Whether they are not there yet."""
        return "array" not in self.__dict__

    def __getitem__(self, which: int | slice | Array) -> Array:
        sources = self._sources[which]
        everything = isinstance(which, slice) and len(sources) == len(self._sources)
        if everything or not self.on_demand:
            return super().__getitem__(which)
        found = self._source.predecessors(np.atleast_1d(sources))
        return found if np.ndim(sources) else found[0]


class KeptRows(NamedTuple):
    """Rows of an answer on a device: arrays of ``backends.cuda.runtime``, one row per source."""

    device: Any
    values: Any
    predecessors: Any  # or None


# ---- the rest of an answer of some targets ------------------------------------------------------


class RowSource(Protocol):
    """Where whole rows and paths come from."""

    def rows(self, sources: Array) -> Answer:
        """Return the whole rows of some sources, with predecessors."""
        ...

    def walks(self, source: int, vertices: Array) -> tuple[Array, Array]:
        """Return the paths between a source and some vertices: positions and offsets."""
        ...


class WholeRows:
    """Whole rows and paths for the values of some targets, computed where something reads them.

    Parameters
    ----------
    sources, targets : array of int
        The positions of the rows and columns that the answer holds.
    source : RowSource
        What computes them.
    paths : bool
        Did the call ask for paths?
    """

    def __init__(self, sources: Array, targets: Array, source: RowSource, paths: bool) -> None:
        self._sources, self._targets, self._source = sources, targets, source
        self.paths = paths

    @cached_property
    def every(self) -> Answer:
        """The rows of all sources."""
        return self._source.rows(self._sources)

    def some(self, which: slice | Array) -> Answer:
        """Return the rows of some sources; they are not kept."""
        return self._source.rows(self._sources[which])

    def links(self, which: slice) -> Array | None:
        """Return some rows of the predecessors; they are not kept."""
        if not self.paths:
            return None
        if "every" in self.__dict__:
            return self.every.links(which)
        return self.some(which).predecessors

    def walks(self, row: int, vertices: Array) -> tuple[Array, Array] | None:
        """Return paths between the source of a row and some vertices."""
        return self._source.walks(int(self._sources[row]), vertices) if self.paths else None

    def columns(self, vertices: Array) -> slice | Array:
        """Return where some of the targets are in the rows that the answer holds."""
        if vertices is self._targets:
            return slice(None)
        columns: Array = self._sorter[np.searchsorted(self._targets, vertices, sorter=self._sorter)]
        return columns

    @cached_property
    def _sorter(self) -> Array:
        return np.argsort(self._targets, kind="stable")


# ---- both together ------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class Answer:
    """Path values and predecessors, one row per source.

    A method may take its own ``values`` and ``predecessors`` for arrays. What a result holds, it
    takes by rows, which all that is held can be, or as :attr:`whole_values`.

    Parameters
    ----------
    values : array or LateRows
        Whole rows; or the values of the targets, of an answer that has a ``rest``.
    predecessors : array or LateRows, optional
        Whole rows, if the call asked for paths; none with a ``rest``.
    horizons : array, optional
        Says how far each row is complete: every vertex whose distance is not larger is there and
        exact, and all others hold "no path". None when every row is complete.
    rest : WholeRows, optional
        What computes the whole rows, and the paths, of which only some values are held.
    kept : KeptRows, optional
        What is held on the device where it was computed, if it was left there. A pickle or a deep
        copy of the answer is on the host.
    """

    values: Rows
    predecessors: Rows | None
    horizons: Array | None = None
    rest: WholeRows | None = None
    kept: KeptRows | None = None

    @property
    def whole_values(self) -> Array:
        """Whole rows of values, in host memory."""
        rows = self.values if self.rest is None else self.rest.every.values
        values: Array = rows.array if isinstance(rows, LateRows) else rows
        return values

    @property
    def whole_predecessors(self) -> Array | None:
        """Whole rows of predecessors, in host memory, if the call asked for paths."""
        rows = self.predecessors
        if self.rest is not None and self.rest.paths:
            rows = self.rest.every.predecessors
        links: Array | None = rows.array if isinstance(rows, LateRows) else rows
        return links

    @property
    def on_demand(self) -> bool:
        """Whether a part of the answer is computed when it is read."""
        links = self.predecessors
        return self.rest is not None or (isinstance(links, LateRows) and links.on_demand)

    @property
    def has_paths(self) -> bool:
        """Whether the call asked for paths."""
        return self.predecessors is not None if self.rest is None else self.rest.paths

    def rows(self, which: Array) -> Answer:
        """Return some whole rows, in host memory; what is computed for them is not kept."""
        if self.rest is not None:
            return self.rest.some(which)
        links = None if self.predecessors is None else self.predecessors[which]
        horizons = None if self.horizons is None else self.horizons[which]
        return Answer(self.values[which], links, horizons)

    def at(self, rows: int | slice, vertices: Array) -> Array:
        """Return the values of some vertices in some rows; with a rest, of some of the targets."""
        columns = vertices if self.rest is None else self.rest.columns(vertices)
        found: Array = self.values[rows][..., columns]
        return found

    def links(self, rows: slice) -> Array | None:
        """Return some rows of the predecessors."""
        if self.rest is not None:
            return self.rest.links(rows)
        return None if self.predecessors is None else self.predecessors[rows]

    def walks(self, row: int, vertices: Array) -> tuple[Array, Array] | None:
        """Return paths to some vertices as positions and offsets, where links are not needed."""
        return None if self.rest is None else self.rest.walks(row, vertices)

    def __reduce__(self) -> tuple[Any, ...]:
        return Answer, (self.values, self.predecessors, self.horizons, self.rest)
