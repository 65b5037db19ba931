"""All-pairs shortest paths on sparse graphs: one search per source, spread over the cores.

``batched`` takes weights that are not negative; without weights it searches breadth first, many
sources in one sweep. ``johnson`` (Johnson 1977) first gives every vertex
a potential, so that the cost of each arc, its length plus the difference of the potentials of its
ends, is not negative and shortest paths stay shortest; the searches then go by cost and add up
lengths along their trees.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.cpu.bfs import hop_rows
from kleene.backends.cpu.sssp import bellman_ford, lengths_of, potentials, run
from kleene.backends.reference.apsp import exact_rows
from kleene.backends.task import Answer, Task

__all__ = ["batched", "johnson"]

Array = NDArray[Any]


def batched(task: Task) -> Answer:
    """Search from each source, as many at a time as there are cores."""
    if task.graph.weights is None:
        return hop_rows(task)
    return run("delta_stepping", task, lengths_of(task.graph.weights, task))


def johnson(task: Task) -> Answer:
    """Make all arcs non-negative by potentials, then search from each source."""
    if not task.graph.stats.negative:
        return batched(task)
    lengths = lengths_of(task.graph.weights, task)
    heights = potentials(replace(task, progress=None), lengths)
    # Costs are not distances: the search cannot tell from them when it is past the targets.
    answer = run("dijkstra", replace(task, targets=None), _costs(task, lengths, heights), lengths)
    return exact_rows(task, Answer(answer.values, answer.predecessors), bellman_ford)


def _costs(task: Task, lengths: Array, heights: Array) -> Array:
    g = task.graph
    heights[heights == task.no_path] = 0  # arcs from there are never looked at
    costs = lengths - heights[g.neighbors]
    costs += np.repeat(heights, np.diff(g.offsets))
    np.maximum(costs, 0, out=costs)  # below zero by rounding only
    return costs
