"""Which calls the backend can run, and which it should; both checks take constant time.

``can_run`` looks at the arguments and at one edge. NetworkX writes the reason that it returns to
its log, but not into the error of a call with ``backend="kleene"``. Weights without an exact array
form are detected when the graph is converted, which then raises NotImplementedError: NetworkX
treats that as a refusal too, with the reason as the cause of its error, and caches that the
conversion failed. ``should_run`` compares NetworkX's cost of the call with the cost of the
conversion; a graph that is already converted always runs.
"""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Collection, Hashable, Sequence
from functools import cache
from typing import Any

import networkx as nx
import numpy as np

from kleene.interop.networkx.weights import is_exact_type

__all__ = [
    "CHANGED", "CHANGED_IF_WEIGHTED", "EXPECTED_FAILURES", "VERSION", "can_run", "on_start_tests",
    "should_run",
]  # fmt: skip

#: Earlier versions return other types from some functions.
_OLDEST = (3, 6)
VERSION = tuple(map(int, nx.__version__.split(".")[:2]))

#: Functions of which NetworkX 3.7 changed the types, the errors or the warnings.
CHANGED = {"bfs_predecessors", "floyd_warshall", "floyd_warshall_predecessor_and_distance"}
#: And functions of which it changed the paths over edges of no weight.
CHANGED_IF_WEIGHTED = {
    "all_pairs_all_shortest_paths",
    "all_shortest_paths",
    "single_source_all_shortest_paths",
}

#: Arguments that are not supported, and why.
_REFUSED = {
    "e": "e= gives the eccentricities, so there is nothing to compute",
    "sp": "sp= gives the distances, so there is nothing to compute",
    "attr": "attr= would store results in the graph",
    "sort_neighbors": "sort_neighbors= is not supported: a function decides the search order",
    "most_valuable_edge": "most_valuable_edge= is not supported: a function decides",
    "neighbors": "neighbors= is not supported: a function decides the neighbors",
    "topo_order": "topo_order= is not supported",
}
#: Functions and methods for which a weight is always the name of an attribute.
_NAMED_WEIGHTS = {
    "floyd-warshall",
    "floyd-warshall-numpy",
    "floyd_warshall",
    "floyd_warshall_numpy",
    "floyd_warshall_predecessor_and_distance",
}
#: Functions that search from every node, besides all_pairs_*.
_FROM_ALL = {
    "average_shortest_path_length",
    "barycenter",
    "betweenness_centrality",
    "betweenness_centrality_subset",
    "center",
    "closeness_centrality",
    "closeness_vitality",
    "diameter",
    "eccentricity",
    "edge_betweenness_centrality",
    "edge_betweenness_centrality_subset",
    "edge_load_centrality",
    "floyd_warshall",
    "floyd_warshall_numpy",
    "floyd_warshall_predecessor_and_distance",
    "girvan_newman",
    "global_efficiency",
    "gutman_index",
    "harmonic_centrality",
    "harmonic_diameter",
    "hyper_wiener_index",
    "johnson",
    "local_efficiency",
    "negative_edge_cycle",
    "newman_betweenness_centrality",
    "periphery",
    "radius",
    "schultz_index",
    "shortest_simple_paths",
    "transitive_closure",
    "transitive_closure_dag",
    "wiener_index",
}
#: Functions that visit every node at most once, which takes NetworkX no longer than the conversion.
_LINEAR = {
    "connected_components",
    "ego_graph",
    "is_connected",
    "is_strongly_connected",
    "is_weakly_connected",
    "node_connected_component",
    "number_connected_components",
    "number_strongly_connected_components",
    "number_weakly_connected_components",
    "strongly_connected_components",
    "weakly_connected_components",
}
#: Graph sizes from which a call, conversion included, is faster than NetworkX: measured on random
#: graphs with 5 edges per node. A single unweighted search never is.
_LEAST_ALL, _LEAST_WEIGHTED = 50, 500


