"""Which column is the weight, and whether the first line is a header: one rule at every door."""

from __future__ import annotations

import io
import pickle
import warnings
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import igraph as ig
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
import rustworkx as rx
from cli_runner import kleene

import kleene as kl
from kleene import Graph
from kleene.graph.weight_names import WEIGHT_NAMES

Columns = dict[str, list[Any]]
ENDS: Columns = {"source": [0, 1], "target": [1, 2]}


def csv(columns: Columns, **options: Any) -> Graph:
    text = pd.DataFrame(columns).to_csv(index=False)
    return kl.read(io.BytesIO(text.encode()), "edge_list", **options)


def parquet(columns: Columns, **options: Any) -> Graph:
    file = io.BytesIO()
    pd.DataFrame(columns).to_parquet(file)
    file.seek(0)
    return kl.read(file, **options)


TABLES: dict[str, Callable[..., Graph]] = {
    "csv": csv,
    "parquet": parquet,
    "dict": Graph.from_table,
    "pandas": lambda columns, **options: Graph.from_table(pd.DataFrame(columns), **options),
    "polars": lambda columns, **options: Graph.from_any(pl.DataFrame(columns), **options),
    "arrow": lambda columns, **options: Graph.from_any(pa.table(columns), **options),
}


def edges_of(columns: Columns) -> list[tuple[int, int, dict[str, Any]]]:
    names = [name for name in columns if name not in ENDS]
    rows = zip(*(columns[name] for name in names), strict=True)
    return [
        (s, t, dict(zip(names, row, strict=True)))
        for s, t, row in zip(columns["source"], columns["target"], rows, strict=True)
    ]


def networkx(columns: Columns, **options: Any) -> Graph:
    made = nx.DiGraph()
    made.add_edges_from(edges_of(columns))
    return Graph.from_any(made, **options)


def igraph(columns: Columns, **options: Any) -> Graph:
    made = ig.Graph(n=3, directed=True)
    for s, t, attributes in edges_of(columns):
        made.add_edge(s, t, **attributes)
    return Graph.from_any(made, **options)


def rustworkx(columns: Columns, **options: Any) -> Graph:
    made = rx.PyDiGraph()
    made.add_nodes_from(range(3))
    made.add_edges_from(edges_of(columns))
    return Graph.from_any(made, **options)


def graphml(columns: Columns, **options: Any) -> Graph:
    made = nx.DiGraph()
    made.add_edges_from(edges_of(columns))
    return kl.read(io.BytesIO("\n".join(nx.generate_graphml(made)).encode()), **options)


def gml(columns: Columns, **options: Any) -> Graph:
    made = nx.DiGraph()
    made.add_edges_from(edges_of(columns))
    return kl.read(io.BytesIO("\n".join(nx.generate_gml(made)).encode()), "gml", **options)


DOORS = TABLES | {
    "networkx": networkx,
    "igraph": igraph,
    "rustworkx": rustworkx,
    "graphml": graphml,
    "gml": gml,
}
door = pytest.mark.parametrize("make", DOORS.values(), ids=DOORS)


@door
@pytest.mark.parametrize("name", [*WEIGHT_NAMES, "Length", "KM"])
def test_a_known_name_is_the_weight(make: Callable[..., Graph], name: str) -> None:
    columns = ENDS | {"lanes": [1, 2], name: [5, 7], "road": ["A1", "A2"]}
    weights = make(columns).weights
    assert weights is not None
    assert weights.tolist() == [5, 7]
    assert make(columns, weight=None).weights is None


@door
@pytest.mark.parametrize("second", ["weight", "minutes", "time"])
def test_two_known_names_are_refused(make: Callable[..., Graph], second: str) -> None:
    columns = ENDS | {"length": [5, 7], second: [1, 2]}
    with pytest.raises(
        kl.GraphError, match=f"may be the weights: say which, weight=.*{second}|{second}"
    ):
        make(columns)
    weights = make(columns, weight="length").weights
    assert weights is not None
    assert weights.tolist() == [5, 7]


@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
def test_the_third_column_of_three(make: Callable[..., Graph]) -> None:
    weights = make(ENDS | {"toll": [5, 7]}).weights
    assert weights is not None
    assert weights.tolist() == [5, 7]
    assert make(ENDS | {"toll": ["low", "high"]}).weights is None
    weights = make(ENDS | {"toll": [5, 7], "oneway": [1, 1]}, directed="oneway").weights
    assert weights is not None
    assert make({"id": [8, 9], **ENDS}).weights is None


