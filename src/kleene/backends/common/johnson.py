"""Johnson's algorithm (1977): all pairs with negative weights, by searches without any.

Every vertex gets a potential, so that the cost of each arc, its length plus the difference of the
potentials of its ends, is not negative and shortest paths stay shortest. The searches go by cost
and add up lengths along their trees.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.answer import Answer
from kleene.backends.common.native_sssp import arc_lengths, potentials, search
from kleene.backends.task import Task

__all__ = ["exact_rows", "johnson"]

Array = NDArray[Any]


def johnson(task: Task) -> Answer:
    """Make all arcs non-negative by potentials, then search from each source on all cores."""
    costs = _costs(task, potentials(replace(task, progress=None)))
    # Costs are not distances: the search cannot tell from them when it is past the targets.
    answer = search("dijkstra", replace(task, targets=None), costs)
    answer = Answer(answer.values, answer.predecessors)
    return exact_rows(task, answer, lambda own: search("bellman_ford", own))


def _costs(task: Task, heights: Array) -> Array:
    g = task.graph
    heights[heights == task.no_path] = 0  # no search reaches the arcs from there
    costs = arc_lengths(g.weights, task) - heights[g.neighbors]
    costs += np.repeat(heights, np.diff(g.offsets))
    np.maximum(costs, 0, out=costs)  # below zero by rounding only
    return costs


def exact_rows(task: Task, answer: Answer, bellman_ford: Callable[[Task], Answer]) -> Answer:
    """Search again, without potentials, for rows in which some arc still improves a distance.

    In floating point, large potentials hide small differences of cost.
    """
    if task.dtype.kind != "f":
        return answer
    tails, heads, _ = task.graph.coo
    lengths = arc_lengths(task.graph.weights, task)
    eps = float(np.finfo(task.dtype).eps)
    for row in range(len(task.sources)):
        distances = answer.values[row]
        through, held = distances[tails] + lengths, distances[heads]
        better = np.flatnonzero(through < held)
        added = np.abs(distances[tails[better]]) + np.abs(lengths[better])
        if (held[better] - through[better] > 8 * eps * added).any():
            own = task.sources[row : row + 1]
            own_task = replace(task, sources=own, out=None, out_predecessors=None, progress=None)
            again = bellman_ford(own_task)
            distances[...] = again.values[0]
            if answer.predecessors is not None and again.predecessors is not None:
                answer.predecessors[row] = again.predecessors[0]
    return answer
