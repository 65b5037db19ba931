"""Trips on shortest paths, by listing every path in exact arithmetic; no code is shared."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from graphs import arcs_of

import kleene as kl

Trip = tuple[int, int, Any]


def exact_arcs(g: kl.Graph, hops: bool) -> dict[tuple[int, int], Any]:
    """Return {(tail, head): length}, as integers or fractions."""
    return {
        ends: 1 if hops else weight if isinstance(weight, int) else Fraction(weight)
        for ends, weight in arcs_of(g).items()
    }


def distances_from(arcs: dict[tuple[int, int], Any], origin: int, n: int) -> dict[int, Any]:
    """Return the distances of vertices reached, by relaxing all arcs until nothing changes."""
    found: dict[int, Any] = {origin: 0}
    for _ in range(n):
        before = dict(found)
        for (u, v), length in arcs.items():
            if u in found and (v not in found or found[u] + length < found[v]):
                found[v] = found[u] + length
        if found == before:
            break
    return found


def paths_between(
    arcs: dict[tuple[int, int], Any], distances: dict[int, Any], origin: int, end: int
) -> list[list[tuple[int, int]]]:
    """Return all shortest paths as lists of arcs; there must be no cycle of length zero."""
    if end == origin:
        return [[]]
    return [
        [*path, (u, v)]
        for (u, v), length in arcs.items()
        if v == end and u != v and u in distances and distances[u] + length == distances[v]
        for path in paths_between(arcs, distances, origin, u)
    ]


def split_loads(
    g: kl.Graph, trips: list[Trip], hops: bool = False, limit: Any = None
) -> tuple[list[Fraction], list[bool]]:
    """Return the load of each arc, in the order of the graph, and which trips have a path."""
    arcs = exact_arcs(g, hops)
    load = dict.fromkeys(arcs, Fraction(0))
    assigned = []
    for origin, end, volume in trips:
        distances = distances_from(arcs, origin, g.n)
        assigned.append(end in distances and (limit is None or distances[end] <= limit))
        paths = paths_between(arcs, distances, origin, end) if assigned[-1] else []
        for path in paths:
            for arc in path:
                load[arc] += Fraction(volume) / len(paths)
    return list(load.values()), assigned


def least_cost(
    g: kl.Graph, trips: list[Trip], hops: bool = False, limit: Any = None
) -> tuple[Any, list[bool]]:
    """Return the sum of volume times distance, and which trips have a path."""
    arcs, cost, assigned = exact_arcs(g, hops), Fraction(0), []
    for origin, end, volume in trips:
        distances = distances_from(arcs, origin, g.n)
        assigned.append(end in distances and (limit is None or distances[end] <= limit))
        if assigned[-1]:
            cost += Fraction(volume) * distances[end]
    return cost, assigned
