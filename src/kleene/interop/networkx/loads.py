"""Load centralities: flow that vertices divide among their predecessors by NetworkX's rules."""

from __future__ import annotations

import math
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.interop.networkx.graph import Arcs, KleeneGraph, Weight
from kleene.interop.networkx.search import chunks, distance_rows, hop_limit
from kleene.system.machine import as_threads, threads_for

__all__ = ["divided_flow", "edge_load_centrality", "newman_betweenness_centrality", "positive_arcs"]

Sums = NDArray[np.float64]


def positive_arcs(G: KleeneGraph, weight: Weight | None) -> Arcs:
    """Return the arcs under a weight; weights must be positive.

    Across an edge of no weight, NetworkX counts paths as its search happens to meet the ends.
    """
    arcs = G.arcs(weight)
    if arcs.weights is not None and (arcs.weights <= 0).any():
        raise NotImplementedError(
            "with weights of zero or less, NetworkX's result depends on the order of its steps"
        )
    return arcs


def divided_flow(
    arcs: Arcs,
    division: str,
    sources: NDArray[np.int32] | None = None,
    targets: NDArray[np.int32] | None = None,
    limit: float | None = None,
) -> tuple[Sums, Sums]:
    """Return the sums of ``_native.divided_flow`` over searches: of each node, and of each arc."""
    incoming = arcs.reversed
    nodes, into = np.zeros(arcs.n), np.zeros(len(arcs.neighbors))
    is_target = np.zeros(arcs.n, dtype=np.uint8)
    is_target[slice(None) if targets is None else targets] = 1
    work = arcs.n + len(arcs.neighbors)
    for some in chunks(arcs, sources):
        _native.divided_flow(
            incoming.offsets,
            incoming.neighbors,
            incoming.weights,
            np.ascontiguousarray(distance_rows(arcs, some, limit, exact=True)),
            arcs.no_path,
            some,
            is_target,
            division,
            nodes,
            into,
            threads_for(len(some) * work, as_threads(nx.config.backends.kleene.threads)),
        )
    if not arcs.directed:  # the arc at the same place of the row leads the other way
        return nodes, into
    along = np.empty_like(into)
    along[np.argsort(arcs.neighbors, kind="stable")] = into
    return nodes, along


def newman_betweenness_centrality(
    G: KleeneGraph,
    v: Any = None,
    cutoff: float | None = None,
    normalized: bool = True,
    weight: Weight | None = None,
) -> Any:
    arcs = positive_arcs(G, weight)
    try:
        sorted(G.nodes)
    except TypeError as error:  # which NetworkX raises only if two are equally far from a third
        raise NotImplementedError(f"NetworkX sorts the nodes: {error}") from error
    if v is None or v in G.ids:
        loads, _ = divided_flow(arcs, "load", limit=_limit(weight, cutoff))
        order = len(G)
        if normalized and order > 2:
            loads *= 1.0 / ((order - 1) * (order - 2))
        found = loads.tolist()
        return dict(zip(G.nodes, found, strict=True)) if v is None else found[G.ids[v]]
    return 0.0


def _limit(weight: Weight | None, cutoff: float | None) -> float | None:
    """Return how far searches go; those without weights go one step at least."""
    if weight is None:
        return hop_limit(max(1, cutoff)) if cutoff else None
    return None if cutoff is None or cutoff == math.inf else max(0, cutoff)


def edge_load_centrality(G: KleeneGraph, cutoff: float | bool = False) -> dict[Any, float]:
    arcs = G.unweighted_arcs
    _, along = divided_flow(arcs, "edge_load", limit=_limit(None, cutoff))
    ends = np.stack([arcs.tails, arcs.neighbors])
    low, high = ends.min(axis=0).astype(np.int64), ends.max(axis=0)
    _, edge = np.unique(low * arcs.n + high, return_inverse=True)
    # In either direction, an edge counts once for each source besides what goes along it.
    loads = (len(G) + np.bincount(edge, along)[edge]).tolist() if len(edge) else []
    result = {}
    for u, w, load in zip(*G.names[ends].tolist(), loads, strict=True):
        result[u, w] = result[w, u] = load
    return result
