"""Which column holds the weights: one rule for tables, files and graphs of other libraries.

Besides the ends, the column called weight, w, cost, length, distance, time, minutes or km is the
weight; two of them are refused. Without such a name it is the third column of three, if that holds
numbers; attributes of edges have no order, and another one is a weight only if it is named, as in
NetworkX. Streets that are lines have their lengths then. Otherwise there are no weights; a graph
whose table or edges have other numbers keeps their names, and the first call on its weights warns
that it counts hops, also of a graph in parts.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from numbers import Number
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kleene.errors import Code, GraphError, GraphWarning, Text
from kleene.graph.labels import is_missing

if TYPE_CHECKING:
    from kleene.graph.core import Graph

__all__ = [
    "GEOMETRY",
    "UNWEIGHTED",
    "WEIGHT_NAMES",
    "ChosenWeight",
    "NumbersLeft",
    "choose_weight",
    "holds_numbers",
    "is_number",
    "is_number_type",
    "is_weight_name",
    "keeping_numbers_left",
    "level_of_user",
    "named_weight",
    "numbers_left",
    "warn_of_numbers_left",
    "without_numbers_left",
]

WEIGHT_NAMES = ("weight", "w", "cost", "length", "distance", "time", "minutes", "km")

#: The weight of a street that is the length of its line.
GEOMETRY = "geometry"

#: What to do without weights.
UNWEIGHTED = Text("pass ", Code("weight=None"), " for an unweighted graph")

#: Types of pandas, Polars, Arrow and PyTorch.
_NUMBERS = re.compile(
    r"(?:torch\.|sparse\[)?(?:u?int\d+|b?float\d*|halffloat|double|decimal.*)(?:, .*\])?"
)
_INDEX = re.compile(
    r"(?:__index_level_\d+__|Unnamed: 0|index)?"
)  # row numbers, as pandas writes them
_MARK = "_numbers_left"  # in a graph's __dict__


class ChosenWeight(NamedTuple):
    """The column of the weight, or None; and the other columns of numbers where there is none."""

    at: int | None
    others: tuple[int, ...] = ()


def is_weight_name(name: Any) -> bool:
    """Return whether a column or attribute of this name holds weights."""
    return isinstance(name, str) and name.strip().lower() in WEIGHT_NAMES


def named_weight(names: Iterable[Any], what: str = "columns") -> Any:
    """Return the one of these names that is known for weights, or None; two are refused."""
    known = [name for name in names if is_weight_name(name)]
    if len(known) > 1:
        listed = " and ".join(map(repr, known))
        raise GraphError(
            f"the {what} {listed} may be the weights",
            advice=[Text("say which, ", Code(f"weight={known[0]!r}")), UNWEIGHTED],
            lead=": ",
        )
    return known[0] if known else None


def choose_weight(
    names: Sequence[Any],
    ends: Sequence[int],
    directions: int | None,
    is_number: Callable[[int], bool],
) -> ChosenWeight:
    """Return which column of a table is the weight, besides the ends and the directions."""
    rest = [
        i
        for i, name in enumerate(names)
        if i not in (*ends, directions) and not (isinstance(name, str) and _INDEX.fullmatch(name))
    ]
    name = named_weight(names[i] for i in rest)
    if name is not None:
        return ChosenWeight(next(i for i in rest if names[i] == name))
    numbers = tuple(i for i in rest if is_number(i))
    if len(rest) == 1 and rest[0] > max(ends) and numbers:
        return ChosenWeight(numbers[0])
    return ChosenWeight(None, numbers)


def holds_numbers(column: Any) -> bool:
    """Return whether a column of a table holds numbers, by its type; flags do not count.

    Of Python objects, those decide that are not missing.
    """
    kind = getattr(column, "dtype", getattr(column, "type", None))
    if kind is None:
        try:
            column = np.asarray(column)
        except (TypeError, ValueError):
            return False
        kind = column.dtype
    if str(kind).lower() == "object":
        present = (value for value in column if not is_missing(value))
        return is_number(next(present, None)) and all(map(is_number, present))
    return is_number_type(kind)


def is_number_type(kind: Any) -> bool:
    """Return whether a type of NumPy, pandas, Polars, Arrow or PyTorch is one of numbers."""
    kind = getattr(kind, "pyarrow_dtype", kind)
    kind = getattr(kind, "storage_type", kind)  # of an extension
    kind = getattr(getattr(kind, "categories", None), "dtype", kind)
    if hasattr(kind, "index_type"):  # a dictionary
        kind = kind.value_type
    if isinstance(kind, np.dtype):
        return kind.kind in "iuf"
    return _NUMBERS.fullmatch(str(kind).lower()) is not None


def is_number(value: Any) -> bool:
    """Return whether a value of a table or an attribute is a real number; a flag does not count."""
    return isinstance(value, Number) and not isinstance(value, (bool, complex))


# ---- numbers that were left -----------------------------------------------------------------


class NumbersLeft:
    """The columns of numbers that might have been the weights of a graph without weights."""

    def __init__(self, names: Sequence[Any], advice: str | None = None) -> None:
        self.names = names
        self._advice = advice or Code(f"weight={names[0]!r}")
        self._said = False

    def warn(self) -> None:
        """Warn, the first time."""
        if self._said:
            return
        self._said = True
        listed = ", ".join(map(repr, self.names))
        warnings.warn(
            GraphWarning(
                Text(
                    "the graph has no weights, so this call counts hops, but its table has "
                    f"numbers: {listed}. Say which are the weights when the graph is made, ",
                    self._advice,
                    "; or ",
                    Code("weight=None"),
                    ", if hops are meant",
                )
            ),
            stacklevel=level_of_user(),
        )


def level_of_user() -> int:
    """Return the stack level, for the caller, of the frame that called the package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("kleene."):
        level, frame = level + 1, frame.f_back
    return level


def numbers_left(graph: Graph) -> NumbersLeft | None:
    """Return the columns that might have been the weights of a graph."""
    left: NumbersLeft | None = graph.__dict__.get(_MARK)
    return left


def keeping_numbers_left(graph: Graph, left: NumbersLeft | None) -> Graph:
    """Return the graph, which keeps these columns in mind if it has no weights."""
    if left is not None and graph.weight_dtype is None:
        graph.__dict__[_MARK] = left
    return graph


def without_numbers_left(graph: Graph) -> Graph:
    """Return the graph, whose user asked for no weights."""
    graph.__dict__.pop(_MARK, None)
    return graph


def warn_of_numbers_left(graph: object) -> None:
    """Warn once if weights are missing, of a graph or its parts, that might have been meant."""
    left = graph.__dict__.get(_MARK)
    if left is not None:
        left.warn()
