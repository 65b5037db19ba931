"""Graphs from the columns of a table: pandas, Polars, Arrow, or a dict of arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import Code, GraphError
from kleene.graph.checks import as_flag, as_ids, as_name, as_weights, require_unmasked
from kleene.graph.construct import from_directions
from kleene.graph.convert import no_such_weight
from kleene.graph.derive import as_directions
from kleene.graph.foreign_columns import as_numpy
from kleene.graph.labels import LabelIndex, as_labels, ids_from_names, ids_from_numbers
from kleene.graph.rows import in_one_order, index_digest
from kleene.graph.weight_names import (
    NumbersLeft,
    choose_weight,
    holds_numbers,
    keeping_numbers_left,
)

if TYPE_CHECKING:
    from kleene.graph.core import Graph

__all__ = ["as_column", "column", "column_names", "from_table", "is_table", "weight_column"]

Array = NDArray[Any]


def column_names(table: Any) -> list[Any]:
    """Return the names of the columns of a table."""
    if not is_table(table):
        raise GraphError(f"expected a table or a dict of columns, not {type(table).__name__}")
    if isinstance(table, Mapping):
        return list(table)
    return list(table.column_names if hasattr(table, "column_names") else table.columns)


def is_table(thing: Any) -> bool:
    """Return whether this has columns: a table of some library, or a dict."""
    if type(thing).__name__ == "LazyFrame":
        raise GraphError("a LazyFrame of Polars has no rows yet; pass frame.collect()")
    return isinstance(thing, Mapping) or hasattr(thing, "column_names") or hasattr(thing, "columns")


def column(table: Any, name: Any) -> Array:
    """Return a column of a table as an array with one value in each row."""
    if as_name(name, "a column") not in (names := column_names(table)):
        has = ", ".join(map(repr, names))
        raise GraphError(f"the table has no column {name!r}; it has {has}")
    if (count := names.count(name)) > 1:
        raise GraphError(f"the table has {count} columns {name!r}; rename all but one of them")
    return as_column(table[name], f"column {name!r}")


def as_column(values: Any, what: str) -> Array:
    """Return values as an array with one value in each row; text stays as it is, in objects.

    Texts of fixed width would lose the NULs that they end in, and turn numbers among them to text.
    """
    require_unmasked(values, what)
    given = as_numpy(values, what)
    try:
        array = np.asarray(given)
    except (TypeError, ValueError) as error:
        if not isinstance(given, (list, tuple)):
            raise GraphError(f"{what} cannot be made an array: {error}") from error
        array = np.empty(0, object)
    if isinstance(given, (list, tuple)) and (array.ndim != 1 or array.dtype.kind not in "biufcmM"):
        array = np.fromiter(given, dtype=object, count=len(given))
    if array.ndim != 1:
        raise GraphError(
            Code(what),
            f" must hold one value in each row, but has the shape {array.shape}; pass a "
            "list, or a column of numbers or text",
        )
    return array


def _weight_name(
    table: Any, weight: Any, ends: tuple[Any, Any], directed: bool | str
) -> tuple[Any, NumbersLeft | None]:
    """Return the name of the column of weights, or None; and numbers that are left then."""
    name, names = as_name(weight, "weight"), column_names(table)
    if name != "auto" or name in names:
        return name, None
    directions = names.index(directed) if isinstance(directed, str) and directed in names else None
    chosen = choose_weight(
        names, [names.index(end) for end in ends], directions,
        lambda i: names.count(names[i]) == 1 and holds_numbers(table[names[i]]),
    )  # fmt: skip
    if chosen.at is not None:
        return names[chosen.at], None
    return None, NumbersLeft([names[i] for i in chosen.others]) if chosen.others else None


def weight_column(table: Any, name: Any) -> Array | None:
    """Return a column of a table as weights, which are numbers in all rows; None for no name."""
    names = column_names(table)
    if name is None:
        return None
    if name not in names:
        raise no_such_weight(name, "column", names)
    values = column(table, name)
    if values.dtype == object and holds_numbers(values):
        values = np.array(values.tolist())
    weights = as_weights(values, f"column {name!r}")
    if weights is not None and weights.dtype.kind == "f" and np.isnan(weights).any():
        rows = np.flatnonzero(np.isnan(weights))
        raise GraphError(
            f"column {name!r} has no number in {len(rows):,} of {len(weights):,} rows, first "
            f"in row {rows[0]}; drop these rows, or fill them in"
        )
    return weights


def from_table(
    cls: type[Graph],
    table: Any,
    source: Any = "source",
    target: Any = "target",
    weight: Any = "auto",
    directed: bool | str = True,
    relabel: bool = True,
    nodes: Any = None,
    node: Any = "id",
    x: Any = "x",
    y: Any = "y",
) -> Graph:
    table = in_one_order(table)
    names = column(table, source), column(table, target)
    if len(names[0]) != len(names[1]):
        raise GraphError(
            f"columns {source!r} and {target!r} differ in length: "
            f"{len(names[0])} and {len(names[1])}"
        )
    name, left = _weight_name(table, weight, (source, target), directed)
    weights = weight_column(table, name)
    if weights is not None and weights.shape != names[0].shape:
        raise GraphError(f"got {weights.size} weights for {len(names[0])} rows")
    direction = _direction(table, directed, len(names[0]))
    if nodes is not None:
        nodes = in_one_order(nodes)
        ids = column(nodes, node)
        n: int | None = len(ids)
        labels, sources, targets = _among_nodes(ids, *names)
    else:
        sources, targets, labels, n = _ids(names, (source, target), relabel)
    if isinstance(direction, np.ndarray):
        graph = from_directions(cls, sources, targets, weights, n, direction, labels)
    else:
        graph = cls.from_edges(sources, targets, weights, n=n, directed=direction, labels=labels)
    digest = index_digest(table[source] if isinstance(table, Mapping) else table)
    if digest is not None and graph.rows is not None:
        graph = graph._derived(graph.csr, rows=replace(graph.rows, index=digest))
    graph = keeping_numbers_left(graph, left)
    if nodes is None or not {x, y} <= set(column_names(nodes)):
        return graph
    return graph.with_positions(np.stack([column(nodes, x), column(nodes, y)], axis=1))


def _direction(table: Any, directed: bool | str, rows: int) -> bool | Array:
    """Return whether all rows are arcs or undirected edges, or the direction of each row."""
    if not isinstance(directed, str):
        return directed
    direction = as_directions(column(table, directed), directed)
    if len(direction) != rows:
        raise GraphError(
            f"column {directed!r} has {len(direction)} entries, but the table has {rows} rows"
        )
    return direction


def _ids(
    names: tuple[Array, Array], columns: tuple[Any, Any], relabel: bool
) -> tuple[Array, Array, Any, int | None]:
    """Return (sources, targets, labels, n) from the names that two columns hold."""
    relabel = as_flag(relabel, "relabel")
    if any(column.dtype.kind in "OUSTM" for column in names):
        sources, targets, labels = ids_from_names(names[0].tolist(), names[1].tolist())
        return sources, targets, labels, len(labels)
    sources, targets = (
        as_ids(column, f"column {name!r}") for column, name in zip(names, columns, strict=True)
    )
    return ids_from_numbers(sources, targets) if relabel else (sources, targets, None, None)


def _among_nodes(nodes: Array, *ends: Array) -> tuple[Any, Array, Array]:
    """Return the labels, in the order of the table of nodes, and the positions of the ends."""
    if nodes.dtype.kind == "f":
        nodes = as_ids(nodes, "the column of node ids")
    labels = as_labels(nodes if nodes.dtype.kind in "iu" else nodes.tolist(), len(nodes))
    index = LabelIndex(labels, len(nodes))
    sources, targets = (index.positions(end) for end in ends)
    plain = labels.dtype.kind in "iu" and np.array_equal(labels, np.arange(len(labels)))
    return None if plain else labels, sources, targets
