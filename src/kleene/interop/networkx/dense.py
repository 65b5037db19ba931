"""The functions of networkx's ``dense`` module: all pairs, as matrices and nested dicts."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from kleene.interop.networkx.graph import Arcs, KleeneGraph, Weight
from kleene.interop.networkx.result_dicts import length_dict
from kleene.interop.networkx.search import SearchResult, distance_rows, search_all

__all__ = ["floyd_warshall", "floyd_warshall_numpy", "floyd_warshall_predecessor_and_distance"]


def _infinity() -> float:
    return math.inf


@contextmanager
def _no_negative_cycles() -> Iterator[None]:
    """Refuse graphs with negative cycles, for which NetworkX returns meaningless values."""
    try:
        yield
    except nx.NetworkXUnbounded as error:
        raise NotImplementedError(
            "distances are undefined: the graph has a negative cycle"
        ) from error


def floyd_warshall_numpy(
    G: KleeneGraph, nodelist: Any = None, weight: Weight | None = "weight"
) -> NDArray[np.float64]:
    order = None
    if nodelist is not None:
        if not len(nodelist) == len(G) == len(set(nodelist)):
            raise nx.NetworkXError(
                "nodelist must contain every node in G with no repeats."
                "If you wanted a subgraph of G use G.subgraph(nodelist)"
            )
        if not G.ids.keys() >= set(nodelist):
            raise nx.NetworkXError(f"Nodes {set(nodelist) - set(G)} in nodelist is not in G")
        order = np.array([G.ids[node] for node in nodelist])
    arcs = G.arcs(weight)
    with _no_negative_cycles():
        result = distance_rows(arcs, np.arange(len(G), dtype=np.int32))
    table = result.astype(np.float64)
    table[result == arcs.no_path] = np.inf
    return table if order is None else table[np.ix_(order, order)]


def _search_results(G: KleeneGraph, weight: Weight | None) -> Iterator[tuple[int, SearchResult]]:
    with _no_negative_cycles():
        yield from search_all(_arcs(G, weight))


def _arcs(G: KleeneGraph, weight: Weight | None) -> Arcs:
    if weight is None:  # NetworkX counts 1.0 here where an edge has no weight
        links = G.unweighted_arcs
        return Arcs(
            links.offsets, links.neighbors, np.ones(len(links.neighbors)), None, links.directed
        )
    return G.arcs(weight, 1.0)


def _table_row(G: KleeneGraph, result: SearchResult) -> dict[Any, Any]:
    row: dict[Any, Any] = defaultdict(_infinity, length_dict(G, result))
    if _has_float_zero(result):  # NetworkX keeps it instead of the integer 0
        row[G.nodes[int(result.order[0])]] = 0.0
    if len(row) < len(G):
        row.update(dict.fromkeys((node for node in G.nodes if node not in row), math.inf))
    return row


def _has_float_zero(result: SearchResult) -> bool:
    """Return whether the source has a self-loop of weight 0.0."""
    arcs, source = result.arcs, result.order[0]
    if not len(arcs.loops) or arcs.weights is None or arcs.weights.dtype.kind == "i":
        return False
    loop = arcs.loops[arcs.neighbors[arcs.loops] == source]
    real = arcs.is_float is None or arcs.is_float[loop]
    return bool(((arcs.weights[loop] == 0) & real).any())


def floyd_warshall(G: KleeneGraph, weight: Weight | None = "weight") -> dict[Any, dict[Any, Any]]:
    return {G.nodes[source]: _table_row(G, result) for source, result in _search_results(G, weight)}


def floyd_warshall_predecessor_and_distance(
    G: KleeneGraph, weight: Weight | None = "weight"
) -> tuple[dict[Any, dict[Any, Any]], dict[Any, dict[Any, Any]]]:
    predecessors: dict[Any, dict[Any, Any]] = {}
    lengths = {}
    loops = set(G.unweighted_arcs.tails[G.unweighted_arcs.loops].tolist())
    for source, result in _search_results(G, weight):
        node, inner = G.nodes[source], result.order[1:]
        lengths[node] = _table_row(G, result)
        tree = G.names[result.predecessors[inner]].tolist()
        row = dict(zip(G.names[inner].tolist(), tree, strict=True))
        if source in loops:
            row[node] = node
        if row:
            predecessors[node] = row
    return predecessors, lengths
