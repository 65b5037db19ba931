"""Graph.from_any: every supported type."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import igraph as ig
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import rustworkx as rx
import scipy.sparse as sp
from graphs import arcs_of
from hypothesis import given
from hypothesis import strategies as st

import kleene as kl
from kleene import Graph, GraphError, RequestError

ENDS = [(0, 1), (1, 2), (2, 0), (0, 2)]
WEIGHTS = [4.0, 1.5, 2.0, 9.0]
WANTED = Graph.from_edges(*zip(*ENDS, strict=True), WEIGHTS)
TABLE = {"source": [0, 1, 2, 0], "target": [1, 2, 0, 2], "weight": WEIGHTS}


def with_networkx() -> Any:
    made = nx.DiGraph()
    made.add_weighted_edges_from((s, t, w) for (s, t), w in zip(ENDS, WEIGHTS, strict=True))
    return made


def with_igraph(directed: bool = True) -> Any:
    return ig.Graph(edges=ENDS, directed=directed, edge_attrs={"weight": WEIGHTS})


def with_rustworkx(kind: Any = rx.PyDiGraph) -> Any:
    made = kind()
    made.add_nodes_from([None, None, None])
    made.add_edges_from([(s, t, w) for (s, t), w in zip(ENDS, WEIGHTS, strict=True)])
    return made


class MyGraph(nx.DiGraph):  # a user's subclass, in another module
    pass


@pytest.mark.parametrize(
    "thing",
    [
        WANTED,
        WANTED.to_scipy(),
        WANTED.to_scipy().tocoo(),
        sp.csr_matrix(WANTED.to_scipy()),
        WANTED.dense,
        with_networkx(),
        MyGraph(with_networkx()),
        with_igraph(),
        with_rustworkx(),
        TABLE,
        pd.DataFrame(TABLE),
        pl.DataFrame(TABLE),
        pa.table(TABLE),
        (np.array(TABLE["source"]), np.array(TABLE["target"]), np.array(WEIGHTS)),
        (TABLE["source"], TABLE["target"], WEIGHTS),
        SimpleNamespace(edge_index=np.array(ENDS).T, edge_weight=np.array(WEIGHTS), num_nodes=3),
        SimpleNamespace(
            edge_index=np.array(ENDS).T, edge_weight=np.array(WEIGHTS)[:, None], num_nodes=3
        ),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_the_same_graph_from_every_type(thing: Any) -> None:
    g = Graph.from_any(thing)
    assert g.equals(WANTED)
    assert g.directed


def test_a_graph_is_returned_unchanged() -> None:
    assert Graph.from_any(WANTED) is WANTED
    with pytest.raises(RequestError, match="unknown option 'n': a Graph takes no options"):
        Graph.from_any(WANTED, n=4)


@pytest.mark.parametrize("kind", [str, Path])
def test_files(tmp_path: Path, kind: Any) -> None:
    file = tmp_path / "some.tsv"
    file.write_text("0\t1\n1\t2\n")
    assert Graph.from_any(kind(file)).directed
    assert Graph.from_any(kind(file), directed=False).m == 4


def test_arrays_of_other_libraries() -> None:
    class Tensor:
        def __init__(self, array: Any) -> None:
            self.array = array

        def __dlpack__(self, **how: Any) -> Any:
            return self.array.__dlpack__(**how)

        def __dlpack_device__(self) -> Any:
            return self.array.__dlpack_device__()

    assert Graph.from_any(Tensor(WANTED.dense.copy())).equals(WANTED)
    assert Graph.from_dense(Tensor(WANTED.dense.copy())).equals(WANTED)
    ends = [Tensor(row) for row in np.array(ENDS).T.copy()]
    assert Graph.from_any((*ends, Tensor(np.array(WEIGHTS)))).equals(WANTED)
    data = SimpleNamespace(edge_index=Tensor(np.array(ENDS).T.copy()), num_nodes=5)
    assert Graph.from_any(data).n == 5
    assert Graph.from_any(data).weights is None


def test_options_reach_the_constructor() -> None:
    assert not Graph.from_any(TABLE, directed=False).directed
    assert Graph.from_any(TABLE, weight=None).weights is None
    assert Graph.from_any(pl.DataFrame(TABLE).drop("weight")).weights is None
    assert Graph.from_any(with_igraph(), weight=None).weights is None
    assert Graph.from_any(np.eye(3, k=1), null_value=0).m == 2
    assert Graph.from_any(([0], [1]), n=7, labels=list("abcdefg")).index("g") == 6
    other = SimpleNamespace(edge_index=np.array(ENDS).T, num_nodes=3, length=np.array(WEIGHTS))
    assert Graph.from_any(other, weight="length").equals(WANTED)
    assert Graph.from_any(other, directed=False).m == 6


@pytest.mark.parametrize(
    ("thing", "options", "message"),
    [
        (7, {}, "cannot make a graph from int; pass a SciPy sparse array"),
        (None, {}, "cannot make a graph from NoneType"),
        ([(0, 1), (1, 2)], {}, r"Graph.from_edges\(\*zip\(\*edges\)\)"),
        (([0],), {}, "must be .sources, targets. or .sources, targets, weights.; it has 1"),
        (np.zeros((2, 5), int), {}, r"pass tuple\(array\)"),
        (np.zeros((3, 5)), {}, "must be square"),
        (
            sp.csr_array(np.eye(3)),
            {"weight": "km"},
            "option 'weight': Graph.from_scipy takes no opt",
        ),
        (TABLE, {"weigth": "km"}, "Graph.from_table takes source, target, weight, dire"),
        (TABLE, {"weight": "km"}, "no column 'km' for the weights: there are 'source', "),
        (np.eye(2), {"n": 3}, "unknown option 'n': Graph.from_dense takes null_value"),
        (SimpleNamespace(edge_index=np.zeros((3, 2), int)), {}, "edge_index must have two rows"),
        (
            SimpleNamespace(edge_index=np.zeros((2, 2), int)),
            {"weight": "km"},
            "has edge_index but no attribute 'km'",
        ),
    ],
)
def test_mistakes(thing: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        Graph.from_any(thing, **options)
    assert isinstance(caught.value, kl.KleeneError)


def test_calls_say_how_to_make_a_graph() -> None:
    for thing in (with_igraph(), with_rustworkx(), with_networkx(), np.eye(2), None):
        with pytest.raises(GraphError, match=r"make one with kleene.Graph.from_any\(...\)"):
            kl.bfs(thing, 0)  # type: ignore[arg-type]


def test_no_library_is_imported() -> None:
    code = (
        "import sys, numpy as np, kleene as kl\n"
        "for thing in (([0], [1]), np.ones((2, 2)), {'source': [0], 'target': [1]}):\n"
        "    kl.Graph.from_any(thing)\n"
        "libraries = 'networkx igraph rustworkx pandas polars pyarrow scipy sklearn'.split()\n"
        "print([name for name in libraries if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


# ---- igraph and rustworkx -----------------------------------------------------------------------

Edges = list[tuple[int, int, int]]
graphs = st.integers(1, 8).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), st.integers(0, 9))),
    )
)


@given(graphs, st.booleans())
def test_multigraphs_and_loops(made: tuple[int, Edges], directed: bool) -> None:
    n, edges = made
    wanted = Graph.from_edges(*np.array(edges, dtype=int).reshape(-1, 3).T, n, directed)
    pairs, weights = [(s, t) for s, t, _ in edges], [w for *_, w in edges]
    one = ig.Graph(n=n, edges=pairs, directed=directed, edge_attrs={"weight": weights})
    other = rx.PyDiGraph() if directed else rx.PyGraph()
    other.add_nodes_from(range(n))
    other.add_edges_from(edges)
    if not edges:
        wanted = Graph.from_edges([], [], n=n, directed=directed)
    for g in (Graph.from_igraph(one), Graph.from_rustworkx(other)):
        assert g.directed == directed
        if edges:
            assert g.equals(wanted)
        assert arcs_of(g) == arcs_of(wanted)
        assert g.n == n


def test_igraph_names_and_weights() -> None:
    made = with_igraph(directed=False)
    made.vs["name"] = ["Rome", "Ostia", "Tivoli"]
    made["name"] = "Lazio"
    made.es["km"] = [28, 1, 31, 1]
    g = Graph.from_igraph(made, weight="km")
    assert (g.name, list(g.labels if g.labels is not None else [])) == (
        "Lazio",
        ["Rome", "Ostia", "Tivoli"],
    )
    assert arcs_of(g) == {(0, 1): 28, (1, 0): 28, (0, 2): 1, (2, 0): 1, (1, 2): 1, (2, 1): 1}
    with pytest.raises(GraphError, match="'km' and 'weight' may be the weights: say which"):
        Graph.from_igraph(made)
    made.es["nothing"] = [None] * 4
    with pytest.raises(GraphError, match="no edge attribute 'nothing' for the weights: there are"):
        Graph.from_igraph(made, weight="nothing")
    with pytest.raises(GraphError, match="no edge attribute 'miles' for the weights: there are"):
        Graph.from_igraph(made, weight="miles")
    del made.es["km"]
    made.es["some"] = [28, None, 31, None]
    with pytest.raises(GraphError, match="edge attribute 'some': edge 1 of 4 has no weight"):
        Graph.from_igraph(made, weight="some")
    made.vs["name"] = ["Rome", "Rome", "Tivoli"]
    with pytest.raises(GraphError, match="'name' must be unique"):
        Graph.from_igraph(made)
    made.vs["name"] = range(3)
    assert Graph.from_igraph(made).labels is None
    made.es["weight"] = ["far", "near", "near", "near"]
    with pytest.raises(GraphError, match="edge attribute 'weight' holds text, such as 'far'"):
        Graph.from_igraph(made)
    assert Graph.from_igraph(ig.Graph()).n == 0


def test_rustworkx_nodes_that_were_removed() -> None:
    made = rx.PyGraph()
    made.add_nodes_from(list("abcde"))
    made.add_edges_from([(0, 4, 2), (4, 2, 3), (1, 3, 7)])
    made.remove_node(1)
    g = Graph.from_rustworkx(made)
    assert list(g.labels if g.labels is not None else []) == ["a", "c", "d", "e"]
    assert arcs_of(g) == {(0, 3): 2, (3, 0): 2, (3, 1): 3, (1, 3): 3}
    for node in made.node_indices():
        made[node] = {"no": "name"}  # not hashable, so the indices become labels
    g = Graph.from_rustworkx(made)
    assert g.labels is not None
    assert g.labels.tolist() == [0, 2, 3, 4]
    assert Graph.from_rustworkx(rx.PyDiGraph()).n == 0


def test_rustworkx_weights() -> None:
    def made(*payloads: Any) -> Any:
        g = rx.PyDiGraph()
        g.add_nodes_from(range(len(payloads) + 1))
        g.add_edges_from([(i, i + 1, payload) for i, payload in enumerate(payloads)])
        return g

    def weights(*payloads: Any, **how: Any) -> Any:
        found = Graph.from_rustworkx(made(*payloads), **how).weights
        return None if found is None else found.tolist()

    assert weights(2, 3.5, np.float32(1)) == [2, 3.5, 1]
    assert weights(None, None) is None
    assert weights({"weight": 2}, 7) == [2, 7]
    assert weights({"km": 2}, {"km": 3}, weight="km") == [2, 3]
    assert weights({"km": 2}) == [2]
    assert weights({"lanes": 2}) is None
    assert weights(2, 3, weight=None) is None
    assert weights("ab", "c", weight=len) == [2, 1]
    with pytest.raises(GraphError, match="edge 0 of 2 has no weight; give every edge one"):
        weights(None, 4)
    with pytest.raises(GraphError, match="edge 1 of 4 has no weight"):
        weights({"weight": 2}, {}, None, 7)
    with pytest.raises(GraphError, match="no entry of the edge payloads 'km' for the weights"):
        weights({"miles": 2}, weight="km")
    with pytest.raises(GraphError, match="edge payloads of type str are not weights; pass"):
        weights("ab", "c")
    with pytest.raises(GraphError, match="edge payloads of type list"):
        weights([1], [2])
