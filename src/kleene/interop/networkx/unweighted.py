"""Shortest paths that count edges: the functions of networkx's ``unweighted`` module."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx

from kleene.interop.networkx.graph import KleeneGraph
from kleene.interop.networkx.result_dicts import (
    all_lengths,
    length_dict,
    path_dict,
    path_to,
    predecessor_lists,
)
from kleene.interop.networkx.search import hop_limit, search, search_all

__all__ = [
    "all_pairs_shortest_path",
    "all_pairs_shortest_path_length",
    "bidirectional_shortest_path",
    "predecessor",
    "single_source_shortest_path",
    "single_source_shortest_path_length",
    "single_target_shortest_path",
    "single_target_shortest_path_length",
]


def _id(G: KleeneGraph, node: Any, message: str) -> int:
    if node not in G:
        raise nx.NodeNotFound(message)
    return G.ids[node]


def single_source_shortest_path_length(
    G: KleeneGraph, source: Any, cutoff: float | None = None
) -> dict[Any, int]:
    start = _id(G, source, f"Source {source} is not in G")
    return length_dict(G, search(G.unweighted_arcs, [start], hop_limit(cutoff)))


def single_target_shortest_path_length(
    G: KleeneGraph, target: Any, cutoff: float | None = None
) -> dict[Any, int]:
    end = _id(G, target, f"Target {target} is not in G")
    return length_dict(G, search(G.unweighted_arcs.reversed, [end], hop_limit(cutoff)))


def all_pairs_shortest_path_length(
    G: KleeneGraph, cutoff: float | None = None
) -> Iterator[tuple[Any, dict[Any, int]]]:
    yield from all_lengths(G, G.unweighted_arcs, hop_limit(cutoff))


def single_source_shortest_path(
    G: KleeneGraph, source: Any, cutoff: float | None = None
) -> dict[Any, list[Any]]:
    start = _id(G, source, f"Source {source} not in G")
    return path_dict(G, search(G.unweighted_arcs, [start], hop_limit(cutoff)))


def single_target_shortest_path(
    G: KleeneGraph, target: Any, cutoff: float | None = None
) -> dict[Any, list[Any]]:
    end = _id(G, target, f"Target {target} not in G")
    return path_dict(
        G, search(G.unweighted_arcs.reversed, [end], hop_limit(cutoff)), backwards=True
    )


def all_pairs_shortest_path(
    G: KleeneGraph, cutoff: float | None = None
) -> Iterator[tuple[Any, dict[Any, list[Any]]]]:
    for source, result in search_all(G.unweighted_arcs, hop_limit(cutoff)):
        yield G.nodes[source], path_dict(G, result)


def bidirectional_shortest_path(G: KleeneGraph, source: Any, target: Any) -> list[Any]:
    start = _id(G, source, f"Source {source} is not in G")
    end = _id(G, target, f"Target {target} is not in G")
    result = search(G.unweighted_arcs, [start], target=end)
    if result.distances[end] < 0:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return path_to(G, result, end)


def predecessor(
    G: KleeneGraph,
    source: Any,
    target: Any = None,
    cutoff: float | None = None,
    return_seen: bool | None = None,
) -> Any:
    start = _id(G, source, f"Source {source} not in G")
    limit = hop_limit(max(1, cutoff)) if cutoff else None  # NetworkX checks after a level
    result = search(G.unweighted_arcs, [start], limit)
    lists = predecessor_lists(G, result)
    if target is None:
        return (lists, length_dict(G, result)) if return_seen else lists
    if target not in lists:
        return ([], -1) if return_seen else []
    return (lists[target], int(result.distances[G.ids[target]])) if return_seen else lists[target]
