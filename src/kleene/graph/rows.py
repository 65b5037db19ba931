"""Rows: which table row an arc comes from.

A graph made from a table keeps, for each row, the positions of its two ends and the direction it
may be travelled in. New weights can then be given in the order of the table, and routes come back
as rows of it. Row and arc are different things: the lightest of parallel rows makes the arc, a row
of infinite weight makes none, and a row that may be travelled both ways makes two.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.errors import GraphError
from kleene.graph.checks import require_memory, require_one_each
from kleene.graph.forms import CSR, adopt, csr_to_coo, frozen
from kleene.system.machine import threads_for

if TYPE_CHECKING:
    from kleene.graph.core import Graph

__all__ = [
    "ArcRows",
    "EdgeRows",
    "Lines",
    "in_one_order",
    "in_order",
    "in_order_of_vertices",
    "index_digest",
    "require_rows",
    "require_same_axes",
]

Array = NDArray[Any]

#: Bounds on what it takes to find the row of each arc.
_VERTEX_BYTES, _ROW_BYTES = 32, 120


class Lines(NamedTuple):
    """A polyline per table row; that of row ``i`` is ``coordinates[offsets[i]:offsets[i + 1]]``.

    It runs from the row's source to its target. An empty one means the straight line.
    """

    offsets: NDArray[np.int64]
    coordinates: NDArray[np.float64]


class ArcRows(NamedTuple):
    """For each arc, in the order of the COO form, its table row, and whether it runs against it."""

    rows: NDArray[np.int64]
    against: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class EdgeRows:
    """The rows that a graph was made from.

    Attributes
    ----------
    sources, targets : array
        The positions of the ends.
    undirected : bool
        Whether every row may be travelled both ways.
    direction : array of int8, optional
        Instead: 1 for a row from source to target, -1 for one from target to source, 0 for both.
    weights : array, optional
        Kept only if they are needed to tell which of several rows an arc comes from.
    combine : str
        How the weights of parallel rows are combined.
    numbers : array, optional
        The numbers of the rows in the table; by default 0, 1, 2 ...
    count : int
        The number of rows of the table.
    lines : Lines, optional
        The geometry of the rows.
    flipped : bool
        Whether sources and targets were exchanged, so that lines run the other way.
    closed : array of bool, optional
        Which rows :meth:`Graph.update` closed: they make no arc, whatever their weight.
    by_arc : bool
        Whether the weights of the arcs were given by arc since, so that ``weights`` only tell which
        row an arc comes from.
    index : int, optional
        A digest of the index of the pandas table, if it is not 0, 1, 2 ...; see ``table_index.py``.
    """

    sources: Array
    targets: Array
    undirected: bool
    direction: Array | None = None
    weights: Array | None = None
    combine: str = "min"
    numbers: Array | None = None
    count: int = -1
    lines: Lines | None = field(default=None, repr=False)
    flipped: bool = False
    closed: Array | None = None
    by_arc: bool = False
    index: int | None = None

    def __post_init__(self) -> None:
        if self.count < 0:
            object.__setattr__(self, "count", len(self.sources))

    def __reduce__(self) -> tuple[Any, ...]:
        return EdgeRows, tuple(getattr(self, name) for name in self.__dataclass_fields__)

    # ---- derived rows ---------------------------------------------------------------------

    def transpose(self) -> EdgeRows:
        """Return the rows of the graph with every arc reversed."""
        return replace(self, sources=self.targets, targets=self.sources, flipped=not self.flipped)

    def symmetrise(self, combine: str) -> EdgeRows:
        """Return the rows of the undirected graph, combined by this rule."""
        return replace(self, undirected=True, direction=None, combine=combine)

    def select(self, new_positions: Array) -> EdgeRows:
        """Return the rows of a subgraph; ``new_positions`` is -1 for vertices outside."""
        sources, targets = new_positions[self.sources], new_positions[self.targets]
        kept = np.flatnonzero((sources >= 0) & (targets >= 0))

        def of_kept(values: Array | None) -> Any:
            return None if values is None else adopt(values[kept])

        return replace(
            self,
            sources=of_kept(sources),
            targets=of_kept(targets),
            direction=of_kept(self.direction),
            weights=of_kept(self.weights),
            closed=of_kept(self.closed),
            numbers=adopt(kept) if self.numbers is None else of_kept(self.numbers),
        )

    def with_weights(self, weights: Array | None) -> EdgeRows:
        """Return the rows with these weights, one per row."""
        return self if weights is self.weights else replace(self, weights=adopt(weights))

    def with_lines(self, lines: Lines) -> EdgeRows:
        """Return the rows with a polyline for each row of the table."""
        offsets = np.asarray(lines.offsets, np.int64)
        coordinates = np.asarray(lines.coordinates, np.float64).reshape(-1, 2)
        if len(offsets) != self.count + 1 or offsets[0] != 0 or offsets[-1] != len(coordinates):
            raise GraphError(f"expected a line for each of {self.count} rows")
        return replace(self, lines=Lines(frozen(offsets), frozen(coordinates)))

    # ---- arcs -----------------------------------------------------------------------------

    def column(self, values: Array) -> Array:
        """Return those entries of a table column that belong to these rows."""
        if values.ndim == 0:
            return np.full(len(self.sources), values)
        if values.ndim != 1:
            require_one_each(values, self.count, "rows of the table")
        if len(values) != self.count:
            raise GraphError(
                f"got {len(values)} weights for {self.count} rows of the table; for one weight per "
                "arc, in the order of graph.coo, use arcs="
            )
        return values if self.numbers is None else values[self.numbers]

    def arcs(self) -> tuple[Array, Array, Array | None]:
        """Return (tails, heads, row of each) of the rows that are not closed.

        An undirected row makes one entry here. The rows are None if every row makes one entry.
        """
        if self.direction is not None:
            return self._directed_entries(self._not_closed())
        if self.closed is None:
            return self.sources, self.targets, None
        rows = self._not_closed()
        return self.sources[rows], self.targets[rows], rows

    def entries(self, rows: Array) -> tuple[Array, Array, Array]:
        """Return (tails, heads, row of each) of some rows, closed or not.

        A row that may be travelled both ways makes two entries.
        """
        if self.direction is not None:
            return self._directed_entries(rows)
        tails, heads = self.sources[rows], self.targets[rows]
        if not self.undirected:
            return tails, heads, rows
        back = tails != heads
        return (
            np.concatenate([tails, heads[back]]),
            np.concatenate([heads, tails[back]]),
            np.concatenate([rows, rows[back]]),
        )

    def _directed_entries(self, rows: Array) -> tuple[Array, Array, Array]:
        assert self.direction is not None
        ways, loops = self.direction[rows], self.sources[rows] == self.targets[rows]
        ahead = rows[ways >= 0]
        back = rows[(ways < 0) | ((ways == 0) & ~loops)]  # a loop is one arc
        tails = np.concatenate([self.sources[ahead], self.targets[back]])
        heads = np.concatenate([self.targets[ahead], self.sources[back]])
        return tails, heads, np.concatenate([ahead, back])

    def _not_closed(self) -> Array:
        return np.arange(len(self.sources)) if self.closed is None else np.flatnonzero(~self.closed)

    def is_open(self, rows: Array) -> Array:
        """Return whether these rows make arcs: neither closed nor of infinite weight."""
        found = np.ones(len(rows), bool) if self.closed is None else ~self.closed[rows]
        if self.weights is not None and self.weights.dtype.kind == "f":
            found &= self.weights[rows] != np.inf
        return found

    def count_entries(self) -> int:
        """Return how many arcs the rows would make if no two made the same and no loop went."""
        tails, heads, _ = self.arcs()
        loops = int(np.count_nonzero(tails == heads)) if self.undirected else 0
        return 2 * len(tails) - loops if self.undirected else len(tails)

    def of_arcs(self, csr: CSR) -> ArcRows:
        """Return the row of each arc of a graph that was made from these rows; -1 for none."""
        places, against = self.of_arcs_by_place(csr)
        if self.numbers is None:
            return ArcRows(places, against)
        rows, known = np.full(len(places), -1), places >= 0
        rows[known] = self.numbers[places[known]]
        return ArcRows(adopt(rows), against)

    def of_arcs_by_place(self, csr: CSR) -> ArcRows:
        """Return the place of the row of each arc among these rows, instead of its number.

        The core builds arcs from the rows once more, with the rank of each row as its weight: the
        smallest of parallel rows is the one that the arc comes from. Ranks are negative, so that
        self-loops stay.
        """
        n = len(csr.offsets) - 1
        require_memory(
            _VERTEX_BYTES * (n + 1) + _ROW_BYTES * (2 * len(self.sources) + len(csr.neighbors)),
            f"the rows of {len(csr.neighbors):,} arcs",
            "use a machine with more memory",
        )
        tails, heads, entries = self.arcs()
        rank, row_of_rank = self._ranks()
        ranks = (rank if entries is None else rank[entries]) - len(rank)
        built = CSR(
            *_native.build_csr(
                n, tails, heads, ranks, symmetric=self.undirected, combine="min",
                available=2**62, threads=threads_for(len(tails)), progress=None,
            )
        )  # fmt: skip
        coo = csr_to_coo(csr)
        found = _matching_arcs(csr, built)
        assert built.weights is not None
        entry = np.full(len(found), -1)
        known = found >= 0
        entry[known] = row_of_rank[built.weights[found[known]] + len(rank)]
        against = np.zeros(len(found), bool)
        against[known] = (self.sources[entry[known]] != coo.sources[known]) != self.flipped
        return ArcRows(adopt(entry.astype(np.int64)), adopt(against))

    def weights_of_arcs(self, csr: CSR) -> Array:
        """Return the weight of each row, where each makes its arcs alone: theirs; 0 without one."""
        assert csr.weights is not None
        places, _ = self.of_arcs_by_place(csr)
        known = places >= 0
        weights = np.zeros(len(self.sources), csr.weights.dtype)
        weights[places[known]] = csr.weights[known]
        return weights

    def _ranks(self) -> tuple[Array, Array]:
        """Return the rank of each row among all, and the row of each rank.

        Of parallel rows, the arc comes from the one of the smallest rank: the first of the
        lightest, with ``combine="max"`` of the heaviest, and with "sum" of all that make an arc.
        """
        places = np.arange(len(self.sources), dtype=np.int64)
        if self.weights is None:
            return places, places
        order = np.argsort(self._preference(self.weights), kind="stable")
        rank = np.empty_like(places)
        rank[order] = places
        return rank, order

    def _preference(self, weights: Array) -> Array:
        """Return a number per row, smaller for a row that arcs come from rather than others."""
        if self.combine == "min":
            return weights
        if weights.dtype.kind == "i":
            return ~weights if self.combine == "max" else np.zeros_like(weights)
        return np.where(np.isposinf(weights), weights, -weights if self.combine == "max" else 0)


def require_rows(rows: EdgeRows | None) -> EdgeRows:
    """Return the rows of a graph, or raise where it has none."""
    if rows is None:
        raise GraphError(
            "this graph does not know the rows of its table: make it with Graph.from_table, or "
            "Graph.from_edges(..., keep_rows=True); or give the weights by arcs="
        )
    return rows


def _matching_arcs(csr: CSR, built: CSR) -> Array:
    """Return, for each arc of one CSR form, its place in the other, or -1."""
    same = zip(csr[:2], built[:2], strict=True)
    if all(np.array_equal(ours, theirs) for ours, theirs in same):
        return np.arange(len(csr.neighbors))
    n = len(csr.offsets) - 1
    keys, known = (
        coo.sources.astype(np.int64) * n + coo.targets for coo in map(csr_to_coo, (csr, built))
    )
    if not len(known):
        return np.full(len(keys), -1)
    places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.where(known[places] == keys, places, -1)


# ---- The index of a pandas table, by which a column that was sorted in between is noticed -------
# A graph keeps rows in the order of its table. A column of pandas has an index, which says what row
# each entry belongs to, whatever their order. Where the index of the table is 0, 1, 2 ..., that of
# a column must number the same rows, and its entries are taken in their order. Any other index is
# known by a digest, and a column must have the same one. A column with an entry for each vertex is
# likewise in the order of the vertices if its index is 0, 1, 2 ...; any other index names vertices.


def index_digest(table: Any) -> int | None:
    """Return a number for the index of a pandas table or column, None if it is 0, 1, 2 ...

    None also for everything that has no index.
    """
    index = _index(table)
    if index is None or _is_plain(index):
        return None
    import pandas as pd

    hashes = pd.util.hash_pandas_object(index, index=False).to_numpy()
    digest = hashlib.blake2b(hashes.tobytes(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def in_order(column: Any, count: int, digest: int | None, name: str, of: str = "rows") -> Any:
    """Return the entries of a column in the order of the rows; what has no index, as it is.

    ``digest`` is that of the table. Raises GraphError if the index names other rows.
    """
    index = _index(column)
    if index is None or len(index) != count or index_digest(column) == digest:
        return column
    if digest is None and index.dtype.kind in "iu":
        order = np.argsort(index.to_numpy(), kind="stable")
        if _is_plain(index[order]):
            return column.iloc[order]
    sorting = ", else sort them first: column.loc[table.index]" if of == "rows" else ""
    raise _refused(name, of, sorting)


def in_order_of_vertices(column: Any, graph: Graph, name: str) -> Any:
    """Return the entries of a column, or rows of a table, in the order of the vertices.

    What has no index, or the index 0, 1, 2 ..., is in that order.
    """
    index = _index(column)
    if index is None or len(index) != graph.n or _is_plain(index):
        return column
    try:
        order = np.argsort(graph.index(index.tolist()))
    except GraphError:
        raise _refused(name, "vertices") from None
    if not index.is_unique:
        raise _refused(name, "vertices")
    return column.iloc[order]


def require_same_axes(matrix: Any) -> None:
    """Raise for a square table of pandas whose rows are in another order than its columns."""
    rows = _index(matrix)
    columns = getattr(matrix, "columns", None)
    if rows is None or columns is None or rows.equals(columns):
        return
    if set(rows) == set(columns):
        raise GraphError(
            "the rows of the matrix are in another order than its columns",
            advice=["pass matrix.loc[matrix.columns]"],
        )


def _refused(name: str, of: str, sorting: str = "") -> GraphError:
    return GraphError(
        f"{name}= has an index that does not match the {of}; if its entries are in the order of "
        f"the {of}, pass {name}=column.to_numpy(){sorting}"
    )


def in_one_order(columns: Any) -> Any:
    """Return a dict of columns with those of pandas in the order of the first one of them.

    All other tables have one index, or none, and are returned as they are.
    """
    if not isinstance(columns, Mapping):
        return columns
    first = next((each for each in columns.values() if _index(each) is not None), None)
    if first is None:
        return columns
    count, digest = len(first), index_digest(first)
    return {name: in_order(each, count, digest, name) for name, each in columns.items()}


def _index(table: Any) -> Any:
    """Return the index of a pandas Series or DataFrame, without importing pandas."""
    pd = sys.modules.get("pandas")
    kinds = () if pd is None else (pd.Series, pd.DataFrame)
    return table.index if isinstance(table, kinds) else None


def _is_plain(index: Any) -> bool:
    numbers: NDArray[np.int64] = np.arange(len(index))
    return index.nlevels == 1 and index.dtype.kind in "iu" and np.array_equal(index, numbers)
