"""Rows of a table without a value where an arc is made: refused, or dropped and counted."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.errors import Code, GraphError, GraphWarning, Text
from kleene.graph.forms import adopt
from kleene.graph.labels import is_missing
from kleene.graph.weight_names import level_of_user

if TYPE_CHECKING:
    from kleene.graph.core import Graph

__all__ = ["DROP", "CompleteRows", "MissingRows"]

Array = NDArray[Any]

#: What to do about rows without a value.
DROP = (Text("pass ", Code("drop_missing=True"), " to leave them out"), "fill them in")


class MissingRows(NamedTuple):
    """The rows of a table that have no value in one of some columns, and which columns these are.

    It is false if there are none.
    """

    rows: Array
    total: int  # of all rows
    names: Sequence[Any]  # of columns; those without a name have a number
    line: int | None = None  # of the first of these rows, in a text

    @classmethod
    def of(cls, names: Sequence[Any], columns: Sequence[Array]) -> MissingRows:
        """Look for None, NaN, NaT and pandas.NA in columns."""
        found = [_without_value(values) for values in columns]
        named = [name for name, rows in zip(names, found, strict=True) if len(rows)]
        return cls(np.unique(np.concatenate(found)), len(columns[0]), named)

    def __bool__(self) -> bool:
        return len(self.rows) > 0

    def __str__(self) -> str:
        """Say how many rows there are, and which is the first."""
        listed = (f"column {n}" if isinstance(n, int) else repr(n) for n in self.names)
        *others, last = listed
        named = f"{', '.join(others)} or {last}" if others else last
        first, have = f"row {self.rows[0]:,}" if self.line is None else f"line {self.line:,}", "has"
        if len(self.rows) > 1:
            first, have = f"the first of them {first}", "have"
        return f"{len(self.rows):,} of {self.total:,} rows {have} no value in {named}, {first}"

    def refuse(self, advice: Sequence[str | Text] = DROP) -> None:
        """Raise GraphError if there are any."""
        if self:
            raise GraphError(str(self), advice=advice)

    def drop(self, file: str = "") -> CompleteRows | None:
        """Return the other rows, with a warning that says how many these are; None for no rows."""
        if not self:
            return None
        where = f"{file}: " if file else ""
        warnings.warn(GraphWarning(f"{where}dropped rows: {self}"), stacklevel=level_of_user())
        return CompleteRows(np.delete(np.arange(self.total), self.rows), self.total)


class CompleteRows(NamedTuple):
    """The rows of a table that are left, and how many there were."""

    numbers: Array
    total: int

    def numbering(self, graph: Graph) -> Graph:
        """Return the graph of these rows, which are numbered as in the whole table."""
        if graph.rows is None:
            return graph
        rows = replace(graph.rows, numbers=adopt(self.numbers), count=self.total)
        return graph._derived(graph.csr, rows=rows)


def _without_value(values: Array) -> Array:
    if values.dtype.kind in "fc":
        return np.flatnonzero(np.isnan(values))
    if values.dtype.kind in "mM":
        return np.flatnonzero(np.isnat(values))
    if values.dtype.kind == "O":
        return np.flatnonzero(np.fromiter(map(is_missing, values), bool, len(values)))
    return np.empty(0, np.int64)
