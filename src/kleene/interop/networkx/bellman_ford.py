"""The functions of networkx's ``weighted`` module that allow negative weights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx

from kleene.errors import NegativeCycleError
from kleene.interop.networkx.fallback import with_fallback
from kleene.interop.networkx.graph import Arcs, KleeneGraph, Weight
from kleene.interop.networkx.result_dicts import (
    all_lengths,
    length_dict,
    path_dict,
    path_to,
    predecessor_lists,
    value_of,
)
from kleene.interop.networkx.search import SearchResult, search, search_all

__all__ = [
    "all_pairs_bellman_ford_path",
    "all_pairs_bellman_ford_path_length",
    "bellman_ford_path",
    "bellman_ford_path_length",
    "bellman_ford_predecessor_and_distance",
    "find_negative_cycle",
    "goldberg_radzik",
    "johnson",
    "negative_edge_cycle",
    "single_source_bellman_ford",
    "single_source_bellman_ford_path",
    "single_source_bellman_ford_path_length",
]


def _from(G: KleeneGraph, source: Any, weight: Weight | None) -> SearchResult:
    if source not in G:
        raise nx.NodeNotFound(f"Source {source} not in G")
    return search(G.arcs(weight), [G.ids[source]])


def _refuse_negative_loops(arcs: Arcs) -> None:
    """Raise for a negative self-loop anywhere in the graph, as some NetworkX functions do."""
    if arcs.negative and arcs.weights is not None and (arcs.weights[arcs.loops] < 0).any():
        raise nx.NetworkXUnbounded("Negative cycle detected.")


def _has_negative_cycle(arcs: Arcs) -> bool:
    if not arcs.negative:
        return False
    try:
        search(arcs, list(range(arcs.n)))
    except nx.NetworkXUnbounded:
        return True
    return False


# ---- from one node ------------------------------------------------------------------------------


def single_source_bellman_ford(
    G: KleeneGraph, source: Any, target: Any = None, weight: Weight | None = "weight"
) -> Any:
    if source == target:
        if source not in G:
            raise nx.NodeNotFound(f"Node {source} is not found in the graph")
        return 0, [source]
    result = _from(G, source, weight)
    if target is None:
        return length_dict(G, result), path_dict(G, result)
    if target not in G or result.distances[G.ids[target]] == result.arcs.no_path:
        raise nx.NetworkXNoPath(f"Target {target} cannot be reached from given sources")
    return value_of(result, G.ids[target]), path_to(G, result, G.ids[target])


def single_source_bellman_ford_path(
    G: KleeneGraph, source: Any, weight: Weight | None = "weight"
) -> dict[Any, list[Any]]:
    return path_dict(G, _from(G, source, weight))


def single_source_bellman_ford_path_length(
    G: KleeneGraph, source: Any, weight: Weight | None = "weight"
) -> dict[Any, Any]:
    return length_dict(G, _from(G, source, weight))


def bellman_ford_path(
    G: KleeneGraph, source: Any, target: Any, weight: Weight | None = "weight"
) -> list[Any]:
    path: list[Any] = single_source_bellman_ford(G, source, target, weight)[1]
    return path


def bellman_ford_path_length(
    G: KleeneGraph, source: Any, target: Any, weight: Weight | None = "weight"
) -> Any:
    if source == target:
        if source not in G:
            raise nx.NodeNotFound(f"Node {source} not found in graph")
        return 0
    result = _from(G, source, weight)
    if target not in G or result.distances[G.ids[target]] == result.arcs.no_path:
        raise nx.NetworkXNoPath(f"node {target} not reachable from {source}")
    return value_of(result, G.ids[target])


def bellman_ford_predecessor_and_distance(
    G: KleeneGraph,
    source: Any,
    target: Any = None,
    weight: Weight | None = "weight",
    heuristic: bool = False,
) -> tuple[dict[Any, list[Any]], dict[Any, Any]]:
    if source not in G:
        raise nx.NodeNotFound(f"Node {source} is not found in the graph")
    _refuse_negative_loops(G.arcs(weight))
    if len(G) == 1:  # NetworkX ignores a zero-weight self-loop then
        return {source: []}, {source: 0}
    result = _from(G, source, weight)
    return predecessor_lists(G, result), length_dict(G, result)


def goldberg_radzik(
    G: KleeneGraph, source: Any, weight: Weight | None = "weight"
) -> tuple[dict[Any, Any], dict[Any, Any]]:
    if source not in G:
        raise nx.NodeNotFound(f"Node {source} is not found in the graph")
    _refuse_negative_loops(G.arcs(weight))
    result = _from(G, source, weight)
    names = G.names[result.order].tolist()
    predecessors = G.names[result.predecessors[result.order]].tolist()
    predecessors[0] = None
    return dict(zip(names, predecessors, strict=True)), length_dict(G, result)


# ---- all pairs ----------------------------------------------------------------------------------


@with_fallback
def all_pairs_bellman_ford_path_length(
    G: KleeneGraph, weight: Weight | None = "weight"
) -> Iterator[tuple[Any, dict[Any, Any]]]:
    yield from all_lengths(G, G.arcs(weight))


@with_fallback
def all_pairs_bellman_ford_path(
    G: KleeneGraph, weight: Weight | None = "weight"
) -> Iterator[tuple[Any, dict[Any, list[Any]]]]:
    for source, result in search_all(G.arcs(weight)):
        yield G.nodes[source], path_dict(G, result)


def johnson(G: KleeneGraph, weight: Weight | None = "weight") -> dict[Any, dict[Any, list[Any]]]:
    if _has_negative_cycle(G.arcs(weight)):
        raise nx.NetworkXUnbounded("Negative cycle detected.")
    return dict(all_pairs_bellman_ford_path(G, weight))


# ---- negative cycles ----------------------------------------------------------------------------


def negative_edge_cycle(
    G: KleeneGraph, weight: Weight | None = "weight", heuristic: bool = True
) -> bool:
    return _has_negative_cycle(G.arcs(weight))


def find_negative_cycle(G: KleeneGraph, source: Any, weight: Weight | None = "weight") -> list[Any]:
    try:
        _from(G, source, weight)
    except nx.NetworkXUnbounded as unbounded:
        error = unbounded.__cause__
        assert isinstance(error, NegativeCycleError)
        return _closed(G, G.ids[source], error.cycle)
    raise nx.NetworkXError("No negative cycles detected.")


def _closed(G: KleeneGraph, source: int, cycle: list[int]) -> list[Any]:
    """Return a cycle with NetworkX's start: the node before the one that its search reached first.

    Of two nodes, the one reached first comes first, since its search sees the way back at once.
    """
    inside = set(cycle)
    result = next(v for v in search(G.unweighted_arcs, [source]).order.tolist() if v in inside)
    first = cycle.index(result) - (len(cycle) > 2)
    return [G.nodes[v] for v in [*cycle[first:], *cycle[:first], cycle[first]]]
