"""Distance measures and centralities: rows of distances are reduced, chunk by chunk.

NetworkX adds distances in the order of its dictionaries, which is by distance. Adding sorted rows
adds the same numbers in the same order, so the sums are equal to the last bit. Of integers and
hops, Kleene's own measures give the same numbers, from fewer searches.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from kleene.calls import closeness as sums
from kleene.calls import eccentricity as extremes
from kleene.calls.closeness import closeness, harmonic
from kleene.errors import GraphError, PathOverflowError
from kleene.interop.networkx.graph import Arcs, KleeneGraph, Weight
from kleene.interop.networkx.search import chunks, distance_rows, refuse_negative
from kleene.interop.networkx.unweighted import bidirectional_shortest_path

__all__ = [
    "barycenter", "center", "closeness_centrality", "closeness_vitality", "diameter",
    "eccentricity", "efficiency", "global_efficiency", "gutman_index", "harmonic_centrality",
    "harmonic_diameter", "hyper_wiener_index", "local_efficiency", "periphery", "radius",
    "schultz_index", "wiener_index",
]  # fmt: skip


def measured(arcs: Arcs, measure: Callable[..., Any], disconnected: Exception | None = None) -> Any:
    """Return what one of Kleene's measures gives; raise the exception if that is not defined.

    Lengths that do not fit are left to the next backend.
    """
    try:
        return measure(arcs.graph, threads=nx.config.backends.kleene.threads)
    except PathOverflowError as error:
        raise NotImplementedError(str(error)) from None
    except GraphError:
        if disconnected is None:
            raise
        raise disconnected from None


def suits_measures(arcs: Arcs, floats: bool = False) -> bool:
    """Return whether Kleene's measures give NetworkX's numbers: hops, or integers from zero on.

    ``floats`` are added up arc by arc from each source by some measures, as NetworkX adds them.
    """
    kinds = "if" if floats else "i"
    same = arcs.weights is None or (arcs.weights.dtype.kind in kinds and arcs.is_float is None)
    on_cpu = nx.config.backends.kleene.device in ("auto", "cpu")
    return arcs.n > 0 and same and not arcs.negative and on_cpu


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
    absent = f"Source {u} is not in G" if distance is None else f"Node {u} not found in graph"
    sources = None if u is None else np.array([G.position(u, absent)], dtype=np.int32)
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


# ---- Wiener, Schultz and Gutman indices ----------------------------------------------------------


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


# ---- eccentricities, and what follows from them --------------------------------------------------


def eccentricity(
    G: KleeneGraph, v: Any = None, sp: None = None, weight: Weight | None = None
) -> Any:
    nodes = list(dict.fromkeys(G.nbunch_iter(v)))
    result = _eccentricities(G, weight, _message(G, False), nodes)
    return result[v] if v in G else result


def _eccentricities(
    G: KleeneGraph, weight: Weight | None, message: str, nodes: list[Any] | None = None
) -> dict[Any, Any]:
    arcs = G.arcs(weight, allow_hidden=True)
    if (nodes is None or len(nodes) == len(G)) and suits_measures(arcs, floats=True):
        found = measured(arcs, extremes.eccentricity, nx.NetworkXError(message)).values.tolist()
        by_node = dict(zip(G.nodes, (value or 0 for value in found), strict=True))
        return by_node if nodes is None else {node: by_node[node] for node in nodes}
    nodes = G.nodes if nodes is None else nodes
    sources = np.fromiter((G.ids[node] for node in nodes), dtype=np.int32, count=len(nodes))
    parts = connected_rows(arcs, nx.NetworkXError(message), sources=sources)
    farthest = chain.from_iterable(values.max(axis=1).tolist() for values in parts)
    # NetworkX compares with the source's own distance first, which is the integer 0.
    return {node: value or 0 for node, value in zip(nodes, farthest, strict=True)}


def _message(G: KleeneGraph, usebounds: bool) -> str:
    if usebounds is True and not G.is_directed():
        return "Cannot compute metric because graph is not connected."
    kind = "digraph is not strongly" if G.is_directed() else "graph is not"
    return f"Found infinite path length because the {kind} connected"


def _number(G: KleeneGraph, usebounds: bool, weight: Weight | None, measure: Any, best: Any) -> Any:
    """Return the number that one of Kleene's measures gives, or the best of all eccentricities."""
    arcs, message = G.arcs(weight, allow_hidden=True), _message(G, usebounds)
    if suits_measures(arcs, floats=True):
        return measured(arcs, measure, nx.NetworkXError(message)) or 0
    return best(_eccentricities(G, weight, message).values())


