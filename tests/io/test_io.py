"""All formats: round trips, format detection, and atomic output."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kleene as kl
from kleene.io import FORMATS, sink, text

# What a format does not keep of a graph, and the options to read it back.
WEIGHTS = {"none": None, "int": np.int32, "float": np.float64}
WRITTEN = [name for name, format in FORMATS.items() if format.write is not None]
READ_BACK: dict[str, dict[str, object]] = {"edge_list": {"relabel": False}}


def a_graph(weights: str, directed: bool) -> kl.Graph:
    sources, targets = [0, 0, 1, 3, 4, 4], [1, 4, 2, 0, 2, 3]
    dtype = WEIGHTS[weights]
    values = None if dtype is None else np.array([5, 3, 7, 1, 250, 2], dtype) / dtype(1)
    values = None if values is None else values.astype(dtype)
    return kl.Graph.from_edges(sources, targets, values, n=5, directed=directed)


def refuses(name: str, graph: kl.Graph) -> bool:
    """Return whether the format refuses this graph."""
    floats = graph.weights is not None and graph.weights.dtype.kind == "f"
    return (name == "metis" and (graph.directed or floats)) or (name == "gap" and floats)


def reading(name: str, graph: kl.Graph) -> dict[str, object]:
    options = dict(READ_BACK.get(name, {}))
    if name == "edge_list":
        options["directed"] = graph.directed
    if name == "dimacs" and graph.weights is None:
        options["weighted"] = False
    return options


def suffix(name: str, graph: kl.Graph) -> str:
    return ".wsg" if name == "gap" and graph.weights is not None else FORMATS[name].suffixes[0]


def expected_after(name: str, graph: kl.Graph) -> kl.Graph:
    if name == "npy" and graph.weights is None:  # a matrix has entries
        return graph.reweight(arcs=np.ones(graph.m, np.int32))
    if FORMATS[name].numbered_from == 1:  # a vertex is called what the file calls it
        return numbered_from_one(graph)
    return graph


def numbered_from_one(graph: kl.Graph) -> kl.Graph:
    labels = np.arange(1, graph.n + 1, dtype=np.int32)
    return kl.Graph.from_csr(*graph.csr, directed=graph.directed, labels=labels)


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("name", WRITTEN)
def test_round_trip(tmp_path: Path, name: str, weights: str, directed: bool, packed: str) -> None:
    graph = a_graph(weights, directed)
    path = tmp_path / f"graph{suffix(name, graph)}{packed}"
    if packed and not FORMATS[name].text:
        with pytest.raises(kl.RequestError, match="gzip"):
            kl.write(graph, path)
        return
    if refuses(name, graph):
        with pytest.raises(kl.GraphError, match="hold"):
            kl.write(graph, path)
        assert list(tmp_path.iterdir()) == []
        return
    kl.write(graph, path)
    back = kl.read(path, **reading(name, graph))
    assert back.equals(expected_after(name, graph))
    assert back.name == ("" if name == "npz" else "graph")
    if name not in ("dimacs", "npy"):  # these two do not store the direction
        assert back.directed == directed


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize("name", WRITTEN)
def test_round_trip_without_arcs(tmp_path: Path, name: str, n: int, weights: str) -> None:
    dtype = WEIGHTS[weights]
    values = None if dtype is None else np.array([], dtype)
    graph = kl.Graph.from_edges([], [], values, n=n, directed=False)
    if refuses(name, graph):
        return
    path = tmp_path / f"graph{suffix(name, graph)}"
    kl.write(graph, path)
    back = kl.read(path)
    # An empty edge list has no vertices.
    assert back.n == (0 if name in ("edge_list", "parquet") else n)
    assert back.m == 0


@pytest.mark.parametrize("labels", [[7, 3, 12], ["ann", "bob, jr", 'the "cy"'], ["#1", " x ", ""]])
@pytest.mark.parametrize("ending", ["npz", "csv", "tsv", "txt.gz", "parquet", "graphml.gz"])
def test_labels_survive(tmp_path: Path, labels: list[object], ending: str) -> None:
    given_labels = np.array(labels) if isinstance(labels[0], int) else labels
    graph = kl.Graph.from_edges([0, 1, 2], [1, 2, 0], [1, 2, 3], labels=given_labels)
    kl.write(graph, tmp_path / f"g.{ending}")
    back = kl.read(tmp_path / f"g.{ending}")
    assert back.labels is not None
    if ending == "npz":
        assert back.equals(graph)
    for source, target, weight in zip(*graph.coo, strict=True):
        u, v = back.index(labels[source]), back.index(labels[target])
        row = back.neighbors[back.offsets[u] : back.offsets[u + 1]].tolist()
        assert back.weights is not None
        assert back.weights[back.offsets[u] + row.index(v)] == weight


@pytest.mark.parametrize("ending", ["npz", "csv", "parquet", "graphml", "gr", "mtx", "npy", "wsg"])
def test_labels_that_cannot_be_written(tmp_path: Path, ending: str) -> None:
    graph = kl.Graph.from_edges([0], [1], labels=[("a", 1), ("b", 2)])
    with pytest.raises(kl.GraphError, match="label"):
        kl.write(graph, tmp_path / f"g.{ending}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", ["csv", "parquet", "graphml"])
def test_labels_with_a_lone_surrogate(tmp_path: Path, ending: str) -> None:
    graph = kl.Graph.from_edges([0], [1], labels=["fine", "half\ud800"])
    with pytest.raises(
        kl.GraphError, match=r"label 'half\\ud800' cannot .*(lone surrogate|control)"
    ):
        kl.write(graph, tmp_path / f"g.{ending}")
    assert list(tmp_path.iterdir()) == []


# ---- reading ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WRITTEN)
def test_streams(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = a_graph("int", directed=False)
    file = io.BytesIO()
    kl.write(graph, file, name)
    options = reading(name, graph)
    graph = expected_after(name, graph)
    assert kl.read(io.BytesIO(file.getvalue()), name, **options).equals(graph)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(file.getvalue())))
    assert kl.read("-", name, **options).equals(graph)


def test_standard_output(monkeypatch: pytest.MonkeyPatch) -> None:
    stdout = io.TextIOWrapper(io.BytesIO())
    monkeypatch.setattr(sys, "stdout", stdout)
    kl.write(kl.Graph.from_edges([0], [1], [3]), "-", "dimacs")
    assert stdout.buffer.getvalue() == b"p sp 2 1\na 1 2 3\n"  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", sorted({*WRITTEN} - {"metis", "gap"}))
def test_format_is_detected_by_content(tmp_path: Path, name: str) -> None:
    graph = a_graph("int", directed=True)
    wrong = tmp_path / ("graph.txt" if name != "edge_list" else "graph.unknown")
    kl.write(graph, wrong, name)
    graph = expected_after(name, graph)
    assert kl.read(wrong).equals(graph)
    packed = tmp_path / "packed"
    packed.write_bytes(gzip.compress(wrong.read_bytes()))
    assert kl.read(packed).equals(graph)


def test_read_with_format(tmp_path: Path) -> None:
    graph = a_graph("int", directed=True)
    kl.write(graph, tmp_path / "g.txt", "dimacs")
    back, found = kl.io.read_with_format(tmp_path / "g.txt")
    assert back.equals(numbered_from_one(graph))
    assert found == "dimacs"
    assert kl.io.read_with_format(io.BytesIO(b"0 1\n"))[1] == "edge_list"


def test_unknown_format(tmp_path: Path) -> None:
    path = tmp_path / "what.bin"
    path.write_bytes(b"\x00\x01\x02 nonsense")
    with pytest.raises(
        kl.FormatError, match=r"what.bin: cannot detect the format.* dimacs \(.gr\); matrix"
    ):
        kl.read(path)
    with pytest.raises(kl.FormatError, match='pass format="edge_list"'):
        kl.read(io.BytesIO(b"ann,bob\n"))


def test_no_file_at_all(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        kl.read(tmp_path / "missing.gr")
    with pytest.raises(kl.FormatError, match="found a directory, expected a file"):
        kl.read(tmp_path)
    (tmp_path / "empty.gr").touch()
    with pytest.raises(kl.FormatError, match="found an empty file"):
        kl.read(tmp_path / "empty.gr")
    with pytest.raises(kl.RequestError, match="binary mode"):
        kl.read(io.StringIO("0 1"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (5, "read takes a path, '-' or a binary file, not int"),
        (None, "read takes a path, '-' or a binary file, not NoneType"),
        (b"g.gr", "not bytes; decode it: 'g.gr'"),
        (io.StringIO(), "binary mode"),
    ],
)
def test_not_a_path_or_file(target: Any, message: str) -> None:
    with pytest.raises(kl.RequestError, match=message):
        kl.read(target)
    with pytest.raises(kl.RequestError, match=message.replace("read", "write")):
        kl.write(a_graph("int", directed=True), target, "dimacs")


def test_file_objects_that_decompress(tmp_path: Path) -> None:
    graph = a_graph("int", directed=True)
    file = io.BytesIO()
    kl.write(graph, file, "dimacs")
    graph = numbered_from_one(graph)
    for module in (bz2, gzip, lzma):
        with module.open(tmp_path / "g", "wb") as packed:
            packed.write(file.getvalue())
        with module.open(tmp_path / "g", "rb") as packed:
            assert kl.read(packed).equals(graph)
    (tmp_path / "g").write_bytes(file.getvalue())
    for buffering in (-1, 0):
        with open(tmp_path / "g", "rb", buffering=buffering) as plain:
            assert kl.read(plain).equals(graph)


def test_invalid_arguments(tmp_path: Path) -> None:
    graph = a_graph("int", directed=True)
    with pytest.raises(
        kl.RequestError, match="does not take sep; it takes directed, or weighted, or threads"
    ):
        kl.read(io.BytesIO(b"p sp 0 0\n"), sep=",")
    with pytest.raises(kl.RequestError, match="no format 'gexf'"):
        kl.read(io.BytesIO(b"x"), "gexf")
    with pytest.raises(kl.RequestError, match=r"unknown suffix '\.gexf'"):
        kl.write(graph, tmp_path / "x.gexf")
    with pytest.raises(kl.RequestError, match=r"does not write them; write GraphML"):
        kl.write(graph, tmp_path / "x.gml")
    with pytest.raises(kl.RequestError, match="does not take level;"):
        kl.write(graph, tmp_path / "x.npz", level=9)
    with pytest.raises(kl.RequestError, match="must be a Graph"):
        kl.write("x", tmp_path / "x.npz")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_progress(tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "ARCS_AT_A_TIME", 100)
    random = np.random.default_rng(0)
    graph = kl.Graph.from_edges(*random.integers(0, 1000, (2, 3000)), n=1000)
    seen: list[tuple[int, int]] = []
    path = tmp_path / f"g.mtx{ending}"
    kl.write(graph, path, progress=lambda *at: seen.append(at))
    assert len(seen) > 20
    assert seen[-1] == (graph.m, graph.m)
    seen.clear()
    kl.read(path, progress=lambda *at: seen.append(at))
    assert seen == sorted(seen)
    assert seen[-1][0] == seen[-1][1]


# ---- writing ------------------------------------------------------------------------------------


def test_missing_directory(tmp_path: Path) -> None:
    with pytest.raises(kl.RequestError, match=r"there is no directory .*; make it first"):
        kl.write(a_graph("int", True), tmp_path / "nowhere" / "g.gr")
    with pytest.raises(kl.RequestError, match="is a directory"):
        kl.write(a_graph("int", True), tmp_path, "npz")


@pytest.mark.parametrize("trouble", [OSError("disk full"), KeyboardInterrupt()])
@pytest.mark.parametrize("ending", ["gr", "mtx.gz", "npz"])
def test_output_is_atomic(
    tmp_path: Path, ending: str, trouble: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"g.{ending}"
    path.write_bytes(b"what was there before")

    def stumble(*_: object) -> None:
        raise trouble

    monkeypatch.setattr(Path, "replace", stumble)
    with pytest.raises(type(trouble)):
        kl.write(a_graph("int", True), path)
    monkeypatch.undo()
    monkeypatch.setattr(sink.Sink, "write", stumble)
    if ending != "npz":
        with pytest.raises(type(trouble)):
            kl.write(a_graph("int", True), path)
    assert path.read_bytes() == b"what was there before"
    assert list(tmp_path.iterdir()) == [path]


def test_mode_of_files(tmp_path: Path) -> None:
    path = tmp_path / "g.gr"
    kl.write(a_graph("int", True), path)
    usual = tmp_path / "usual"
    usual.touch()
    assert path.stat().st_mode == usual.stat().st_mode
    path.chmod(0o600)
    kl.write(a_graph("int", True), path)
    assert path.stat().st_mode & 0o777 == 0o600


def test_gzip_files_are_reproducible(tmp_path: Path) -> None:
    for name in ("a.gr.gz", "b.gr.gz"):
        kl.write(a_graph("int", True), tmp_path / name)
    assert (tmp_path / "a.gr.gz").read_bytes() == (tmp_path / "b.gr.gz").read_bytes()


# ---- any graph ----------------------------------------------------------------------------------

VERTEX = st.integers(0, 9)
WEIGHT = {
    "int": st.integers(-(2**31), 2**31 - 1),
    "float": st.floats(allow_nan=False, allow_infinity=False),
}


@settings(max_examples=60, deadline=None)
@given(data=st.data(), name=st.sampled_from(sorted(WRITTEN)), grain=st.sampled_from([1, 5, 64]))
def test_any_graph_survives(data: st.DataObject, name: str, grain: int) -> None:
    kind = data.draw(st.sampled_from(["none", "int", "float"]))
    pairs = data.draw(st.lists(st.tuples(VERTEX, VERTEX), min_size=1, max_size=30))
    sources, targets = np.array(pairs).T
    values = None
    if kind != "none":
        weights = data.draw(st.lists(WEIGHT[kind], min_size=len(pairs), max_size=len(pairs)))
        values = np.array(weights, WEIGHTS[kind])
    graph = kl.Graph.from_edges(sources, targets, values, n=10, directed=data.draw(st.booleans()))
    file = io.BytesIO()
    try:
        kl.write(graph, file, name)
    except kl.GraphError:
        return
    usual, text.GRAIN = text.GRAIN, grain
    try:
        back = kl.read(io.BytesIO(file.getvalue()), name, **reading(name, graph))
    finally:
        text.GRAIN = usual
    expected = expected_after(name, graph)
    if name in ("edge_list", "parquet"):  # vertices without arcs are lost
        assert back.m == expected.m
        if expected.m and expected.weights is not None:
            assert back.weights is not None
            assert np.array_equal(np.sort(back.weights), np.sort(expected.weights))
    elif expected.m:
        assert back.equals(expected)


# ---- odd options --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"directed": "false"}, "no column 'false'"),
        ({"directed": 1}, "directed must be True, False or the name of a column, not int"),
        ({"names": 1}, "names must be True or False, not int"),
        ({"columns": 3}, "columns must be a sequence of columns, not int"),
        ({"columns": [0, 10**30]}, "column"),
        ({"separator": b","}, "separator must be a string, not bytes"),
        ({"comments": None}, "comments must be a string, not NoneType"),
        ({"progress": 5}, "progress must be True, False or a function, not 5"),
        ({"threads": 10**30}, "threads must be an integer"),
    ],
)
def test_options_of_other_types(options: dict[str, Any], message: str) -> None:
    with pytest.raises(kl.KleeneError, match=message):
        kl.read(io.BytesIO(b"0 1 2\n"), "edge_list", **options)


def test_names_of_other_types(tmp_path: Path) -> None:
    graph = kl.Graph.from_edges([0], [1])
    with pytest.raises(kl.RequestError, match=r"no format \[\]"):
        kl.read(io.BytesIO(b"0 1\n"), [])  # type: ignore[arg-type]
    with pytest.raises(kl.RequestError, match="a file name must be a string or a Path, not bytes"):
        kl.bfs(graph, 0).save(bytes(tmp_path / "r.npz"))  # type: ignore[arg-type]
