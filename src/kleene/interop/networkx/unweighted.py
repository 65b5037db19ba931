"""Shortest paths that count edges: the functions of networkx's ``unweighted`` module."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import networkx as nx

from kleene.interop.networkx.answers import (
    all_lengths,
    length_dict,
    path_dict,
    path_to,
    predecessor_lists,
)
from kleene.interop.networkx.graph import KleeneGraph
from kleene.interop.networkx.search import chunks, hop_limit, search, visit_rows

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
    return length_dict(G, search(G.links, [start], hop_limit(cutoff)))


def single_target_shortest_path_length(
    G: KleeneGraph, target: Any, cutoff: float | None = None
) -> dict[Any, int]:
    end = _id(G, target, f"Target {target} is not in G")
    return length_dict(G, search(G.links.reversed, [end], hop_limit(cutoff)))


def all_pairs_shortest_path_length(
    G: KleeneGraph, cutoff: float | None = None
) -> Iterator[tuple[Any, dict[Any, int]]]:
    yield from all_lengths(G, G.links, hop_limit(cutoff))


def single_source_shortest_path(
    G: KleeneGraph, source: Any, cutoff: float | None = None
) -> dict[Any, list[Any]]:
    start = _id(G, source, f"Source {source} not in G")
    return path_dict(G, search(G.links, [start], hop_limit(cutoff)))


def single_target_shortest_path(
    G: KleeneGraph, target: Any, cutoff: float | None = None
) -> dict[Any, list[Any]]:
    end = _id(G, target, f"Target {target} not in G")
    return path_dict(G, search(G.links.reversed, [end], hop_limit(cutoff)), backwards=True)


def all_pairs_shortest_path(
    G: KleeneGraph, cutoff: float | None = None
) -> Iterator[tuple[Any, dict[Any, list[Any]]]]:
    for sources in chunks(G.links):
        found = visit_rows(G.links, sources, hop_limit(cutoff))
        for source, each in zip(sources.tolist(), found, strict=True):
            yield G.nodes[source], path_dict(G, each)


def bidirectional_shortest_path(G: KleeneGraph, source: Any, target: Any) -> list[Any]:
    start = _id(G, source, f"Source {source} is not in G")
    end = _id(G, target, f"Target {target} is not in G")
    found = search(G.links, [start], target=end)
    if found.row[end] < 0:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return path_to(G, found, end)


def predecessor(
    G: KleeneGraph,
    source: Any,
    target: Any = None,
    cutoff: float | None = None,
    return_seen: bool | None = None,
) -> Any:
    start = _id(G, source, f"Source {source} not in G")
    limit = max(1, math.ceil(cutoff)) if cutoff else None  # NetworkX looks after a level is done
    found = search(G.links, [start], hop_limit(limit))
    lists = predecessor_lists(G, found)
    if target is None:
        return (lists, length_dict(G, found)) if return_seen else lists
    if target not in lists:
        return ([], -1) if return_seen else []
    return (lists[target], int(found.row[G.ids[target]])) if return_seen else lists[target]
