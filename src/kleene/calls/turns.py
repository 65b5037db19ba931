"""Graphs with turns: forbidden ones, and ones that take time."""

from __future__ import annotations

import numbers
from collections.abc import Hashable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kleene.calls.apsp import apsp
from kleene.calls.arguments import Vertices, as_vertices, require_graph
from kleene.calls.sssp import sssp
from kleene.errors import (
    Code,
    GraphError,
    MemoryBudgetError,
    NegativeCycleError,
    RequestError,
    in_words_of,
)
from kleene.graph import Graph
from kleene.graph.forms import arcs_between, spans
from kleene.graph.labels import is_missing
from kleene.graph.rows import in_one_order
from kleene.graph.tables import column, column_names
from kleene.graph.turns import FORBIDDEN, Expansion, Turns, expand
from kleene.graph.weight_names import warn_of_numbers_left
from kleene.results.turns import TurnResult
from kleene.system.formatting import counted

__all__ = [
    "TurnGraph",
    "turns_of",
    "u_turns_of",
]


class TurnGraph:
    """A graph in which turns from one arc into the next are forbidden, or take time.

    Vertices are split only where a turn is restricted, so searches take little longer than in the
    graph itself. Routes come back in its vertices, arcs and table rows.

    Parameters
    ----------
    graph : Graph
        The graph. In an undirected one each direction of an edge is an arc.
    turns : table, optional
        A pandas, Polars or Arrow table, or a dict of columns. Either columns "from", "via" and
        "to", three vertices; or "from_row" and "to_row", two rows of the table that the graph was
        made from, which meet in a vertex (in "via", if there is such a column; it matters only for
        rows that meet at both ends). And optionally "delay", in the unit of the weights: a turn
        without one, or with an infinite one, is forbidden; a negative one is a bonus. Of several
        delays of one turn the longest counts.
    u_turns : number or "forbidden", optional
        The delay of turning back from an arc into its reverse arc; "forbidden" and an infinite
        delay leave it to vertices whose only way out is back. By default u-turns are free. What
        the table says of such a turn goes first.
    missing : {"error", "ignore"}
        What to do about a turn whose arcs are not in the graph. Of parallel streets the graph has
        only the lightest.

    Attributes
    ----------
    graph : Graph
        The graph.
    expanded : Graph
        The graph with split vertices, which searches run on: vertices from 0 to n - 1 are those of
        the graph, others are copies.

    Examples
    --------
    A block with a forbidden left turn, from a over b to x; the way is around the block:

    >>> import kleene as kl
    >>> streets = {
    ...     "source": ["a", "b", "b", "c", "d", "e"],
    ...     "target": ["b", "x", "c", "d", "e", "b"],
    ...     "weight": [10, 10, 4, 4, 4, 4],
    ... }
    >>> g = kl.TurnGraph(
    ...     kl.Graph.from_table(streets, weight="weight"),
    ...     {"from": ["a"], "via": ["b"], "to": ["x"]},
    ... )
    >>> g
    TurnGraph(6 vertices, 6 arcs, 1 turn forbidden, 1 vertex split)
    >>> r = g.sssp("a")
    >>> r.path("x"), r.route("x").distance
    (['a', 'b', 'c', 'd', 'e', 'b', 'x'], 36)
    """

    graph: Graph

    def __init__(
        self,
        graph: Graph,
        turns: Any = None,
        *,
        u_turns: float | Literal["forbidden"] | None = None,
        missing: Literal["error", "ignore"] = "error",
    ) -> None:
        require_graph(graph)
        if not isinstance(missing, str) or missing not in ("error", "ignore"):
            raise RequestError(Code("missing"), f" must be 'error' or 'ignore', not {missing!r}")
        self.graph = graph
        table = {"from": [], "via": [], "to": []} if turns is None else turns
        listed = turns_of(graph, table, missing == "ignore")
        self._turns = (listed.longest() | u_turns_of(graph, u_turns)).restricted()
        self._expansion: Expansion = expand(graph, self._turns)

    @property
    def expanded(self) -> Graph:
        """The graph with split vertices."""
        return self._expansion.graph

    def sssp(
        self,
        source: Hashable | None = None,
        *,
        sources: Vertices | None = None,
        targets: Vertices | None = None,
        **options: Any,
    ) -> TurnResult:
        """Return shortest paths from a source to every vertex.

        Parameters
        ----------
        source : vertex
            Where the paths begin.
        sources : sequence of vertices, optional
            Several sources instead, each with a row of the answer.
        targets : sequence of vertices, optional
            Where paths end: distances to these only, and the search may stop early.
        **options
            Other keywords of :func:`kleene.sssp`: ``limit``, ``predecessors``, ``method``,
            ``device``, ``dtype``, ``threads``, ``progress``.

        Returns
        -------
        TurnResult
            Distances, paths and routes in the vertices and arcs of the graph.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.TurnGraph(kl.generate.path(3), u_turns=7)
        >>> g.sssp(0, targets=[2]).distances.tolist()
        [2]
        """
        ends = {} if source is None else {"source": self.graph.index(source)}
        if sources is not None:
            ends["sources"] = as_vertices(self.graph, sources, "sources")
        return self._solve(sssp, ends, targets, options)

    def apsp(
        self, sources: Vertices | None = None, targets: Vertices | None = None, **options: Any
    ) -> TurnResult:
        """Return shortest paths between all pairs, or from some sources to some targets.

        Parameters
        ----------
        sources : sequence of vertices, optional
            Where paths begin: one row of the answer each. All vertices unless given.
        targets : sequence of vertices, optional
            Where paths end: one column each. All vertices unless given.
        **options
            Other keywords of :func:`kleene.apsp`.

        Returns
        -------
        TurnResult
            Distances, paths and routes in the vertices and arcs of the graph.

        Examples
        --------
        >>> import kleene as kl
        >>> kl.TurnGraph(kl.generate.path(3)).apsp([0, 2], [1, 2]).distances.tolist()
        [[1, 2], [1, 0]]
        """
        rows = (
            np.arange(self.graph.n)
            if sources is None
            else as_vertices(self.graph, sources, "sources")
        )
        return self._solve(apsp, {"sources": rows}, targets, options)

    def _solve(
        self, search: Any, ends: dict[str, Any], targets: Vertices | None, options: dict[str, Any]
    ) -> TurnResult:
        refused = [name for name in ("pairs", "out") if options.get(name) is not None]
        refused += ["reverse"] if options.get("reverse") else []
        if refused:
            raise RequestError("a TurnGraph does not take ", Code(f"{refused[0]}="))
        if options.get("on") is not None and targets is None:
            raise RequestError(
                "on a cluster, whole rows go to a store, which a TurnGraph does not support: give ",
                Code("targets=[...]"),
                ", or leave out ",
                Code("on="),
            )
        warn_of_numbers_left(self.graph)
        columns = None if targets is None else as_vertices(self.graph, targets, "targets")
        if columns is not None:  # all copies of the targets
            wanted = np.isin(self._expansion.vertex, columns)
            ends["targets"] = np.flatnonzero(wanted)
        try:
            result = search(self.expanded, **ends, **options)
        except NegativeCycleError as error:
            cycle = self._expansion.vertex[np.array(error.cycle)]
            raise NegativeCycleError(self.graph.label(cycle).tolist()) from None
        except MemoryBudgetError as error:
            possible = [text for option, text in error.advice if option != "out"]
            raise in_words_of(error, advice=possible) from None
        return TurnResult(self.graph, self._expansion, result, columns)

    def __repr__(self) -> str:
        forbidden = int(np.count_nonzero(self._turns.delays == FORBIDDEN))
        delayed = len(self._turns.delays) - forbidden
        split = len(np.unique(self._expansion.vertex[self.graph.n :]))
        parts = [
            counted(self.graph.n, "vertex", "vertices"),
            counted(self.graph.m, "arc"),
            counted(forbidden, "turn") + " forbidden",
            *([counted(delayed, "turn") + " delayed"] if delayed else []),
            counted(split, "vertex", "vertices") + " split",
        ]
        return f"TurnGraph({', '.join(parts)})"


# ---- Turns from a table of vertices or of streets, and u-turns ----------------------------------

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
        f"row {row} of the turns ({turn}) is not a turn in the graph{others}: an arc is "
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
        raise GraphError(
            "the graph was made from no table", advice=["give turns by 'from', 'via' and 'to'"]
        )
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