@pytest.mark.parametrize("make", [networkx, igraph, rustworkx, graphml, gml])
def test_the_only_attribute_is_no_weight_without_its_name(make: Callable[..., Graph]) -> None:
    """Attributes have no order, and their own libraries take none but by name."""
    columns = ENDS | {"toll": [5, 7]}
    with pytest.warns(kl.GraphWarning, match="counts hops.*'toll'"):
        assert kl.sssp(make(columns), 0).distances.tolist() == [0, 1, 2]
    assert kl.sssp(make(columns, weight="toll"), 0).distances.tolist() == [0, 5, 12]


#: Columns of numbers, by what makes them of a list.
NUMBERS: dict[str, Callable[[list[Any]], Any]] = {
    "pandas of Arrow": lambda values: pd.Series(values, dtype="int64[pyarrow]"),
    "pandas of Arrow floats": lambda values: pd.Series(values, dtype="double[pyarrow]"),
    "nullable": lambda values: pd.Series(values, dtype="Int64"),
    "category": lambda values: pd.Series(values, dtype="category"),
    "sparse": lambda values: pd.Series(pd.arrays.SparseArray(values)),
    "objects": lambda values: pd.Series(values, dtype=object),
    "dictionary": lambda values: pa.array(values).dictionary_encode(),
    "pandas of a dictionary": lambda values: pd.Series(
        pa.array(values).dictionary_encode(),
        dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.int64())),
    ),
    "Polars objects": lambda values: pl.Series(values, dtype=pl.Object),
    "array of objects": lambda values: np.array(values, dtype=object),
}


@pytest.mark.parametrize("make", NUMBERS.values(), ids=NUMBERS)
def test_numbers_of_every_type_are_seen(make: Callable[[list[Any]], Any]) -> None:
    weights = Graph.from_table({**ENDS, "toll": make([5, 7])}).weights
    assert weights is not None
    assert weights.tolist() == [5, 7]
    graph = Graph.from_table({**ENDS, "toll": make([5, 7]), "road": ["A1", "A2"]})
    with pytest.warns(kl.GraphWarning, match="counts hops.*'toll'"):
        kl.sssp(graph, 0)


def test_decimals_are_numbers_and_no_weights() -> None:
    tolls = [Decimal("5"), Decimal("7")]
    for column in (tolls, pd.Series(tolls), pa.array(tolls), pl.Series(tolls)):
        with pytest.raises(kl.GraphError, match=r"column 'toll' .*type Decimal"):
            Graph.from_table({**ENDS, "toll": column})
        with pytest.warns(kl.GraphWarning, match="counts hops.*'toll'"):
            kl.sssp(Graph.from_table({**ENDS, "toll": column, "road": ["A1", "A2"]}), 0)
    with pytest.raises(kl.FormatError, match=r"found the type decimal.* in 'toll'"):
        parquet(ENDS | {"toll": tolls})
    with pytest.warns(kl.GraphWarning, match="counts hops.*'toll'"):
        kl.sssp(parquet(ENDS | {"toll": tolls, "road": ["A1", "A2"]}), 0)


def test_numbers_in_dictionaries_of_parquet_files() -> None:
    file = io.BytesIO()
    pa.parquet.write_table(pa.table(ENDS | {"toll": pa.array([5, 7]).dictionary_encode()}), file)
    weights = kl.read(io.BytesIO(file.getvalue())).weights
    assert weights is not None
    assert weights.tolist() == [5, 7]


@pytest.mark.parametrize("missing", [None, float("nan")])
@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
def test_a_first_number_that_is_missing(make: Callable[..., Graph], missing: Any) -> None:
    """The third column of three is the weight by all its rows, not by the first."""
    with pytest.raises(kl.KleeneError, match=r"toll|a number|weight"):
        make(ENDS | {"toll": [missing, 7]})


@door
def test_a_first_attribute_that_is_missing(make: Callable[..., Graph]) -> None:
    speeds = ["NA", "7"] if make in (graphml, gml) else [None, 7]
    columns = ENDS | {"speed": speeds, "road": ["A1", "A2"]}
    with pytest.warns(kl.GraphWarning, match="counts hops.*'speed'"):
        kl.sssp(make(columns), 0)


