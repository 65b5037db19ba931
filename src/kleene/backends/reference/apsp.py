"""All-pairs shortest paths on sparse graphs; those on dense ones are the closure over (min, +).

Johnson (1977) gives every vertex a potential, so that each arc's cost, its length plus the
difference of the potentials of its ends, is non-negative and shortest paths stay shortest; then
Dijkstra's algorithm runs from every source.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kleene.backends.answer import Answer
from kleene.backends.common.johnson import exact_rows
from kleene.backends.reference.sssp import (
    arc_weights,
    bellman_ford,
    dijkstra,
    dijkstra_rows,
    potentials,
)
from kleene.backends.task import Task

__all__ = ["johnson"]


def johnson(task: Task) -> Answer:
    """Make all arcs non-negative by potentials, then run Dijkstra's algorithm from each source."""
    if not task.graph.stats.negative:
        return dijkstra(task)
    heights = potentials(task)
    lengths = arc_weights(task.graph, task.dtype)
    s, t, _ = task.graph.coo
    reachable = heights[s] != task.semiring.zero(task.dtype)  # other arcs are never relaxed
    costs = np.zeros_like(lengths)
    costs[reachable] = lengths[reachable] + heights[s[reachable]] - heights[t[reachable]]
    np.maximum(costs, 0, out=costs)  # below zero by rounding only
    # Costs are not distances: the search cannot tell from them when it is past the targets.
    answer = dijkstra_rows(replace(task, targets=None), costs.tolist(), lengths.tolist())
    return exact_rows(task, answer, bellman_ford)
