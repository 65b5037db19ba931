"""Shortest paths from single sources on the CPU; the algorithms are in ``native/core/sssp``.

One function for each native method: ``dijkstra(task)``, ``delta_stepping(task)``, ...
"""

from __future__ import annotations

from collections.abc import Callable

from kleene import _native
from kleene.backends.common.native_sssp import search
from kleene.backends.cpu import method_functions
from kleene.backends.task import Answer, Task

__all__: list[str] = []  # the functions are attributes by __getattr__


def _make(method: _native.Method) -> Callable[[Task], Answer]:
    """Return the function that runs one native method; one that stops early has horizons."""

    def run(task: Task) -> Answer:
        answer = search(method.name, task)
        return answer if method.stops_early else Answer(answer.values, answer.predecessors)

    return run


_METHODS = method_functions("sssp", _make)


def __getattr__(name: str) -> Callable[[Task], Answer]:
    if name in _METHODS:
        return _METHODS[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
