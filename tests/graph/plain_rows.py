"""What the rows of a table mean, in plain Python, and lists of rows to try."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
from hypothesis import strategies as st

from kleene.graph import Graph

INF = float("inf")
Pair = tuple[int, int]

#: Values near the ends of each type, and plain ones; sums of floats are exact.
VALUES: dict[str, list[Any]] = {
    "int32": [-(2**31) + 1, -3, -1, 0, 2, 5, 2**31 - 2],
    "int64": [-(2**60), -3, -1, 0, 2, 5, 2**60 - 1, 2**60, 2**60 + 1],
    "float32": [-(2.0**20), -1.5, 0.0, 0.5, 2.0, 2.0**20, INF],
    "float64": [-(2.0**40), -1.5, 0.0, 0.5, 2.0, 2.0**40, INF],
}
RULES = {"min": min, "max": max, "sum": sum}


class Rows:
    """What rows mean: each leads along its pairs, unless its weight is infinite."""

    def __init__(self, ends: list[Pair], weights: list[Any], ways: list[int], combine: str) -> None:
        self.ends, self.weights, self.ways, self.combine = ends, weights, ways, combine

    def pairs(self, row: int) -> list[Pair]:
        """Return the pairs that a row leads along."""
        (u, v), way = self.ends[row], self.ways[row]
        found = [(u, v)] * (way >= 0) + [(v, u)] * (way <= 0)
        return found[:1] if u == v else found

    def between(self) -> dict[Pair, list[int]]:
        """Return the rows that lead along each pair."""
        found = defaultdict(list)
        for row, weight in enumerate(self.weights):
            for pair in self.pairs(row) if weight != INF else ():
                found[pair].append(row)
        return found

    def arcs(self) -> dict[Pair, Any]:
        """Return the weight of each arc."""
        rule = RULES[self.combine]
        made = {p: rule([self.weights[r] for r in rows]) for p, rows in self.between().items()}
        return {(u, v): weight for (u, v), weight in made.items() if u != v or weight < 0}

    def row_of(self, pair: Pair) -> int:
        """Return the first row that has the weight of the arc; of a sum, the first of all."""
        rows = self.between()[pair]
        if self.combine == "sum":
            return rows[0]
        return next(r for r in rows if self.weights[r] == self.arcs()[pair])


def arcs_of(g: Graph) -> dict[Pair, Any]:
    tails, heads, weights = (column.tolist() for column in g.coo)
    return {(u, v): w for u, v, w in zip(tails, heads, weights, strict=True)}


def rows_of(g: Graph) -> dict[Pair, int]:
    tails, heads, _ = g.coo
    ends = zip(tails.tolist(), heads.tolist(), strict=True)
    return dict(zip(ends, g.arc_rows.rows.tolist(), strict=True))


def require_same(g: Graph, rows: Rows) -> None:
    """The arcs, their weights and rows are those of the plain rows."""
    assert arcs_of(g) == rows.arcs()
    assert rows_of(g) == {pair: rows.row_of(pair) for pair in rows.arcs()}
    for pair, against in zip(rows_of(g), g.arc_rows.against.tolist(), strict=True):
        ends = rows.ends[rows.row_of(pair)]
        assert pair == (ends[::-1] if against else ends) or pair[0] == pair[1]


@st.composite
def row_lists(draw: st.DrawFn, combine: str, dtype: str, ways: list[int]) -> Rows:
    values = VALUES[dtype]
    if combine == "sum" and dtype != "float64":  # their sums fit
        values = [v for v in values if abs(v) < 2**20 or v == INF]
    vertex = st.integers(0, 3)
    row = st.tuples(st.tuples(vertex, vertex), st.sampled_from(values), st.sampled_from(ways))
    drawn = draw(st.lists(row, max_size=12))
    return Rows([d[0] for d in drawn], [d[1] for d in drawn], [d[2] for d in drawn], combine)


def built(rows: Rows, dtype: str, directed: bool) -> Graph:
    ends = np.array(rows.ends, int).reshape(-1, 2)
    return Graph.from_edges(
        ends[:, 0], ends[:, 1], np.array(rows.weights, dtype), 4, directed,
        combine=rows.combine,  # type: ignore[arg-type]
    )  # fmt: skip


def table_of(rows: Rows, dtype: str) -> dict[str, Any]:
    """Return the table, with a one-way column."""
    ends = np.array(rows.ends, int).reshape(-1, 2)
    return {
        "source": ends[:, 0], "target": ends[:, 1], "oneway": np.array(rows.ways, int),
        "weight": np.array(rows.weights, dtype),
    }  # fmt: skip
