"""The closure of a matrix over a semiring, by the Floyd-Warshall-Kleene recurrence.

After step k, entry (i, j) holds the best path from i to j whose inner vertices are all at most k
(Kleene 1956, Roy 1959, Floyd 1962, Warshall 1962). An entry changes only for a strictly better
path, which is what keeps predecessor chains free of cycles when cycles of weight zero exist (but
for rounding: see chains.py).

A cycle that is negative by rounding only must not be followed: the recurrence would double its
length again and again (Hougardy 2010). Searches take over there.

S. Hougardy, "The Floyd-Warshall algorithm on graphs with negative cycles", 2010.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.answer import Answer
from kleene.backends.reference.apsp import johnson
from kleene.backends.reference.predecessor_chains import reattach_to_sources
from kleene.backends.reference.sssp import arc_weights, potentials
from kleene.backends.task import Task

__all__ = ["floyd_warshall"]

Array = NDArray[Any]


def floyd_warshall(task: Task) -> Answer:
    """Close the whole matrix, then keep the rows of the sources."""
    g, s = task.graph, task.semiring
    arcs, weights = g.coo, arc_weights(g, task.dtype)
    kept = weights != s.zero(task.dtype)  # an arc of probability zero is no arc
    if s.name == "min_plus" and g.stats.negative:
        # Values would run away along a negative cycle, so look for one first. Past that, only
        # arcs that some source leads to matter, and no negative cycle is among them.
        kept &= potentials(task)[arcs.sources] != s.zero(task.dtype)
    rows, columns = arcs.sources[kept], arcs.targets[kept]

    matrix = np.full((g.n, g.n), s.zero(task.dtype), dtype=task.dtype)
    matrix[rows, columns] = weights[kept]
    np.fill_diagonal(matrix, s.one(task.dtype))
    predecessors = None
    if task.predecessors:
        predecessors = np.full((g.n, g.n), -1, dtype=g.neighbors.dtype)
        predecessors[rows, columns] = rows
        np.fill_diagonal(predecessors, -1)
    if not _close(task, matrix, predecessors):
        return johnson(task)

    values = task.new_values()
    values[...] = matrix[task.sources]
    answer = Answer(values, None if predecessors is None else predecessors[task.sources])
    return reattach_to_sources(task, answer, weights) if s.name == "min_plus" else answer


def _close(task: Task, matrix: Array, predecessors: Array | None) -> bool:
    """Close the matrix in place; False at a cycle that is better than the empty path."""
    s, n = task.semiring, len(matrix)
    one = s.one(task.dtype)
    for k in range(n):
        if s.better(matrix[k, k], one):
            return False
        through = s.times(matrix[:, k, None], matrix[None, k, :])
        improved = s.better(through, matrix)
        np.copyto(matrix, through, where=improved)
        if predecessors is not None:
            np.copyto(predecessors, predecessors[None, k, :], where=improved)
        task.report(k + 1, n)
    return not s.better(matrix.diagonal(), one).any()
