"""Many graphs side by side: sequences of graphs, and batches as PyTorch Geometric keeps them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import GraphError, RequestError
from kleene.graph.checks import as_array, as_weights
from kleene.graph.core import Graph
from kleene.graph.dlpack import is_foreign, to_numpy

__all__ = ["Batch", "as_batch"]

Array = NDArray[Any]


@dataclass(frozen=True)
class Batch:
    """Graphs side by side, in arrays; offsets have one entry more than there are graphs."""

    vertices: Array  # offsets
    arcs: Array  # offsets
    sources: Array
    targets: Array
    lengths: Array | None
    local: bool  # ids of each graph start from 0; else they go on from graph to graph
    order: Array | None = None  # where the arcs were, if they had to be put in order
    model: Any = None  # an array of the library that the result is for

    @property
    def count(self) -> int:
        return len(self.vertices) - 1

    def bad_arc(self, position: int) -> GraphError:
        """Say what is wrong with an arc that leaves its graph."""
        g = int(np.searchsorted(self.arcs, position, side="right")) - 1
        first, end = (int(v) for v in self.vertices[g : g + 2])
        if self.local:
            first, end = 0, end - first
        at = position if self.order is None else int(self.order[position])
        where = f"arc {at - int(self.arcs[g])} of graphs[{g}]" if self.local else f"arc {at}"
        ends = f"vertex {self.sources[position]} to vertex {self.targets[position]}"
        return GraphError(
            f"{where} leads from {ends}, but the vertices of graph {g} are {first} to {end - 1}"
        )


def as_batch(graphs: Any, n: Any, ptr: Any, batch: Any, weighted: bool, weights: Any) -> Batch:
    """Return whatever holds several graphs as a Batch; ``distance_encodings`` says what that is."""
    if hasattr(graphs, "edge_index"):
        if ptr is None and batch is None:
            ptr, batch = getattr(graphs, "ptr", None), getattr(graphs, "batch", None)
        if ptr is None and batch is None:
            ptr = [0, int(graphs.num_nodes)]
        if weighted and weights is None:
            weights = getattr(graphs, "edge_weight", None)
        graphs = graphs.edge_index
    if ptr is not None or batch is not None:
        if n is not None:
            raise RequestError("n goes with a sequence of graphs; ptr and batch already say it")
        made = _union(graphs, ptr, batch, weights if weighted else None)
    elif isinstance(graphs, np.ndarray) or is_foreign(graphs):
        raise RequestError(
            "one edge index needs ptr= or batch=, which say what graph a vertex belongs to; "
            "pass [edge_index] and n=[vertices] if it is a single graph"
        )
    else:
        made = _sequence(graphs, n, weighted, weights)
    return replace(made, lengths=_lengths(made, weighted))


def _lengths(made: Batch, weighted: bool) -> Array | None:
    if not weighted:
        return None
    if made.lengths is None:
        raise RequestError("weighted=True, but there are no weights; pass weights=, one per arc")
    lengths = np.asarray(made.lengths, dtype=np.float64)
    if lengths.shape != made.sources.shape:
        raise GraphError(f"{lengths.size} weights were given for {len(made.sources)} arcs")
    wrong = ~(lengths >= 0)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise GraphError(f"the weight of arc {at} is {lengths[at]}; it must be a number from 0 on")
    return np.ascontiguousarray(lengths)


def _edge_index(index: Any, name: str) -> Array:
    array = as_array(to_numpy(index), name)
    if array.size == 0:
        return np.empty((2, 0), dtype=np.int64)
    if array.ndim != 2 or array.shape[0] != 2 or array.dtype.kind not in "iu":
        raise GraphError(
            f"{name} must hold integers in two rows, sources and targets; it is a {array.dtype} "
            f"array of shape {array.shape}"
        )
    return array


def _whole_numbers(values: Any, name: str) -> Array:
    array = as_array(to_numpy(values), name)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise RequestError(f"{name} must be one row of whole numbers")
    return array.astype(np.int64)


def _union(graphs: Any, ptr: Any, batch: Any, weights: Any) -> Batch:
    """One edge index over the vertices of all graphs."""
    if isinstance(graphs, Graph):
        weights = graphs.weights if weights is None else weights
        graphs = np.stack(graphs.coo[:2])
    index = _edge_index(graphs, "the edge index")
    if ptr is not None:
        starts = _whole_numbers(ptr, "ptr")
        if not len(starts) or starts[0] != 0 or (np.diff(starts) < 0).any():
            raise RequestError("ptr must begin with 0 and not fall")
    else:
        owners = _whole_numbers(batch, "batch")
        if len(owners) and (owners[0] < 0 or (np.diff(owners) < 0).any()):
            raise RequestError("batch must rise from 0: vertices of a graph follow one another")
        starts = np.searchsorted(owners, np.arange(int(owners.max(initial=-1)) + 2))
    sources, targets = np.ascontiguousarray(index, dtype=np.int64)
    lengths = as_weights(to_numpy(weights), "weights")
    total = int(starts[-1])
    if len(sources) and (sources.min() < 0 or sources.max() >= total):
        at = int(np.argmax((sources < 0) | (sources >= total)))
        raise GraphError(
            f"arc {at} begins at vertex {sources[at]}, but the vertices are 0 to {total - 1}"
        )
    owner = np.repeat(np.arange(len(starts) - 1), np.diff(starts))[sources]
    order = None
    if (owner[1:] < owner[:-1]).any():
        order = np.argsort(owner, kind="stable")
        owner, sources, targets = owner[order], sources[order], targets[order]
        if lengths is not None and len(lengths) == len(order):
            lengths = lengths[order]
    arcs = np.searchsorted(owner, np.arange(len(starts)))
    return Batch(starts, arcs, sources, targets, lengths, False, order, graphs)


def _offsets(counts: Any) -> Array:
    return np.concatenate([[0], np.cumsum(np.fromiter(counts, dtype=np.int64))])


def _sequence(graphs: Any, n: Any, weighted: bool, weights: Any) -> Batch:
    if isinstance(graphs, Graph):
        graphs = [graphs]
    if isinstance(graphs, (str, bytes)) or not isinstance(graphs, Iterable):
        raise RequestError(f"graphs must be a sequence of graphs, not {type(graphs).__name__}")
    items = list(graphs)
    if n is None and all(type(item) is Graph for item in items) and weights is None:
        return _of_graphs(items, weighted)
    sizes = [None] * len(items) if n is None else _whole_numbers(n, "n").tolist()
    given = [None] * len(items) if weights is None else list(weights)
    for name, values in (("n", sizes), ("weights", given)):
        if len(values) != len(items):
            raise RequestError(f"{name} has {len(values)} entries for {len(items)} graphs")
    parts = [_part(*item) for item in zip(range(len(items)), items, sizes, given, strict=True)]
    vertices = _offsets(size for size, _, _ in parts)
    arcs = _offsets(index.shape[1] for _, index, _ in parts)
    joined = np.concatenate([np.empty((2, 0), np.int64), *(p[1] for p in parts)], axis=1)
    sources, targets = np.ascontiguousarray(joined, dtype=np.int64)
    lengths: Array | None = None
    if weighted and not any(w is None for *_, w in parts):
        lengths = np.concatenate([np.empty(0), *(as_weights(w, "weights") for *_, w in parts)])
    index = getattr(items[0], "edge_index", items[0]) if items else None
    return Batch(vertices, arcs, sources, targets, lengths, True, model=index)


def _of_graphs(graphs: list[Graph], weighted: bool) -> Batch:
    """The usual case, without a look at each graph's form."""
    vertices = _offsets(g.n for g in graphs)
    arcs = _offsets(g.m for g in graphs)
    empty = np.empty(0, dtype=np.int64)
    targets = np.concatenate([empty, *(g.neighbors for g in graphs)])
    degrees = np.diff(np.concatenate([empty, *(g.offsets for g in graphs)]))
    inner = np.delete(degrees, vertices[1:-1] + np.arange(len(graphs) - 1)) if graphs else empty
    ids = np.arange(vertices[-1]) - np.repeat(vertices[:-1], np.diff(vertices))
    lengths: Array | None = None
    if weighted and not any(g.weights is None for g in graphs):
        lengths = np.concatenate([np.empty(0), *(g.weights for g in graphs)])
    return Batch(vertices, arcs, np.repeat(ids, inner), targets, lengths, True)


def _part(at: int, item: Any, size: int | None, weights: Any) -> tuple[int, Array, Any]:
    """Return the number of vertices, the edge index and the weights of one graph."""
    name = f"graphs[{at}]"
    if hasattr(item, "edge_index"):
        size = int(item.num_nodes) if size is None else size
        weights = getattr(item, "edge_weight", None) if weights is None else weights
        item = item.edge_index
    elif size is None:
        if (isinstance(item, np.ndarray) or is_foreign(item)) and item.shape[:1] == (2,):
            raise RequestError(
                f"{name} is an edge index, which does not say how many vertices there are; "
                "pass n=, a number for each graph"
            )
        g = Graph.from_any(item)
        return g.n, np.stack(g.coo[:2]), g.weights if weights is None else to_numpy(weights)
    return size, _edge_index(item, name), to_numpy(weights)
