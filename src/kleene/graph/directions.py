"""Directions of table rows: a column such as OpenStreetMap's "oneway".

1 is a row from source to target, -1 one from target to source, 0 one that goes both ways.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import GraphError

__all__ = ["as_directions"]

Array = NDArray[Any]

_MEANING = {
    **dict.fromkeys(("yes", "true", "1"), 1),
    **dict.fromkeys(("-1", "reverse"), -1),
    **dict.fromkeys(("no", "false", "0", "", "none", "nan", "<na>"), 0),
    **dict.fromkeys(("reversible", "alternating"), 0),  # it changes with the time of the day
}


def as_directions(column: Array, name: str) -> NDArray[np.int8]:
    """Return the direction of each row from a column that says whether it is one-way.

    True, 1 and "yes" are one-way; False, 0, "no" and missing values go both ways; -1 and "reverse"
    are one-way from target to source.
    """
    kind = column.dtype.kind
    if kind == "b":
        return column.astype(np.int8)
    if kind in "iuf":
        values = np.where(np.isnan(column), 0, column) if kind == "f" else column
        wrong = ~np.isin(values, (-1, 0, 1))
        if wrong.any():
            raise _unknown(name, int(wrong.argmax()), column)
        return values.astype(np.int8)
    directions = np.empty(len(column), np.int8)
    meaning: dict[Any, int] = {}
    for row, value in enumerate(column.tolist()):
        known = meaning.get(value) if isinstance(value, str) else None
        if known is None:
            known = _MEANING.get(_text(value))
            if known is None:
                raise _unknown(name, row, column)
            if isinstance(value, str):
                meaning[value] = known
        directions[row] = known
    return directions


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip().lower()


def _unknown(name: str, row: int, column: Array) -> GraphError:
    value = column[row : row + 1].tolist()[0]
    return GraphError(
        f"column {name!r} has {value!r} in row {row}; a one-way column holds True or False, "
        "1 or 0, 'yes' or 'no', and -1 for a street that runs from target to source"
    )
