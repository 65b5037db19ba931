"""What a page says of a distributed result: sums over all ranks, and the farthest vertex."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kleene.distributed.mpi.agreement import guarded
from kleene.distributed.mpi.result import DistributedResult

__all__ = ["Summary", "summarize"]


class Summary(NamedTuple):
    """Statistics of the distances; the source does not count for mean and farthest."""

    reached: int
    mean: float | None
    farthest: int | None  # a vertex
    distance: Any  # of the farthest
    levels: list[int]  # vertices at 0, 1, 2 ... hops; empty for weighted distances


def summarize(result: DistributedResult) -> Summary:
    """Return statistics of a result, on all ranks; collective."""
    graph, comm = result.graph, result.graph.communicator
    with guarded(comm, "summarize"):
        vertices = graph.first + np.flatnonzero(result.reached)
        values = result.distances[result.reached]
        others = vertices != result.source
        last = int(values.argmax()) if others.any() else None
        best = None if last is None else (values[last].item(), -int(vertices[last]))
        total = float(values.sum(dtype=np.float64))
        counts = np.bincount(values) if result.problem == "bfs" else np.empty(0, np.int64)
        said = comm.gather_all((len(values), int(others.sum()), total, best, counts))
    reached, count, totals, bests, levels = zip(*said, strict=True)
    far = max((one for one in bests if one is not None), default=None)
    length = max(map(len, levels))
    added = sum(np.pad(level, (0, length - len(level))) for level in levels)
    return Summary(
        sum(reached),
        sum(totals) / sum(count) if sum(count) else None,
        None if far is None else -far[1],
        None if far is None else far[0],
        [] if not length else added.tolist(),  # type: ignore[union-attr]
    )
