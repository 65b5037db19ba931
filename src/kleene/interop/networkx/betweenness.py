"""Betweenness and load centralities: of nodes and edges, of all pairs, samples and subsets."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.calls.betweenness import betweenness
from kleene.interop.networkx.graph import Arcs, KleeneGraph, Weight
from kleene.interop.networkx.search import chunks, distance_rows, hop_limit
from kleene.measures.betweenness import whole_scale
from kleene.system.machine import as_threads, threads_for

__all__ = [
    "betweenness_centrality",
    "betweenness_centrality_subset",
    "edge_betweenness_centrality",
    "edge_betweenness_centrality_subset",
    "edge_load_centrality",
    "newman_betweenness_centrality",
]

Sums = NDArray[np.float64]
Ids = NDArray[np.int32]


def betweenness_centrality(
    G: KleeneGraph,
    k: int | None = None,
    normalized: bool = True,
    weight: Weight | None = None,
    endpoints: bool = False,
    seed: Any = None,
) -> dict[Any, float]:
    arcs = positive_arcs(G, weight)
    chosen = _sample(G, None if k == len(G) else k, seed)
    sums, _ = _pair_sums(arcs, chosen, endpoints=bool(endpoints))
    directed, n = G.is_directed(), len(G)
    count = None if chosen is None else len(chosen)
    scale = np.full(n, whole_scale(n, bool(normalized), directed, bool(endpoints), count))
    if chosen is not None and not endpoints and n > 2:  # a source was seen by the others alone
        seen = len(chosen) - 1
        of_source = whole_scale(n, bool(normalized), directed, False, seen) if seen else math.nan
        scale[chosen] = of_source
    return dict(zip(G.nodes, (sums * scale).tolist(), strict=True))


def betweenness_centrality_subset(
    G: KleeneGraph,
    sources: Any,
    targets: Any,
    normalized: bool = False,
    weight: Weight | None = None,
) -> dict[Any, float]:
    arcs = positive_arcs(G, weight)
    begins, ends = _subsets(G, sources, targets)
    sums = np.zeros(len(G))
    # NetworkX searches again from a source that is named twice.
    named, times = np.unique(begins, return_counts=True)
    for count in np.unique(times).tolist():
        sums += count * _pair_sums(arcs, named[times == count], ends)[0]
    sums *= whole_scale(len(G), bool(normalized), G.is_directed(), False)
    return dict(zip(G.nodes, sums.tolist(), strict=True))


def edge_betweenness_centrality(
    G: KleeneGraph,
    k: int | None = None,
    normalized: bool = True,
    weight: Weight | None = None,
    seed: Any = None,
) -> dict[Any, float]:
    _refuse_functions(G, weight)
    arcs = positive_arcs(G, weight)
    chosen = _sample(G, k, seed)
    count = None if chosen is None else len(chosen)
    scale = whole_scale(len(G), bool(normalized), G.is_directed(), True, count)
    _, along = _pair_sums(arcs, chosen, edges=True)
    return _by_edge(G, along * scale, weight)


def edge_betweenness_centrality_subset(
    G: KleeneGraph,
    sources: Any,
    targets: Any,
    normalized: bool = False,
    weight: Weight | None = None,
) -> dict[Any, float]:
    _refuse_functions(G, weight)
    arcs = positive_arcs(G, weight)
    begins, ends = _subsets(G, sources, targets)
    # A node that is not a target divides what it carries as in no other measure.
    _, along = divided_flow(arcs, "targets", begins, ends)
    along *= whole_scale(len(G), bool(normalized), G.is_directed(), True)
    return _by_edge(G, along, weight)


# ---- arguments ----------------------------------------------------------------------------------


def _sample(G: KleeneGraph, k: int | None, seed: Any) -> Ids | None:
    """Return the nodes that NetworkX takes for a seed; None for all.

    Whatever is refused must be refused before: the next backend takes the numbers that follow.
    """
    if k is None:
        return None
    nodes = nx.utils.create_py_random_state(seed).sample(G.nodes, k)
    return np.array([G.ids[node] for node in nodes], dtype=np.int32)


def _subsets(G: KleeneGraph, sources: Iterable[Any], targets: Iterable[Any]) -> tuple[Ids, Ids]:
    """Return sources, which must be nodes, and the targets that are nodes."""
    begins = [G.ids[node] for node in sources]
    ends = [G.ids[node] for node in set(targets) if node in G.ids] if begins else []
    return np.array(begins, dtype=np.int32), np.array(ends, dtype=np.int32)


def _refuse_functions(G: KleeneGraph, weight: Weight | None) -> None:
    if callable(weight) and G.is_multigraph():
        raise NotImplementedError("NetworkX calls the weight function for each of parallel edges")


# ---- sums ---------------------------------------------------------------------------------------


def _pair_sums(
    arcs: Arcs,
    sources: Ids | None,
    targets: Ids | None = None,
    endpoints: bool = False,
    edges: bool = False,
) -> tuple[Sums, Sums]:
    """Return the sums over ordered pairs of each node and, with ``edges``, of each arc."""
    along = np.zeros(len(arcs.neighbors) if edges else 0)
    if (sources is not None and not len(sources)) or (targets is not None and not len(targets)):
        return np.zeros(arcs.n), along
    graph, config = arcs.graph, nx.config.backends.kleene
    found = betweenness(
        graph,
        edges=edges,
        normalized=False,
        endpoints=endpoints,
        sources=sources,
        targets=targets,
        device=config.device,
        threads=config.threads,
    )
    sums = found.values / whole_scale(arcs.n, False, graph.directed, endpoints)
    if found.arcs is not None:  # in an undirected graph, of both arcs of an edge
        proper = np.flatnonzero(arcs.tails != arcs.neighbors)  # the graph has no self-loops
        order = proper[np.lexsort((arcs.neighbors[proper], arcs.tails[proper]))]
        along[order] = found.arcs / (1 if graph.directed else 2)
        along /= whole_scale(arcs.n, False, graph.directed, True)
    return sums, along


def _of_edges(arcs: Arcs, along: Sums) -> Sums:
    """Return for each arc what goes along its edge, in both directions together."""
    low, high = np.minimum(arcs.tails, arcs.neighbors), np.maximum(arcs.tails, arcs.neighbors)
    _, edge = np.unique(low.astype(np.int64) * arcs.n + high, return_inverse=True)
    return np.bincount(edge, along).astype(float)[edge] if len(edge) else along


def _by_edge(G: KleeneGraph, along: Sums, weight: Weight | None) -> dict[Any, float]:
    """Return numbers of arcs by edge: both directions together, divided among parallel edges."""
    links = G.unweighted_arcs
    kept = np.arange(len(along))
    if not G.is_directed():
        kept = np.flatnonzero(links.tails <= links.neighbors)
        along = _of_edges(links, along)
    ends = (G.names[side[kept]].tolist() for side in (links.tails, links.neighbors))
    pairs = zip(*ends, strict=True)
    numbers = along[kept].tolist()
    if not G.is_multigraph():
        return dict(zip(pairs, numbers, strict=True))
    assert G.data is not None
    result: dict[Any, float] = {}
    for (u, v), number, arc in zip(pairs, numbers, kept.tolist(), strict=True):
        weights = {key: 1 if weight is None else d.get(weight, 1) for key, d in G.data[arc].items()}
        lightest = [key for key, value in weights.items() if value == min(weights.values())]
        for key in weights:
            result[u, v, key] = number / len(lightest) if key in lightest else 0.0
    return result


# ---- load centralities: flow is divided among predecessors by NetworkX's rules -------------------


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
    # In either direction, an edge counts once for each source besides what goes along it.
    loads = (len(G) + _of_edges(arcs, along)).tolist()
    ends = G.names[np.stack([arcs.tails, arcs.neighbors])].tolist()
    result = {}
    for u, w, load in zip(*ends, loads, strict=True):
        result[u, w] = result[w, u] = load
    return result
