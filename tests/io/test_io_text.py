"""Text formats: files written by hand, chunks of all sizes, and error messages."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kleene as kl
from kleene.io import text


def read(contents: str | bytes, format: str | None = None, **options: Any) -> kl.Graph:
    raw = contents.encode() if isinstance(contents, str) else contents
    return kl.read(io.BytesIO(raw), format, **{"threads": 3, **options})


def arcs(graph: kl.Graph) -> list[tuple[Any, ...]]:
    names = range(graph.n) if graph.labels is None else graph.labels.tolist()
    columns = [column.tolist() for column in graph.coo if column is not None]
    return [(names[s], names[t], *rest) for s, t, *rest in zip(*columns, strict=True)]


def written(graph: kl.Graph, format: str, **options: Any) -> str:
    file = io.BytesIO()
    kl.write(graph, file, format, **options)
    return file.getvalue().decode()


def from_one(graph: kl.Graph) -> kl.Graph:
    """Return the graph as formats call its vertices that number them from 1."""
    labels = np.arange(1, graph.n + 1, dtype=np.int32)
    return graph._derived(graph.csr, labels=labels)


TRIANGLE = kl.Graph.from_edges([0, 1, 2], [1, 2, 0], np.array([4, 9, 2], np.int32))
TRIANGLE_BOTH_WAYS = kl.Graph.from_edges(
    [0, 1, 2], [1, 2, 0], np.array([4, 9, 2], np.int32), directed=False
)


# ---- files as other programs write them -----------------------------------------------------


def test_dimacs(grain: int) -> None:
    graph = read("c title\r\nc\r\n\r\np sp 3 3\r\nc arcs\r\na 1 2 4\r\n a\t2  3 9 \r\na 3 1 2")
    assert graph.equals(from_one(TRIANGLE))
    assert read("\ufeffp sp 3 3\na 1 2 4\na 2 3 9\na 3 1 2\n").equals(from_one(TRIANGLE))
    assert arcs(read("p sp 2 1\na 1 2 +5\n")) == [(1, 2, 5)]
    floats = read("p sp 2 2\na 1 2 1e3\na 2 1 7\n")
    assert arcs(floats) == [(1, 2, 1000.0), (2, 1, 7.0)]
    assert floats.weights is not None
    assert floats.weights.dtype == np.float64


def test_dimacs_as_written() -> None:
    assert written(TRIANGLE, "dimacs") == "p sp 3 3\na 1 2 4\na 2 3 9\na 3 1 2\n"


@pytest.mark.parametrize(
    ("weight", "dtype"),
    [
        ("2147483647", np.int32),
        ("-2147483648", np.int32),
        ("2147483648", np.int64),
        ("-9223372036854775808", np.int64),
        ("000000000000000000000000012", np.int32),
        ("9223372036854775808", np.float64),
        ("12345678.25", np.float64),
        ("9007199254740993", np.int64),
        (".5", np.float64),
        ("-1e-3", np.float64),
        ("1e-400", np.float64),
        ("-0." + "0" * 400 + "1e+5", np.float64),
        ("1e-99999999999999999999", np.float64),
        ("1" + "0" * 305 + "e-800", np.float64),
    ],
)
def test_weight_types(grain: int, weight: str, dtype: type) -> None:
    graph = read(f"0 1 1\n1 2 3\n2 0 {weight}\n", "edge_list")
    assert graph.weights is not None
    assert graph.weights.dtype == dtype
    assert graph.weights[2] == dtype(float(weight) if dtype is np.float64 else int(weight))


def test_matrix_market(grain: int) -> None:
    general = (
        "%%MatrixMarket matrix coordinate integer general\n% note\n\n3 3 3\n1 2 4\n2 3 9\n3 1 2\n"
    )
    assert read(general).equals(from_one(TRIANGLE))
    assert read(general, weighted=False).weights is None
    symmetric = general.replace("general", "symmetric").replace("1 2 4", "2 1 4")
    assert read(symmetric).equals(from_one(TRIANGLE_BOTH_WAYS))
    assert not read(symmetric).directed
    assert read(general, directed=False).equals(from_one(TRIANGLE_BOTH_WAYS))
    pattern = "%%matrixmarket MATRIX Coordinate Pattern General\n2 2 1\n1 2\n"
    assert arcs(read(pattern)) == [(1, 2)]
    real = read("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 7\n")
    assert real.weights is not None
    assert real.weights.dtype == np.float64


def test_matrix_market_array(grain: int) -> None:
    dense = "%%MatrixMarket matrix array real general\n2 2\n0\n3\n1.5\n0\n"
    assert arcs(read(dense)) == [(1, 2, 1.5), (2, 1, 3.0)]
    half = "%%MatrixMarket matrix array integer symmetric\n3 3\n0\n4\n2\n0\n9\n0\n"
    assert read(half).equals(from_one(TRIANGLE_BOTH_WAYS))
    assert read(half.replace("\n9\n", "\n-1\n"), null_value=-1).m == 4
    with pytest.raises(kl.FormatError, match=r"2 entries .* \(33.3 %\), which may mean 'no arc'"):
        read(half.replace("\n9\n", "\n0\n"))
    assert read(half.replace("\n9\n", "\n0\n"), null_value=0).m == 4


def test_matrix_market_as_written() -> None:
    assert written(TRIANGLE_BOTH_WAYS, "matrix_market") == (
        "%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n2 1 4\n3 1 2\n3 2 9\n"
    )
    floats = TRIANGLE.reweight(arcs=[1.0, 0.1, -1e300])
    assert written(floats, "matrix_market") == (
        "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 2 1.0\n2 3 0.1\n3 1 -1e+300\n"
    )


def test_matrix_market_agrees_with_scipy(grain: int) -> None:
    import scipy.io
    import scipy.sparse

    random = np.random.default_rng(3)
    dense = random.random((40, 40)) * (random.random((40, 40)) < 0.1)
    matrix = scipy.sparse.coo_array(dense)
    file = io.BytesIO()
    scipy.io.mmwrite(file, matrix)
    assert read(file.getvalue()).unlabelled().equals(kl.Graph.from_scipy(matrix))


def test_snap(grain: int) -> None:
    snap = "# Directed graph\n# Nodes: 99 Edges: 99\n# FromNodeId\tToNodeId\n10\t20\n20\t-3\n"
    assert arcs(read(snap)) == [(10, 20), (20, -3)]
    assert read(snap).labels.tolist() == [-3, 10, 20]  # type: ignore[union-attr]
    assert read("0 1\n1 2\n").labels is None
    assert read("5 7\n", relabel=False).n == 8
    assert read("1 2\n", directed=False).m == 2
    assert read("# nothing\n").n == 0
    assert read("% sym\n1 2 0.5\n").weights.tolist() == [0.5]  # type: ignore[union-attr]


@pytest.mark.parametrize("separator", [",", ";", "\t", " ", " , ", "  \t "])
def test_separators(grain: int, separator: str) -> None:
    lines = ["0 1 4", "1 2 9", "2 0 2"]
    table = "\n".join(line.replace(" ", separator) for line in lines)
    assert read(table, "edge_list").equals(TRIANGLE)


def test_tables(grain: int) -> None:
    table = "id,weight,target,source\n1,4,1,0\n2,9,2,1\n3,2,0,2\n"
    assert read(table, "edge_list").equals(TRIANGLE)
    assert read(table, "edge_list", weighted=False).weights is None
    assert read(table, "edge_list", columns=["source", "target", "weight"]).equals(TRIANGLE)
    assert read(table, "edge_list", columns=[3, 2, 1], header=True).equals(TRIANGLE)
    assert read(table, "edge_list", columns=["target", "source"]).m == 3
    assert read("a b\n0 1\n", "edge_list", header=True).m == 1
    assert read("0|1\n", "edge_list", separator="|").m == 1
    assert read("! no\n0 1\n", "edge_list", comments="!").m == 1
    assert read('"0","1","4"\n"1","2","9.5"\n', "edge_list").weights.tolist() == [4, 9.5]  # type: ignore[union-attr]


def test_names(grain: int) -> None:
    graph = read('Rome,Paris,3\n"New York",Rome,4\nParis,"say ""hi""",5.5\n', "edge_list")
    assert list(graph.labels) == ["Rome", "Paris", "New York", 'say "hi"']  # type: ignore[arg-type]
    assert arcs(graph) == [
        ("Rome", "Paris", 3),
        ("Paris", 'say "hi"', 5.5),
        ("New York", "Rome", 4),
    ]
    assert list(read("São Paulo\tZürich\n", "edge_list", header=False).labels) == [
        "São Paulo",
        "Zürich",
    ]  # type: ignore[arg-type]
    assert list(read("1 2\n", names=True).labels) == ["1", "2"]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "contents", ["u v 5\nv w 2\n", "from to 5\nto x 2\n", "source\ttarget\t5\nx\ty\t2\n"]
)
def test_a_line_with_a_number_is_not_a_header(contents: str) -> None:
    first, *_ = contents.split()
    graph = read(contents, "edge_list")
    assert graph.m == 2
    assert next(iter(graph.labels)) == first  # type: ignore[arg-type]
    assert graph.weights.tolist() == [5, 2]  # type: ignore[union-attr]


