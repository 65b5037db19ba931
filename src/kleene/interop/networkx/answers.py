"""Searches as the Python objects that NetworkX returns: dictionaries, lists, ints and floats.

NetworkX starts every sum at the integer 0. So the distance of a source is an int whatever the
weights are, and where whole numbers are among floats, a sum is a float only if an arc of its path
was one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.interop.networkx.graph import Arcs, KleeneGraph
from kleene.interop.networkx.search import Visit, chunks, no_path, rows, visit_rows

__all__ = [
    "all_lengths",
    "length_dict",
    "path_dict",
    "path_to",
    "predecessor_lists",
    "value_of",
]

Array = NDArray[Any]


def length_dict(graph: KleeneGraph, found: Visit) -> dict[Any, Any]:
    """Return the distance of every node found, in the order of finding."""
    if found.arcs.real is None:
        sources = int(np.count_nonzero(found.arrivals[found.order] < 0))
        return _native.value_dict(graph.nodes, found.order, found.row, sources)
    names, values = graph.names[found.order].tolist(), found.row[found.order].tolist()
    real = _is_real(found)
    lengths = (v if is_real else int(v) for v, is_real in zip(values, real, strict=True))
    return dict(zip(names, lengths, strict=True))


def _is_real(found: Visit) -> list[bool]:
    """Say for each node found whether its distance is a float, where some weights are not."""
    marks, parents = found.arcs.real, found.parents
    assert marks is not None
    real = np.zeros(found.arcs.n, dtype=bool)
    for v, arc in zip(found.order.tolist(), found.arrivals[found.order].tolist(), strict=True):
        real[v] = arc >= 0 and (marks[arc] or real[parents[v]])
    return real[found.order].tolist()  # type: ignore[no-any-return]


def value_of(found: Visit, target: int) -> Any:
    """Return the distance of one node that was found."""
    value = found.row[target].item()
    if found.arcs.weights is None or found.arcs.weights.dtype.kind == "i":
        return value
    arc, real = int(found.arrivals[target]), False
    while arc >= 0 and not real:
        real = found.arcs.real is None or bool(found.arcs.real[arc])
        arc = int(found.arrivals[found.arcs.owners[arc]])
    return value if real else int(value)


def path_dict(graph: KleeneGraph, found: Visit, backwards: bool = False) -> dict[Any, list[Any]]:
    """Return the path to every node found; from it, when the search went backwards."""
    paths = _native.path_lists(graph.nodes, found.order, found.parents, backwards)
    return dict(zip(graph.names[found.order].tolist(), paths, strict=True))


def path_to(graph: KleeneGraph, found: Visit, target: int) -> list[Any]:
    """Return the path to one node that was found."""
    path = [target]
    while (arc := int(found.arrivals[path[-1]])) >= 0:
        path.append(int(found.arcs.owners[arc]))
    return [graph.nodes[v] for v in reversed(path)]


def predecessor_lists(graph: KleeneGraph, found: Visit) -> dict[Any, list[Any]]:
    """Return for every node found the nodes before it on shortest paths, in order of finding."""
    arcs, order, row = found.arcs, found.order, found.row
    place = np.full(arcs.n, -1, dtype=np.int64)
    place[order] = np.arange(len(order))
    before, after = place[arcs.owners], place[arcs.neighbors]
    weights = 1 if arcs.weights is None else arcs.weights
    inside = (before >= 0) & (after >= 0)
    if arcs.weights is not None and row.dtype.kind == "i":  # "no path" must not wrap
        row = np.where(place >= 0, row, 0)
    tight = np.flatnonzero(inside & (row[arcs.owners] + weights == row[arcs.neighbors]))
    tight = tight[np.lexsort((before[tight], after[tight]))]
    names = graph.names[arcs.owners[tight]].tolist()
    ends = np.cumsum(np.bincount(after[tight], minlength=len(order))).tolist()
    lists = [names[a:b] for a, b in zip([0, *ends], ends, strict=False)]
    return dict(zip(graph.names[order].tolist(), lists, strict=True))


def all_lengths(
    graph: KleeneGraph, arcs: Arcs, limit: float | None = None
) -> Iterator[tuple[Any, dict[Any, Any]]]:
    """Yield each node and its distances, nearest first; equals in the order of the nodes."""
    if arcs.real is not None:  # which sums are floats follows from the paths
        for sources in chunks(arcs):
            found = visit_rows(arcs, sources, limit)
            for source, each in zip(sources.tolist(), found, strict=True):
                yield graph.nodes[source], length_dict(graph, each)
        return
    for sources in chunks(arcs):
        values = rows(arcs, sources, limit)
        counts = (values != no_path(arcs)).sum(axis=1).tolist()
        order = _by_distance(values, sources, arcs).astype(np.int32)
        for i, source in enumerate(sources.tolist()):
            nearest = order[i, : counts[i]]
            yield graph.nodes[source], _native.value_dict(graph.nodes, nearest, values[i], 1)


def _by_distance(values: Array, sources: Array, arcs: Arcs) -> Array:
    """Return for each row the nodes by distance, the source first and those not found last."""
    if arcs.weights is None:
        keys = np.where(values < 0, np.iinfo(values.dtype).max, values)
        if values.max(initial=0) < np.iinfo(np.int16).max:  # short keys are sorted by radix
            keys = np.minimum(keys, np.iinfo(np.int16).max).astype(np.int16)
    else:
        keys = values.copy()
    lowest = -1 if keys.dtype.kind == "i" else -np.inf
    if arcs.negative:
        lowest = np.iinfo(keys.dtype).min if keys.dtype.kind == "i" else -np.inf
    keys[np.arange(len(sources)), sources] = lowest
    order: Array = np.argsort(keys, axis=1, kind="stable")
    return order
