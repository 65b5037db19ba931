"""Graphs derived from a graph: undirected, induced, with other weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kleene import _native
from kleene.errors import GraphError
from kleene.graph import checks
from kleene.graph.construct import from_rows
from kleene.graph.forms import CSR, adopt, frozen
from kleene.graph.rows import EdgeRows, in_order, require_rows
from kleene.graph.statistics import Statistics
from kleene.graph.weight_names import without_numbers_left
from kleene.system.machine import threads_for

if TYPE_CHECKING:
    from kleene.graph.core import Graph

__all__ = [
    "as_directions",
    "reweight",
    "subgraph",
    "symmetrise",
    "with_root",
]

Array = NDArray[Any]


def symmetrise(graph: Graph, combine: Any) -> Graph:
    if not graph.directed and isinstance(combine, str) and combine in ("min", "max", "sum"):
        return graph
    csr = _undirected(graph, combine)
    return graph._derived(csr, directed=False, rows=_undirected_rows(graph, combine, csr))


def _undirected(graph: Graph, combine: Any) -> CSR:
    """Return the arcs and their reverse arcs."""
    if not isinstance(combine, str) or combine != "min":
        s, t, w = graph.coo
        made = graph.from_edges(s, t, w, graph.n, False, combine=combine, keep_rows=False)
        return made.csr
    if graph.stats.symmetric:
        return graph.csr
    arc = graph.neighbors.itemsize + (0 if graph.weights is None else graph.weights.itemsize)
    checks.require_memory(  # the reverse arcs, and the union
        16 * (graph.n + 1) + 3 * arc * graph.m,
        f"the undirected form of {graph.m:,} arcs",
        "use a machine with more memory",
    )
    return CSR(*map(adopt, _native.csr_union(*graph.csr, *graph.csc, threads_for(graph.m))))


def _undirected_rows(graph: Graph, combine: str, csr: CSR) -> EdgeRows | None:
    """Return the rows of the undirected graph.

    Rows combine by one rule. Where those of an arc were combined by another one, or the arc was
    given a weight of its own, or a two-way row would be added to itself, there are none.
    """
    rows = graph.rows
    if rows is None:
        return None
    entries = rows.count_entries()
    if entries != graph.m and rows.combine != combine:
        return None
    if combine == "sum" and rows.direction is not None and (rows.direction == 0).any():
        return None
    if rows.by_arc and rows.weights is not None:
        return None
    both = rows.symmetrise(combine)
    if rows.weights is not None or graph.weights is None or both.count_entries() == len(csr[1]):
        return both
    # Rows that made an arc each now share one: their weights tell which it comes from.
    return both.with_weights(rows.weights_of_arcs(graph.csr))


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


def with_root(graph: Graph, ends: Array, hops: bool = False, reverse: bool = False) -> Graph:
    """Return the arcs, and those of a root: one more vertex, the last, joined to some vertices.

    A search from the root finds the nearest of these. Its arcs have length zero; a graph without
    weights gets ones. With ``hops`` there are no weights, and its arcs count like all others. With
    ``reverse``, all other arcs are reversed.
    """
    searched = graph.transpose() if reverse else graph
    heads = np.unique(ends).astype(graph.id_dtype)
    weights = None
    if not hops:
        own = np.ones(graph.m, np.int32) if searched.weights is None else searched.weights
        weights = adopt(np.append(own, np.zeros(len(heads), own.dtype)))
    offsets = np.append(searched.offsets, graph.m + len(heads))
    made = type(graph)(CSR(adopt(offsets), adopt(np.append(searched.neighbors, heads)), weights))
    if not hops:  # paths are as long, in both directions: values have the type of other calls
        made.__dict__["stats"] = Statistics(made, graph.stats.path_bound)
    return made


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
    values: Any = weights if arcs is None else in_order(arcs, graph.m, None, "arcs")
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
    kept = _rows_by_arc(graph, csr.weights is not None)
    made = graph._derived(_shared(csr, graph), directed=True, rows=kept)
    undirected = not graph.directed and made.stats.symmetric
    made = made._derived(made.csr, directed=False) if undirected else made
    return without_numbers_left(made) if values is None else made


def _rows_by_arc(graph: Graph, weighted: bool) -> EdgeRows | None:
    """Return the rows of a graph whose arcs get weights of their own, or none."""
    rows = graph.rows
    if rows is None or not weighted:
        return rows if rows is None else replace(rows, by_arc=False)
    if graph.weights is None and rows.weights is None and rows.count_entries() != graph.m:
        rows = rows.with_weights(np.ones(len(rows.sources), np.int32))  # some share an arc
    return replace(rows, by_arc=True)


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
    rows = replace(require_rows(graph.rows), closed=None, by_arc=False)
    if isinstance(column, Mapping):
        raise GraphError(
            "reweight(rows=...) takes a weight for every row; for some of them use "
            "update(rows={row: weight})"
        )
    values = checks.as_weights(in_order(column, rows.count, rows.index, "rows"), "rows")
    assert values is not None
    made = from_rows(graph, rows, rows.column(values))
    return made._derived(_shared(made.csr, graph))


# ---- Directions of table rows: a column such as OpenStreetMap's "oneway" ------------------------
# 1 is a row from source to target, -1 one from target to source, 0 one that goes both ways.

_MEANING = {
    **dict.fromkeys(("yes", "true", "1"), 1),
    **dict.fromkeys(("-1", "reverse"), -1),
    **dict.fromkeys(("no", "false", "0", "", "none", "nan", "<na>"), 0),
    **dict.fromkeys(("reversible", "alternating"), 0),  # it changes with the time of the day
}


def as_directions(column: Array, name: str) -> NDArray[np.int8]:
    """Return the direction of each row from a column that says whether it is one-way.

    True, 1 and "yes" are one-way; False, 0, "no" and missing values go both ways; -1 and "reverse"
    are one-way from target to source.
    """
    kind = column.dtype.kind
    if kind == "b":
        return column.astype(np.int8)
    if kind in "iuf":
        values = np.where(np.isnan(column), 0, column) if kind == "f" else column
        wrong = ~np.isin(values, (-1, 0, 1))
        if wrong.any():
            raise _unknown(name, int(wrong.argmax()), column)
        return values.astype(np.int8)
    directions = np.empty(len(column), np.int8)
    meaning: dict[Any, int] = {}
    for row, value in enumerate(column.tolist()):
        known = meaning.get(value) if isinstance(value, str) else None
        if known is None:
            known = _MEANING.get(_text(value))
            if known is None:
                raise _unknown(name, row, column)
            if isinstance(value, str):
                meaning[value] = known
        directions[row] = known
    return directions


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip().lower()


def _unknown(name: str, row: int, column: Array) -> GraphError:
    value = column[row : row + 1].tolist()[0]
    return GraphError(
        f"column {name!r} has {value!r} in row {row}; a one-way column holds True or False, "
        "1 or 0, 'yes' or 'no', and -1 for a street that runs from target to source"
    )