def test_one_letter_column_names_need_header_or_columns() -> None:
    assert arcs(read("u v\nv w\n", "edge_list")) == [("u", "v"), ("v", "w")]
    assert arcs(read("w,v,u\n5,1,0\n", "edge_list", header=True)) == [(0, 1, 5)]
    assert arcs(read("u,v\n0,1\n", "edge_list", columns=["u", "v"])) == [(0, 1)]


@pytest.mark.parametrize("labels", ["12x", "uvw", "svt", ["10", "20", "30"], ["-1", "+2", "0.5"]])
@pytest.mark.parametrize("title", ["source", "TO", "U", "nan", "\ufeffx", "a\u00a0b", "weight"])
@pytest.mark.parametrize("ending", ["txt", "tsv", "csv"])
@pytest.mark.parametrize("weights", [None, [3, 1, 2]])
def test_labels_are_not_mistaken_for_header_or_numbers(
    tmp_path: Path, labels: Any, title: str, ending: str, weights: Any
) -> None:
    for names in ([*labels], [labels[0], title, labels[2]], ["source", "target", "weight"]):
        graph = kl.Graph.from_edges([0, 1, 2], [1, 2, 0], weights, labels=names)
        kl.write(graph, tmp_path / f"g.{ending}")
        back = kl.read(tmp_path / f"g.{ending}")
        assert arcs(back) == arcs(graph)
        assert list(back.labels) == names  # type: ignore[arg-type]


