"""Answers that compute what was not asked for when it is read.

A tree has its values, and gets its predecessors at the first look. A matrix of some sources and
targets has its entries alone; paths are found one by one, and whole rows if need be.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kleene.backends.task import Answer
from kleene.system.cached_property import cached_property

__all__ = ["MatrixAnswer", "RowSource", "TreesAnswer"]

Array = NDArray[Any]


class RowSource(Protocol):
    """Where whole rows and paths come from."""

    def rows(self, sources: Array) -> Answer:
        """Return the whole rows of some sources, with predecessors."""
        ...

    def walks(self, source: int, vertices: Array) -> tuple[Array, Array]:
        """Return the paths between a source and some vertices: positions and offsets."""
        ...


class LinkSource(Protocol):
    """Where predecessors come from."""

    def predecessors(self, sources: Array) -> Array:
        """Return rows of predecessors."""
        ...


class TreesAnswer(Answer):
    """Whole rows of values; predecessors are computed at the first look.

    A copy or a pickle of it is an ordinary answer.
    """

    _sources: Array
    _link_source: LinkSource

    def __init__(self, values: Array, sources: Array, link_source: LinkSource) -> None:
        self.__dict__.update(
            values=values, horizons=None, _sources=sources, _link_source=link_source
        )

    @property
    def on_demand(self) -> bool:
        """Whether predecessors are not there yet."""
        return "predecessors" not in self.__dict__

    @property
    def has_paths(self) -> bool:
        """True: predecessors are computed when they are read."""
        return True

    @cached_property
    def predecessors(self) -> Array:
        """The predecessors of all rows."""
        return self._link_source.predecessors(self._sources)

    def links(self, rows: slice) -> Array:
        """Return some rows of the predecessors; fewer than all are not kept."""
        sources = self._sources[rows]
        if self.on_demand and len(sources) < len(self._sources):
            return self._link_source.predecessors(sources)
        return self.predecessors[rows]

    def rows(self, which: Array) -> Answer:
        """Return some rows; their predecessors are not kept."""
        if not self.on_demand:
            return super().rows(which)
        return Answer(self.values[which], self._link_source.predecessors(self._sources[which]))

    def __reduce__(self) -> tuple[Any, ...]:
        return Answer, (self.values, self.predecessors)


class MatrixAnswer(Answer):
    """The values of some targets; whole rows are computed where something reads them."""

    paths: bool  # did the call ask for them?
    _sources: Array
    _targets: Array
    _source_rows: RowSource

    def __init__(
        self,
        matrix: Array | None,  # None for one that is elsewhere
        sources: Array,
        targets: Array,
        source_rows: RowSource,
        paths: bool,
    ) -> None:
        self.__dict__.update(
            _matrix=matrix, _sources=sources, _targets=targets, _source_rows=source_rows,
            paths=paths, horizons=None,
        )  # fmt: skip

    @property
    def matrix(self) -> Array:
        """The values of the targets."""
        matrix: Array = self.__dict__["_matrix"]
        return matrix

    @property
    def on_demand(self) -> bool:
        """True: whole rows are not there."""
        return True

    @property
    def has_paths(self) -> bool:
        """Whether the call asked for paths."""
        return self.paths

    @cached_property
    def _whole(self) -> Answer:
        return self._source_rows.rows(self._sources)

    @property
    def values(self) -> Array:
        """Whole rows of values."""
        return self._whole.values

    @property
    def predecessors(self) -> Array | None:
        """Whole rows of predecessors, if the call asked for paths."""
        return self._whole.predecessors if self.paths else None

    def at(self, rows: int | slice, vertices: Array) -> Array:
        """Return the values of some of the targets in some rows."""
        values: Array = self.matrix[rows]
        return values if vertices is self._targets else values[..., self._columns(vertices)]

    def rows(self, which: Array) -> Answer:
        """Return whole rows of some sources; they are not kept."""
        return self._source_rows.rows(self._sources[which])

    def links(self, rows: slice) -> Array | None:
        """Return some rows of the predecessors; they are not kept."""
        if not self.paths or "_whole" in self.__dict__:
            return super().links(rows)
        return self._source_rows.rows(self._sources[rows]).predecessors

    def walks(self, row: int, vertices: Array) -> tuple[Array, Array] | None:
        """Return paths between the source of a row and some vertices."""
        return self._source_rows.walks(int(self._sources[row]), vertices) if self.paths else None

    @cached_property
    def _sorter(self) -> Array:
        return np.argsort(self._targets, kind="stable")

    def _columns(self, vertices: Array) -> Array:
        """Return the column of each of some targets."""
        places = np.searchsorted(self._targets, vertices, sorter=self._sorter)
        columns: Array = self._sorter[places]
        return columns
