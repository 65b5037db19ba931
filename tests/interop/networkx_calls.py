"""A call of each function of the NetworkX backend, and how to compare its result with NetworkX's.

``CALLS`` maps a name to the arguments after the graph, made from a source, a target and a weight.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np

Arguments = Callable[[Any, Any, Any], dict[str, Any]]


def nothing(s: Any, t: Any, w: Any) -> dict[str, Any]:
    return {}


def source(s: Any, t: Any, w: Any) -> dict[str, Any]:
    return {"source": s}


def sources(s: Any, t: Any, w: Any) -> dict[str, Any]:
    return {"sources": [s, t]}


def pair(s: Any, t: Any, w: Any) -> dict[str, Any]:
    return {"source": s, "target": t}


def weight(s: Any, t: Any, w: Any) -> dict[str, Any]:
    return {"weight": w}


def distance(s: Any, t: Any, w: Any) -> dict[str, Any]:
    return {"distance": w}


def subsets(s: Any, t: Any, w: Any) -> dict[str, Any]:
    return {"sources": [s], "targets": [t]}


def both(*parts: Arguments) -> Arguments:
    return lambda s, t, w: {k: v for part in parts for k, v in part(s, t, w).items()}


def cutoff(value: float) -> Arguments:
    return lambda s, t, w: {"cutoff": value}


CALLS: dict[str, list[Arguments]] = {
    "all_pairs_all_shortest_paths": [nothing, weight],
    "all_pairs_bellman_ford_path": [weight],
    "all_pairs_bellman_ford_path_length": [weight],
    "all_pairs_dijkstra": [weight, both(weight, cutoff(2))],
    "all_pairs_dijkstra_path": [weight],
    "all_pairs_dijkstra_path_length": [weight, both(weight, cutoff(1.5))],
    "all_pairs_shortest_path": [nothing, cutoff(1)],
    "all_pairs_shortest_path_length": [nothing, cutoff(1.5), cutoff(-1)],
    "all_shortest_paths": [
        pair,
        both(pair, weight),
        both(pair, weight, lambda s, t, w: {"method": "bellman-ford"}),
    ],
    "astar_path": [
        both(pair, weight),
        both(pair, weight, lambda s, t, w: {"heuristic": lambda u, v: 0}),
        both(pair, weight, cutoff(2)),
    ],
    "astar_path_length": [both(pair, weight), both(pair, weight, cutoff(2))],
    "average_shortest_path_length": [
        nothing,
        weight,
        both(weight, lambda s, t, w: {"method": "bellman-ford"}),
    ],
    "barycenter": [nothing, weight],
    "bellman_ford_path": [both(pair, weight)],
    "bellman_ford_path_length": [both(pair, weight)],
    "bellman_ford_predecessor_and_distance": [both(source, weight)],
    "betweenness_centrality": [
        nothing,
        weight,
        both(weight, lambda s, t, w: {"normalized": False, "endpoints": True}),
        lambda s, t, w: {"k": 1, "seed": 4},
        lambda s, t, w: {"k": 3, "seed": 5, "normalized": False, "weight": w},
        lambda s, t, w: {"k": 2, "seed": 6, "endpoints": True},
    ],
    "betweenness_centrality_subset": [
        subsets,
        both(subsets, weight),
        lambda s, t, w: {"sources": [s, t, s], "targets": {t, "absent"}, "normalized": True},
    ],
    "bfs_edges": [
        source,
        lambda s, t, w: {"source": s, "reverse": True},
        lambda s, t, w: {"source": s, "depth_limit": 2},
    ],
    "bfs_labeled_edges": [sources, lambda s, t, w: {"sources": s}],
    "bfs_layers": [lambda s, t, w: {"sources": s}, sources],
    "bfs_predecessors": [source],
    "bfs_successors": [source, lambda s, t, w: {"source": s, "depth_limit": 0}],
    "bfs_tree": [source],
    "bidirectional_dijkstra": [both(pair, weight)],
    "bidirectional_shortest_path": [pair],
    "center": [nothing, weight],
    "closeness_centrality": [
        nothing,
        distance,
        lambda s, t, w: {"u": s, "wf_improved": False},
    ],
    "closeness_vitality": [nothing, weight, lambda s, t, w: {"node": s, "wiener_index": 7}],
    "connected_components": [nothing],
    "descendants_at_distance": [lambda s, t, w: {"source": s, "distance": 1}],
    "diameter": [nothing, weight, lambda s, t, w: {"usebounds": True}],
    "dijkstra_path": [both(pair, weight)],
    "dijkstra_path_length": [both(pair, weight)],
    "dijkstra_predecessor_and_distance": [both(source, weight)],
    "eccentricity": [
        nothing,
        weight,
        lambda s, t, w: {"v": [s, t]},
        lambda s, t, w: {"v": [s] * 4},
        lambda s, t, w: {"v": [t, s, t], "weight": w},
    ],
    "edge_betweenness_centrality": [
        nothing,
        weight,
        lambda s, t, w: {"normalized": False, "weight": w},
        lambda s, t, w: {"k": 2, "seed": 7, "weight": w},
    ],
    "edge_betweenness_centrality_subset": [
        subsets,
        both(subsets, weight),
        lambda s, t, w: {"sources": [s, t, s], "targets": [s], "normalized": True},
    ],
    "edge_load_centrality": [nothing, cutoff(1), cutoff(1.5)],
    "efficiency": [lambda s, t, w: {"u": s, "v": t}],
    "ego_graph": [
        lambda s, t, w: {"n": s},
        lambda s, t, w: {"n": s, "radius": 2, "center": False},
        lambda s, t, w: {"n": s, "radius": 2.5, "distance": w},
        lambda s, t, w: {"n": s, "undirected": True, "radius": None},
    ],
    "find_negative_cycle": [both(source, weight)],
    "floyd_warshall": [nothing, weight],
    "floyd_warshall_numpy": [nothing, weight],
    "floyd_warshall_predecessor_and_distance": [weight],
    "generic_bfs_edges": [source],
    "girvan_newman": [nothing],
    "global_efficiency": [nothing],
    "goldberg_radzik": [both(source, weight)],
    "gutman_index": [nothing, weight],
    "harmonic_centrality": [
        nothing,
        distance,
        lambda s, t, w: {"nbunch": [s], "distance": w},
        lambda s, t, w: {"sources": [s]},
    ],
    "harmonic_diameter": [nothing, weight],
    "has_path": [pair],
    "hyper_wiener_index": [nothing, weight],
    "is_connected": [nothing],
    "is_strongly_connected": [nothing],
    "is_weakly_connected": [nothing],
    "johnson": [weight],
    "local_efficiency": [nothing],
    "multi_source_dijkstra": [
        both(sources, weight),
        lambda s, t, w: {"sources": {s}, "target": t, "weight": w},
    ],
    "multi_source_dijkstra_path": [both(sources, weight)],
    "multi_source_dijkstra_path_length": [both(sources, weight), both(sources, weight, cutoff(1))],
    "negative_edge_cycle": [weight],
    "newman_betweenness_centrality": [
        nothing,
        weight,
        lambda s, t, w: {"v": s, "normalized": False},
        both(weight, cutoff(2)),
        cutoff(1),
    ],
    "node_connected_component": [lambda s, t, w: {"n": s}],
    "number_connected_components": [nothing],
    "number_strongly_connected_components": [nothing],
    "number_weakly_connected_components": [nothing],
    "periphery": [nothing, weight],
    "predecessor": [
        source,
        lambda s, t, w: {"source": s, "target": t, "return_seen": True},
        both(source, cutoff(1)),
    ],
    "radius": [nothing, weight, lambda s, t, w: {"usebounds": True}],
    "schultz_index": [nothing, weight],
    "shortest_path": [
        source,
        pair,
        both(source, weight),
        both(pair, weight),
        lambda s, t, w: {"target": t, "weight": w},
        weight,
    ],
    "shortest_path_length": [
        source,
        pair,
        both(source, weight),
        both(pair, weight),
        lambda s, t, w: {"target": t, "weight": w, "method": "bellman-ford"},
        weight,
    ],
    "shortest_simple_paths": [pair, both(pair, weight)],
    "single_source_all_shortest_paths": [source, both(source, weight)],
    "single_source_bellman_ford": [both(source, weight), both(pair, weight)],
    "single_source_bellman_ford_path": [both(source, weight)],
    "single_source_bellman_ford_path_length": [both(source, weight)],
    "single_source_dijkstra": [both(source, weight), both(pair, weight), both(source, cutoff(2))],
    "single_source_dijkstra_path": [both(source, weight), both(source, weight, cutoff(-1))],
    "single_source_dijkstra_path_length": [both(source, weight), both(source, weight, cutoff(2))],
    "single_source_shortest_path": [source, both(source, cutoff(1))],
    "single_source_shortest_path_length": [source, both(source, cutoff(2))],
    "single_target_shortest_path": [lambda s, t, w: {"target": t}],
    "single_target_shortest_path_length": [lambda s, t, w: {"target": t}],
    "steiner_tree": [
        lambda s, t, w: {"terminal_nodes": [s, t], "weight": w},
        lambda s, t, w: {"terminal_nodes": {s}, "weight": w},
    ],
    "strongly_connected_components": [nothing],
    "transitive_closure": [
        nothing,
        lambda s, t, w: {"reflexive": True},
        lambda s, t, w: {"reflexive": None},
    ],
    "transitive_closure_dag": [nothing],
    "voronoi_cells": [
        lambda s, t, w: {"center_nodes": {s, t}, "weight": w},
        lambda s, t, w: {"center_nodes": [t, s, t], "weight": w},
    ],
    "weakly_connected_components": [nothing],
    "wiener_index": [nothing, weight],
}

#: Functions with several correct results, where the backend's may differ from NetworkX's. All other
#: results must be equal, including the types of all elements.
OTHER_PATHS = {
    "all_pairs_bellman_ford_path",
    "astar_path",
    "bellman_ford_path",
    "bidirectional_dijkstra",
    "bidirectional_shortest_path",
    "johnson",
    "shortest_path",
    "single_source_bellman_ford",
    "single_source_bellman_ford_path",
    "single_target_shortest_path",
}
OTHER_ORDER = {
    "all_shortest_paths",
    "barycenter",
    "bellman_ford_predecessor_and_distance",
    "center",
}


#: Measures that are floats wherever one of the weights is; and tables, where it depends on which
#: of several shortest paths was found.
FLOATS = {
    "diameter",
    "eccentricity",
    "floyd_warshall",
    "floyd_warshall_predecessor_and_distance",
    "radius",
    "wiener_index",
}

#: Dictionaries that come in the order of NetworkX's too.
ORDERED = {
    "single_source_all_shortest_paths",
    "all_pairs_all_shortest_paths",
    "dijkstra_predecessor_and_distance",
    "closeness_centrality",
    "harmonic_centrality",
    "betweenness_centrality",
    "edge_betweenness_centrality",
    "center",
    "periphery",
    "barycenter",
    "single_source_shortest_path",
    "single_source_shortest_path_length",
    "single_source_dijkstra",
    "single_source_dijkstra_path",
    "single_source_dijkstra_path_length",
    "multi_source_dijkstra",
    "multi_source_dijkstra_path",
    "multi_source_dijkstra_path_length",
    "all_pairs_dijkstra",
    "all_pairs_dijkstra_path",
    "all_pairs_shortest_path",
    "bfs_layers",
    "bfs_predecessors",
    "bfs_successors",
    "bfs_labeled_edges",
    "closeness_vitality",
    "eccentricity",
    "predecessor",
    "voronoi_cells",
}


#: Functions that refuse weights of zero, on which NetworkX's result depends on its order of steps.
POSITIVE = {
    "betweenness_centrality",
    "betweenness_centrality_subset",
    "edge_betweenness_centrality",
    "edge_betweenness_centrality_subset",
    "newman_betweenness_centrality",
}

#: Functions that compare nodes: they must be of one type.
COMPARES_NODES = {"newman_betweenness_centrality"}

#: Functions that NetworkX exports under another name.
EXPORTED = {"newman_betweenness_centrality": "load_centrality"}


def function(name: str) -> Any:
    """Return a function of NetworkX, as users call it."""
    modules = (nx, nx.algorithms, nx.community, nx.approximation)
    return next(f for m in modules if (f := getattr(m, EXPORTED.get(name, name), None)))


def is_declined(name: str, graph: Any) -> bool:
    """Return whether a function declines graphs of some kinds, this one among them."""
    multiple = graph.is_multigraph()
    if name == "girvan_newman":
        return multiple or (graph.is_directed() and graph.number_of_edges() == 0)
    if name == "closeness_vitality":
        return len(graph) == 1
    if name == "steiner_tree":
        return multiple or not nx.is_connected(graph)  # some of these
    return False


def least_weight(graph: Any, u: Any, v: Any, weight: Any) -> Any:
    data = graph[u][v]
    if graph.is_multigraph():
        return min(d.get(weight, 1) for d in data.values())
    return data.get(weight, 1)


def length(graph: Any, path: list[Any], weight: Any) -> float:
    """Return the length of a path, which must exist."""
    return math.fsum(least_weight(graph, u, v, weight) for u, v in pairwise(path))


def check_same(ours: Any, theirs: Any, ordered: bool = False) -> None:
    """Raise unless two results are equal, including the types of all elements."""
    assert type(ours) is type(theirs), (ours, theirs)
    if isinstance(theirs, dict):
        assert list(ours) == list(theirs) if ordered else ours.keys() == theirs.keys()
        for key in theirs:
            check_same(ours[key], theirs[key], ordered)
    elif isinstance(theirs, (list, tuple)):
        assert len(ours) == len(theirs), (ours, theirs)
        for a, b in zip(ours, theirs, strict=True):
            check_same(a, b, ordered)
    elif isinstance(theirs, float):
        assert ours == theirs or math.isclose(ours, theirs, rel_tol=1e-12) or theirs != theirs
    elif isinstance(theirs, np.ndarray):
        assert ours.dtype == theirs.dtype
        assert (ours == theirs).all()
    elif isinstance(theirs, nx.Graph):
        assert nx.utils.graphs_equal(ours, theirs)
    else:
        assert ours == theirs


def check_paths(graph: Any, weight: Any, ours: Any, theirs: Any) -> None:
    """Raise unless paths have the same ends and lengths, and all else is equal."""
    if isinstance(theirs, dict):
        assert ours.keys() == theirs.keys()
        for key in theirs:
            check_paths(graph, weight, ours[key], theirs[key])
    elif isinstance(theirs, tuple) or (theirs and isinstance(theirs, list) and _is_rows(theirs)):
        for a, b in zip(ours, theirs, strict=True):
            check_paths(graph, weight, a, b)
    elif isinstance(theirs, list):
        assert (ours[0], ours[-1]) == (theirs[0], theirs[-1])
        assert length(graph, ours, weight) == length(graph, theirs, weight)
    else:
        check_same(ours, theirs)


def _is_rows(value: list[Any]) -> bool:
    return isinstance(value[0], tuple) and isinstance(value[0][-1], dict)


def in_one_order(value: Any) -> Any:
    """Sort all lists, recursively."""
    if isinstance(value, dict):
        return {key: in_one_order(item) for key, item in value.items()}
    if isinstance(value, list):
        return sorted(value, key=repr)
    return tuple(map(in_one_order, value)) if isinstance(value, tuple) else value


def in_floats(value: Any) -> Any:
    """Return all numbers that are values, and not nodes, as floats."""
    if isinstance(value, dict):
        return {key: in_floats(item) for key, item in value.items()}
    if isinstance(value, tuple):  # predecessors and lengths
        return value[0], in_floats(value[1])
    return float(value) if isinstance(value, int) else value


def check_parents(graph: Any, weight: Any, parents: Any, lengths: Any) -> None:
    """Raise unless every node's distance is its predecessor's plus the edge between them."""
    for v, u in parents.items():
        if u is not None and u != v:
            assert lengths[v] == lengths[u] + least_weight(graph, u, v, weight)


def compare(name: str, graph: Any, arguments: dict[str, Any], ours: Any, theirs: Any) -> None:
    """Raise unless both results, or errors, are equal as far as the function determines them."""
    weight = arguments.get("weight")
    if isinstance(theirs, Exception):
        if name == "find_negative_cycle" and not isinstance(ours, Exception):
            # NetworkX misses the cycle, or fails on a negative self-loop.
            assert isinstance(theirs, AttributeError) or "detected but not" in str(theirs)
            return
        assert type(ours) is type(theirs), (ours, theirs)
        assert ours.args == theirs.args or name == "barycenter"
        return
    assert not isinstance(ours, Exception), (ours, theirs)
    if name == "find_negative_cycle":
        assert ours[0] == ours[-1]
        assert length(graph, ours, weight) < 0
    elif name in OTHER_PATHS:
        check_paths(graph, weight, ours, theirs)
    elif name in OTHER_ORDER:
        check_same(in_one_order(ours), in_one_order(theirs))
    elif name == "goldberg_radzik":
        check_same(ours[1], theirs[1])
        check_parents(graph, weight, *ours)
    elif name == "floyd_warshall_predecessor_and_distance":
        check_same(ours[1], theirs[1])
        for u, parents in ours[0].items():
            assert parents.keys() == theirs[0][u].keys()
            check_parents(graph, weight, parents, ours[1][u])
    elif arguments.get("reverse"):
        assert {v for _, v in ours} == {v for _, v in theirs}
    else:
        check_same(ours, theirs, name in ORDERED)
