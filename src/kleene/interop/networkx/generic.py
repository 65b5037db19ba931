"""The functions of networkx's ``generic`` module, which dispatch to the others by argument."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import networkx as nx

from kleene.interop.networkx import measures, unweighted, weighted
from kleene.interop.networkx.convert import with_fallback
from kleene.interop.networkx.graph import KleeneGraph, Weight
from kleene.interop.networkx.result_dicts import length_dict, path_dict, predecessor_lists
from kleene.interop.networkx.search import SearchResult, search, search_all

__all__ = [
    "all_pairs_all_shortest_paths", "all_shortest_paths", "average_shortest_path_length",
    "has_path", "shortest_path", "shortest_path_length", "single_source_all_shortest_paths",
]  # fmt: skip


def _method(weight: Weight | None, method: str) -> str:
    if method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")
    return "unweighted" if weight is None else method


def _to(G: KleeneGraph, target: Any, weight: Weight | None, method: str) -> SearchResult:
    """Search backwards from a target."""
    if method == "unweighted":
        arcs, message = G.unweighted_arcs, f"Source {target} not in G"
    elif callable(weight) and G.is_directed():
        raise NotImplementedError("NetworkX calls the weight function with reversed edges here")
    elif method == "dijkstra":
        arcs, message = G.arcs(weight, allow_hidden=True), f"Node {target} not found in graph"
    else:
        arcs, message = G.arcs(weight), f"Source {target} not in G"
    end = G.position(target, message)
    if G.is_directed():
        arcs = arcs.reversed
    return (weighted.dijkstra if method == "dijkstra" else search)(arcs, [end])


def has_path(G: KleeneGraph, source: Any, target: Any) -> bool:
    try:
        unweighted.bidirectional_shortest_path(G, source, target)
    except nx.NetworkXNoPath:
        return False
    return True


def shortest_path(
    G: KleeneGraph,
    source: Any = None,
    target: Any = None,
    weight: Weight | None = None,
    method: str = "dijkstra",
) -> Any:
    method = _method(weight, method)
    if source is None and target is None:
        if method == "unweighted":
            return unweighted.all_pairs_shortest_path(G)
        if method == "dijkstra":
            return weighted.all_pairs_dijkstra_path(G, weight=weight)
        return weighted.all_pairs_bellman_ford_path(G, weight=weight)
    if source is None:
        return path_dict(G, _to(G, target, weight, method), backwards=True)
    if target is None:
        if method == "unweighted":
            return unweighted.single_source_shortest_path(G, source)
        if method == "dijkstra":
            return weighted.single_source_dijkstra_path(G, source, weight=weight)
        return weighted.single_source_bellman_ford_path(G, source, weight=weight)
    if method == "unweighted":
        return unweighted.bidirectional_shortest_path(G, source, target)
    if method == "dijkstra":
        return weighted.bidirectional_dijkstra(G, source, target, weight)[1]
    return weighted.bellman_ford_path(G, source, target, weight)


def shortest_path_length(
    G: KleeneGraph,
    source: Any = None,
    target: Any = None,
    weight: Weight | None = None,
    method: str = "dijkstra",
) -> Any:
    method = _method(weight, method)
    if source is None and target is None:
        if method == "unweighted":
            return unweighted.all_pairs_shortest_path_length(G)
        if method == "dijkstra":
            return weighted.all_pairs_dijkstra_path_length(G, weight=weight)
        return weighted.all_pairs_bellman_ford_path_length(G, weight=weight)
    if source is None:
        return length_dict(G, _to(G, target, weight, method))
    if target is None:
        if method == "unweighted":
            return unweighted.single_source_shortest_path_length(G, source)
        if method == "dijkstra":
            return weighted.single_source_dijkstra_path_length(G, source, weight=weight)
        return weighted.single_source_bellman_ford_path_length(G, source, weight=weight)
    if method == "unweighted":
        return len(unweighted.bidirectional_shortest_path(G, source, target)) - 1
    if method == "dijkstra":
        return weighted.dijkstra_path_length(G, source, target, weight)
    return weighted.bellman_ford_path_length(G, source, target, weight)


def average_shortest_path_length(
    G: KleeneGraph, weight: Weight | None = None, method: str | None = None
) -> float:
    dense = ("floyd-warshall", "floyd-warshall-numpy")
    if method is None:
        method = "unweighted" if weight is None else "dijkstra"
    if method not in ("unweighted", "dijkstra", "bellman-ford", *dense):
        raise ValueError(f"method not supported: {method}")
    n = len(G)
    if n == 1:
        return 0
    arcs = G.unweighted_arcs if method == "unweighted" else G.arcs(weight)
    kind = "strongly connected" if G.is_directed() else "connected"
    disconnected = nx.NetworkXError(f"Graph is not {kind}.")
    if arcs.negative:
        measures.require_connected(G, disconnected)
    if method in dense and arcs.negative:
        raise NotImplementedError("NetworkX does not detect negative cycles here")
    by_rows = measures.connected_rows(arcs, disconnected, method == "dijkstra")
    total = sum(chain.from_iterable(map(measures.addends, by_rows)))
    return float(total / (n * (n - 1)))


# ---- all shortest paths -------------------------------------------------------------------------


def _predecessors(G: KleeneGraph, source: Any, weight: Weight | None, method: str) -> Any:
    method = "unweighted" if weight is None else method
    if method == "unweighted":
        return unweighted.predecessor(G, source)
    if method == "dijkstra":
        return weighted.dijkstra_predecessor_and_distance(G, source, weight=weight)[0]
    if method == "bellman-ford":
        return weighted.bellman_ford_predecessor_and_distance(G, source, weight=weight)[0]
    raise ValueError(f"method not supported: {method}")


def all_shortest_paths(
    G: KleeneGraph,
    source: Any,
    target: Any,
    weight: Weight | None = None,
    method: str = "dijkstra",
) -> Iterator[list[Any]]:
    return _paths_back(source, target, _predecessors(G, source, weight, method))


@with_fallback
def single_source_all_shortest_paths(
    G: KleeneGraph, source: Any, weight: Weight | None = None, method: str = "dijkstra"
) -> Iterator[tuple[Any, list[list[Any]]]]:
    predecessors = _predecessors(G, source, weight, method)
    for node in predecessors:
        yield node, list(_paths_back(source, node, predecessors))


@with_fallback
def all_pairs_all_shortest_paths(
    G: KleeneGraph, weight: Weight | None = None, method: str = "dijkstra"
) -> Iterator[tuple[Any, dict[Any, list[list[Any]]]]]:
    if method == "unweighted":
        weight = None
    if weight is not None and (callable(weight) or G.arcs(weight, allow_hidden=True).negative):
        for node in G:
            predecessors = _predecessors(G, node, weight, method)
            yield node, {v: list(_paths_back(node, v, predecessors)) for v in predecessors}
        return
    if weight is not None and method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")
    by_dijkstra = weight is not None and method == "dijkstra"
    arcs = G.arcs(weight, allow_hidden=by_dijkstra)
    for source, result in search_all(arcs):
        node = G.nodes[source]
        predecessors = predecessor_lists(G, result, by_dijkstra)
        yield node, {v: list(_paths_back(node, v, predecessors)) for v in predecessors}


def _paths_back(
    source: Any, target: Any, predecessors: dict[Any, list[Any]]
) -> Iterator[list[Any]]:
    """Yield all simple paths from the target back along the lists of predecessors."""
    if target not in predecessors:
        raise nx.NetworkXNoPath(f"Target {target} cannot be reached from given sources")
    sources, path, on_path = {source}, [target], {target}
    choices = [iter(predecessors[target])]
    while choices:
        # If zero-weight edges lead back to the source, NetworkX yields paths twice; so does this.
        if path[-1] in sources:  # which NaN is, by identity
            yield path[::-1]
        node = next(choices[-1], _NOTHING)
        if node is _NOTHING:
            choices.pop()
            on_path.discard(path.pop())
        elif node not in on_path:
            path.append(node)
            on_path.add(node)
            choices.append(iter(predecessors[node]))


_NOTHING = object()
