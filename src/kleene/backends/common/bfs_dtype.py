"""Hop counts in another type than an engine counts in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from kleene.backends.task import Answer, Progress, Task

__all__ = ["convert_hops", "unlimited"]

#: Sources searched from at once, so that the rows to convert stay small.
_CHUNK = 1024


def unlimited(dtype: np.dtype[Any]) -> int:
    """Return the horizon of a search that nothing stopped."""
    return int(np.iinfo(dtype).max)


def convert_hops(
    search: Callable[[Task], Answer], task: Task, engine_dtype: np.dtype[Any]
) -> Answer:
    """Search in the engine's type, a chunk of sources at a time, and convert to the task's."""
    values, predecessors = task.empty_values(), task.empty_predecessors()
    horizons = task.new_horizons()
    for first in range(0, len(task.sources), _CHUNK):
        rows = slice(first, first + _CHUNK)
        chunk = replace(
            task,
            sources=task.sources[rows],
            dtype=engine_dtype,
            out=None,
            progress=_offset_progress(first, task),
        )
        hops = search(chunk)
        values[rows] = hops.values
        values[rows][hops.values == chunk.no_path] = task.no_path
        if predecessors is not None:
            predecessors[rows] = hops.predecessors
        if hops.horizons is not None:
            stopped = hops.horizons != unlimited(engine_dtype)
            horizons[rows][stopped] = hops.horizons[stopped]
    return Answer(values, predecessors, horizons)


def _offset_progress(first: int, task: Task) -> Progress | None:
    if task.progress is None:
        return None
    return lambda done, total: task.report(first + done, len(task.sources))
