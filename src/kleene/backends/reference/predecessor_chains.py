"""Predecessors that rounding closed into a cycle, attached to their source again.

Where a cycle of floating-point weights sums to zero but for rounding, going round it may seem to
improve a value by a last bit, and predecessors may then form a cycle. The values are right up to
rounding all the same, so each vertex still has an arc that nearly attains its value, and chains of
such arcs lead to the source: a search that always takes the arc with the least slack finds them.
"""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.answer import Answer
from kleene.backends.task import Task

__all__ = ["reattach_to_sources"]

Array = NDArray[Any]


def reattach_to_sources(task: Task, answer: Answer, lengths: Array) -> Answer:
    """Return the answer with every chain of predecessors ending at its source."""
    if answer.predecessors is not None and task.dtype.kind == "f":
        for row, source in enumerate(task.sources.tolist()):
            if _has_cycle(answer.predecessors[row]):
                tree = _least_slack_tree(task, answer.values[row], lengths.tolist(), source)
                answer.predecessors[row] = tree
    return answer


def _has_cycle(predecessors: Array) -> bool:
    """Follow all chains at once, doubling the stride; those that end, end within n steps."""
    # The last entry stands for "ended", and so does index -1.
    ancestor = np.append(predecessors, -1)
    for _ in range(len(predecessors).bit_length() + 1):
        ancestor = ancestor[ancestor]
    return bool((ancestor != -1).any())


def _least_slack_tree(task: Task, values: Array, lengths: list[Any], source: int) -> Array:
    """Grow a tree from the source, always by the arc that misses its target's value by least."""
    offsets, neighbors = task.graph.offsets.tolist(), task.graph.neighbors.tolist()
    held = values.tolist()
    predecessors = np.full(task.graph.n, -1, dtype=task.graph.neighbors.dtype)
    attached: set[int] = set()
    heap = [(0.0, source, -1)]
    while heap:
        _, u, predecessor = heapq.heappop(heap)
        if u in attached:
            continue
        attached.add(u)
        predecessors[u] = predecessor
        for arc in range(offsets[u], offsets[u + 1]):
            v = neighbors[arc]
            if v not in attached and values[v] != task.no_path:
                heapq.heappush(heap, (abs(held[u] + lengths[arc] - held[v]), v, u))
    return predecessors
