"""Distances in another type than an engine computes in.

Hop counts are counted in the type of the vertex ids, and integer lengths are compared faster, more
of them at a time, than float64. A chunk of sources is searched from in the engine's type, and its
rows are converted while they are in the cache.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from kleene import _native
from kleene.backends.answer import Answer
from kleene.backends.common.limits import apply_limit
from kleene.backends.task import Progress, Task
from kleene.graph.no_path import no_path

__all__ = ["search_in_dtype", "unlimited"]

#: Sources searched from at once: as many as a search without weights takes together.
_CHUNK = 512


def unlimited(dtype: np.dtype[Any]) -> int:
    """Return the horizon of a search that nothing stopped."""
    return int(no_path(dtype))


def search_in_dtype(
    search: Callable[[Task], Answer], task: Task, engine_dtype: np.dtype[Any]
) -> Answer:
    """Search in the engine's integer type, a chunk of sources at a time, and convert the rows."""
    values, predecessors = task.empty_values(), task.empty_predecessors()
    horizons = task.new_horizons()
    limit = None if task.limit is None else math.floor(task.limit)
    buffer = np.empty((min(_CHUNK, len(task.sources)), task.graph.n), engine_dtype)
    for first in range(0, len(task.sources), _CHUNK):
        rows = slice(first, first + _CHUNK)
        sources = task.sources[rows]
        chunk = replace(
            task,
            sources=sources,
            limit=limit,
            dtype=engine_dtype,
            out=buffer[: len(sources)],
            out_predecessors=None,
            keep=False,
            progress=_offset_progress(first, task),
        )
        answer = apply_limit(chunk, search(chunk))
        _convert(answer.values, chunk.no_path, values[rows], task)
        if predecessors is not None:
            predecessors[rows] = answer.predecessors
        if answer.horizons is not None:
            stopped = answer.horizons != unlimited(engine_dtype)
            horizons[rows][stopped] = answer.horizons[stopped]
            if limit is not None:
                horizons[rows][answer.horizons >= limit] = task.limit
    return Answer(values, predecessors, horizons)


def _convert(values: Any, absent: int, to: Any, task: Task) -> None:
    if task.dtype == np.float64:  # on all threads
        lowest = 0 if absent == -1 else np.iinfo(values.dtype).min
        highest = np.iinfo(values.dtype).max - 1
        rows = np.arange(len(values), dtype=np.int32)
        _native.closure_export(values, rows, lowest, highest, task.no_path, to, task.threads)
        return
    to[...] = values
    to[values == absent] = task.no_path


def _offset_progress(first: int, task: Task) -> Progress | None:
    if task.progress is None:
        return None
    return lambda done, total: task.report(first + done, len(task.sources))