def test_quotes_make_names() -> None:
    assert arcs(read('"1" "2" 5\n', "edge_list")) == [("1", "2", 5)]
    assert arcs(read('"1","2"\n', "edge_list", names=False)) == [(1, 2)]
    assert arcs(read('"1","2","5"\n', "edge_list")) == [(1, 2, 5)]  # quotes everywhere


def test_an_unnamed_third_column_is_the_weight() -> None:
    table = "from,to,km\na,b,3\nb,c,4.5\n"
    assert arcs(read(table, "edge_list")) == [("a", "b", 3.0), ("b", "c", 4.5)]
    assert read(table, "edge_list", weighted=False).weights is None
    assert read("from,to,road\na,b,A1\n", "edge_list").weights is None
    assert read("id,from,to\n7,a,b\n", "edge_list").weights is None
    assert read("from,to,speed,lanes\na,b,3,4\n", "edge_list").weights is None
    with pytest.raises(kl.FormatError, match="found 'A1' in 'a,b,A1', expected a number"):
        read("from,to,road\na,b,A1\n", "edge_list", weighted=True)
    with pytest.raises(kl.FormatError, match="expected a column named 'weight'"):
        read("id,target,source\n7,0,1\n", "edge_list", weighted=True)


@pytest.mark.parametrize("format", ["dimacs", "matrix_market", "edge_list", "metis"])
def test_lone_carriage_returns(grain: int, format: str) -> None:
    graph = TRIANGLE_BOTH_WAYS if format == "metis" else TRIANGLE
    contents = written(graph, format)
    assert read(contents.replace("\n", "\r\n"), format).unlabelled().equals(graph)
    for at in range(1, contents.count("\n")):
        lines = contents.split("\n")
        lines[at - 1 : at + 1] = ["\r".join(lines[at - 1 : at + 1])]
        with pytest.raises(kl.FormatError):
            read("\n".join(lines), format)
    with pytest.raises(kl.FormatError):
        read(contents.replace("\n", "\r"), format)


