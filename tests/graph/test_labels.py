"""A vertex of a labelled graph is its label; a column of a table says which rows are one-way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kleene as kl
from kleene.graph import Graph
from kleene.graph.labels import LabelIndex

NUMBERED = {"source": [10, 30, 10], "target": [20, 10, 30], "weight": [1.5, 2.5, 9.0]}


def test_integer_labels_are_labels() -> None:
    g = Graph.from_table(NUMBERED)
    assert g.index(30) == 2
    assert g.index(np.int64(30)) == 2
    assert g.index([30, 10]).tolist() == [2, 0]
    assert g.index(np.array([20, 20, 30])).tolist() == [1, 1, 2]
    assert g.index(pd.Series([20])).tolist() == [1]
    assert g.label(2) == 30
    assert type(g.label(2)) is int
    assert g.label([2, 0]).tolist() == [30, 10]
    with pytest.raises(kl.GraphError, match="no vertex 0: vertices are labelled 10 to 30; for ver"):
        g.index(0)
    with pytest.raises(kl.GraphError, match="no vertex 25"):
        g.index([10, 25])


def test_positions_on_request() -> None:
    g = Graph.from_table(NUMBERED)
    plain = g.unlabelled()
    assert plain.labels is None
    assert plain.index([2, 0]).tolist() == [2, 0]
    assert plain.neighbors is g.neighbors
    assert plain.unlabelled() is plain
    assert plain.transpose().labels is None
    assert g.transpose().labels is not None


def test_labels_that_are_not_sorted() -> None:
    g = Graph.from_edges([0, 1], [1, 2], labels=np.array([7, 3, 5]))
    assert [g.index(label) for label in (7, 3, 5)] == [0, 1, 2]
    assert g.index([5, 7]).tolist() == [2, 0]


def test_tuples_and_mixed_labels() -> None:
    g = Graph.from_edges([0, 1], [1, 2], labels=[(0, 1), "b", 1])
    assert g.index((0, 1)) == 0
    assert g.index([(0, 1), 1]).tolist() == [0, 2]
    with pytest.raises(kl.GraphError, match="no vertex True"):
        g.index(True)


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("roma", "did you mean 'Roma'"),
        ("Rmoa", "did you mean 'Roma'"),
        (" Ostia", "did you mean 'Ostia'"),
        ("7", "did you mean 7"),
        ("Zzz", "vertices are labelled 'Roma', ..., 7$"),
        (["Roma", "Osta"], "did you mean 'Ostia'"),
        ([["Roma"]], "no vertex"),
        (None, "no vertex None"),
    ],
)
def test_near_matches(label: object, message: str) -> None:
    g = Graph.from_edges([0, 1], [1, 2], labels=["Roma", "Ostia", 7])
    with pytest.raises(kl.GraphError, match=message):
        g.index(label)


@given(st.lists(st.integers(-(2**40), 2**40), unique=True, min_size=1), st.data())
def test_lookup_is_the_inverse(labels: list[int], data: st.DataObject) -> None:
    for array in (np.array(labels), np.array(labels, dtype=object)):
        index = LabelIndex(array, len(labels))
        places = data.draw(st.lists(st.integers(0, len(labels) - 1)))
        chosen = [labels[place] for place in places]
        assert index.positions(chosen).tolist() == places
        assert [index.position(label) for label in chosen] == places
        unknown = data.draw(st.integers())
        if unknown not in labels:
            with pytest.raises(kl.GraphError, match="no vertex"):
                index.position(unknown)


def test_subgraph_by_label() -> None:
    g = Graph.from_table(NUMBERED).with_positions({20: (0, 1), 10: (2, 3), 30: (4, 5)})
    part = g.subgraph([30, 10])
    assert part.labels is not None
    assert part.labels.tolist() == [30, 10]
    assert part.positions is not None
    assert part.positions.tolist() == [[4, 5], [2, 3]]
    with pytest.raises(kl.GraphError, match="no vertex 1"):
        g.subgraph([1])


# ---- names that are not there -------------------------------------------------------------------


def test_constructor_mistakes() -> None:
    for thing in (nx_graph(), 3, None):
        with pytest.raises(kl.GraphError, match=r"make a graph with Graph.from_any\(...\)"):
            Graph(thing)  # type: ignore[arg-type]


def nx_graph() -> object:
    nx = pytest.importorskip("networkx")
    return nx.path_graph(3)


def test_weight_names() -> None:
    nx = pytest.importorskip("networkx")
    roads = nx.Graph()
    roads.add_edge("a", "b", km=3)
    roads.add_edge("b", "c", km=4)
    assert Graph.from_networkx(roads).weights is not None
    assert Graph.from_networkx(roads, weight=None).weights is None
    assert Graph.from_networkx(roads, weight="km").weights is not None
    with pytest.raises(kl.GraphError, match="no edge attribute 'kn' for the weights: there are 'k"):
        Graph.from_networkx(roads, weight="kn")
    with pytest.raises(kl.GraphError, match="no edge attribute 'weight'"):
        Graph.from_networkx(roads, weight="weight")
    roads.add_edge("c", "d")
    with pytest.raises(kl.GraphError, match=r"2 of 3 edges have .* but not the edge \('c', 'd'\)"):
        Graph.from_networkx(roads, weight="km")
    # The defaults are the same.
    table = {**NUMBERED}
    for g in (Graph.from_table(table), Graph.from_any(table)):
        assert g.weights is not None
    del table["weight"]
    for g in (Graph.from_table(table), Graph.from_any(table)):
        assert g.weights is None
    for make in (Graph.from_table, Graph.from_any):
        with pytest.raises(kl.GraphError, match="no column 'weight' for the weights"):
            make(table, weight="weight")


def test_missing_weights_are_named_by_row() -> None:
    table = pd.DataFrame({**NUMBERED, "weight": [1.5, np.nan, np.nan]})
    said = "2 of 3 rows have no value in 'weight', the first of them row 1"
    with pytest.raises(kl.GraphError, match=said):
        Graph.from_table(table)
    assert Graph.from_table(table.dropna()).m == 1


# ---- directed -----------------------------------------------------------------------------------


def test_directed_is_true_or_false() -> None:
    for wrong in ("no", 0, None, [], np.array([True, False])):
        with pytest.raises(kl.RequestError, match="directed must be True or False"):
            Graph.from_edges([0], [1], directed=wrong)  # type: ignore[arg-type]
    assert not Graph.from_edges([0], [1], directed=np.bool_(False)).directed
    with pytest.raises(kl.GraphError, match="the table has no column 'no'"):
        Graph.from_table(NUMBERED, directed="no")


@pytest.mark.parametrize(
    "column",
    [
        ["yes", "no", "-1"],
        ["True", "", "reverse"],
        [True, None, -1],
        [1, 0, -1],
        [1.0, float("nan"), -1.0],
        [" YES ", "reversible", "-1"],
    ],
)
def test_one_way_streets(column: list[object]) -> None:
    table = {
        "source": ["a", "b", "c"],
        "target": ["b", "c", "d"],
        "weight": [1, 2, 3],
        "oneway": column,
    }
    for made in (table, pd.DataFrame(table)):
        g = Graph.from_table(made, directed="oneway")
        arcs = {
            (g.label(s), g.label(t)): w
            for s, t, w in zip(*(column.tolist() for column in g.coo), strict=True)
        }
        assert arcs == {("a", "b"): 1, ("b", "c"): 2, ("c", "b"): 2, ("d", "c"): 3}
        assert g.directed
        assert g.arc_rows.rows.tolist() == [0, 1, 1, 2]
        assert g.arc_rows.against.tolist() == [False, False, True, True]


def test_uniform_columns() -> None:
    table = {"source": [0, 1], "target": [1, 2]}
    assert not Graph.from_table({**table, "oneway": ["no", "no"]}, directed="oneway").directed
    assert Graph.from_table({**table, "oneway": [True, True]}, directed="oneway").directed
    empty = {"source": [], "target": [], "oneway": []}
    assert Graph.from_table(empty, directed="oneway").n == 0
    with pytest.raises(kl.GraphError, match="column 'oneway' has 'maybe' in row 1"):
        Graph.from_table({**table, "oneway": ["yes", "maybe"]}, directed="oneway")
    with pytest.raises(kl.GraphError, match="column 'oneway' has 2 in row 0"):
        Graph.from_table({**table, "oneway": np.array([2, 1])}, directed="oneway")


# ---- nodes and positions ------------------------------------------------------------------------


def test_table_of_nodes() -> None:
    nodes = pd.DataFrame({"id": ["c", "a", "b", "z"], "x": [0, 1, 2, 9], "y": [5, 6, 7, 9]})
    streets = {"source": ["a", "b"], "target": ["b", "c"]}
    g = Graph.from_table(streets, nodes=nodes)
    assert g.labels is not None
    assert g.labels.tolist() == ["c", "a", "b", "z"]
    assert g.positions is not None
    assert g.positions[1].tolist() == [1, 6]
    assert g.n == 4
    with pytest.raises(kl.GraphError, match="no vertex 'q'"):
        Graph.from_table({"source": ["q"], "target": ["a"]}, nodes=nodes)
    plain = Graph.from_table({"source": [0], "target": [2]}, nodes={"id": [0, 1, 2]})
    assert plain.labels is None
    assert plain.positions is None
    assert plain.n == 3


def test_positions() -> None:
    nx = pytest.importorskip("networkx")
    g = Graph.from_networkx(nx.random_geometric_graph(5, 0.5, seed=1))
    assert g.positions is not None
    assert g.transpose().positions is g.positions
    assert g.reweight(2).positions is g.positions
    wrong: list[tuple[object, str]] = [
        ([(0, 0)], "positions must have shape"),
        ([(0, 0)] * 4 + [(0, np.nan)], r"that of vertex 4 is \(0.0, nan\)"),
        ({0: (1, 2)}, "got positions of 1 vertices; the graph has 5"),
        ("here", "positions must be pairs of numbers"),
    ]
    for positions, message in wrong:
        with pytest.raises(kl.GraphError, match=message):
            g.with_positions(positions)


@pytest.mark.parametrize(
    ("labels", "shown"),
    [(["a"], "'a'"), (["b", "a"], "'b', 'a'"), (["b", "c", "a"], "'b', ..., 'a'"),
     (["a", "b", "c"], "'a', ..., 'c'"), ([7], "7"), ([2, 5, 9], "2 to 9"), ([5, 2], "5, 2"),
     ([5, 9, 2], "5, ..., 2")],
)  # fmt: skip
def test_labels_read_as_a_range_only_where_they_ascend(labels: list[Any], shown: str) -> None:
    g = kl.Graph.from_edges([], [], n=len(labels), labels=labels)
    assert repr(g).endswith(f"labelled {shown})")
