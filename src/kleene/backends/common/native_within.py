"""Bounded searches with sparse answers: ``native/core/sssp/bounded_search.cpp``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kleene import _native
from kleene.backends.common.native_sssp import lengths_or_none, limit_array
from kleene.backends.task import WithinAnswer, WithinTask
from kleene.errors import Code, Text
from kleene.graph.checks import memory_for, over_budget

__all__ = ["bounded_search", "reached_rows"]


def bounded_search(task: WithinTask, available: int | None = None) -> WithinAnswer:
    """Return what each source reaches; refuse before the answer takes more memory than there is."""
    g = task.graph
    lengths = lengths_or_none(g, task.dtype, task.unit)
    most = np.iinfo(np.int64).max if task.most is None else task.most
    return reached_rows(
        task,
        available,
        lambda budget: _native.bounded_search(
            g.offsets, g.neighbors, lengths, task.sources, limit_array(task.limit, task.dtype),
            most, task.predecessors, budget, task.threads, task.progress,
        ),
    )  # fmt: skip


def reached_rows(
    task: WithinTask, available: int | None, search: Callable[[int], tuple[Any, ...]]
) -> WithinAnswer:
    """Return the rows of ``search(available)``; refuse when they take more bytes than that."""
    g = task.graph
    if available is None:
        entry = task.dtype.itemsize + g.id_dtype.itemsize * (2 if task.predecessors else 1)
        available = memory_for(2 * entry * len(task.sources) * g.n)
    try:
        return WithinAnswer(*search(available))
    except _native.MemoryNeeded as needed:
        raise over_budget(
            needed.args[0], available, f"what {len(task.sources):,} sources reach",
            "ask for fewer sources at a time", Text("a smaller ", Code("limit")),
            Text("a smaller ", Code("k")), Code("predecessors=False"),
        ) from None  # fmt: skip
