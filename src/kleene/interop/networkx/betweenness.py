"""Betweenness centralities: of nodes and edges, of all pairs, of samples and of subsets."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from kleene.calls.betweenness import betweenness
from kleene.interop.networkx.graph import Arcs, KleeneGraph, Weight
from kleene.interop.networkx.loads import divided_flow, positive_arcs
from kleene.measures.scaling import whole_scale

__all__ = [
    "betweenness_centrality",
    "betweenness_centrality_subset",
    "edge_betweenness_centrality",
    "edge_betweenness_centrality_subset",
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


def _by_edge(G: KleeneGraph, along: Sums, weight: Weight | None) -> dict[Any, float]:
    """Return numbers of arcs by edge: both directions together, divided among parallel edges."""
    links = G.unweighted_arcs
    kept = np.arange(len(along))
    if not G.is_directed():
        kept = np.flatnonzero(links.tails <= links.neighbors)
        low = np.minimum(links.tails, links.neighbors).astype(np.int64)
        edge = np.unique(low * links.n + np.maximum(links.tails, links.neighbors), False, True)[1]
        along = np.bincount(edge, along).astype(float)[edge] if len(edge) else along
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