def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Return True if the backend can run a call, else the reason."""
    if VERSION < _OLDEST:
        return f"Kleene needs NetworkX {'.'.join(map(str, _OLDEST))} or newer"
    if VERSION >= (3, 7) and name in CHANGED:
        return "NetworkX 3.7 changed this function"
    try:
        bound = _signature(name).bind(*args, **kwargs).arguments
    except TypeError as error:
        return str(error)
    for argument, reason in _REFUSED.items():
        if bound.get(argument) is not None:
            return reason
    graph = bound["G"]
    if len(graph) == 0:
        return "the graph is empty"
    for argument in ("source", "target", "u", "n", "sources", "targets"):
        if argument in bound and not _are_nodes(name, argument, bound[argument]):
            return f"{argument}= is not a node or several"
    for argument in ("cutoff", "depth_limit", "radius"):
        odd = _odd_limit(name, argument, bound.get(argument))
        if odd is not None:
            return odd
    if name == "descendants_at_distance":
        return _is_number(bound["distance"]) or "distance= must be a number"
    weight = _weight(name, bound)
    declined = _odd_call(name, bound, weight)
    if declined is not None:
        return declined
    if VERSION >= (3, 7) and name in CHANGED_IF_WEIGHTED and weight is not None:
        return "NetworkX 3.7 changed this function for weighted graphs"
    if bound.get("usebounds") and weight is not None:
        return "usebounds=True with weight= is not supported: NetworkX's bounds are rounded"
    if callable(weight) and (name in _NAMED_WEIGHTS or bound.get("method") in _NAMED_WEIGHTS):
        return "NetworkX takes the weight function for the name of an attribute here"
    if callable(weight) and name == "negative_edge_cycle":
        return "NetworkX calls the weight function with a node that it adds"
    if not isinstance(weight, Hashable):
        return "weight= must be hashable"
    if weight is None or callable(weight) or isinstance(graph, _converted()):
        return True
    result = next((d.get(weight) for _, _, d in graph.edges(data=True)), None)
    return (
        is_exact_type(result) or f"weights of type {type(result).__name__} have no exact array form"
    )


def _odd_call(name: str, bound: dict[str, Any], weight: Any) -> str | None:
    """Return why a call of one function is not supported, or None if it is."""
    graph = bound["G"]
    several = bound.get("center_nodes", bound.get("terminal_nodes", ()))
    if not isinstance(several, (list, tuple, set, frozenset)):
        return "nodes must be in a list, tuple or set: NetworkX reads them more than once"
    if name == "girvan_newman":
        if graph.is_multigraph():
            return "NetworkX shares betweenness among parallel edges"
        if graph.is_directed() and graph.number_of_edges() == 0:
            return "NetworkX finds no components of a directed graph"
    elif name == "closeness_vitality":
        if len(graph) == 1:
            return "NetworkX measures a graph without nodes"
        if not isinstance(bound.get("node"), Hashable):
            return "node= is not a node"
    elif name == "steiner_tree":
        if bound.get("method") not in (None, "mehlhorn"):
            return "Kleene has the method of Mehlhorn only"
        if graph.is_multigraph():
            return "NetworkX takes the key of an edge for the name of an attribute"
        if callable(weight) or weight is None:
            return "NetworkX takes weight= for the name of an attribute here"
    elif name == "shortest_simple_paths":
        if callable(weight):
            return "NetworkX calls the weight function more than once for each edge"
        if graph.is_directed() and not _has_predecessors(graph):
            return "the graph was converted before, without its order of predecessors"
    return None


def _weight(name: str, bound: dict[str, Any]) -> Any:
    return bound.get("weight", bound.get("distance", _default_weight(name)))


def _are_nodes(name: str, argument: str, value: Any) -> bool:
    """Return whether a value may be a node, or nodes, so that only the graph has to be asked."""
    if name.endswith("_subset"):
        return isinstance(value, Collection)  # not an iterator: targets are read for each source
    if argument == "sources":
        several = isinstance(value, (list, tuple, set, frozenset))
        return several or not name.startswith("multi_source")
    required = _signature(name).parameters[argument].default is inspect.Parameter.empty
    return isinstance(value, Hashable) and not (required and value is None)


def _is_number(value: Any) -> bool:
    """Return whether a value compares with array entries as Python numbers do."""
    if value is None or isinstance(value, (bool, np.bool_)) or not is_exact_type(value):
        return False
    return bool(abs(value) < 2**62)  # False for NaN


def _odd_limit(name: str, argument: str, limit: Any) -> str | None:
    """Return why a limit is not supported, or None if it is."""
    if limit is None or (isinstance(limit, float) and limit == math.inf):
        return None
    if limit is False and name == "edge_load_centrality":  # its default
        return None
    if not _is_number(limit):
        return f"{argument}= must be a number"
    if name.startswith("astar") and limit < 0:
        return "a negative cutoff= prunes paths, but not the one of no edges"
    return None


def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Return True if a call is faster here, conversion of its graph included, else the reason."""
    bound = _signature(name).bind(*args, **kwargs).arguments
    graph = bound["G"]
    if _is_cached(graph):
        return True
    if name in _LINEAR:
        return "one pass over the graph takes NetworkX no longer than the conversion"
    n = len(graph)
    single = bound.get("source", bound.get("sources")) is not None or bound.get("u") is not None
    single = single or name in ("steiner_tree", "voronoi_cells")
    if name in _FROM_ALL or name.startswith("all_pairs_"):
        single = single and name == "closeness_centrality"  # not a path's ends
    elif "target" in bound:
        if single:
            return "a search for one pair visits part of the graph, the conversion all of it"
        single = True
    if not single:
        return n >= _LEAST_ALL or f"a graph of {n} nodes is too small to be worth converting"
    weight = _weight(name, bound)
    if weight is None:
        return "a single unweighted search takes NetworkX no longer than the conversion"
    return n >= _LEAST_WEIGHTED or f"one search of {n} nodes takes less time than the conversion"


def _is_cached(graph: Any) -> bool:
    return any(isinstance(entry, _converted()) for entry in _cached(graph))


def _has_predecessors(graph: Any) -> bool:
    """Return whether a directed graph has its order of predecessors, or is yet to be converted."""
    known = [graph] if isinstance(graph, _converted()) else _cached(graph)
    return all(getattr(entry, "predecessors", True) is not None for entry in known)


def _cached(graph: Any) -> list[Any]:
    cache_ = getattr(graph, "__networkx_cache__", None) or {}
    return list(cache_.get("backends", {}).get("kleene", {}).values())


@cache
def _converted() -> type:
    from kleene.interop.networkx.graph import KleeneGraph  # NetworkX asks for names first

    return KleeneGraph


@cache
def _signature(name: str) -> inspect.Signature:
    return inspect.signature(getattr(sys.modules["kleene.interop.networkx"], name))


@cache
def _default_weight(name: str) -> Any:
    parameter = _signature(name).parameters.get("weight")
    return None if parameter is None else parameter.default


# ---- the hook by which NetworkX's own tests run on this backend ----------------------------------


#: Tests of NetworkX that are expected to fail on this backend, and the reasons.
EXPECTED_FAILURES: dict[str, str] = {}


def on_start_tests(items: Sequence[Any]) -> None:
    """Mark the expected failures; NetworkX calls this before it runs its tests."""
    import pytest

    for item in items:
        for name, reason in EXPECTED_FAILURES.items():
            if item.nodeid.endswith(name):
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
