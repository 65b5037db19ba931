"""Graphs from the columns of a table: pandas, Polars, Arrow, or a dict of arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import Code, GraphError, Text
from kleene.graph.checks import as_flag, as_ids, as_name, as_weights, require_unmasked
from kleene.graph.construct import from_directions
from kleene.graph.convert import no_such_weight
from kleene.graph.derive import as_directions
from kleene.graph.foreign_columns import as_numpy
from kleene.graph.labels import LabelIndex, as_labels, ids_from_names, ids_from_numbers
from kleene.graph.missing import DROP, MissingRows
from kleene.graph.rows import in_one_order, index_digest
from kleene.graph.weight_names import (
    NumbersLeft,
    choose_weight,
    holds_numbers,
    keeping_numbers_left,
)

if TYPE_CHECKING:
    from kleene.graph.core import Graph

__all__ = ["as_column", "as_lengths", "column", "column_names", "from_table", "is_table"]

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
        raise GraphError("a LazyFrame of Polars has no rows yet", advice=["pass frame.collect()"])
    return isinstance(thing, Mapping) or hasattr(thing, "column_names") or hasattr(thing, "columns")


def column(table: Any, name: Any) -> Array:
    """Return a column of a table as an array with one value in each row."""
    if as_name(name, "a column") not in (names := column_names(table)):
        has = ", ".join(map(repr, names))
        raise GraphError(f"the table has no column {name!r}; it has {has}")
    if (count := names.count(name)) > 1:
        raise GraphError(
            f"the table has {count} columns {name!r}", advice=["rename all but one of them"]
        )
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
            f" must hold one value in each row, but has the shape {array.shape}",
            advice=["pass a list, or a column of numbers or text"],
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


def as_lengths(values: Array, name: Any, advice: Sequence[str | Text] = DROP) -> Array | None:
    """Return the weights that a column holds."""
    if values.dtype == object and holds_numbers(values):
        values = np.array(values.tolist())
    weights = as_weights(values, f"column {name!r}")
    if weights is not None:
        MissingRows.of([name], [weights]).refuse(advice)
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
    drop_missing: bool = False,
) -> Graph:
    table = in_one_order(table)
    titles, columns = [source, target], [column(table, source), column(table, target)]
    rows = len(columns[0])
    if len(columns[1]) != rows:
        raise GraphError(
            f"columns {source!r} and {target!r} differ in length: {rows} and {len(columns[1])}"
        )
    name, left = _weight_name(table, weight, (source, target), directed)
    if name is not None:
        titles.append(name)
        columns.append(_weight_column(table, name, rows))
    direction = _direction(table, directed, rows)
    dropping = as_flag(drop_missing, "drop_missing")
    complete = MissingRows.of(titles, columns).drop() if dropping else None
    if complete is not None:
        columns = [values[complete.numbers] for values in columns]
        if isinstance(direction, np.ndarray):
            direction = direction[complete.numbers]
    try:
        graph = _from_columns(cls, titles, columns, direction, relabel, nodes, node)
    except GraphError:
        MissingRows.of(titles, columns).refuse()
        raise
    graph = graph if complete is None else complete.numbering(graph)
    digest = index_digest(table[source] if isinstance(table, Mapping) else table)
    if digest is not None and graph.rows is not None:
        graph = graph._derived(graph.csr, rows=replace(graph.rows, index=digest))
    graph = keeping_numbers_left(graph, left)
    if nodes is None or not {x, y} <= set(column_names(nodes)):
        return graph
    nodes = in_one_order(nodes)
    return graph.with_positions(np.stack([column(nodes, x), column(nodes, y)], axis=1))


def _weight_column(table: Any, name: Any, rows: int) -> Array:
    if name not in (names := column_names(table)):
        raise no_such_weight(name, "column", names)
    values = column(table, name)
    if len(values) != rows:
        raise GraphError(f"got {len(values)} weights for {rows} rows")
    return values


def _from_columns(
    cls: type[Graph],
    titles: list[Any],
    columns: list[Array],
    direction: bool | Array,
    relabel: bool,
    nodes: Any,
    node: Any,
) -> Graph:
    """Return the graph of the ends and perhaps the weights of all rows."""
    ends = columns[0], columns[1]
    weights = as_lengths(columns[2], titles[2]) if len(columns) > 2 else None
    if nodes is not None:
        ids = column(in_one_order(nodes), node)
        n: int | None = len(ids)
        labels, sources, targets = _among_nodes(ids, *ends)
    else:
        sources, targets, labels, n = _ids(ends, (titles[0], titles[1]), relabel)
    if isinstance(direction, np.ndarray):
        return from_directions(cls, sources, targets, weights, n, direction, labels)
    return cls.from_edges(sources, targets, weights, n=n, directed=direction, labels=labels)


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