@pytest.mark.parametrize(
    ("contents", "options"),
    [
        ("0 1\r1 2\r", {}),
        ("# note\r0 1\r1 2\r", {}),
        ("0 1\n# note\r1 2\n", {}),
        ("0 1 2\n1 2 3\r2 3 4\n", {"columns": [0, 1]}),
        ("0 1 x\r1 2 x\r", {"columns": [0, 1]}),
        ('a,b\n"c\rd",e\n', {}),
    ],
)
def test_lines_after_lone_carriage_returns(
    grain: int, contents: str, options: dict[str, Any]
) -> None:
    with pytest.raises(kl.FormatError, match=r"<stream>:[12]: "):
        read(contents, "edge_list", **options)


def test_edge_list_as_written(tmp_path: Path) -> None:
    kl.write(TRIANGLE, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "source,target,weight\n0,1,4\n1,2,9\n2,0,2\n"
    assert written(TRIANGLE_BOTH_WAYS, "edge_list", separator=" ") == (
        "# Undirected graph, one edge a line\n# Nodes: 3 Edges: 3\n0 1 4\n0 2 2\n1 2 9\n"
    )
    with pytest.raises(kl.RequestError, match="separator"):
        written(TRIANGLE, "edge_list", separator="|")


def test_metis(grain: int) -> None:
    plain = "% comment\n3 3\n2 3\n%\n1 3\n1 2\n"
    assert read(plain, "metis").equals(from_one(TRIANGLE_BOTH_WAYS.reweight(None)))
    weighted = "3 3 001\n2 4 3 2\n1 4 3 9\n1 2 2 9\n\n\n"
    assert read(weighted, "metis").equals(from_one(TRIANGLE_BOTH_WAYS))
    everything = "3 3 111 2\n7 8 9 2 4 3 2\n7 8 9 1 4 3 9\n7 8 9 1 2 2 9"
    assert read(everything, "metis").equals(from_one(TRIANGLE_BOTH_WAYS))
    lonely = "4 1\n2\n1\n\n\n"
    assert (read(lonely, "metis").n, read(lonely, "metis").m) == (4, 2)


def test_metis_as_written() -> None:
    assert written(TRIANGLE_BOTH_WAYS, "metis") == "3 3 001\n2 4 3 2\n1 4 3 9\n1 2 2 9\n"
    with pytest.raises(kl.GraphError, match=r"symmetrise\(\)"):
        written(TRIANGLE, "metis")
    with pytest.raises(kl.GraphError, match="positive integer weights"):
        written(TRIANGLE_BOTH_WAYS.reweight(arcs=[0] * 6), "metis")


def test_chunks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    graph = kl.Graph.from_edges(*random.integers(0, 300, (2, 2000)), random.integers(0, 9, 2000))
    for name, directed in (("dimacs", True), ("edge_list", True), ("metis", False)):
        one = graph if directed else graph.symmetrise().reweight(None)
        contents = written(one, name)
        whole = read(contents, name)
        for size in (1, 10, 100, 1000):
            monkeypatch.setattr(text, "GRAIN", size)
            assert read(contents, name).equals(whole)
        monkeypatch.undo()
