"""Johnson's algorithm (1977): all pairs with negative weights, by searches without any.

Every vertex gets a potential, so that the cost of each arc, its length plus the difference of the
potentials of its ends, is not negative and shortest paths stay shortest. The searches go by cost
and add up lengths along their trees.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.answer import Answer
from kleene.backends.common.native_search import arc_lengths, potentials, search
from kleene.backends.task import Task
from kleene.graph import Graph

__all__ = [
    "RISE",
    "add_up",
    "closed_chains",
    "exact_rows",
    "is_negative",
    "johnson",
    "rising",
]

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


# ---- Which cycles are negative, and how a search gets past those that only seem to be -----------
# The rule. A cycle of integers is negative when its sum is. One of floating-point lengths is
# negative when its sum, without rounding, is below ``-eps`` times the sum of its magnitudes, with
# the ``eps`` of the type that distances have. Less than that is explained by the rounding of the
# lengths themselves, as in 0.3 - 0.1 - 0.2, and counts as zero. Every method on every device goes
# by it: ``native/core/sssp/bellman_ford.cpp`` does the same in C++, and methods on matrices ask a
# search.
#
# A cycle of about zero may still lower distances, round after round. A search that runs into one
# starts again with rising sums: each step takes the distance and the length a few ``eps`` of their
# magnitudes higher than they are. All rounding along a cycle is less than what its steps rise, so
# that only cycles negative by the rule can still lower anything, and the search ends (rising sums
# keep their order, so that nothing else changes about it). It finds a tree of paths that are
# shortest up to rounding; distances are then added up along the tree as usual.
#
# What this may not see: a cycle that is negative by no more than the rounding of the distances
# around it. The answer is then right up to rounding all the same.

#: How much sums rise at each step, in ``eps``. A step may round down by one, and the cycle may be
#: below zero by another.
RISE = 4


def is_negative(graph: Graph, cycle: list[int], dtype: np.dtype[Any]) -> bool:
    """Is the cycle, given by its vertices in the order of arcs, negative by the rule?"""
    lengths = []
    for u, v in zip(cycle, cycle[1:] + cycle[:1], strict=True):
        row = graph.neighbors[graph.offsets[u] : graph.offsets[u + 1]]
        arc = graph.offsets[u] + np.searchsorted(row, v)
        lengths.append(1 if graph.weights is None else graph.weights[arc].astype(dtype).item())
    if dtype.kind != "f":
        return bool(sum(lengths) < 0)
    rounding = float(np.finfo(dtype).eps) * math.fsum(map(abs, lengths))
    return math.fsum(lengths) < -rounding


def rising(numbers: Array) -> Array:
    """Return floating-point numbers as they stand in sums that rise."""
    rise = RISE * np.finfo(numbers.dtype).eps
    raised: Array = numbers * np.where(numbers > 0, 1 + rise, 1 - rise).astype(numbers.dtype)
    return raised


def closed_chains(predecessors: Array) -> list[list[int]]:
    """Return the cycles that chains of predecessors close, each in the order of arcs."""
    # The last entry stands for "ended", and so does index -1.
    ancestor = np.append(predecessors, -1)
    for _ in range(len(predecessors).bit_length() + 1):
        ancestor = ancestor[ancestor]
    found, seen = [], set()
    for vertex in np.unique(ancestor[ancestor != -1]).tolist():  # all of them on cycles
        if vertex in seen:
            continue
        cycle = [vertex]
        while (before := int(predecessors[cycle[-1]])) != vertex:
            cycle.append(before)
        seen.update(cycle)
        found.append(cycle[::-1])
    return found


def add_up(graph: Graph, lengths: Array, predecessors: Array, distances: Array) -> None:
    """Set the distances of all vertices with predecessors to the sums along them, in place.

    ``lengths`` are those of ``graph.csc``.
    """
    offsets, sources, _ = graph.csc
    targets = np.repeat(np.arange(graph.n), np.diff(offsets))
    taken = predecessors[targets] == sources
    step = np.zeros_like(distances)
    step[targets[taken]] = lengths[taken]
    layer = np.flatnonzero(predecessors == -1)
    children = np.argsort(predecessors, kind="stable")
    begins = np.searchsorted(predecessors[children], np.arange(graph.n + 1))
    while len(layer):
        layer = np.concatenate([children[begins[u] : begins[u + 1]] for u in layer.tolist()])
        distances[layer] = distances[predecessors[layer]] + step[layer]