@pytest.mark.parametrize("data", ["", "<data key='d'></data>", "<data key='d'>7</data>"])
def test_a_default_number_of_graphml_is_one(data: str) -> None:
    text = f"""<graphml><key id="d" for="edge" attr.name="toll"><default>5</default></key>
        <graph edgedefault="directed"><node id="0"/><node id="1"/>
        <edge source="0" target="1">{data}</edge></graph></graphml>"""
    with pytest.warns(kl.GraphWarning, match="counts hops.*'toll'"):
        kl.sssp(kl.read(io.BytesIO(text.encode())), 0)


@pytest.mark.parametrize("missing", ["", "NA", "nan", "null", '""'])
def test_a_text_without_a_first_number(missing: str) -> None:
    for text in (f"source,target,toll\n0,1,{missing}\n1,2,5\n", f"0,1,{missing}\n1,2,5\n"):
        with pytest.raises(kl.FormatError, match=r"<stream>:[12]: found"):
            kl.read(io.BytesIO(text.encode()), "edge_list")
    text = f"source,target,toll,road\n0,1,{missing},A1\n1,2,5,A2\n"
    with pytest.warns(kl.GraphWarning, match="counts hops.*'toll'"):
        kl.sssp(kl.read(io.BytesIO(text.encode()), "edge_list"), 0)


def test_a_column_without_any_value_is_no_weight() -> None:
    for text in ("source,target,toll\n0,1,\n1,2,\n", "0,1,\n1,2,\n"):
        assert kl.read(io.BytesIO(text.encode()), "edge_list").weights is None


@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("index", ["", "Unnamed: 0", "__index_level_0__", "index"])
def test_row_numbers_are_no_weights(make: Callable[..., Graph], index: str) -> None:
    """A table that pandas wrote has its index in a column of this name, first or last."""
    for columns in (
        {index: [8, 9], **ENDS, "toll": [5, 7]},
        {**ENDS, "toll": [5, 7], index: [8, 9]},
    ):
        weights = make(columns).weights
        assert weights is not None
        assert weights.tolist() == [5, 7]
    kl.sssp(make({index: [8, 9], **ENDS}), 0)


@door
def test_hops_are_not_counted_without_a_word(make: Callable[..., Graph]) -> None:
    columns = ENDS | {"speed": [5, 7], "lanes": [1.5, 2.5], "road": ["A1", "A2"]}
    graph = make(columns)
    kl.bfs(graph, 0)
    kl.components(graph)
    kl.closure(graph, "boolean")
    kl.closeness(graph, hops=True)
    graph.symmetrise()
    with pytest.warns(kl.GraphWarning, match="counts hops.*'speed', 'lanes'.*weight='speed'") as w:
        kl.sssp(graph, 0)
    assert [Path(warning.filename).name for warning in w] == ["test_weight_rule.py"]
    kl.sssp(graph, 0)  # once
    kl.sssp(graph.transpose(), 0)
    kl.sssp(make(columns, weight=None), 0)
    assert make(columns, weight="speed").weights is not None


