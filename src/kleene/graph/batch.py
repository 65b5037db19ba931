"""Batches of graphs: sequences of graphs, and batches in the form of PyTorch Geometric."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import Code, GraphError, RequestError, message_of
from kleene.graph.checks import as_array, as_weights
from kleene.graph.core import Graph
from kleene.graph.dlpack import is_foreign, to_numpy

__all__ = ["Batch", "as_batch"]

Array = NDArray[Any]


@dataclass(frozen=True)
class Batch:
    """The arcs of several graphs, concatenated; graph ``g`` is given by two ranges of offsets."""

    vertex_offsets: Array
    arc_offsets: Array
    tails: Array
    heads: Array
    lengths: Array | None
    local_ids: bool  # ids of each graph start from 0; otherwise they are global
    order: Array | None = None  # the input position of each arc, if the arcs were sorted by graph
    like: Any = None  # an array of the library in which results are returned

    @property
    def count(self) -> int:
        return len(self.vertex_offsets) - 1

    def bad_arc(self, position: int) -> GraphError:
        """Return the error for an arc that leaves its graph."""
        g = int(np.searchsorted(self.arc_offsets, position, side="right")) - 1
        first, end = (int(v) for v in self.vertex_offsets[g : g + 2])
        if self.local_ids:
            first, end = 0, end - first
        at = position if self.order is None else int(self.order[position])
        where = (
            f"arc {at - int(self.arc_offsets[g])} of graphs[{g}]" if self.local_ids else f"arc {at}"
        )
        ends = f"vertex {self.tails[position]} to vertex {self.heads[position]}"
        return GraphError(
            f"{where} leads from {ends}, but the vertices of graph {g} are {first} to {end - 1}"
        )


def as_batch(graphs: Any, n: Any, ptr: Any, batch: Any, weighted: bool, weights: Any) -> Batch:
    """Return graphs in any supported form as a Batch; see ``distance_encodings`` for the forms."""
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
            raise RequestError("n= is for a sequence of graphs, not for ptr= or batch=")
        result = _union(graphs, ptr, batch, weights if weighted else None)
    elif isinstance(graphs, np.ndarray) or is_foreign(graphs):
        raise RequestError(
            "an edge index needs ptr= or batch=, which assign vertices to graphs",
            advice=["for a single graph, pass [edge_index] and n=[number of vertices]"],
        )
    else:
        result = _sequence(graphs, n, weighted, weights)
    return replace(result, lengths=_lengths(result, weighted))


def _lengths(result: Batch, weighted: bool) -> Array | None:
    if not weighted:
        return None
    if result.lengths is None:
        raise RequestError(
            Code("weighted=True"), " needs weights", advice=["pass weights=, one per arc"]
        )
    lengths = np.asarray(result.lengths, dtype=np.float64)
    if lengths.shape != result.tails.shape:
        raise GraphError(f"got {lengths.size} weights for {len(result.tails)} arcs")
    wrong = ~(lengths >= 0)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise GraphError(f"the weight of arc {at} is {lengths[at]}; it must be a number >= 0")
    return np.ascontiguousarray(lengths)


def _edge_index(index: Any, name: str) -> Array:
    array = as_array(to_numpy(index), name)
    if array.size == 0:
        return np.empty((2, 0), dtype=np.int64)
    if array.ndim != 2 or array.shape[0] != 2 or array.dtype.kind not in "iu":
        raise GraphError(
            f"{name} must be an integer array of shape (2, arcs), sources and targets; it is a "
            f"{array.dtype} array of shape {array.shape}"
        )
    return array


def _integers(values: Any, name: str) -> Array:
    array = as_array(to_numpy(values), name)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise RequestError(f"{name} must be a one-dimensional array of integers")
    return array.astype(np.int64)


def _union(graphs: Any, ptr: Any, batch: Any, weights: Any) -> Batch:
    """Return the batch of one edge index over the vertices of all graphs."""
    if isinstance(graphs, Graph):
        weights = graphs.weights if weights is None else weights
        graphs = np.stack(graphs.coo[:2])
    index = _edge_index(graphs, "the edge index")
    if ptr is not None:
        starts = _integers(ptr, "ptr")
        if not len(starts) or starts[0] != 0 or (np.diff(starts) < 0).any():
            raise RequestError("ptr must start with 0 and must not decrease")
    else:
        member = _integers(batch, "batch")
        if len(member) and (member[0] < 0 or (np.diff(member) < 0).any()):
            raise RequestError("batch must be sorted and not negative")
        starts = np.searchsorted(member, np.arange(int(member.max(initial=-1)) + 2))
    tails, heads = np.array(index, dtype=np.int64)  # a copy: it is trusted once checked
    lengths = as_weights(to_numpy(weights), "weights")
    total = int(starts[-1])
    if len(tails) and (tails.min() < 0 or tails.max() >= total):
        at = int(np.argmax((tails < 0) | (tails >= total)))
        raise GraphError(
            f"arc {at} starts at vertex {tails[at]}, but the vertices are 0 to {total - 1}"
        )
    member = np.repeat(np.arange(len(starts) - 1), np.diff(starts))[tails]
    order = None
    if (member[1:] < member[:-1]).any():
        order = np.argsort(member, kind="stable")
        member, tails, heads = member[order], tails[order], heads[order]
        if lengths is not None and len(lengths) == len(order):
            lengths = lengths[order]
    arcs = np.searchsorted(member, np.arange(len(starts)))
    return Batch(starts, arcs, tails, heads, lengths, False, order, graphs)


def _offsets(counts: Any) -> Array:
    return np.concatenate([[0], np.cumsum(np.fromiter(counts, dtype=np.int64))])


def _sequence(graphs: Any, n: Any, weighted: bool, weights: Any) -> Batch:
    if isinstance(graphs, Graph):
        graphs = [graphs]
    if isinstance(graphs, (str, bytes)) or not isinstance(graphs, Iterable):
        raise RequestError(f"graphs must be a sequence of graphs, not {type(graphs).__name__}")
    items = list(graphs)
    if n is None and all(type(item) is Graph for item in items) and weights is None:
        return _from_graphs(items, weighted)
    sizes = [None] * len(items) if n is None else _integers(n, "n").tolist()
    if weights is not None and not np.iterable(weights):
        raise RequestError(f"weights must be a sequence of arrays, one per graph, not {weights!r}")
    given = [None] * len(items) if weights is None else list(weights)
    for name, values in (("n", sizes), ("weights", given)):
        if len(values) != len(items):
            raise RequestError(f"{name} has {len(values)} entries for {len(items)} graphs")
    parts = [_part(*item) for item in zip(range(len(items)), items, sizes, given, strict=True)]
    vertices = _offsets(size for size, _, _ in parts)
    arcs = _offsets(index.shape[1] for _, index, _ in parts)
    joined = np.concatenate([np.empty((2, 0), np.int64), *(p[1] for p in parts)], axis=1)
    tails, heads = np.ascontiguousarray(joined, dtype=np.int64)
    lengths: Array | None = None
    if weighted and not any(w is None for *_, w in parts):
        lengths = np.concatenate([np.empty(0), *(as_weights(w, "weights") for *_, w in parts)])
    index = getattr(items[0], "edge_index", items[0]) if items else None
    return Batch(vertices, arcs, tails, heads, lengths, True, like=index)


def _from_graphs(graphs: list[Graph], weighted: bool) -> Batch:
    """Return the batch of Graphs without weights=: the fast path."""
    vertices = _offsets(g.n for g in graphs)
    arcs = _offsets(g.m for g in graphs)
    empty = np.empty(0, dtype=np.int64)
    heads = np.concatenate([empty, *(g.neighbors for g in graphs)])
    degrees = np.diff(np.concatenate([empty, *(g.offsets for g in graphs)]))
    inner = np.delete(degrees, vertices[1:-1] + np.arange(len(graphs) - 1)) if graphs else empty
    ids = np.arange(vertices[-1]) - np.repeat(vertices[:-1], np.diff(vertices))
    lengths: Array | None = None
    if weighted and not any(g.weights is None for g in graphs):
        lengths = np.concatenate([np.empty(0), *(g.weights for g in graphs)])
    return Batch(vertices, arcs, np.repeat(ids, inner), heads, lengths, True)


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
                f"{name} is an edge index, which does not give the number of vertices",
                advice=["pass n=, one number per graph"],
            )
        try:
            g = Graph.from_any(item)
        except GraphError as error:
            if not any(option == "null_value" for option, _ in error.advice):
                raise
            made = Code(f"Graph.from_dense({name}, null_value=...)")
            raise GraphError(
                f"{name}: ", message_of(error), ", in a separate graph: ", made
            ) from None
        return g.n, np.stack(g.coo[:2]), g.weights if weights is None else to_numpy(weights)
    return size, _edge_index(item, name), to_numpy(weights)
