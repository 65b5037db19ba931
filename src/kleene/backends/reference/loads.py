"""Trips on their shortest paths, in plain Python: a search from each origin, and walks back."""

from __future__ import annotations

from collections import defaultdict, deque
from heapq import heappop, heappush
from typing import Any

import numpy as np

from kleene.backends.common.native_search import swallowed_weights
from kleene.backends.reference.sssp import bellman_ford
from kleene.backends.semiring import SEMIRINGS
from kleene.backends.task import LoadsAnswer, LoadsTask, Task
from kleene.graph.forms import arcs_between

__all__ = ["plain"]

#: The arcs of each vertex: number, head and length.
_Rows = list[list[tuple[int, int, Any]]]
#: The arcs of shortest paths by their head: number and tail.
_Into = dict[int, list[tuple[int, int]]]


def plain(task: LoadsTask) -> LoadsAnswer:
    """Return the loads by walking back along every path; shares are ratios of Python integers."""
    rows = _rows(task)
    arcs, assigned = np.zeros(task.graph.m), np.zeros(len(task.volumes), dtype=bool)
    trips = defaultdict(list)
    for i, origin in enumerate(task.origins.tolist()):
        trips[origin].append(i)
    # Negative lengths come with neither shares nor a limit: an arc into each vertex is enough.
    negative = task.graph.stats.negative and not task.hops
    for done, (origin, numbers) in enumerate(trips.items()):
        into = _last_arcs(task, origin) if negative else {}
        distances = dict.fromkeys(into, 0) if negative else _dijkstra(rows, origin)
        if task.limit is not None:
            distances = _within(distances, task.limit)
        assigned[numbers] = [v in distances for v in task.destinations[numbers].tolist()]
        numbers = [i for i in numbers if assigned[i]]
        ends = task.destinations[numbers].tolist()
        if task.split:  # what lies beyond the ends makes no difference
            distances = _within(distances, max((distances[v] for v in ends), default=0))
        into = into or _tight_arcs(rows, distances)
        paths = _count_paths(into, origin) if task.split else {}
        if task.split and len(paths) < len(into):
            raise swallowed_weights(task.graph, *_on_cycle(into, paths))
        tree = {} if task.split else _tree(into, origin)
        for end, volume in zip(ends, task.volumes[numbers].tolist(), strict=True):
            if task.split:
                _split(into, paths, end, volume, arcs)
            else:
                _walk(tree, origin, end, volume, arcs)
        if task.progress is not None:
            task.progress(done + 1, len(trips))
    return LoadsAnswer(arcs, assigned)


def _rows(task: LoadsTask) -> _Rows:
    g = task.graph
    unit = task.hops or g.weights is None
    lengths = [1] * g.m if unit else g.weights.tolist()  # type: ignore[union-attr]
    rows: _Rows = [[] for _ in range(g.n)]
    ends = zip(g.coo.sources.tolist(), g.coo.targets.tolist(), lengths, strict=True)
    for number, (tail, head, length) in enumerate(ends):
        rows[tail].append((number, head, length))
    return rows


def _dijkstra(rows: _Rows, origin: int) -> dict[int, Any]:
    """Return the distances of the vertices reached."""
    distances: dict[int, Any] = {}
    queue: list[tuple[Any, int]] = [(0, origin)]
    while queue:
        distance, u = heappop(queue)
        if u in distances:
            continue
        distances[u] = distance
        for _, v, length in rows[u]:
            if v not in distances:
                heappush(queue, (distance + length, v))
    return distances


def _last_arcs(task: LoadsTask, origin: int) -> _Into:
    """Return an arc into each vertex reached but the origin, where lengths may be negative."""
    graph = task.graph
    dtype = np.dtype(np.float64) if task.dtype.kind == "f" else task.dtype
    source, semiring = np.array([origin], graph.id_dtype), SEMIRINGS["min_plus"]
    found = bellman_ford(Task(graph, semiring, source, None, None, True, dtype, 1))
    assert found.predecessors is not None
    heads = np.flatnonzero(found.predecessors[0] >= 0)
    tails = found.predecessors[0][heads]
    arcs = zip(arcs_between(graph, tails, heads).tolist(), tails.tolist(), strict=True)
    return {origin: [], **{v: [arc] for v, arc in zip(heads.tolist(), arcs, strict=True)}}


def _within(distances: dict[int, Any], limit: Any) -> dict[int, Any]:
    return {v: distance for v, distance in distances.items() if distance <= limit}


def _tight_arcs(rows: _Rows, distances: dict[int, Any]) -> _Into:
    """Return the arcs that lie on shortest paths from the origin."""
    into: _Into = {v: [] for v in distances}
    for u, distance in distances.items():
        for number, v, length in rows[u]:
            if distance + length == distances.get(v) and u != v:
                into[v].append((number, u))
    return into


def _topological(into: _Into) -> list[int]:
    """Return the vertices, each after those that its arcs come from; none of a cycle."""
    left = {v: len(arcs) for v, arcs in into.items()}
    out = defaultdict(list)
    for v, arcs in into.items():
        for _, u in arcs:
            out[u].append(v)
    order = [v for v, count in left.items() if not count]
    for u in order:
        for v in out[u]:
            left[v] -= 1
            if not left[v]:
                order.append(v)
    return order


def _count_paths(into: _Into, origin: int) -> dict[int, int]:
    """Return the number of shortest paths to each vertex, in topological order."""
    paths: dict[int, int] = {}
    for v in _topological(into):
        paths[v] = 1 if v == origin else sum(paths[u] for _, u in into[v])
    return paths


def _on_cycle(into: _Into, paths: dict[int, int]) -> tuple[int, int]:
    """Return an arc of a cycle, on which no vertex comes before all others."""
    v = next(v for v in into if v not in paths)
    for _ in into:  # backward, until the cycle is reached
        v = next(u for _, u in into[v] if u not in paths)
    return next(u for _, u in into[v] if u not in paths), v


def _split(into: _Into, paths: dict[int, int], end: int, volume: float, arcs: Any) -> None:
    """Send a volume back from the end, to each vertex in proportion to its paths."""
    arriving = {end: volume}
    for v in reversed(paths):  # the reverse of the topological order
        share = arriving.pop(v, 0.0)
        if not share:
            continue
        for number, u in into[v]:
            part = share * (paths[u] / paths[v])
            arcs[number] += part
            arriving[u] = arriving.get(u, 0.0) + part


def _tree(into: _Into, origin: int) -> dict[int, tuple[int, int]]:
    """Return an arc into each vertex, that lead to the origin: arcs may have the length zero."""
    out = defaultdict(list)
    for v, arcs in into.items():
        for number, u in arcs:
            out[u].append((number, v))
    tree = {origin: (-1, -1)}
    queue = deque([origin])
    while queue:
        u = queue.popleft()
        for number, v in out[u]:
            if v not in tree:
                tree[v] = (number, u)
                queue.append(v)
    return tree


def _walk(
    tree: dict[int, tuple[int, int]], origin: int, end: int, volume: float, arcs: Any
) -> None:
    """Send a volume back along one path."""
    v = end
    while v != origin:
        number, v = tree[v]
        arcs[number] += volume
