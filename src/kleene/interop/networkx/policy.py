"""Which calls the backend can take, and which it should: both at a cost that does not grow.

``can_run`` looks at the arguments and at one edge. Weights that arrays cannot hold are found when
the graph is converted, which then raises NotImplementedError: NetworkX takes that as a refusal too,
and remembers it with the graph. ``should_run`` compares what NetworkX would need for the call with
what the conversion costs; a graph that was converted before always runs.
"""

from __future__ import annotations

import inspect
import sys
from functools import cache
from typing import Any

import networkx as nx

from kleene.interop.networkx.weights import is_plain

__all__ = ["can_run", "should_run"]

#: The return types of some functions were others before.
_OLDEST = (3, 5)

#: Arguments that must be left alone, and why.
_REFUSED = {
    "e": "eccentricities are given, so there is nothing to compute",
    "sp": "distances are given, so there is nothing to compute",
    "attr": "results would have to be stored in the graph",
    "sort_neighbors": "the order of neighbors is up to a function",
    "neighbors": "the neighbors are up to a function",
    "topo_order": "the order is given",
}
#: Searches from every node, though the name does not say so.
_FROM_ALL = {
    "average_shortest_path_length",
    "barycenter",
    "center",
    "closeness_centrality",
    "diameter",
    "eccentricity",
    "floyd_warshall",
    "floyd_warshall_numpy",
    "floyd_warshall_predecessor_and_distance",
    "global_efficiency",
    "gutman_index",
    "harmonic_centrality",
    "harmonic_diameter",
    "hyper_wiener_index",
    "johnson",
    "local_efficiency",
    "negative_edge_cycle",
    "periphery",
    "radius",
    "schultz_index",
    "transitive_closure",
    "transitive_closure_dag",
    "wiener_index",
}
#: Nodes from which on a call is faster than NetworkX though the graph must be converted: measured
#: on random graphs with 5 edges a node. One search without weights never is.
_LEAST_ALL, _LEAST_WEIGHTED = 50, 500


def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Say whether the backend can run a call, or why not."""
    if tuple(map(int, nx.__version__.split(".")[:2])) < _OLDEST:
        return f"it needs NetworkX {'.'.join(map(str, _OLDEST))} or newer"
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
    weight = bound.get("weight", bound.get("distance", _default_weight(name)))
    if bound.get("usebounds") and weight is not None:
        return "bounds are for graphs without weights"
    if weight is None or callable(weight) or isinstance(graph, _converted()):
        return True
    found = next((d.get(weight) for _, _, d in graph.edges(data=True)), None)
    return is_plain(found) or f"weights of type {type(found).__name__} have no exact array form"


def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Say whether a call is faster here, the conversion of its graph included, or why not."""
    bound = _signature(name).bind(*args, **kwargs).arguments
    graph = bound["G"]
    if _is_cached(graph):
        return True
    n = len(graph)
    single = bound.get("source", bound.get("sources")) is not None or bound.get("u") is not None
    if name in _FROM_ALL or name.startswith("all_pairs_"):
        single = single and name == "closeness_centrality"
    elif "target" in bound:
        if single:
            return "a search for one pair looks at little of the graph; the conversion at all of it"
        single = True
    if not single:
        return n >= _LEAST_ALL or f"a graph of {n} nodes is too small to gain from a conversion"
    weight = bound.get("weight", bound.get("distance", _default_weight(name)))
    if weight is None:
        return "one search without weights takes NetworkX no longer than the conversion"
    return n >= _LEAST_WEIGHTED or f"one search of {n} nodes takes less than the conversion"


def _is_cached(graph: Any) -> bool:
    cache_ = getattr(graph, "__networkx_cache__", None) or {}
    converted = cache_.get("backends", {}).get("kleene", {})
    return any(isinstance(made, _converted()) for made in converted.values())


@cache
def _converted() -> type:
    from kleene.interop.networkx.graph import KleeneGraph

    return KleeneGraph


@cache
def _signature(name: str) -> inspect.Signature:
    return inspect.signature(getattr(sys.modules["kleene.interop.networkx"], name))


@cache
def _default_weight(name: str) -> Any:
    parameter = _signature(name).parameters.get("weight")
    return None if parameter is None else parameter.default
