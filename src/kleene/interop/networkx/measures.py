"""Distance measures and centralities: rows of distances are reduced, chunk by chunk.

NetworkX adds distances in the order of its dictionaries, which is by distance. Adding sorted rows
adds the same numbers in the same order, so the sums are equal to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from kleene.calls.closeness import closeness, harmonic
from kleene.interop.networkx.exact_measures import measured, suits_measures
from kleene.interop.networkx.graph import Arcs, KleeneGraph, Weight
from kleene.interop.networkx.search import chunks, distance_rows, refuse_negative

__all__ = [
    "barycenter",
    "closeness_centrality",
    "closeness_vitality",
    "gutman_index",
    "harmonic_centrality",
    "harmonic_diameter",
    "hyper_wiener_index",
    "schultz_index",
    "wiener_index",
]

Array = NDArray[Any]


# ---- rows ---------------------------------------------------------------------------------------


def dijkstra_rows(arcs: Arcs, sources: Array) -> Array:
    """Return the distances that Dijkstra's algorithm finds."""
    refuse_negative(arcs)
    return distance_rows(arcs, sources)


def connected_rows(
    arcs: Arcs, disconnected: Exception, dijkstra: bool = True, sources: Array | None = None
) -> Iterator[Array]:
    """Yield distances, some rows at a time; raise the exception if a node is not reached."""
    for some in chunks(arcs, sources):
        values = (dijkstra_rows if dijkstra else distance_rows)(arcs, some)
        if (values == arcs.no_path).any():
            raise disconnected
        yield values


def require_connected(G: KleeneGraph, disconnected: Exception) -> None:
    """Raise the exception unless the graph is (strongly) connected, ignoring weights."""
    for _ in connected_rows(G.unweighted_arcs, disconnected):
        pass


def addends(values: Array) -> list[Any]:
    """Return numbers that add up to the sum of all distances as NetworkX computes it."""
    if values.dtype.kind == "f" and values.shape[1] > 1:
        added: list[Any] = np.sort(values, axis=1).ravel().tolist()
        return added
    if values.dtype.kind == "f":  # the distance to itself is the integer 0
        return [0]
    return row_sums(values)


def row_sums(values: Array) -> list[Any]:
    """Return the sum of each row; integers do not overflow."""
    if values.dtype.kind == "f":
        return [sum(row) for row in np.sort(values, axis=1).tolist()]
    if float(values.max(initial=0)) * values.shape[1] < 2.0**62:
        sums: list[Any] = values.sum(axis=1, dtype=np.int64).tolist()
        return sums
    return [sum(row) for row in values.tolist()]


# ---- sums of distances --------------------------------------------------------------------------


def barycenter(
    G: KleeneGraph, weight: Weight | None = None, attr: None = None, sp: None = None
) -> list[Any]:
    disconnected = nx.NetworkXNoPath(
        f"Input graph {G} is disconnected, so every induced subgraph has infinite barycentricity."
    )
    parts = connected_rows(G.arcs(weight, allow_hidden=True), disconnected)
    sums = list(chain.from_iterable(map(row_sums, parts)))
    least = min(sums)
    return [node for node, total in zip(G.nodes, sums, strict=True) if total == least]


def closeness_centrality(
    G: KleeneGraph,
    u: Any = None,
    distance: Weight | None = None,
    wf_improved: bool = True,
    *,
    sp: Any = None,
) -> Any:
    if u is None and distance is None and suits_measures(G.unweighted_arcs):
        improved = partial(closeness, wf_improved=bool(wf_improved))
        found = measured(G.unweighted_arcs, improved).values.tolist()
        return dict(zip(G.nodes, found, strict=True))
    arcs = _incoming_arcs(G, distance)
    if u is not None and u not in G:
        known = f"Source {u} is not in G" if distance is None else f"Node {u} not found in graph"
        raise nx.NodeNotFound(known)
    sources = None if u is None else np.array([G.ids[u]], dtype=np.int32)
    result: list[float] = []
    for some in chunks(arcs, sources):
        values = dijkstra_rows(arcs, some)
        missing = values == arcs.no_path
        counts = (values.shape[1] - missing.sum(axis=1)).tolist()
        values[missing] = 0
        result.extend(
            map(_closeness, counts, row_sums(values), [(len(G), wf_improved)] * len(some))
        )
    return result[0] if u is not None else dict(zip(G.nodes, result, strict=True))


def _closeness(reached: int, total: Any, how: tuple[int, bool]) -> float:
    n, improved = how
    if not total > 0 or n <= 1:
        return 0.0
    closeness = (reached - 1.0) / total
    return float(closeness * ((reached - 1.0) / (n - 1)) if improved else closeness)


def _incoming_arcs(G: KleeneGraph, distance: Weight | None) -> Arcs:
    """Return the reversed arcs, for distances to a node."""
    if not G.is_directed():
        return G.arcs(distance, allow_hidden=True)
    if callable(distance):
        raise NotImplementedError("NetworkX calls the weight function with reversed edges here")
    return G.arcs(distance, allow_hidden=True).reversed


