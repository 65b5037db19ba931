"""Graphs of table rows against a dict: which arcs rows make, and which row each comes from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_rows import RULES, VALUES, Rows, arcs_of, built, require_same, row_lists, table_of

import kleene as kl
from kleene.graph import Graph


@pytest.mark.parametrize("dtype", VALUES)
@pytest.mark.parametrize("combine", RULES)
@pytest.mark.parametrize("directed", [True, False])
@given(st.data())
def test_arcs_and_their_rows(dtype: str, combine: str, directed: bool, data: st.DataObject) -> None:
    rows = data.draw(row_lists(combine, dtype, [1] if directed else [0]))
    require_same(built(rows, dtype, directed), rows)


@pytest.mark.parametrize("dtype", VALUES)
@given(st.data())
def test_one_way_and_two_way_rows(dtype: str, data: st.DataObject) -> None:
    rows = data.draw(row_lists("min", dtype, [1, 0, -1]))
    g = Graph.from_table(table_of(rows, dtype), directed="oneway", nodes={"id": np.arange(4)})
    require_same(g, rows)


@pytest.mark.parametrize("dtype", VALUES)
@pytest.mark.parametrize("combine", RULES)
@given(st.data())
def test_undirected_afterwards(dtype: str, combine: Any, data: st.DataObject) -> None:
    rows = data.draw(row_lists(combine, dtype, [1]))
    g = built(rows, dtype, True).symmetrise(combine)
    both = Rows(rows.ends, rows.weights, [0] * len(rows.ends), combine)
    require_same(g, both)
    assert g.symmetrise(combine) is g


def test_rows_that_no_rule_explains_are_not_kept() -> None:
    g = Graph.from_edges([0, 0, 1], [1, 1, 0], [2, 5, 3], combine="max")
    least = g.symmetrise()
    assert (least.weights.tolist(), least.rows) == ([3, 3], None)
    assert g.symmetrise("max").arc_rows.rows.tolist() == [1, 1]
    one_each = Graph.from_edges([0, 1], [1, 0], [2, 5]).symmetrise("max")
    assert (one_each.weights.tolist(), one_each.arc_rows.rows.tolist()) == ([5, 5], [1, 1])
    streets = {"source": [0], "target": [1], "weight": [4], "oneway": [0]}
    streets = {name: [*values, *more] for (name, values), more in zip(
        streets.items(), ([1], [2], [9], [1]), strict=True)}  # fmt: skip
    twice = Graph.from_table(streets, directed="oneway").symmetrise("sum")
    assert (twice.weights.tolist(), twice.rows) == ([8, 8, 9, 9], None)


@pytest.mark.parametrize(
    ("combine", "loops", "kept"),
    [
        ("max", [2.0, -1.0], []),
        ("max", [-2.0, -1.0], [-1]),
        ("sum", [3, -3], []),
        ("sum", [5, -3], []),
        ("sum", [2, -3], [-1]),
        ("min", [2, -3], [-3]),
    ],
)
def test_loops_are_combined_before_they_are_dropped(
    combine: Any, loops: list[float], kept: list[float]
) -> None:
    for directed in (True, False):
        g = Graph.from_edges([1, 1, 0], [1, 1, 1], [*loops, 1], 2, directed, combine=combine)
        loop = {(1, 1): kept[0]} if kept else {}
        assert arcs_of(g) == {(0, 1): 1} | ({} if directed else {(1, 0): 1}) | loop
        if not kept:
            assert kl.sssp(g, 0).distances.tolist() == [0, 1]


def test_a_negative_loop_has_a_row() -> None:
    g = Graph.from_edges([0, 0, 1], [0, 1, 1], [-5, 2, -3])
    assert g.arc_rows.rows.tolist() == [0, 1, 2]
    assert g.transpose().arc_rows.rows.tolist() == [0, 1, 2]
    assert g.subgraph([1]).arc_rows.rows.tolist() == [2]
