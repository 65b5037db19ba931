"""Every arc knows its table row; weights change by column, as if the graph were built again."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kleene as kl
from kleene.graph import Graph

INF = float("inf")

TABLE: dict[str, Any] = {
    "source": ["b", "a", "a", "c", "a"],
    "target": ["c", "b", "b", "c", "c"],
    "weight": [5.0, 4.0, 3.0, 1.0, INF],
}


def changed(column: list[float]) -> dict[str, Any]:
    return {**TABLE, "weight": column}


@pytest.mark.parametrize("directed", [True, False])
def test_a_column_in_the_order_of_the_table(directed: bool) -> None:
    g = Graph.from_table(TABLE, directed=directed)
    column = [1.0, 9.0, 20.0, 2.0, 4.0]  # another of the parallel rows wins, a dropped row returns
    new = g.reweight(rows=column)
    assert new.equals(Graph.from_table(changed(column), directed=directed))
    assert new.directed == directed
    assert new.reweight(rows=TABLE["weight"]).equals(g)
    assert g.reweight(rows=7).equals(Graph.from_table(changed([7] * 5), directed=directed))


def test_the_order_must_be_said() -> None:
    g = Graph.from_edges([1, 0], [2, 1], [3, 4])
    with pytest.raises(kl.GraphError, match=r"pass rows=array .* or arcs=array"):
        g.reweight([30, 40])  # type: ignore[arg-type]
    assert g.reweight(rows=[30, 40]).weights.tolist() == [40, 30]  # type: ignore[union-attr]
    assert g.reweight(arcs=[30, 40]).weights.tolist() == [30, 40]  # type: ignore[union-attr]
    with pytest.raises(kl.GraphError, match="give the weights once"):
        g.reweight(3, rows=[1, 2])
    with pytest.raises(kl.GraphError, match="got 3 weights for 2 rows of the table"):
        g.reweight(rows=[1, 2, 3])
    with pytest.raises(kl.GraphError, match="does not know the rows of its table"):
        Graph.from_edges([0], [1], keep_rows=False).reweight(rows=[1])
    with pytest.raises(kl.RequestError, match="keep_rows must be True or False"):
        Graph.from_edges([0], [1], keep_rows="no")  # type: ignore[arg-type]


def test_rows_of_arcs() -> None:
    g = Graph.from_table(TABLE)
    rows, against = g.arc_rows
    assert rows.tolist() == [0, 2]  # of the two from a to b, the lighter
    assert not against.any()
    both = Graph.from_table(TABLE, directed=False)
    ends = [(both.label(s), both.label(t)) for s, t in zip(*both.coo[:2], strict=True)]
    assert dict(zip(ends, both.arc_rows.rows.tolist(), strict=True)) == {
        ("a", "b"): 2, ("b", "a"): 2, ("b", "c"): 0, ("c", "b"): 0,
    }  # fmt: skip
    assert dict(zip(ends, both.arc_rows.against.tolist(), strict=True)) == {
        ("a", "b"): False, ("b", "a"): True, ("b", "c"): False, ("c", "b"): True,
    }  # fmt: skip
    assert set(kl.generate.path(3).arc_rows.rows.tolist()) == {-1}


def test_derived_graphs_keep_rows() -> None:
    g = Graph.from_table(TABLE)
    back = g.transpose()
    assert back.arc_rows.rows.tolist() == [2, 0]
    assert back.arc_rows.against.all()
    part = g.subgraph(["b", "c"])
    assert part.arc_rows.rows.tolist() == [0]
    assert part.reweight(rows=[8, 0, 0, 0, 0]).weights.tolist() == [8]  # type: ignore[union-attr]
    round_trip = pickle.loads(pickle.dumps(g))
    assert round_trip.arc_rows.rows.tolist() == [0, 2]
    assert g.symmetrise().arc_rows.rows.tolist() == [0, 2, 0, 2]
    assert g.to("cpu").rows is g.rows


def test_one_way_columns_change_too() -> None:
    table = {**TABLE, "oneway": ["no", "yes", -1, "no", "yes"]}
    g = Graph.from_table(table, directed="oneway")
    column = [2.0, 8.0, 9.0, 1.0, 3.0]
    new = Graph.from_table({**table, "weight": column}, directed="oneway")
    assert g.reweight(rows=column).equals(new)


@st.composite
def tables(draw: st.DrawFn) -> tuple[dict[str, Any], list[float]]:
    rows = draw(st.integers(0, 12))
    ends = st.lists(st.integers(0, 4), min_size=rows, max_size=rows)
    weights = st.lists(st.sampled_from([-1.0, 0.0, 1.0, 2.0, INF]), min_size=rows, max_size=rows)
    ways = st.lists(st.sampled_from([-1, 0, 1]), min_size=rows, max_size=rows)
    table = {
        "source": np.array(draw(ends), int),
        "target": np.array(draw(ends), int),
        "weight": np.array(draw(weights), float),
        "oneway": np.array(draw(ways), int),
    }
    return table, draw(weights)


@given(tables(), st.sampled_from([True, False, "oneway"]))
def test_as_if_built_again(drawn: tuple[dict[str, Any], list[float]], directed: Any) -> None:
    table, column = drawn
    g = Graph.from_table(table, directed=directed)
    values = np.array(column, float)
    again = Graph.from_table({**table, "weight": values}, directed=directed)
    assert g.reweight(rows=values).equals(again)
    tails, heads, weights = (c.tolist() for c in g.coo)
    for i, (row, against) in enumerate(zip(*(c.tolist() for c in g.arc_rows), strict=True)):
        if tails[i] == heads[i]:
            continue
        ends = table["source"][row], table["target"][row]
        assert tuple(map(g.index, ends[::-1] if against else ends)) == (tails[i], heads[i])
        assert table["weight"][row] == weights[i]


def test_weights_by_arc_keep_the_arcs() -> None:
    """Finite weights, one for each arc, need no new arcs; the graph is the same as with them."""
    for directed in (True, False):
        g = kl.Graph.from_edges([0, 1, 2, 0], [1, 2, 3, 3], [4, 1, 7, 2], directed=directed)
        for weights in (np.arange(g.m), np.linspace(0, 1, g.m), -np.arange(g.m), g.weights * 2):
            made = g.reweight(arcs=weights)
            anew = kl.Graph.from_edges(*g.coo[:2], weights, n=g.n)
            assert made.equals(anew)
            assert made.neighbors is g.neighbors
            assert made.directed == (directed or not anew.stats.symmetric)
            with pytest.raises(ValueError, match="read-only"):
                made.weights[0] = 9
        assert weights is not made.weights, "a copy"
        closed = g.reweight(arcs=np.where(np.arange(g.m) == 1, np.inf, 1.0))
        assert closed.m == g.m - 1
        with pytest.raises(kl.GraphError, match="is nan"):
            g.reweight(arcs=np.full(g.m, np.nan))
        with pytest.raises(kl.GraphError, match="weights for"):
            g.reweight(arcs=[1, 2])
    loop = kl.Graph.from_edges([0, 0], [0, 1], [-1, 2])
    assert loop.reweight(arcs=[3, 4]).m == 1, "a loop stays only if it is negative"
