"""Simple paths, shortest first: Yen's algorithm, in the order of NetworkX.

Of several paths of the same length, which comes first depends on how NetworkX searches from both
ends, and ``TwoSided`` does the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count, pairwise
from typing import Any

import networkx as nx

from kleene.interop.networkx.convert import with_fallback
from kleene.interop.networkx.graph import KleeneGraph, Weight
from kleene.interop.networkx.two_sided import TwoSided

__all__ = ["shortest_simple_paths"]


@with_fallback
def shortest_simple_paths(
    G: KleeneGraph, source: Any, target: Any, weight: Weight | None = None
) -> Iterator[list[Any]]:
    for role, node in (("source", source), ("target", target)):
        if node not in G:
            raise nx.NodeNotFound(f"{role} node {node} not in graph")
    search = TwoSided(G, G.arcs(weight, allow_hidden=True), weight is not None)
    shortest = search.path(G.ids[source], G.ids[target])
    if shortest is None:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    waiting, number = [(shortest[0], 0, shortest[1])], count(1)
    expected = {tuple(shortest[1])}  # the paths that wait
    found: list[list[int]] = []
    while waiting:
        _, _, path = heappop(waiting)
        expected.remove(tuple(path))
        yield [G.nodes[v] for v in path]
        found.append(path)
        lengths = [1 if weight is None else search.length(u, v) for u, v in pairwise(path)]
        for i, spur in enumerate(search.spurs(path, found)):
            if spur is None:
                continue
            way = path[:i] + spur[1]
            # Sums from the left, as NetworkX adds them; without weights, nodes are counted.
            cost = i + len(spur[1]) if weight is None else sum(lengths[:i]) + spur[0]
            if tuple(way) not in expected:
                heappush(waiting, (cost, next(number), way))
                expected.add(tuple(way))
