"""Graphs derived from a graph: undirected, induced, with other weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kleene import _native
from kleene.errors import GraphError
from kleene.graph import checks
from kleene.graph.construct import from_rows
from kleene.graph.forms import CSR
from kleene.graph.frozen import adopt, frozen
from kleene.system.machine import threads_for

if TYPE_CHECKING:
    from kleene.graph.core import Graph

__all__ = ["reweight", "subgraph", "symmetrise", "update"]

Array = NDArray[Any]


def symmetrise(graph: Graph, combine: Any) -> Graph:
    rows = None if graph.rows is None else graph.rows.symmetrise()
    if not isinstance(combine, str) or combine != "min":
        s, t, w = graph.coo
        made = graph.from_edges(s, t, w, graph.n, False, combine=combine, keep_rows=False)
        return graph._derived(made.csr, directed=False, rows=rows)
    if graph.stats.symmetric:
        return graph._derived(graph.csr, directed=False, rows=rows)
    arc = graph.neighbors.itemsize + (0 if graph.weights is None else graph.weights.itemsize)
    checks.require_memory(  # the reverse arcs, and the union
        16 * (graph.n + 1) + 3 * arc * graph.m,
        f"the undirected form of {graph.m:,} arcs",
        "use a machine with more memory",
    )
    joined = _native.csr_union(*graph.csr, *graph.csc, threads_for(graph.m))
    return graph._derived(CSR(*map(adopt, joined)), directed=False, rows=rows)


def subgraph(graph: Graph, vertices: Any) -> Graph:
    chosen = graph._labels.positions(vertices)
    new_position = np.full(graph.n, -1, dtype=graph.id_dtype)
    new_position[chosen] = np.arange(len(chosen))
    if len(chosen) != np.count_nonzero(new_position >= 0):
        raise GraphError("vertices contains a vertex more than once")
    arcs, tails = _outgoing(graph, chosen)
    heads = new_position[graph.neighbors[arcs]]
    if (heads < 0).any():
        kept = heads >= 0
        arcs, tails, heads = arcs[kept], tails[kept], heads[kept]
    induced = graph.from_edges(
        tails,
        heads,
        None if graph.weights is None else graph.weights[arcs],
        n=len(chosen),
        labels=graph.label(chosen),
        keep_rows=False,
    )
    return graph._derived(
        induced.csr,
        labels=induced.labels,
        positions=None if graph.positions is None else adopt(graph.positions[chosen]),
        rows=None if graph.rows is None else graph.rows.select(new_position),
    )


def _outgoing(graph: Graph, vertices: Array) -> tuple[Array, Array]:
    """Return the outgoing arcs of some vertices, and the number of each one's tail among them."""
    first = graph.offsets[vertices]
    counts = graph.offsets[vertices + 1] - first
    before = np.cumsum(counts) - counts
    arcs = np.repeat(first - before, counts)
    arcs += np.arange(len(arcs))
    return arcs, np.repeat(np.arange(len(vertices), dtype=graph.id_dtype), counts)


def reweight(
    graph: Graph,
    weights: float | Callable[[Array, Array], ArrayLike] | None,
    rows: ArrayLike | None,
    arcs: ArrayLike | None,
) -> Graph:
    if (weights is not None) + (rows is not None) + (arcs is not None) > 1:
        raise GraphError("give the weights once: one number or function, or rows=, or arcs=")
    if rows is not None:
        return _by_rows(graph, rows)
    s, t, _ = graph.coo
    values: Any = arcs if arcs is not None else weights
    if callable(weights):
        values = weights(s, t)
    elif np.iterable(weights):
        raise GraphError(
            "reweight(array) does not say the order of the weights: pass rows=array for one weight "
            "per row of the table that the graph was made from, or arcs=array for one per arc, in "
            "the order of graph.coo"
        )
    csr = _with_weights(graph, values)
    if csr is None:
        csr = graph.from_edges(s, t, values, n=graph.n, keep_rows=False).csr
    made = graph._derived(_shared(csr, graph), directed=True)
    undirected = not graph.directed and made.stats.symmetric
    return made._derived(made.csr, directed=False) if undirected else made


def _with_weights(graph: Graph, values: Any) -> CSR | None:
    """Return the arcs with these weights, or None where some of the arcs go or are to be checked.

    A tenth of the time of making the arcs anew: highways, 1.6 M arcs, 2.5 ms.
    """
    weights = checks.as_weights(values, "weights")
    if weights is None or weights.shape != (graph.m,) or graph.stats.negative:
        return None  # a loop has a negative weight, and goes with another
    if not np.isfinite(weights).all():
        return None
    return CSR(graph.offsets, graph.neighbors, frozen(weights))


def _shared(csr: CSR, graph: Graph) -> CSR:
    """Return arcs with the arrays of the graph where these are the same.

    They take memory once, and what a graph keeps for its arcs serves all their weights.
    """
    same = len(csr.neighbors) == graph.m and all(
        a is b or np.array_equal(a, b)
        for a, b in ((csr.offsets, graph.offsets), (csr.neighbors, graph.neighbors))
    )
    return CSR(graph.offsets, graph.neighbors, csr.weights) if same else csr


def _by_rows(graph: Graph, column: ArrayLike) -> Graph:
    if graph.rows is None:
        raise GraphError(
            "this graph does not know the rows of its table: make it with Graph.from_table, or "
            "Graph.from_edges(..., keep_rows=True); or give the weights by arcs="
        )
    values = checks.as_weights(column, "rows")
    assert values is not None
    made = from_rows(graph, graph.rows, graph.rows.column(values))
    return made._derived(_shared(made.csr, graph))


def update(graph: Graph, changes: Mapping[tuple[Any, Any], Any]) -> Graph:
    if not isinstance(changes, Mapping):
        raise GraphError(
            f"update takes a dict {{(source, target): weight}}, not {type(changes).__name__}"
        )
    if not changes:
        return graph
    try:
        ends = [(u, v) for u, v in changes]
    except (TypeError, ValueError):
        raise GraphError("the keys of update must be pairs (source, target)") from None
    tails, heads = (graph.index([pair[side] for pair in ends]) for side in (0, 1))
    values = checks.as_weights(list(changes.values()), "the new weights")
    assert values is not None
    old = np.ones(graph.m, np.int32) if graph.weights is None else graph.weights
    with np.errstate(invalid="ignore"):
        exact = bool((values.astype(old.dtype) == values).all())
    weights = old.astype(old.dtype if exact else np.result_type(old, values))  # a copy
    for tail, head, value in zip(tails.tolist(), heads.tolist(), values, strict=True):
        weights[_arc(graph, tail, head)] = value
        if not graph.directed:
            weights[_arc(graph, head, tail)] = value
    return reweight(graph, None, None, weights)


def _arc(graph: Graph, tail: int, head: int) -> int:
    """Return the place of an arc."""
    begin, end = map(int, graph.offsets[tail : tail + 2])
    at = begin + int(np.searchsorted(graph.neighbors[begin:end], head))
    if at == end or graph.neighbors[at] != head:
        raise GraphError(f"no arc from {graph.label(tail)!r} to {graph.label(head)!r}")
    return at
