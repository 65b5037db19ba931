"""Conversion of graphs from and to other libraries."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from graphs import arcs_of, graph, names
from hypothesis import given
from hypothesis import strategies as st

from kleene import Graph, GraphError
from kleene.graph.labels import ids_from_numbers

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_from_scipy(form: str, kind: Any, index: type) -> None:
    matrix = kind(np.array([[0, 2, 0], [0, 0, 3.5], [1, 0, 0]]))
    matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    g = Graph.from_scipy(matrix.asformat(form))
    assert arcs_of(g) == {(0, 1): 2, (1, 2): 3.5, (2, 0): 1}
    assert (g.to_scipy() != matrix).nnz == 0


def test_from_scipy_details() -> None:
    explicit_zero = sp.coo_array(([0.0, 2.0], ([0, 1], [1, 2])), shape=(3, 3))
    assert arcs_of(Graph.from_scipy(explicit_zero)) == {(0, 1): 0, (1, 2): 2}
    twice = sp.coo_array(([5.0, 2.0], ([0, 0], [1, 1])), shape=(2, 2))
    assert arcs_of(Graph.from_scipy(twice)) == {(0, 1): 2}
    assert Graph.from_scipy(sp.csr_array(np.eye(3, k=1, dtype=bool))).weights is None
    with pytest.raises(GraphError, match=r"must be square, but has shape \(2, 3\)"):
        Graph.from_scipy(sp.csr_array((2, 3)))
    with pytest.raises(GraphError, match="not ndarray"):
        Graph.from_scipy(np.eye(2))


def test_from_dense() -> None:
    assert arcs_of(Graph.from_dense([[0, INF], [0.0, 0]])) == {(1, 0): 0}
    top = np.iinfo(np.int32).max
    assert arcs_of(Graph.from_dense(np.array([[0, top], [4, -1]], np.int32))) == {
        (1, 0): 4,
        (1, 1): -1,
    }
    zeros_mean_nothing = Graph.from_dense([[0, 5], [0, 0]], null_value=0)
    assert arcs_of(zeros_mean_nothing) == {(0, 1): 5}
    assert arcs_of(Graph.from_dense([[0, NAN], [2.0, 0]], null_value=NAN)) == {(1, 0): 2}
    assert Graph.from_dense(np.array([[False, True], [False, False]])).weights is None
    masked = np.ma.masked_greater(np.array([[0.0, 9.0], [2.0, 0.0]]), 5)
    assert arcs_of(Graph.from_dense(masked)) == {(1, 0): 2}
    for bad, message in (
        ([[1, 2, 3]], "must be square"),
        ([[0, NAN], [0, 0]], "is nan"),
        ([[0, 1], [2]], "ragged"),
        ([["a", "b"], ["c", "d"]], "the matrix holds text"),
    ):
        with pytest.raises(GraphError, match=message):
            Graph.from_dense(bad)


@pytest.mark.parametrize("name", names())
def test_dense_and_scipy_round_trip(name: str) -> None:
    g = graph(name)
    if g.stats.negative and (g.coo.sources == g.coo.targets).any():
        return  # the dense form has a zero diagonal
    assert Graph.from_scipy(g.to_scipy()).coo.sources.tolist() == g.coo.sources.tolist()
    back = Graph.from_dense(g.dense)
    assert back.neighbors.tolist() == g.neighbors.tolist()
    if g.weights is not None:
        assert back.equals(Graph(g.csr))


def test_networkx() -> None:
    multi = nx.MultiDiGraph()
    multi.add_edge("a", ("b", 1), weight=5)
    multi.add_edge("a", ("b", 1), weight=2)
    multi.add_edge(("b", 1), 3, weight=1)
    g = Graph.from_networkx(multi)
    assert list(g.labels if g.labels is not None else []) == ["a", ("b", 1), 3]
    assert arcs_of(g) == {(0, 1): 2, (1, 2): 1}
    assert Graph.from_networkx(multi, weight=None).weights is None
    karate = nx.karate_club_graph()
    g = Graph.from_networkx(karate)
    assert not g.directed
    assert g.labels is None
    assert nx.utils.graphs_equal(
        nx.Graph((u, v, {"weight": d["weight"]}) for u, v, d in g.to_networkx().edges(data=True)),
        nx.Graph((u, v, {"weight": d["weight"]}) for u, v, d in karate.edges(data=True)),
    )
    assert Graph.from_networkx(g.to_networkx()).equals(g)


COLUMNS = {"from": [10, 30, 10], "to": [20, 10, 30], "km": [1.5, 2.5, 9.0]}


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_tables(make: Any) -> None:
    table = make(COLUMNS)
    g = Graph.from_table(table, "from", "to", "km")
    assert g.labels is not None
    assert g.labels.tolist() == [10, 20, 30]
    assert arcs_of(g) == {(0, 1): 1.5, (2, 0): 2.5, (0, 2): 9.0}
    assert Graph.from_table(table, "from", "to", relabel=False).n == 31
    with pytest.raises(
        GraphError, match="no column 'miles' for the weights: there are 'from', 'to'"
    ):
        Graph.from_table(table, "from", "to", "miles")
    words = make({"source": ["x", "y"], "target": ["y", "z"]})
    g = Graph.from_table(words, directed=False)
    assert list(g.labels if g.labels is not None else []) == ["x", "y", "z"]
    assert g.m == 4


@given(st.lists(st.tuples(st.integers(-5, 40), st.integers(-5, 40)), min_size=1))
def test_numbers_become_ids_in_order(pairs: list[tuple[int, int]]) -> None:
    for scale in (1, 10**12):  # dense and sparse ranges take different paths
        s, t = np.array(pairs, dtype=np.int64).T * scale
        ids_s, ids_t, labels, n = ids_from_numbers(s, t)
        occurring = sorted({*s.tolist(), *t.tolist()})
        assert n == len(occurring)
        if labels is None:
            assert occurring == list(range(n))
            labels = np.arange(n)
        assert labels.tolist() == occurring
        assert labels[ids_s].tolist() == s.tolist()
        assert labels[ids_t].tolist() == t.tolist()


def test_tables_that_do_not_fit() -> None:
    for short in ({"source": [5, 6, 7], "target": [8]}, {"source": ["a"], "target": ["b", "c"]}):
        with pytest.raises(GraphError, match="columns 'source' and 'target' differ in length"):
            Graph.from_table(short)
    with pytest.raises(GraphError, match="1 of 2 rows has no value in 'target', row 1"):
        Graph.from_table({"source": ["a", "b"], "target": ["b", None]})
    with pytest.raises(GraphError, match="1 of 2 rows has no value in 'source', row 0"):
        Graph.from_table(pd.DataFrame({"source": [None, "b"], "target": ["b", "c"]}))


def test_a_boolean_matrix_is_not_changed() -> None:
    matrix = np.array([[False, True], [True, False]])
    Graph.from_dense(matrix, null_value=True)
    assert matrix.tolist() == [[False, True], [True, False]]
