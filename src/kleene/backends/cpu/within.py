"""Bounded searches with sparse answers, by the native core."""

from __future__ import annotations

from kleene.backends.common.native_within import bounded_search
from kleene.backends.task import WithinAnswer, WithinTask

__all__ = ["bounded_dijkstra"]


def bounded_dijkstra(task: WithinTask) -> WithinAnswer:
    """Return what each source reaches; refuse before the answer takes more memory than there is."""
    return bounded_search(task)
