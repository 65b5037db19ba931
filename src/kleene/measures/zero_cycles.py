"""Cycles of arcs of weight zero, on which the number of shortest paths is not defined."""

from __future__ import annotations

import numpy as np

from kleene.backends.cpu.components import forward_backward
from kleene.backends.task import ComponentsTask
from kleene.errors import Code, RequestError, Text
from kleene.graph import Graph

__all__ = ["refuse_zero_cycles"]


def refuse_zero_cycles(graph: Graph) -> None:
    """Raise RequestError if arcs of weight zero form a cycle; an undirected edge is one."""
    if graph.weights is None or graph.stats.min_weight != 0:
        return
    zero = np.flatnonzero(graph.weights == 0)
    tails, heads = graph.coo.sources[zero], graph.coo.targets[zero]
    ends, places = np.unique(np.concatenate([tails, heads]), return_inverse=True)
    joined = Graph.from_edges(places[: len(zero)], places[len(zero) :], n=len(ends))
    part, _ = forward_backward(ComponentsTask(joined, 1))
    within = np.flatnonzero(part[places[: len(zero)]] == part[places[len(zero) :]])
    if len(within):
        tail, head = graph.label(int(tails[within[0]])), graph.label(int(heads[within[0]]))
        raise RequestError(
            f"the arc from {tail!r} to {head!r} has weight zero and lies on a cycle of such "
            "arcs, so the number of shortest paths is not defined",
            advice=[
                "contract the cycle, give the arc a small weight",
                Text("count arcs with ", Code("hops=True")),
            ],
        )
