"""New weights for some rows of a table, or for some arcs: closed bridges, roadworks, new streets.

Where a graph knows the rows of its table, they are what changes: a row that may be travelled both
ways changes both arcs, and when the lightest of parallel rows closes, the next one remains. A pair
of vertices stands for all rows that lead from one to the other. Without rows it stands for the arc.

Only the arcs between the ends of rows that change are made again; all others stay as they are.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.errors import GraphError
from kleene.graph.checks import as_weights
from kleene.graph.construct import canonical_csr
from kleene.graph.forms import CSR, adopt, arcs_between, spans
from kleene.graph.rows import EdgeRows, require_rows

if TYPE_CHECKING:
    from kleene.graph.core import Graph

__all__ = ["update"]

Array = NDArray[Any]


class Changes(NamedTuple):
    """New weights of some rows or arcs, by their places."""

    places: Array
    weights: Array | None  # None if all are closed
    closed: NDArray[np.bool_]


class Entries(NamedTuple):
    """Which row leads along which pair of vertices; a row that goes both ways has two entries."""

    tails: Array
    heads: Array
    rows: Array
    open: NDArray[np.bool_]
    arcs: Array  # the arc from tail to head, -1 for none

    def key(self, n: int) -> Array:
        return keys_of(self.tails, self.heads, n)

    def only(self, which: Array) -> Entries:
        return Entries(*(column[which] for column in self))


def update(graph: Graph, changes: Any, rows: Any) -> Graph:
    if (changes is None) == (rows is None):
        raise GraphError(
            "give the changes either by pair, update({(source, target): weight}), or by row, "
            "update(rows={row: weight})"
        )
    if rows is not None:
        given = _changes_of_rows(graph, rows)
        return _update_rows(graph, given) if len(given.places) else graph
    if not isinstance(changes, Mapping):
        raise GraphError(
            f"update takes a dict {{(source, target): weight}}, not {type(changes).__name__}"
        )
    if not changes:
        return graph
    try:
        ends = [(u, v) for u, v in changes]
    except (TypeError, ValueError):
        raise GraphError(
            "the keys of update must be pairs (source, target)",
            advice=["for rows of the table, use update(rows={row: weight})"],
        ) from None
    tails, heads = (graph.index([pair[side] for pair in ends]) for side in (0, 1))
    arcs = arcs_between(graph, tails, heads)
    if (arcs < 0).any():
        u, v = ends[int(np.argmin(arcs))]
        raise GraphError(f"no arc from {u!r} to {v!r}{_closed_row(graph, tails, heads, arcs)}")
    given = Changes(arcs, *_as_changes(changes))
    if graph.rows is None:
        return _update_arcs(graph, given, tails, heads)
    return _update_rows(graph, _rows_of_pairs(graph, given, tails, heads))


# ---- what was asked for ---------------------------------------------------------------------


def _as_changes(changes: Mapping[Any, Any]) -> tuple[Array | None, NDArray[np.bool_]]:
    """Return the new weights, and which of them close. Infinity has no part in their type."""
    values = list(changes.values())
    closed = np.fromiter(map(_is_infinite, values), bool, len(values))
    finite = as_weights([v for v, none in zip(values, closed, strict=True) if not none], "weights")
    assert finite is not None
    if finite.shape != (len(values) - np.count_nonzero(closed),):
        raise GraphError("a new weight must be one number")
    if not np.isfinite(finite).all():
        at = np.flatnonzero(~closed)[int(np.argmin(np.isfinite(finite)))]
        raise GraphError(
            f"the new weight of {list(changes)[at]!r} is {values[at]}, which is not a weight; "
            "infinity closes the arc"
        )
    if closed.all():
        return None, closed
    weights = np.zeros(len(values), finite.dtype)
    weights[~closed] = finite
    return weights, closed


def _is_infinite(value: Any) -> bool:
    return isinstance(value, (float, np.floating)) and bool(value == np.inf)


def _changes_of_rows(graph: Graph, given: Any) -> Changes:
    """Return the changes of a dict from numbers of rows to weights."""
    rows = require_rows(graph.rows)
    if not isinstance(given, Mapping):
        raise GraphError(
            f"update(rows=...) takes a dict {{row: weight}}, not {type(given).__name__}; for one "
            "weight for every row use reweight(rows=column)"
        )
    for row in given:
        if isinstance(row, (bool, np.bool_)) or not isinstance(row, numbers.Integral):
            raise GraphError(f"the keys of update(rows=...) must be numbers of rows, not {row!r}")
        if not 0 <= int(row) < rows.count:
            raise GraphError(f"there is no row {row}: the table has the rows 0 to {rows.count - 1}")
    asked = np.fromiter(given, np.int64, len(given))
    weights, closed = _as_changes(given)
    if rows.numbers is None:
        return Changes(asked, weights, closed)
    absent = np.setdiff1d(asked, rows.numbers)
    if len(absent):
        raise GraphError(
            f"row {absent[0]} of the table is not in this graph, which lacks one of its ends"
        )
    places = np.flatnonzero(np.isin(rows.numbers, asked))
    order = np.argsort(asked)
    chosen = order[np.searchsorted(asked[order], rows.numbers[places])]
    return Changes(places, None if weights is None else weights[chosen], closed[chosen])


def _rows_of_pairs(graph: Graph, given: Changes, tails: Array, heads: Array) -> Changes:
    """Return the changes of the rows that lead from tails to heads."""
    entries = _entries(graph, tails, heads, both=True)
    entries = entries.only(np.flatnonzero(entries.open))
    entries = entries.only(np.argsort(entries.key(graph.n), kind="stable"))
    known = entries.key(graph.n)

    def counts(tails: Array, heads: Array) -> tuple[Array, Array]:
        keys = keys_of(tails, heads, graph.n)
        first = np.searchsorted(known, keys)
        return first, np.searchsorted(known, keys, side="right") - first

    first, count = counts(tails, heads)
    if (count == 0).any():
        at = int(np.argmin(count))
        raise GraphError(f"{_named(graph, tails[at], heads[at])} comes from no row of the table")
    several = (count > 1) & ~given.closed
    if several.any():
        at = int(several.argmax())
        found = entries.rows[first[at] : first[at] + count[at]]
        raise GraphError(
            f"{len(found)} rows of the table lead from {_ends(graph, tails[at], heads[at])}: "
            f"{_numbers(graph.rows, found)}; say which one changes, update(rows={{row: weight}})"
        )
    pair, entry = spans(first, count)
    rows = entries.rows[entry]
    _require_one_weight_each(graph, given, pair, rows)
    _require_same_both_ways(graph, given, tails, heads, counts(heads, tails)[1])
    places, once = np.unique(rows, return_index=True)
    pair = pair[once]
    weights = None if given.weights is None else given.weights[pair]
    return Changes(places, weights, given.closed[pair])


def _require_one_weight_each(graph: Graph, given: Changes, pair: Array, rows: Array) -> None:
    """Raise where a row that goes both ways would get two weights."""
    order = np.argsort(rows, kind="stable")
    before, after = order[:-1], order[1:]
    differ = given.closed[pair[before]] != given.closed[pair[after]]
    if given.weights is not None:
        differ |= given.weights[pair[before]] != given.weights[pair[after]]
    wrong = (rows[before] == rows[after]) & differ
    if wrong.any():
        row = rows[before[int(wrong.argmax())]]
        raise GraphError(
            f"row {_numbers(graph.rows, [row])} of the table goes both ways, and its two "
            "directions would get different weights",
            advice=["give it one weight, update(rows={row: weight})"],
        )


def _require_same_both_ways(
    graph: Graph, given: Changes, tails: Array, heads: Array, back_count: Array
) -> None:
    """Raise for a finite weight where the two arcs of a row were given different ones by arc."""
    if graph.weights is None or not graph.rows.by_arc:  # type: ignore[union-attr]
        return
    back = arcs_between(graph, heads, tails)
    weights = graph.weights
    differ = (back >= 0) & (back_count == 1) & ~given.closed
    differ &= weights[given.places] != weights[back]
    if differ.any():
        at = int(differ.argmax())
        there, here = weights[given.places[at]], weights[back[at]]
        raise GraphError(
            f"the two arcs between {_ends(graph, tails[at], heads[at], 'and')} weigh {there} and "
            f"{here}: say which changes, reweight(arcs=...), or update(rows=...) for both"
        )


# ---- the new graph --------------------------------------------------------------------------


def _update_rows(graph: Graph, given: Changes) -> Graph:
    """Return the graph with these weights of rows."""
    rows = require_rows(graph.rows)
    ends = rows.entries(np.unique(given.places))[:2]
    entries = _entries(graph, *ends)
    change = np.full(len(rows.sources), -1)
    change[given.places] = np.arange(len(given.places))
    changed = change[entries.rows]
    is_open = np.where(changed >= 0, ~given.closed[changed], entries.open)
    kept = entries.only(np.flatnonzero(is_open))
    changed = changed[is_open]
    values = None
    if graph.weights is not None or given.weights is not None:
        values = _current(graph, entries, given)[is_open]
        if given.weights is not None:
            dtype = _holding(values, given.weights)
            values = _as(values, dtype)
            values = np.where(changed >= 0, given.weights.astype(dtype)[changed], values)
    csr = _with_arcs(graph, ends, kept.tails, kept.heads, values, rows.combine)
    directed = graph.directed or not rows.undirected
    return graph._derived(csr, directed=directed, rows=_changed_rows(graph, given, csr))


def _entries(graph: Graph, tails: Array, heads: Array, both: bool = False) -> Entries:
    """Return the rows that lead along these pairs, now or if they were open."""
    rows, n = require_rows(graph.rows), graph.n
    touched = np.zeros(n, bool)
    touched[tails] = touched[heads] = True
    near = np.flatnonzero(touched[rows.sources] & touched[rows.targets])
    tail, head, row = rows.entries(near)
    keys = keys_of(tails, heads, n)
    if both:
        keys = np.concatenate([keys, keys_of(heads, tails, n)])
    on = np.isin(keys_of(tail, head, n), keys)
    tail, head, row = tail[on], head[on], row[on]
    arcs = arcs_between(graph, tail, head)
    return Entries(tail, head, row, rows.is_open(row), arcs)


def _current(graph: Graph, entries: Entries, given: Changes) -> Array:
    """Return the present weight of the row of each entry; of rows that change it is not needed."""
    rows = require_rows(graph.rows)
    if graph.weights is None:
        return np.ones(len(entries.rows), np.int32)
    if rows.weights is not None and not rows.by_arc:
        return rows.weights[entries.rows]
    # The weights are those of the arcs: known where a row has its arc to itself.
    pairs, pair = np.unique(entries.key(graph.n), return_inverse=True)
    sharing = np.bincount(pair[entries.open], minlength=len(pairs))[pair]
    unknown = entries.open & ((sharing > 1) | (entries.arcs < 0))
    unknown &= ~np.isin(entries.rows, given.places)
    if unknown.any():
        at = int(unknown.argmax())
        raise GraphError(
            f"row {_numbers(rows, [entries.rows[at]])} of the table leads from "
            f"{_ends(graph, entries.tails[at], entries.heads[at])}, too, and its weight is unknown "
            "since weights were given by arc",
            advice=["give them by reweight(rows=column)"],
        )
    weights, known = np.zeros(len(unknown), graph.weights.dtype), entries.arcs >= 0
    weights[known] = graph.weights[entries.arcs[known]]
    return weights


def _changed_rows(graph: Graph, given: Changes, csr: CSR) -> EdgeRows:
    """Return the rows that make these arcs, with their new weights where rows share an arc."""
    rows = require_rows(graph.rows)
    closed = ~rows.is_open(np.arange(len(rows.sources)))
    closed[given.places] = given.closed
    by_arc = rows.by_arc and graph.weights is not None
    made = replace(rows, closed=adopt(closed) if closed.any() else None, by_arc=by_arc)
    if given.weights is None:
        return made
    weights = rows.weights
    if graph.weights is None:
        weights = np.ones(len(rows.sources), np.int32)
    elif weights is None:
        if made.count_entries() == len(csr.neighbors):
            return made
        weights = rows.weights_of_arcs(graph.csr)
    weights = _as(weights, _holding(weights, given.weights)).copy()
    opened = ~given.closed
    weights[given.places[opened]] = given.weights[opened]
    return made.with_weights(weights)


def _update_arcs(graph: Graph, given: Changes, tails: Array, heads: Array) -> Graph:
    """Return the graph with these weights of arcs; in an undirected graph of both directions."""
    if not graph.directed:
        tails, heads = np.concatenate([tails, heads]), np.concatenate([heads, tails])
        twice = np.tile(np.arange(len(given.places)), 2)
        arcs = arcs_between(graph, tails, heads)
        _, first, which = np.unique(arcs, return_index=True, return_inverse=True)
        same = given.closed[twice[first[which]]] == given.closed[twice]
        if given.weights is not None:
            same &= given.weights[twice[first[which]]] == given.weights[twice]
        if not same.all():
            at = int(same.argmin())
            raise GraphError(
                f"the edge between {_ends(graph, tails[at], heads[at], 'and')} would get two "
                "different weights"
            )
        tails, heads = tails[first], heads[first]
        weights = None if given.weights is None else given.weights[twice[first]]
        given = Changes(arcs[first], weights, given.closed[twice[first]])
    opened = np.flatnonzero(~given.closed)
    values = None if given.weights is None else given.weights[opened]
    if graph.weights is not None:
        values = np.empty(0, graph.weights.dtype) if values is None else values
    csr = _with_arcs(graph, (tails, heads), tails[opened], heads[opened], values, "min")
    return graph._derived(csr)


def _with_arcs(
    graph: Graph, pairs: tuple[Array, Array], tails: Array, heads: Array, weights: Array | None,
    combine: str,
) -> CSR:  # fmt: skip
    """Return the arcs of the graph, with these instead of those between some pairs of vertices."""
    n, old = graph.n, graph.weights
    made, _ = canonical_csr(n, tails, heads, weights, False, combine, None, None)
    new_tails = np.repeat(np.arange(n), np.diff(made.offsets)).astype(tails.dtype, copy=False)
    if made.weights is not None:
        old = np.ones(graph.m, np.int32) if old is None else old
        dtype = _holding(old, made.weights)
        old = _as(old, dtype)
        made = made._replace(weights=made.weights.astype(dtype, copy=False))
    was = np.unique(arcs_between(graph, *pairs))
    was = was[was >= 0]
    now = arcs_between(graph, new_tails, made.neighbors)
    if np.array_equal(was, np.sort(now)):
        if old is None:
            return graph.csr
        old = old.copy()
        old[now] = made.weights
        return CSR(graph.offsets, graph.neighbors, adopt(old))
    stays = np.ones(graph.m, bool)
    stays[was] = False
    joined = (
        np.concatenate([graph.coo.sources[stays], new_tails]),
        np.concatenate([graph.neighbors[stays], made.neighbors]),
        None if old is None else np.concatenate([old[stays], made.weights]),
    )
    return canonical_csr(n, *joined, False, "min", None, None)[0]


# ---- types and words ------------------------------------------------------------------------


def keys_of(tails: Array, heads: Array, n: int) -> Array:
    """Return a number for each pair of vertices."""
    return tails.astype(np.int64) * n + heads


def _holding(old: Array, new: Array) -> np.dtype[Any]:
    """Return the type of the old weights if it holds the new ones, else a wider one."""
    with np.errstate(invalid="ignore", over="ignore"):
        exact = bool((new.astype(old.dtype) == new).all())
    return old.dtype if exact else np.result_type(old, new)


def _as(weights: Array, dtype: np.dtype[Any]) -> Array:
    """Return weights in another type, or raise if that would change one."""
    converted = weights.astype(dtype, copy=False)
    if weights.dtype.kind == "i" and dtype.kind == "f":
        limit = 2 ** (np.finfo(dtype).nmant + 1)
        if len(weights) and max(-int(weights.min()), int(weights.max())) > limit:
            raise GraphError(
                f"the graph has integer weights that {dtype} does not hold",
                advice=["give whole numbers"],
            )
    return converted


def _closed_row(graph: Graph, tails: Array, heads: Array, arcs: Array) -> str:
    """Return advice where a row is there, but closed."""
    at = int(np.argmin(arcs))
    if graph.rows is None:
        return ""
    entries = _entries(graph, tails[at : at + 1], heads[at : at + 1])
    if not len(entries.rows) or tails[at] == heads[at]:
        return ""
    number = _numbers(graph.rows, entries.rows[:1])
    return f"; row {number} of the table is closed, and update(rows={{{number}: weight}}) opens it"


def _numbers(rows: EdgeRows | None, places: Iterable[Any]) -> str:
    chosen = require_rows(rows).numbers
    return ", ".join(str(place if chosen is None else chosen[place]) for place in places)


def _ends(graph: Graph, tail: Any, head: Any, joined: str = "to") -> str:
    return f"{graph.label(tail)!r} {joined} {graph.label(head)!r}"


def _named(graph: Graph, tail: Any, head: Any) -> str:
    return f"the arc from {_ends(graph, tail, head)}"
