"""What the nearest of several nodes decides: Voronoi cells and Steiner trees.

A search from all these nodes together gives each node its nearest one, with the ties of NetworkX.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from kleene.interop.networkx.convert import subgraph_to_nx
from kleene.interop.networkx.graph import Arcs, KleeneGraph, Weight
from kleene.interop.networkx.search import SearchResult
from kleene.interop.networkx.two_sided import TwoSided
from kleene.interop.networkx.weighted import from_several

__all__ = ["steiner_tree", "voronoi_cells"]

Array = NDArray[Any]


def voronoi_cells(
    G: KleeneGraph, center_nodes: Any, weight: Weight | None = "weight"
) -> dict[Any, set[Any]]:
    result = from_several(G, center_nodes, weight)
    nearest = _nearest(result)[result.order]
    centers, first, counts = np.unique(nearest, return_index=True, return_counts=True)
    members = G.names[result.order[np.argsort(nearest, kind="stable")]]
    parts = np.split(members, np.cumsum(counts)[:-1])
    cells = {G.nodes[centers[i]]: set(parts[i].tolist()) for i in np.argsort(first).tolist()}
    missing = np.ones(len(G), dtype=bool)
    missing[result.order] = False
    if missing.any():
        cells["unreachable"] = set(G.names[missing].tolist())
    return cells


def _nearest(result: SearchResult) -> Array:
    """Return the source whose search came to each node; of those that none reached, the node."""
    before = result.predecessors
    nearest = np.where(before < 0, np.arange(len(before), dtype=before.dtype), before)
    while not np.array_equal(further := nearest[nearest], nearest):
        nearest = further
    return nearest


# ---- Steiner trees ------------------------------------------------------------------------------


def steiner_tree(
    G: KleeneGraph, terminal_nodes: Any, weight: Any = "weight", method: str | None = None
) -> Any:
    """Return the tree of Mehlhorn's algorithm, step by step that of NetworkX."""
    arcs = G.arcs(weight)
    result = from_several(G, terminal_nodes, weight)
    if len(result.order) < len(G):
        raise NotImplementedError("NetworkX raises KeyError: no path leads to some nodes")
    search = TwoSided(G, arcs, weighted=True)
    union = nx.Graph()
    between = _between_cells(arcs, result)
    for u, v, _ in nx.minimum_spanning_edges(between, weight="weight_d1", backend="networkx"):
        found = search.path(u, v, latest=True)
        assert found is not None  # the nodes are connected
        for tail, head in pairwise(found[1]):
            union.add_edge(tail, head, weight=search.length(tail, head))
    tree = nx.Graph()
    tree.add_edges_from(
        nx.minimum_spanning_edges(union, data=False, weight=weight, backend="networkx")
    )
    _prune(tree, {G.ids[node] for node in terminal_nodes})
    return subgraph_to_nx(G, *_marked(arcs, tree))


def _between_cells(arcs: Arcs, result: SearchResult) -> Any:
    """Return the graph of terminals, joined by the shortest way over an edge between their cells.

    Its edges come in NetworkX's order, since the order decides between trees of equal length.
    """
    nearest = _nearest(result)
    edges = np.flatnonzero(arcs.tails <= arcs.neighbors)
    tails, heads = arcs.tails[edges], arcs.neighbors[edges]
    lengths = 1 if arcs.weights is None else arcs.weights[edges]
    over = result.distances[tails] + lengths + result.distances[heads]
    us, vs = nearest[tails].astype(np.int64), nearest[heads].astype(np.int64)
    _, first, pair = np.unique(
        np.minimum(us, vs) * arcs.n + np.maximum(us, vs), return_index=True, return_inverse=True
    )
    shortest = over[first]
    np.minimum.at(shortest, pair.ravel(), over)
    between = nx.Graph()
    for i in np.argsort(first).tolist():
        u, v = us[first[i]].item(), vs[first[i]].item()
        between.add_edge(u, v, weight_d1=shortest[i].item())
    return between


def _prune(tree: Any, terminals: set[int]) -> None:
    """Remove leaves that are no terminals until there are none."""
    leaves = [v for v in tree if tree.degree[v] == 1 and v not in terminals]
    while leaves:
        v = leaves.pop()
        (before,) = tree[v]
        tree.remove_node(v)
        if tree.degree[before] == 1 and before not in terminals:
            leaves.append(before)


def _marked(arcs: Arcs, tree: Any) -> tuple[Array, Array]:
    """Return which nodes are in a tree with edges, and which arcs."""
    nodes, kept = np.zeros(arcs.n, dtype=bool), np.zeros(len(arcs.neighbors), dtype=bool)
    for u, v in tree.edges:
        nodes[[u, v]] = True
        for tail, head in ((u, v), (v, u)):
            kept[arcs.between(tail, head)] = True
    return nodes, kept
