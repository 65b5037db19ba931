"""Which calls the backend can run, and which it should; both checks take constant time.

``can_run`` looks at the arguments and at one edge. Weights without an exact array form are detected
when the graph is converted, which then raises NotImplementedError: NetworkX treats that as a
refusal too, and caches it with the graph. ``should_run`` compares NetworkX's cost of the call with
the cost of the conversion; a graph that is already converted always runs.
"""

from __future__ import annotations

import inspect
import sys
from functools import cache
from typing import Any

import networkx as nx

from kleene.interop.networkx.weights import is_exact_type

__all__ = ["can_run", "should_run"]

#: Earlier versions return other types from some functions.
_OLDEST = (3, 6)

#: Arguments that are not supported, and why.
_REFUSED = {
    "e": "e= gives the eccentricities, so there is nothing to compute",
    "sp": "sp= gives the distances, so there is nothing to compute",
    "attr": "attr= would store results in the graph",
    "sort_neighbors": "sort_neighbors= is not supported: a function decides the search order",
    "neighbors": "neighbors= is not supported: a function decides the neighbors",
    "topo_order": "topo_order= is not supported",
}
#: Functions that search from every node, besides all_pairs_*.
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
#: Graph sizes from which a call, conversion included, is faster than NetworkX: measured on random
#: graphs with 5 edges per node. A single unweighted search never is.
_LEAST_ALL, _LEAST_WEIGHTED = 50, 500


def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Return True if the backend can run a call, else the reason."""
    if tuple(map(int, nx.__version__.split(".")[:2])) < _OLDEST:
        return f"Kleene needs NetworkX {'.'.join(map(str, _OLDEST))} or newer"
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
        return "usebounds=True is for unweighted graphs"
    if weight is None or callable(weight) or isinstance(graph, _converted()):
        return True
    result = next((d.get(weight) for _, _, d in graph.edges(data=True)), None)
    return (
        is_exact_type(result) or f"weights of type {type(result).__name__} have no exact array form"
    )


def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Return True if a call is faster here, conversion of its graph included, else the reason."""
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
            return "a search for one pair visits part of the graph, the conversion all of it"
        single = True
    if not single:
        return n >= _LEAST_ALL or f"a graph of {n} nodes is too small to be worth converting"
    weight = bound.get("weight", bound.get("distance", _default_weight(name)))
    if weight is None:
        return "a single unweighted search takes NetworkX no longer than the conversion"
    return n >= _LEAST_WEIGHTED or f"one search of {n} nodes takes less time than the conversion"


def _is_cached(graph: Any) -> bool:
    cache_ = getattr(graph, "__networkx_cache__", None) or {}
    converted = cache_.get("backends", {}).get("kleene", {})
    return any(isinstance(entry, _converted()) for entry in converted.values())


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
