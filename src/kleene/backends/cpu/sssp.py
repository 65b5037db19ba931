"""Shortest paths from single sources on the CPU; the algorithms are in ``native/core/sssp_*``."""

from __future__ import annotations

from collections.abc import Callable

from kleene.backends.common.native_sssp import search
from kleene.backends.task import Answer, Task

__all__ = ["bellman_ford", "delta_stepping", "dijkstra", "llp"]


def _method(name: str, stops: bool) -> Callable[[Task], Answer]:
    """Return the function that runs one native form; one that ``stops`` early has horizons."""

    def method(task: Task) -> Answer:
        answer = search(name, task)
        return answer if stops else Answer(answer.values, answer.predecessors)

    return method


dijkstra = _method("dijkstra", stops=True)
delta_stepping = _method("delta_stepping", stops=True)
bellman_ford = _method("bellman_ford", stops=False)
llp = _method("llp", stops=False)