CALLS: dict[str, Callable[[Graph], Any]] = {
    "apsp": kl.apsp,
    "matrix": lambda g: kl.apsp(g, sources=[0], targets=[1]),
    "closure": lambda g: kl.closure(g, "max_min"),
    "within": lambda g: kl.within(g, [0], limit=2),
    "nearest": lambda g: kl.nearest(g, [0]),
    "k_shortest": lambda g: kl.k_shortest(g, 0, 2, 1),
    "closeness": kl.closeness,
    "diameter": lambda g: kl.diameter(g, unreachable="ignore"),
    "betweenness": kl.betweenness,
    "path_counts": lambda g: kl.path_counts(g, 0),
    "loads": lambda g: kl.loads(g, [(0, 2, 1)]),
    "prepare": kl.prepare,
    "spmv": lambda g: kl.spmv(g, [1, 1, 1]),
    "ego": lambda g: kl.ego(g, 0, 1),
    "unpickled": lambda g: kl.sssp(pickle.loads(pickle.dumps(g)), 0),
    "derived": lambda g: kl.sssp(g.with_positions([[0, 0]] * 3).transpose(), 0),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_every_call_on_weights_warns(call: Callable[[Graph], Any]) -> None:
    columns = ENDS | {"speed": [5, 7], "lanes": [1, 2]}
    with pytest.warns(kl.GraphWarning, match="'speed', 'lanes'"):
        call(Graph.from_table(columns))
    call(Graph.from_table(columns).reweight(None))
    call(Graph.from_table(columns, weight="lanes"))


def test_numbers_without_names() -> None:
    graph = kl.read(io.BytesIO(b"0 1 5 9\n1 2 7 8\n"))
    with pytest.warns(kl.GraphWarning, match=r"say which.*columns=\[0, 1, 2\]|columns=\[0, 1, 2\]"):
        kl.sssp(graph, 0)
    weights = kl.read(io.BytesIO(b"0 1 5 9\n1 2 7 8\n"), columns=[0, 1, 2]).weights
    assert weights is not None
    assert weights.tolist() == [5, 7]


def test_the_command_line_names_its_options(tmp_path: Path) -> None:
    path = tmp_path / "roads.csv"
    path.write_text("source,target,speed,lanes\n0,1,5,9\n1,2,7,8\n")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        found = kleene("sssp", path, "--source", "0")
        stops = tmp_path / "stops.csv"
        stops.write_text("stop,next\nann,bob\n")
        guessed = kleene("info", stops)
    assert (found.exit_code, guessed.exit_code) == (0, 0)
    warned = "kleene: warning: the graph has no weights, so this call counts hops"
    assert found.stderr.startswith(warned)
    assert "graph is made, --weight speed; or --unweighted, if hops are meant" in found.stderr
    assert "pass --header if it names the columns, --no-header if not" in guessed.stderr
    for options in (("--weight", "lanes"), ("--unweighted",)):
        assert kleene("sssp", path, "--source", "0", *options).stderr == ""


# ---- headers ----------------------------------------------------------------------------------

HEADERS = (
    *("node_a,node_b", "u,v", "start,end", "source_id,target_id", "A_NODE,B_NODE", "src,dst"),
    *("FromNodeId,ToNodeId", '"From Stop","To Stop"', "origin,destination", "init_node,term_node"),
    "tail,head",
)


def read(text: str, **options: Any) -> Graph:
    return kl.read(io.BytesIO(text.encode()), "edge_list", **options)


@pytest.mark.parametrize("header", HEADERS)
def test_a_header_is_not_an_edge(header: str) -> None:
    named = read(f"{header}\nann,bob\nbob,cy\n")
    assert list(named.labels) == ["ann", "bob", "cy"]  # type: ignore[arg-type]
    assert read(f"{header}\n0,1\n1,2\n").labels is None
    weighted = read(f"{header},toll\nann,bob,3\nbob,cy,4.5\n")
    assert (weighted.m, weighted.weights.tolist()) == (2, [3, 4.5])  # type: ignore[union-attr]
    words = header.replace('"', "").split(",")
    elsewhere = read(f"{header}\nann,{words[0]}\nbob,cy\n")
    assert elsewhere.m == 3
    assert elsewhere.index(words[1]) == 1
    assert read(f"{header}\nann,bob\n", header=False).m == 2


def test_other_words_above_numbers_are_a_header() -> None:
    assert read("stop,next\n0,1\n1,2\n").m == 2
    assert read("stop,next,toll\nann,bob,3\n").m == 1
    assert read("stop,next\n0,1\nstop,2\n").m == 3  # no number column: a vertex
    with pytest.warns(kl.GraphWarning, match="header=True"):
        assert read("stop,next\n0,1\nann,2\n").m == 3


def test_other_words_above_names_are_an_edge_and_a_warning() -> None:
    with pytest.warns(
        kl.GraphWarning, match="<stream>:1: .* between 'stop' and 'next'.*header=T"
    ) as w:
        assert read("stop,next\nann,bob\nbob,cy\n").m == 3
    assert [Path(warning.filename).name for warning in w] == ["test_weight_rule.py"]
    assert read("stop,next\nann,bob\n", header=False).m == 2
    assert read("stop,next\nann,bob\n", header=True).m == 1
    assert read("a,b\nb,c\nc,d\n").m == 3
    assert read("a,b,3\nc,d,4\n").m == 2
    assert read("c,a\nb,a\n").m == 2


@pytest.mark.parametrize("ending", ["csv", "tsv", "txt", "el"])
@pytest.mark.parametrize("label", ["source", "target", "source_id", "u", "from"])
def test_written_names_need_no_guess(tmp_path: Path, ending: str, label: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for ends in (([0, 2], [1, 3]), ([0, 0], [1, 2])):
            graph = Graph.from_edges(*ends, n=4, labels=[label, "target ", "x", "y"])
            kl.write(graph, tmp_path / f"g.{ending}")
            back = kl.read(tmp_path / f"g.{ending}")
            assert back.m == 2
            assert list(back.label(back.coo.sources)) == list(graph.label(graph.coo.sources))
