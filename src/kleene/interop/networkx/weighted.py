"""The Dijkstra functions of networkx's ``weighted`` module, and those of ``astar``.

Kleene computes the distances; NetworkX's choice among shortest paths is recovered afterwards.
Negative weights are refused: whether NetworkX raises ValueError depends on the order of its steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import networkx as nx

from kleene.errors import NegativeCycleError
from kleene.interop.networkx.convert import with_fallback
from kleene.interop.networkx.graph import Arcs, KleeneGraph, Weight
from kleene.interop.networkx.result_dicts import (
    all_lengths,
    length_dict,
    path_dict,
    path_to,
    predecessor_lists,
    value_of,
)
from kleene.interop.networkx.search import SearchResult, refuse_negative, search, search_all
from kleene.interop.networkx.two_sided import TwoSided

__all__ = [
    "all_pairs_bellman_ford_path", "all_pairs_bellman_ford_path_length", "all_pairs_dijkstra",
    "all_pairs_dijkstra_path", "all_pairs_dijkstra_path_length", "astar_path", "astar_path_length",
    "bellman_ford_path", "bellman_ford_path_length", "bellman_ford_predecessor_and_distance",
    "bidirectional_dijkstra", "dijkstra_path", "dijkstra_path_length",
    "dijkstra_predecessor_and_distance", "find_negative_cycle", "goldberg_radzik", "johnson",
    "multi_source_dijkstra", "multi_source_dijkstra_path", "multi_source_dijkstra_path_length",
    "negative_edge_cycle", "single_source_bellman_ford", "single_source_bellman_ford_path",
    "single_source_bellman_ford_path_length", "single_source_dijkstra",
    "single_source_dijkstra_path", "single_source_dijkstra_path_length",
]  # fmt: skip


def dijkstra(
    arcs: Arcs, sources: list[int], limit: float | None = None, target: int | None = None
) -> SearchResult:
    """Search from all sources together."""
    refuse_negative(arcs)
    return search(arcs, sources, limit, target)


def _sources(G: KleeneGraph, sources: Any) -> list[int]:
    if not sources:
        raise ValueError("sources must not be empty")
    return list(dict.fromkeys(G.position(s, f"Node {s} not found in graph") for s in sources))


def _ends(G: KleeneGraph, source: Any, target: Any) -> tuple[int, int]:
    start = G.position(source, f"Source {source} is not in G")
    return start, G.position(target, f"Target {target} is not in G")


def from_several(
    G: KleeneGraph, sources: Any, weight: Weight | None, cutoff: float | None = None
) -> SearchResult:
    """Search from several nodes together."""
    arcs = G.arcs(weight, allow_hidden=True)
    return dijkstra(arcs, _sources(G, sources), cutoff)


def _reached(G: KleeneGraph, result: SearchResult, target: Any) -> bool:
    return target in G and bool(result.distances[G.ids[target]] != result.arcs.no_path)


# ---- from one node, or several ------------------------------------------------------------------


def multi_source_dijkstra(
    G: KleeneGraph,
    sources: Any,
    target: Any = None,
    cutoff: float | None = None,
    weight: Weight | None = "weight",
) -> Any:
    ids = _sources(G, sources)
    if target in sources:
        return (0, [target])
    end = G.ids[target] if target in G else None
    result = dijkstra(G.arcs(weight, allow_hidden=True), ids, cutoff, end)
    if target is None:
        return length_dict(G, result), path_dict(G, result)
    if not _reached(G, result, target):
        raise nx.NetworkXNoPath(f"No path to {target}.")
    return value_of(result, G.ids[target]), path_to(G, result, G.ids[target])


def multi_source_dijkstra_path(
    G: KleeneGraph,
    sources: Any,
    cutoff: float | None = None,
    weight: Weight | None = "weight",
) -> dict[Any, list[Any]]:
    return path_dict(G, from_several(G, sources, weight, cutoff))


def multi_source_dijkstra_path_length(
    G: KleeneGraph,
    sources: Any,
    cutoff: float | None = None,
    weight: Weight | None = "weight",
) -> dict[Any, Any]:
    return length_dict(G, from_several(G, sources, weight, cutoff))


def single_source_dijkstra(
    G: KleeneGraph,
    source: Any,
    target: Any = None,
    cutoff: float | None = None,
    weight: Weight | None = "weight",
) -> Any:
    return multi_source_dijkstra(G, {source}, target, cutoff, weight)


def single_source_dijkstra_path(
    G: KleeneGraph, source: Any, cutoff: float | None = None, weight: Weight | None = "weight"
) -> dict[Any, list[Any]]:
    return multi_source_dijkstra_path(G, {source}, cutoff, weight)


def single_source_dijkstra_path_length(
    G: KleeneGraph, source: Any, cutoff: float | None = None, weight: Weight | None = "weight"
) -> dict[Any, Any]:
    return multi_source_dijkstra_path_length(G, {source}, cutoff, weight)


def dijkstra_predecessor_and_distance(
    G: KleeneGraph, source: Any, cutoff: float | None = None, weight: Weight | None = "weight"
) -> tuple[dict[Any, list[Any]], dict[Any, Any]]:
    start = G.position(source, f"Node {source} is not found in the graph")
    result = dijkstra(G.arcs(weight, allow_hidden=True), [start], cutoff)
    return predecessor_lists(G, result, by_dijkstra=True, limit=cutoff), length_dict(G, result)


# ---- from one node to another -------------------------------------------------------------------


def dijkstra_path(
    G: KleeneGraph, source: Any, target: Any, weight: Weight | None = "weight"
) -> list[Any]:
    path: list[Any] = single_source_dijkstra(G, source, target, weight=weight)[1]
    return path


def dijkstra_path_length(
    G: KleeneGraph, source: Any, target: Any, weight: Weight | None = "weight"
) -> Any:
    start = G.position(source, f"Node {source} not found in graph")
    if source == target:
        return 0
    end = G.ids[target] if target in G else None
    result = dijkstra(G.arcs(weight, allow_hidden=True), [start], target=end)
    if not _reached(G, result, target):
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return value_of(result, G.ids[target])


def bidirectional_dijkstra(
    G: KleeneGraph, source: Any, target: Any, weight: Weight | None = "weight"
) -> tuple[Any, list[Any]]:
    start, end = _ends(G, source, target)
    if source == target:
        return 0, [source]
    arcs = G.arcs(weight, allow_hidden=True)
    missing = nx.NetworkXNoPath(f"No path between {source} and {target}.")
    if not arcs.directed:
        both = TwoSided(G, arcs, weighted=True)
        found = both.path(start, end, latest=True)
        if found is None:
            raise missing
        return both.total(*found), [G.nodes[v] for v in found[1]]
    result = dijkstra(arcs, [start], target=end)
    if not _reached(G, result, target):
        raise missing
    return value_of(result, end), path_to(G, result, end)


# ---- A* -----------------------------------------------------------------------------------------

Heuristic = Callable[[Any, Any], Any]


def astar_path(
    G: KleeneGraph,
    source: Any,
    target: Any,
    heuristic: Heuristic | None = None,
    weight: Weight | None = "weight",
    *,
    cutoff: float | None = None,
) -> list[Any]:
    _ends(G, source, target)
    return _astar(G, source, target, heuristic, weight, cutoff)[0]


def astar_path_length(
    G: KleeneGraph,
    source: Any,
    target: Any,
    heuristic: Heuristic | None = None,
    weight: Weight | None = "weight",
    *,
    cutoff: float | None = None,
) -> Any:
    if source not in G or target not in G:
        raise nx.NodeNotFound(f"Either source {source} or target {target} is not in G")
    return _astar(G, source, target, heuristic, weight, cutoff)[1]


def _astar(
    G: KleeneGraph,
    source: Any,
    target: Any,
    heuristic: Heuristic | None,
    weight: Weight | None,
    cutoff: float | None,
) -> tuple[list[Any], Any]:
    """Search without the heuristic, then check that A* would have found a path as short.

    It does if the heuristic is 0 at the target and nowhere on a shortest path exceeds the remaining
    distance: then some node of that path is always in the queue, ahead of any longer path.
    """
    arcs, end = G.arcs(weight, allow_hidden=True), G.ids[target]
    result = dijkstra(arcs, [G.ids[source]], target=end)
    length = value_of(result, end) if _reached(G, result, target) else None
    if length is None or (cutoff and length > cutoff):
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    path = path_to(G, result, end)
    if heuristic is not None:
        slack = 1e-12 * length if isinstance(length, float) else 0
        for node in path[1:]:
            rest = length - result.distances[G.ids[node]].item()
            guess = heuristic(node, target)
            if not guess <= rest + slack or (node == target and guess != 0):
                raise NotImplementedError("the heuristic is not admissible")
    return path, length


# ---- all pairs ----------------------------------------------------------------------------------


def _all_pairs(
    G: KleeneGraph, cutoff: float | None, arcs: Arcs
) -> Iterator[tuple[Any, SearchResult]]:
    refuse_negative(arcs)
    if cutoff is not None and cutoff < 0:
        for i, node in enumerate(G.nodes):
            yield node, search(arcs, [i], cutoff)
        return
    for source, result in search_all(arcs, cutoff):
        yield G.nodes[source], result


@with_fallback
def all_pairs_dijkstra(
    G: KleeneGraph, cutoff: float | None = None, weight: Weight | None = "weight"
) -> Iterator[tuple[Any, tuple[dict[Any, Any], dict[Any, list[Any]]]]]:
    for node, result in _all_pairs(G, cutoff, G.arcs(weight, allow_hidden=True)):
        yield node, (length_dict(G, result), path_dict(G, result))


@with_fallback
def all_pairs_dijkstra_path_length(
    G: KleeneGraph, cutoff: float | None = None, weight: Weight | None = "weight"
) -> Iterator[tuple[Any, dict[Any, Any]]]:
    arcs = G.arcs(weight, allow_hidden=True)
    refuse_negative(arcs)
    if cutoff is not None and cutoff < 0:
        for node, result in _all_pairs(G, cutoff, arcs):
            yield node, length_dict(G, result)
    else:
        yield from all_lengths(G, arcs, cutoff)


@with_fallback
def all_pairs_dijkstra_path(
    G: KleeneGraph, cutoff: float | None = None, weight: Weight | None = "weight"
) -> Iterator[tuple[Any, dict[Any, list[Any]]]]:
    for node, result in _all_pairs(G, cutoff, G.arcs(weight, allow_hidden=True)):
        yield node, path_dict(G, result)


# ---- The functions of networkx's ``weighted`` module that allow negative weights ----------------


def _from(G: KleeneGraph, source: Any, weight: Weight | None) -> SearchResult:
    return search(G.arcs(weight), [G.position(source, f"Source {source} not in G")])


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
        G.position(source, f"Node {source} is not found in the graph")
        return 0, [source]
    result = _from(G, source, weight)
    if target is None:
        return length_dict(G, result), path_dict(G, result)
    if not _reached(G, result, target):
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
        G.position(source, f"Node {source} not found in graph")
        return 0
    result = _from(G, source, weight)
    if not _reached(G, result, target):
        raise nx.NetworkXNoPath(f"node {target} not reachable from {source}")
    return value_of(result, G.ids[target])


def bellman_ford_predecessor_and_distance(
    G: KleeneGraph,
    source: Any,
    target: Any = None,
    weight: Weight | None = "weight",
    heuristic: bool = False,
) -> tuple[dict[Any, list[Any]], dict[Any, Any]]:
    G.position(source, f"Node {source} is not found in the graph")
    _refuse_negative_loops(G.arcs(weight))
    if len(G) == 1:  # NetworkX ignores a zero-weight self-loop then
        return {source: []}, {source: 0}
    result = _from(G, source, weight)
    return predecessor_lists(G, result), length_dict(G, result)


def goldberg_radzik(
    G: KleeneGraph, source: Any, weight: Weight | None = "weight"
) -> tuple[dict[Any, Any], dict[Any, Any]]:
    G.position(source, f"Node {source} is not found in the graph")
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