def _nodes(G: KleeneGraph, usebounds: bool, weight: Weight | None, measure: Any, best: Any) -> Any:
    """Return the nodes that one of Kleene's measures gives, or those of the best eccentricity."""
    arcs, message = G.arcs(weight, allow_hidden=True), _message(G, usebounds)
    if suits_measures(arcs, floats=True):
        found = measured(arcs, measure, nx.NetworkXError(message))
        return [G.nodes[position] for position in found.tolist()]
    result = _eccentricities(G, weight, message)
    wanted = best(result.values())
    return [node for node, value in result.items() if value == wanted]


def diameter(
    G: KleeneGraph, e: None = None, usebounds: bool = False, weight: Weight | None = None
) -> Any:
    return _number(G, usebounds, weight, extremes.diameter, max)


def radius(
    G: KleeneGraph, e: None = None, usebounds: bool = False, weight: Weight | None = None
) -> Any:
    return _number(G, usebounds, weight, extremes.radius, min)


def periphery(
    G: KleeneGraph, e: None = None, usebounds: bool = False, weight: Weight | None = None
) -> list[Any]:
    nodes: list[Any] = _nodes(G, usebounds, weight, extremes.periphery, max)
    return nodes


def center(
    G: KleeneGraph, e: None = None, usebounds: bool = False, weight: Weight | None = None
) -> list[Any]:
    nodes: list[Any] = _nodes(G, usebounds, weight, extremes.center, min)
    return nodes


# ---- efficiency: the mean of 1/distance ----------------------------------------------------------


def efficiency(G: KleeneGraph, u: Any, v: Any) -> float:
    try:
        return float(1 / (len(bidirectional_shortest_path(G, u, v)) - 1))
    except nx.NetworkXNoPath:
        return 0


def _efficiency(arcs: Arcs) -> float:
    pairs = arcs.n * (arcs.n - 1)
    if pairs == 0:
        return 0
    return sum(inverse_sum(distance_rows(arcs, some), arcs) for some in chunks(arcs)) / pairs


def global_efficiency(G: KleeneGraph) -> float:
    arcs = G.unweighted_arcs
    if arcs.n > 1 and suits_measures(arcs):
        found: float = measured(arcs, sums.efficiency)
        return found
    return _efficiency(arcs)


def local_efficiency(G: KleeneGraph) -> float:
    links = G.unweighted_arcs
    inside = np.full(links.n, -1, dtype=np.int32)
    total = 0.0
    for v in range(links.n):
        around = links.neighbors[links.offsets[v] : links.offsets[v + 1]]
        inside[around] = np.arange(len(around), dtype=np.int32)
        total += _efficiency(_induced(links, around, inside))
        inside[around] = -1
    return total / links.n


def _induced(links: Arcs, nodes: Any, number: Any) -> Arcs:
    """Return the arcs among some nodes; ``number`` holds their new ids, and -1 for others."""
    begins, ends = links.offsets[nodes], links.offsets[nodes + 1]
    counts = ends - begins
    where = np.repeat(begins - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
    targets = number[links.neighbors[where]]
    kept = targets >= 0
    tails = np.repeat(np.arange(len(nodes)), counts)[kept]
    offsets = np.zeros(len(nodes) + 1, dtype=np.int64)
    np.cumsum(np.bincount(tails, minlength=len(nodes)), out=offsets[1:])
    return Arcs(offsets, targets[kept], directed=False)
