"""Breadth-first search with a queue, one level at a time.

Every vertex enters the queue once, at its distance from the source; the search stops at a depth
limit, or after the level in which the last target was found.
"""

from __future__ import annotations

from kleene.backends.answer import Answer
from kleene.backends.task import Task

__all__ = ["queue"]


def queue(task: Task) -> Answer:
    """Search from each source in turn."""
    offsets, neighbors = task.graph.offsets.tolist(), task.graph.neighbors.tolist()
    values, predecessors = task.new_values(), task.new_predecessors()
    horizons = task.new_horizons()
    for row, source in enumerate(task.sources.tolist()):
        missing = None if task.targets is None else set(task.targets.tolist()) - {source}
        hops, predecessor = {source: 0}, {source: -1}
        level, depth = [source], 0
        while level:
            if depth == task.limit or (missing is not None and not missing):
                horizons[row] = depth
                break
            depth += 1
            next_level = []
            for u in level:
                for v in neighbors[offsets[u] : offsets[u + 1]]:
                    if v not in hops:
                        hops[v], predecessor[v] = depth, u
                        next_level.append(v)
            if missing is not None:
                missing.difference_update(next_level)
            level = next_level
        values[row, list(hops)] = list(hops.values())
        if predecessors is not None:
            predecessors[row, list(predecessor)] = list(predecessor.values())
        task.report(row + 1, len(task.sources))
    return Answer(values, predecessors, horizons)
