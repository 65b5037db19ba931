"""New weights for a prepared graph, in every form that a user may give them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kleene.engine.prepared import PreparedForm
from kleene.errors import GraphError
from kleene.graph import Graph
from kleene.graph.checks import as_weights, require_one_each

__all__ = ["reweighted"]


def reweighted(graph: Graph, weights: Any, rows: Any, arcs: Any) -> Graph:
    """Return a graph of the same vertices with the weights that a user gave, one way or another."""
    if weights is None and rows is None and arcs is None:
        return graph
    _refuse_other_types(weights)
    if isinstance(weights, Graph):
        if rows is not None or arcs is not None:
            raise GraphError("give the weights once: a graph, or rows=, or arcs=")
        named, others = graph.label(np.arange(graph.n)), weights.label(np.arange(weights.n))
        if not np.array_equal(named, others):
            raise GraphError("the other graph has other vertices: prepare it by itself")
        return weights
    if isinstance(weights, Mapping) or isinstance(rows, Mapping):
        if (weights is not None) + (rows is not None) + (arcs is not None) > 1:
            raise GraphError("give the weights once: a dict, or rows=, or arcs=")
        return graph.update(weights, rows=rows)
    if rows is None and arcs is None and np.iterable(weights):
        return _by_number(graph, weights)
    if weights is None and rows is None:
        return _by_arc(graph, arcs)
    return graph.reweight(weights, rows=rows, arcs=arcs)


def _refuse_other_types(weights: Any) -> None:
    """Raise for what looks like weights, and is given in another way."""
    if isinstance(weights, str):
        raise GraphError(f"give the column itself, not its name: customize(table[{weights!r}])")
    if isinstance(weights, PreparedForm):
        raise GraphError("give the graph itself: customize(prepared.graph)")


def _by_number(graph: Graph, weights: Any) -> Graph:
    """Return the graph with one weight for each row of its table, or for each arc."""
    weights = weights if hasattr(weights, "__len__") else list(weights)
    values = as_weights(weights, "weights")
    assert values is not None
    given, rows = values.shape, None if graph.rows is None else (graph.rows.count,)
    if given == rows and not (given == (graph.m,) and _are_in_order(graph)):
        if given == (graph.m,):
            raise GraphError(
                f"there are {graph.m:,} arcs and as many rows of the table that they were made "
                "from, in another order: say which one the weights are in, rows=array or arcs=array"
            )
        return graph.reweight(rows=weights)
    return _by_arc(graph, weights)


def _are_in_order(graph: Graph) -> bool:
    """Return whether each row of the table is the arc of the same number."""
    return np.array_equal(graph.arc_rows.rows, np.arange(graph.m))


def _by_arc(graph: Graph, weights: Any) -> Graph:
    """Return the graph with one weight for each arc, or with one for all."""
    values = as_weights(weights, "arcs")
    assert values is not None
    if values.ndim == 1 and len(values) > graph.m:
        raise GraphError(
            f"got {len(values):,} weights for {graph.m:,} arcs; where an arc was closed, customize "
            "the prepared graph that still has it"
        )
    if values.ndim:
        table = "" if graph.rows is None else f", or {graph.rows.count:,} rows of the table"
        require_one_each(values, graph.m, f"arcs{table}")
    return graph.reweight(arcs=weights)
