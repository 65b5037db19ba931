"""Products of matrices by the definition, a row of the answer at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.task import ProductTask

__all__ = ["broadcast"]

Array = NDArray[Any]

_TIMES = {
    "min_plus": np.add,
    "max_plus": np.add,
    "max_min": np.minimum,
    "max_times": np.multiply,
    "boolean": np.logical_and,
}


def broadcast(task: ProductTask) -> tuple[Array, Array | None]:
    """Combine a row of the left factor with all of the right one, and take the best by column."""
    values = task.new_values()
    chosen = np.empty(task.shape, np.int32) if task.argmin else None
    smallest = task.semiring == "min_plus"
    for i, row in enumerate(task.left):
        column = row[:, None]
        absent = (column == task.no_path) | (task.right == task.no_path)
        with np.errstate(over="ignore"):
            through = _TIMES[task.semiring](column, task.right)
        through[absent] = task.no_path  # integers add it as a number
        values[i] = through.min(axis=0) if smallest else through.max(axis=0)
        if chosen is not None:
            first = through.argmin(axis=0) if smallest else through.argmax(axis=0)
            chosen[i] = np.where(values[i] == task.no_path, -1, first)
        if task.progress is not None:
            task.progress(i + 1, len(values))
    return values, chosen
