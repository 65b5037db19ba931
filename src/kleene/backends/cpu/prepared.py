"""Rows by elimination: the graph is prepared once, then every row is a climb and a sweep.

:func:`rows` is the method ``prepared`` of sssp, apsp and closure, over any semiring. The graph
keeps its preparation for later calls (``kleene.prepared.cache``).

Elimination finds a negative cycle wherever it is in the graph. Whether a source leads to it, and
whether it is negative by more than rounding, a search decides, which then answers instead.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.answer import Answer
from kleene.backends.common.engine_dtype import search_in_dtype
from kleene.backends.common.johnson import johnson
from kleene.backends.task import NearestTask, Progress, Task
from kleene.graph import Graph
from kleene.prepared.cache import Preparation
from kleene.prepared.customization import Customization
from kleene.prepared.elimination import Elimination
from kleene.prepared.near import nearest_labels
from kleene.prepared.sweeps import trees

__all__ = ["nearest", "rows"]

Array = NDArray[Any]

#: Preparing takes as long as this many rows, for the progress bar: highways, two Zen 3 cores.
_PREPARING = 5000


def rows(task: Task) -> Answer:
    """Return one row per source: the best paths over the task's semiring."""
    graph, semiring = task.graph, task.semiring.name
    exact = semiring == "min_plus" and task.dtype == np.float64 and graph.fits_int32
    dtype = np.dtype(np.int32) if exact else task.dtype  # twice the lanes, the same sums
    preparation = Preparation.of(graph)
    first = 0 if preparation.eliminated else _PREPARING
    total = first + len(task.sources)
    parts = preparation.sure_parts(
        graph, semiring, dtype, threads=task.threads, progress=_part(task, 0, first, total)
    )
    if parts is None:
        return johnson(task)
    rest = replace(task, progress=_part(task, first, len(task.sources), total))
    run = partial(_sweep, *parts)
    return search_in_dtype(run, rest, dtype) if exact else run(rest)


def nearest(task: NearestTask) -> tuple[Array, Array]:
    """Return the distances of every vertex from its k nearest facilities, and which these are."""
    graph = task.graph
    if task.unit and graph.weights is not None:
        graph = Graph(graph.csr._replace(weights=None), graph.directed)
    elimination, customization = task.prepared or Preparation.of(graph).parts(
        graph, "min_plus", task.dtype, threads=task.threads
    )
    limit = None if task.limit is None else int(task.limit)
    return nearest_labels(
        elimination, customization, task.facilities, task.k,
        limit=limit, threads=task.threads, progress=task.progress,
    )  # fmt: skip


def _sweep(elimination: Elimination, customization: Customization, task: Task) -> Answer:
    values, predecessors = task.empty_values(), task.empty_predecessors()
    trees(
        elimination, customization, task.sources, values, predecessors,
        threads=task.threads, progress=task.progress,
    )  # fmt: skip
    return Answer(values, predecessors)


def _part(task: Task, first: int, share: int, total: int) -> Progress | None:
    """Return the progress of a part of the work, which has a share of the whole."""
    if task.progress is None:
        return None
    return lambda done, of: task.report(first + share * done // max(1, of), total)
