"""Whole rows and paths for an answer that holds neither: plain searches, when they are needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.answer import Answer
from kleene.backends.common.limits import apply_limit
from kleene.backends.common.walks import Walks, follow_links
from kleene.backends.semiring import SEMIRINGS
from kleene.backends.task import Task
from kleene.engine.planned import plan_value
from kleene.engine.work import run_method
from kleene.graph import Graph
from kleene.graph.no_path import NO_HOPS
from kleene.planning.ask import Ask
from kleene.planning.facts import searched_facts

__all__ = ["SearchedRows"]

Array = NDArray[Any]


@dataclass(frozen=True)
class SearchedRows:
    """Rows by the method that a call on the CPU would choose."""

    graph: Graph
    semiring: str
    dtype: np.dtype[Any]
    reverse: bool  # paths lead to the sources
    hops: bool = False  # every arc counts one
    limit: int | float | None = None

    def rows(self, sources: Array) -> Answer:
        """Return the whole rows of some sources, with predecessors."""
        graph = self.graph.transpose() if self.reverse else self.graph
        problem = "sssp" if self.semiring == "min_plus" else "closure"
        problem = "bfs" if self.hops else problem
        asked = None if self.dtype.kind == "b" else str(self.dtype)
        ask = Ask.of(
            problem, semiring=self.semiring, device="cpu", sources=len(sources), dtype=asked
        )._replace(keywords=())
        plan = plan_value(searched_facts(graph, self.dtype, self.hops), ask)
        semiring, sources = SEMIRINGS[self.semiring], sources.astype(graph.id_dtype, copy=False)
        task = Task(
            graph, semiring, sources, None, self.limit, True, self.dtype, plan.threads,
            hops=self.hops,
        )  # fmt: skip
        return apply_limit(task, run_method(plan, task))

    def walks(self, source: int, vertices: Array) -> Walks:
        """Return the paths between a source and some vertices: positions and offsets."""
        answer = self.rows(np.array([source]))
        assert answer.predecessors is not None
        no_path = NO_HOPS if self.hops else SEMIRINGS[self.semiring].zero(self.dtype)
        none = answer.values[0, vertices] == no_path
        starts, row = np.where(none, -1, vertices), np.zeros(len(vertices), np.int64)
        return follow_links(answer.predecessors, row, starts, self.reverse)
