"""Paths and traversals that count edges: networkx's ``unweighted`` and ``breadth_first_search``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

import networkx as nx
import numpy as np

from kleene.interop.networkx.graph import KleeneGraph
from kleene.interop.networkx.result_dicts import (
    all_lengths,
    length_dict,
    path_dict,
    path_to,
    predecessor_lists,
)
from kleene.interop.networkx.search import SearchResult, hop_limit, search, search_all

__all__ = [
    "all_pairs_shortest_path", "all_pairs_shortest_path_length", "bfs_edges", "bfs_labeled_edges",
    "bfs_layers", "bfs_predecessors", "bfs_successors", "bfs_tree", "bidirectional_shortest_path",
    "descendants_at_distance", "generic_bfs_edges", "predecessor", "single_source_shortest_path",
    "single_source_shortest_path_length", "single_target_shortest_path",
    "single_target_shortest_path_length",
]  # fmt: skip


def single_source_shortest_path_length(
    G: KleeneGraph, source: Any, cutoff: float | None = None
) -> dict[Any, int]:
    start = G.position(source, f"Source {source} is not in G")
    return length_dict(G, search(G.unweighted_arcs, [start], hop_limit(cutoff)))


def single_target_shortest_path_length(
    G: KleeneGraph, target: Any, cutoff: float | None = None
) -> dict[Any, int]:
    end = G.position(target, f"Target {target} is not in G")
    return length_dict(G, search(G.unweighted_arcs.reversed, [end], hop_limit(cutoff)))


def all_pairs_shortest_path_length(
    G: KleeneGraph, cutoff: float | None = None
) -> Iterator[tuple[Any, dict[Any, int]]]:
    yield from all_lengths(G, G.unweighted_arcs, hop_limit(cutoff))


def single_source_shortest_path(
    G: KleeneGraph, source: Any, cutoff: float | None = None
) -> dict[Any, list[Any]]:
    start = G.position(source, f"Source {source} not in G")
    return path_dict(G, search(G.unweighted_arcs, [start], hop_limit(cutoff)))


def single_target_shortest_path(
    G: KleeneGraph, target: Any, cutoff: float | None = None
) -> dict[Any, list[Any]]:
    end = G.position(target, f"Target {target} not in G")
    return path_dict(
        G, search(G.unweighted_arcs.reversed, [end], hop_limit(cutoff)), backwards=True
    )


def all_pairs_shortest_path(
    G: KleeneGraph, cutoff: float | None = None
) -> Iterator[tuple[Any, dict[Any, list[Any]]]]:
    for source, result in search_all(G.unweighted_arcs, hop_limit(cutoff)):
        yield G.nodes[source], path_dict(G, result)


def bidirectional_shortest_path(G: KleeneGraph, source: Any, target: Any) -> list[Any]:
    start = G.position(source, f"Source {source} is not in G")
    end = G.position(target, f"Target {target} is not in G")
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
    start = G.position(source, f"Source {source} not in G")
    limit = hop_limit(max(1, cutoff)) if cutoff else None  # NetworkX checks after a level
    result = search(G.unweighted_arcs, [start], limit)
    lists = predecessor_lists(G, result)
    if target is None:
        return (lists, length_dict(G, result)) if return_seen else lists
    if target not in lists:
        return ([], -1) if return_seen else []
    return (lists[target], int(result.distances[G.ids[target]])) if return_seen else lists[target]


# ---- breadth-first traversal ---------------------------------------------------------------------


def _tree(G: KleeneGraph, source: Any, reverse: bool, depth_limit: float | None) -> Any:
    """Return the edges of the breadth-first tree, in search order."""
    if source not in G:
        kind = "digraph" if G.is_directed() else "graph"
        raise nx.NetworkXError(f"The node {source} is not in the {kind}.")
    links = G.unweighted_arcs.reversed if reverse else G.unweighted_arcs
    result = search(links, [G.ids[source]], hop_limit(depth_limit))
    children = result.order[1:]
    predecessors = G.names[result.predecessors[children]].tolist()
    return zip(predecessors, G.names[children].tolist(), strict=True)


def generic_bfs_edges(
    G: KleeneGraph, source: Any, neighbors: None = None, depth_limit: float | None = None
) -> Iterator[tuple[Any, Any]]:
    yield from _tree(G, source, False, depth_limit)


def bfs_edges(
    G: KleeneGraph,
    source: Any,
    reverse: bool = False,
    depth_limit: float | None = None,
    sort_neighbors: None = None,
) -> Iterator[tuple[Any, Any]]:
    yield from _tree(G, source, reverse, depth_limit)


def bfs_tree(
    G: KleeneGraph,
    source: Any,
    reverse: bool = False,
    depth_limit: float | None = None,
    sort_neighbors: None = None,
) -> Any:
    tree = nx.DiGraph()
    tree.add_node(source)
    tree.add_edges_from(_tree(G, source, reverse, depth_limit))
    return tree


def bfs_predecessors(
    G: KleeneGraph, source: Any, depth_limit: float | None = None, sort_neighbors: None = None
) -> Iterator[tuple[Any, Any]]:
    for parent, child in _tree(G, source, False, depth_limit):
        yield child, parent


def bfs_successors(
    G: KleeneGraph, source: Any, depth_limit: float | None = None, sort_neighbors: None = None
) -> Iterator[tuple[Any, list[Any]]]:
    empty = True
    for parent, edges in groupby(_tree(G, source, False, depth_limit), itemgetter(0)):
        empty = False
        yield parent, [child for _, child in edges]
    if empty:
        yield source, []


def bfs_layers(G: KleeneGraph, sources: Any) -> Iterator[list[Any]]:
    if sources in G:
        sources = [sources]
    start = list(set(sources))
    for source in start:
        if source not in G:
            raise nx.NetworkXError(f"The node {source} is not in the graph.")
    if start:
        yield from _layers(G, search(G.unweighted_arcs, [G.ids[s] for s in start]))


def _layers(G: KleeneGraph, result: SearchResult) -> Iterator[list[Any]]:
    bounds = np.cumsum(np.bincount(result.distances[result.order])).tolist()
    for begin, end in zip([0, *bounds], bounds, strict=False):
        yield G.names[result.order[begin:end]].tolist()


def descendants_at_distance(G: KleeneGraph, source: Any, distance: int) -> set[Any]:
    if source not in G:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    row = search(G.unweighted_arcs, [G.ids[source]]).distances
    return set(G.names[np.flatnonzero((row == distance) & (row >= 0))].tolist())


def bfs_labeled_edges(G: KleeneGraph, sources: Any) -> Iterator[tuple[Any, Any, str]]:
    if sources in G:
        sources = [sources]
    start = list(dict.fromkeys(sources))
    for source in start:
        if source not in G:
            raise KeyError(source)
    if not start:
        return
    result, links = search(G.unweighted_arcs, [G.ids[s] for s in start]), G.unweighted_arcs
    place = np.full(links.n, -1, dtype=np.int64)
    place[result.order] = np.arange(len(result.order))
    arcs = np.flatnonzero(place[links.tails] >= 0)
    arcs = arcs[np.argsort(place[links.tails[arcs]], kind="stable")]
    u, v = links.tails[arcs], links.neighbors[arcs]
    step = np.sign(result.distances[v] - result.distances[u])
    labels = np.array(["level", "forward", "reverse"], dtype=object)[step]
    labels[result.predecessor_arcs[v] == arcs] = "tree"
    if not G.is_directed():  # each edge once, from the endpoint reached first
        kept = (labels == "tree") | (step > 0) | ((step == 0) & (place[v] >= place[u]))
        u, v, labels = u[kept], v[kept], labels[kept]
    yield from zip(G.names[u].tolist(), G.names[v].tolist(), labels.tolist(), strict=True)
