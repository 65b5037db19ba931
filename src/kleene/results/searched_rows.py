"""Whole rows and paths for an answer that holds neither: plain searches, when they are needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.semiring import SEMIRINGS
from kleene.backends.task import Answer, Task
from kleene.graph import Graph
from kleene.planning.plan import plan_call
from kleene.planning.request import Request, graph_facts
from kleene.registry import find
from kleene.results.paths import Walks, follow_links

__all__ = ["SearchedRows"]

Array = NDArray[Any]


@dataclass(frozen=True)
class SearchedRows:
    """Rows by the method that a call on the CPU would choose."""

    graph: Graph
    semiring: str
    dtype: np.dtype[Any]
    reverse: bool  # paths lead to the sources

    def rows(self, sources: Array) -> Answer:
        """Return the whole rows of some sources, with predecessors."""
        graph = self.graph.transpose() if self.reverse else self.graph
        problem = "sssp" if self.semiring == "min_plus" else "closure"
        asked = None if self.dtype.kind == "b" else str(self.dtype)
        request = Request(problem, self.semiring, device="cpu", sources=len(sources), dtype=asked)
        plan = plan_call(graph_facts(graph), request)
        method = find(plan.problem, plan.method, plan.device)
        assert method is not None
        semiring, sources = SEMIRINGS[self.semiring], sources.astype(graph.id_dtype, copy=False)
        task = Task(graph, semiring, sources, None, None, True, self.dtype, plan.threads)
        answer: Answer = method.load()(task)
        return answer

    def walks(self, source: int, vertices: Array) -> Walks:
        """Return the paths between a source and some vertices: positions and offsets."""
        answer = self.rows(np.array([source]))
        assert answer.predecessors is not None
        none = answer.values[0, vertices] == SEMIRINGS[self.semiring].zero(self.dtype)
        starts, row = np.where(none, -1, vertices), np.zeros(len(vertices), np.int64)
        return follow_links(answer.predecessors, row, starts, self.reverse)
