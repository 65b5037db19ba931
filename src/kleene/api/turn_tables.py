"""Turns from a table of vertices or of streets, and u-turns."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import Code, GraphError, RequestError
from kleene.graph import Graph
from kleene.graph.forms import arcs_between, spans
from kleene.graph.labels import is_missing
from kleene.graph.table_index import in_one_order
from kleene.graph.tables import column, column_names
from kleene.graph.turns import FORBIDDEN, Turns

__all__ = ["turns_of", "u_turns_of"]

Array = NDArray[Any]


def turns_of(graph: Graph, table: Any, ignore: bool) -> Turns:
    """Return the turns that a table lists, by arcs; a turn may come several times."""
    table, names = in_one_order(table), column_names(table)
    by_rows = "from_row" in names
    named = ("from_row", "to_row") if by_rows else ("from", "via", "to")
    unknown = [name for name in names if name not in (*named, "via", "delay")]
    if unknown:
        raise GraphError(
            f"a table of turns has columns 'from', 'via', 'to' (vertices), or 'from_row' and "
            f"'to_row' (rows of streets), and 'delay'; this one has {unknown[0]!r}"
        )
    columns = [column(table, name) for name in named]
    count = len(columns[0])
    for name in names:
        if len(column(table, name)) != count:
            raise GraphError(f"columns {named[0]!r} and {name!r} differ in length")
    delays = _delays(column(table, "delay")) if "delay" in names else None
    if by_rows:
        via = graph.index(column(table, "via").tolist()) if "via" in names else None
        rows_in, rows_out = map(_as_rows, columns)
        turn, entering, leaving = _by_rows(graph, rows_in, rows_out, via)
    else:
        tail, middle, head = (np.asarray(graph.index(c.tolist()), np.int64) for c in columns)
        entering, leaving = arcs_between(graph, tail, middle), arcs_between(graph, middle, head)
        turn = np.flatnonzero((entering >= 0) & (leaving >= 0))
        entering, leaving = entering[turn], leaving[turn]
    absent = np.setdiff1d(np.arange(count), turn)
    if len(absent) and not ignore:
        raise _absent(int(absent[0]), len(absent), dict(zip(named, columns, strict=True)))
    own = np.full(len(turn), FORBIDDEN) if delays is None else delays[turn]
    return Turns(entering, leaving, own)


def _absent(row: int, count: int, columns: dict[str, Array]) -> GraphError:
    turn = ", ".join(f"{name} {values.tolist()[row]!r}" for name, values in columns.items())
    others = f", and {count - 1:,} others" if count > 1 else ""
    return GraphError(
        f"row {row} of the turns ({turn}) is no turn in the graph{others}: an arc is "
        "missing, or the two do not meet; pass ",
        Code("missing='ignore'"),
        " to leave such rows out",
    )


def _delays(values: Array) -> Array:
    """Return delays as floats; missing ones are infinite."""
    try:
        if values.dtype == object:
            values = np.array([FORBIDDEN if is_missing(v) else float(v) for v in values.tolist()])
        delays = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise GraphError(f"column 'delay' must hold numbers: {error}") from None
    delays[np.isnan(delays)] = FORBIDDEN
    if np.isneginf(delays).any():
        raise GraphError("column 'delay' holds minus infinity; a forbidden turn is plus infinity")
    return delays


def _as_rows(values: Array) -> Array:
    if len(values) and values.dtype.kind not in "iu":
        raise GraphError(f"'from_row' and 'to_row' must hold row numbers, not {values.dtype}")
    return values.astype(np.int64)


def _by_rows(
    graph: Graph, rows_in: Array, rows_out: Array, via: Array | None
) -> tuple[Array, Array, Array]:
    """Return the turns from one row's arcs into another's: the turn's number, and both arcs."""
    if graph.rows is None:
        raise GraphError("the graph was made from no table; give turns by 'from', 'via' and 'to'")
    row = graph.arc_rows.rows
    order = np.argsort(row, kind="stable")
    turn, entering = _arcs_of(row, order, rows_in)
    again, leaving = _arcs_of(row, order, rows_out[turn])
    turn, entering = turn[again], entering[again]
    meet = graph.neighbors[entering]
    fits = meet == graph.coo.sources[leaving]
    if via is not None:
        fits &= meet == via[turn]
    return turn[fits], entering[fits], leaving[fits]


def _arcs_of(row_of_arc: Array, order: Array, rows: Array) -> tuple[Array, Array]:
    """Return the arcs of each row, at most two, as (place in ``rows``, arc)."""
    by_row = row_of_arc[order]
    first = np.searchsorted(by_row, rows)
    count = np.where(rows < 0, 0, np.searchsorted(by_row, rows, side="right") - first)
    place, arcs = spans(first, count)
    return place, order[arcs]


def u_turns_of(graph: Graph, delay: Any) -> Turns:
    """Return the turns from each arc into its reverse arc."""
    if delay is None:
        arcs = np.empty(0, np.int64)
        return Turns(arcs, arcs, np.empty(0))
    delay = FORBIDDEN if isinstance(delay, str) and delay == "forbidden" else _as_delay(delay)
    tails, heads, _ = graph.coo
    back = arcs_between(graph, heads, tails)
    found = (back >= 0) & (tails != heads)
    if delay == FORBIDDEN:
        found &= graph.stats.degrees[heads] > 1  # else there is no other way out
    arcs = np.flatnonzero(found)
    return Turns(arcs, back[arcs], np.full(len(arcs), delay))


def _as_delay(value: Any) -> float:
    real: object = value
    odd = isinstance(real, bool) or not isinstance(real, numbers.Real)
    try:
        delay = np.nan if odd else float(value)
    except OverflowError:  # an integer beyond all floats
        delay = np.nan
    if not delay > -np.inf:
        raise RequestError(Code("u_turns"), f" must be a delay or 'forbidden', not {value!r}")
    return delay
