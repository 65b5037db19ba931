"""Search results as the Python objects that NetworkX returns: dicts, lists, ints and floats.

NetworkX starts every sum at the integer 0. So the distance of a source is an int whatever the
weights are, and where integers are mixed with floats, a distance is a float only if some arc of
its path has a float weight.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.interop.networkx.graph import Arcs, KleeneGraph
from kleene.interop.networkx.search import SearchResult, chunks, distance_rows, search_all

__all__ = [
    "all_lengths",
    "length_dict",
    "path_dict",
    "path_to",
    "predecessor_lists",
    "value_of",
]

Array = NDArray[Any]


def length_dict(graph: KleeneGraph, result: SearchResult) -> dict[Any, Any]:
    """Return the distance of every reached node, in search order."""
    if result.arcs.is_float is None:
        sources = int(np.count_nonzero(result.predecessor_arcs[result.order] < 0))
        return _native.distance_dict(graph.nodes, result.order, result.distances, sources)
    names, values = graph.names[result.order].tolist(), result.distances[result.order].tolist()
    is_float = _is_float(result)
    lengths = (v if real else int(v) for v, real in zip(values, is_float, strict=True))
    return dict(zip(names, lengths, strict=True))


def _is_float(result: SearchResult) -> list[bool]:
    """Return for each reached node whether its distance is a float, for mixed weights."""
    marks, predecessors = result.arcs.is_float, result.predecessors
    assert marks is not None
    real = np.zeros(result.arcs.n, dtype=bool)
    for v, arc in zip(
        result.order.tolist(), result.predecessor_arcs[result.order].tolist(), strict=True
    ):
        real[v] = arc >= 0 and (marks[arc] or real[predecessors[v]])
    return real[result.order].tolist()  # type: ignore[no-any-return]


def value_of(result: SearchResult, target: int) -> Any:
    """Return the distance of one reached node."""
    value = result.distances[target].item()
    if result.arcs.weights is None or result.arcs.weights.dtype.kind == "i":
        return value
    arc, real = int(result.predecessor_arcs[target]), False
    while arc >= 0 and not real:
        real = result.arcs.is_float is None or bool(result.arcs.is_float[arc])
        arc = int(result.predecessor_arcs[result.arcs.tails[arc]])
    return value if real else int(value)


def path_dict(
    graph: KleeneGraph, result: SearchResult, backwards: bool = False
) -> dict[Any, list[Any]]:
    """Return the path to every reached node, or from it if the search ran backwards."""
    paths = _native.path_lists(graph.nodes, result.order, result.predecessors, backwards)
    return dict(zip(graph.names[result.order].tolist(), paths, strict=True))


def path_to(graph: KleeneGraph, result: SearchResult, target: int) -> list[Any]:
    """Return the path to one reached node."""
    path = [target]
    while (arc := int(result.predecessor_arcs[path[-1]])) >= 0:
        path.append(int(result.arcs.tails[arc]))
    return [graph.nodes[v] for v in reversed(path)]


def predecessor_lists(
    graph: KleeneGraph,
    result: SearchResult,
    by_dijkstra: bool = False,
    limit: float | None = None,
) -> dict[Any, list[Any]]:
    """Return the predecessors of every reached node on all shortest paths.

    The nodes come in search order; if ``by_dijkstra``, in that in which Dijkstra's algorithm first
    sees them, within the limit.
    """
    arcs, order, row = result.arcs, result.order, result.distances
    place = np.full(arcs.n, -1, dtype=np.int64)
    place[order] = np.arange(len(order))
    before, after = place[arcs.tails], place[arcs.neighbors]
    weights = 1 if arcs.weights is None else arcs.weights
    inside = (before >= 0) & (after >= 0)
    if arcs.weights is not None and row.dtype.kind == "i":  # "no path" must not overflow
        row = np.where(place >= 0, row, 0)
    lengths = row[arcs.tails] + weights
    if by_dijkstra:
        seeing = inside if limit is None else inside & ~(lengths > limit)
        order = order[_first_seen(before[seeing], after[seeing], len(order))]
        place[order] = np.arange(len(order))
        after = place[arcs.neighbors]
    tight = np.flatnonzero(inside & (lengths == row[arcs.neighbors]))
    tight = tight[np.lexsort((before[tight], after[tight]))]
    names = graph.names[arcs.tails[tight]].tolist()
    ends = np.cumsum(np.bincount(after[tight], minlength=len(order))).tolist()
    lists = [names[a:b] for a, b in zip([0, *ends], ends, strict=False)]
    return dict(zip(graph.names[order].tolist(), lists, strict=True))


def _first_seen(tails: Array, heads: Array, count: int) -> Array:
    """Return the settled nodes, by place, in the order in which arcs out of these first see them.

    Arcs come in the order of the adjacency; the source, place 0, sees itself.
    """
    heads = heads[np.argsort(tails, kind="stable")]
    seen = np.full(count, len(heads))
    seen[heads[::-1]] = np.arange(len(heads) - 1, -1, -1)  # the earliest is written last
    seen[0] = -1
    return np.argsort(seen, kind="stable")


def all_lengths(
    graph: KleeneGraph, arcs: Arcs, limit: float | None = None
) -> Iterator[tuple[Any, dict[Any, Any]]]:
    """Yield each node and its distances, nearest first; ties in node order."""
    if arcs.is_float is not None:  # whether a sum is a float depends on its path
        for source, result in search_all(arcs, limit):
            yield graph.nodes[source], length_dict(graph, result)
        return
    for sources in chunks(arcs):
        values = distance_rows(arcs, sources, limit)
        counts = (values != arcs.no_path).sum(axis=1).tolist()
        order = _by_distance(values, sources, arcs).astype(np.int32)
        for i, source in enumerate(sources.tolist()):
            nearest = order[i, : counts[i]]
            yield graph.nodes[source], _native.distance_dict(graph.nodes, nearest, values[i], 1)


def _by_distance(values: Array, sources: Array, arcs: Arcs) -> Array:
    """Return for each row the nodes by distance: the source first, unreached nodes last."""
    if arcs.weights is None:
        keys = np.where(values < 0, np.iinfo(values.dtype).max, values)
        if values.max(initial=0) < np.iinfo(np.int16).max:  # 16-bit keys are radix-sorted
            keys = np.minimum(keys, np.iinfo(np.int16).max).astype(np.int16)
    else:
        keys = values.copy()
    lowest = -1 if keys.dtype.kind == "i" else -np.inf
    if arcs.negative:
        lowest = np.iinfo(keys.dtype).min if keys.dtype.kind == "i" else -np.inf
    keys[np.arange(len(sources)), sources] = lowest
    order: Array = np.argsort(keys, axis=1, kind="stable")
    return order