def harmonic_centrality(
    G: KleeneGraph, nbunch: Any = None, distance: Weight | None = None, sources: Any = None
) -> dict[Any, float]:
    wanted = set(G.nbunch_iter(nbunch) if nbunch is not None else G.nodes)
    if distance is sources is nbunch is None and suits_measures(G.unweighted_arcs):
        found = measured(G.unweighted_arcs, harmonic)
        pairs = zip(found.values.tolist(), found.reached.tolist(), strict=True)
        by_node = dict(zip(G.nodes, (s if count else 0 for s, count in pairs), strict=True))
        return {node: by_node[node] for node in wanted}
    origins = set(G.nbunch_iter(sources) if sources is not None else G.nodes)
    rows_from, columns = origins, wanted
    arcs = G.arcs(distance, allow_hidden=True)
    if swapped := len(wanted) < len(origins):  # search from the smaller set
        rows_from, columns, arcs = wanted, origins, _incoming_arcs(G, distance)
    starts = np.array([G.ids[v] for v in rows_from], dtype=np.int32)
    ends = np.array([G.ids[v] for v in columns], dtype=np.int64)
    totals: list[Any] = []
    counts: list[Any] = []
    over = 1 if swapped else 0
    for some in chunks(arcs, starts):
        values = dijkstra_rows(arcs, some)[:, ends]
        counted = (values != 0) & (values != arcs.no_path)
        inverse = np.zeros(values.shape)
        np.divide(1.0, values, out=inverse, where=counted)
        totals.append(inverse.sum(axis=over))
        counts.append(counted.sum(axis=over))
    if not totals:
        return dict.fromkeys(wanted, 0)
    total, count = (np.concatenate(x) if swapped else np.sum(x, axis=0) for x in (totals, counts))
    sums = [s if c else 0 for s, c in zip(total.tolist(), count.tolist(), strict=True)]
    result = dict(zip(rows_from if swapped else columns, sums, strict=True))
    return {node: result[node] for node in wanted}


def harmonic_diameter(G: KleeneGraph, sp: None = None, *, weight: Weight | None = None) -> float:
    arcs, n = G.arcs(weight, allow_hidden=True), len(G)
    total = sum(map(inverse_sum, (dijkstra_rows(arcs, some) for some in chunks(arcs)), [arcs] * n))
    if total != 0:
        return float(n * (n - 1) / total)
    return math.inf if n > 1 else math.nan


def inverse_sum(values: Array, arcs: Arcs) -> float:
    """Return the sum of 1/d over all distances d > 0."""
    if arcs.weights is None:
        counts = np.bincount(values[values > 0])
        return float((counts[1:] / np.arange(1, len(counts))).sum())
    counted = values[(values != 0) & (values != arcs.no_path)]
    return float((1 / counted).sum())


# ---- Wiener, Schultz and Gutman indices -----------------------------------------------------


def _index(arcs: Arcs, term: Any) -> Any:
    """Return the sum of a term over all rows of distances; infinity if not connected."""
    disconnected = nx.NetworkXError()
    begin, total = 0, 0
    try:
        for values in connected_rows(arcs, disconnected):
            total += term(values, slice(begin, begin + len(values)))
            begin += len(values)
    except nx.NetworkXError as error:
        if error is not disconnected:
            raise
        return math.inf
    return total


def _exact(values: Array, factor: float) -> Array:
    """Return distances in a type in which sums of their products with a factor cannot overflow."""
    if values.dtype.kind == "f" or float(values.max(initial=0)) * factor * values.size < 2.0**62:
        return values.astype(np.int64) if values.dtype.kind == "i" else values
    return values.astype(object)


def wiener_index(G: KleeneGraph, weight: Weight | None = None) -> Any:
    return _wiener_index(G.arcs(weight), G.is_directed())


def _wiener_index(arcs: Arcs, directed: bool) -> Any:
    total = _index(arcs, lambda values, _: sum(addends(values)))
    return total if directed else total / 2


def closeness_vitality(
    G: KleeneGraph, node: Any = None, weight: Weight | None = None, wiener_index: Any = None
) -> Any:
    arcs, directed = G.arcs(weight), G.is_directed()
    if wiener_index is None:
        wiener_index = _wiener_index(arcs, directed)

    def vitality(v: Any) -> Any:
        left = arcs.without(G.ids[v]) if v in G else arcs
        return wiener_index - _wiener_index(left, directed)

    return {v: vitality(v) for v in G} if node is None else vitality(node)


def hyper_wiener_index(G: KleeneGraph, weight: Weight | None = None) -> float:
    def term(values: Array, _: slice) -> Any:
        exact = _exact(values, 1 + float(values.max(initial=0)))
        return np.asarray((exact + exact**2).sum()).item()  # of objects, the sum is an int

    return _index(G.arcs(weight), term) / 2  # type: ignore[no-any-return]


def _degrees(G: KleeneGraph) -> NDArray[np.int64]:
    loops = np.bincount(G.unweighted_arcs.tails[G.unweighted_arcs.loops], minlength=len(G))
    return np.diff(G.unweighted_arcs.offsets) + loops


def schultz_index(G: KleeneGraph, weight: Weight | None = None) -> float:
    degrees = _degrees(G)

    def term(values: Array, at: slice) -> Any:
        exact = _exact(values, 2.0 * degrees.max())
        return (exact * (degrees[at, None] + degrees)).sum()

    return float(_index(G.arcs(weight), term) / 2)


def gutman_index(G: KleeneGraph, weight: Weight | None = None) -> float:
    degrees = _degrees(G)

    def term(values: Array, at: slice) -> Any:
        exact = _exact(values, float(degrees.max()) ** 2)
        return (exact * (degrees[at, None] * degrees)).sum()

    return float(_index(G.arcs(weight), term) / 2)
