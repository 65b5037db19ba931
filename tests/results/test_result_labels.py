"""A vertex of a labelled graph is its label: in arguments, paths, tables, errors and cycles."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kleene as kl

STREETS = {"source": [1, 2, 3], "target": [2, 3, 4], "weight": [10, 20, 30]}


@pytest.fixture
def numbered(tmp_path: Path) -> kl.Graph:
    """A CSV file whose vertices are 1 to 4."""
    file = tmp_path / "z.csv"
    file.write_text("1,2,10\n2,3,20\n3,4,30\n")
    return kl.read(file)


def test_integers_are_labels(numbered: kl.Graph) -> None:
    r = kl.sssp(numbered, 1, targets=[3])
    assert r.distances.tolist() == [30]
    assert (r.sources.tolist(), r.targets.tolist()) == ([1], [3])
    assert r.path(3) == [1, 2, 3]
    assert kl.apsp(numbered).path(2, 4) == [2, 3, 4]
    assert kl.bfs(numbered, sources=np.array([4, 1])).sources.tolist() == [4, 1]
    with pytest.raises(kl.GraphError, match="no vertex 0: vertices are labelled 1 to 4"):
        kl.sssp(numbered, 0)


def test_positions_by_the_graph_without_labels(numbered: kl.Graph) -> None:
    r = kl.sssp(numbered.unlabelled(), 0, targets=[2])
    assert (r.distances.tolist(), r.path(2), r.sources.tolist()) == ([30], [0, 1, 2], [0])


def test_paths_are_labels(numbered: kl.Graph) -> None:
    paths = kl.sssp(numbered, 1).paths([4, 1])
    assert list(paths) == [[1, 2, 3, 4], [1]]
    assert paths[-1] == [1]
    assert paths[:1] == [[1, 2, 3, 4]]
    assert paths.vertices.tolist() == [1, 2, 3, 4, 1]
    with pytest.raises(IndexError):
        paths[2]


def test_predecessors_are_positions(numbered: kl.Graph) -> None:
    assert kl.sssp(numbered, 1).predecessors.tolist() == [-1, 0, 1, 2]


def test_tables_are_labels(numbered: kl.Graph) -> None:
    table = kl.sssp(numbered, 2).to_pandas()
    assert table["target"].tolist() == [2, 3, 4]
    assert table["predecessor"].isna().tolist() == [True, False, False]
    assert table["predecessor"].dropna().tolist() == [2, 3]


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda r: r.path(1, 4), "vertex 1 is not among the sources"),
        (lambda r: r.path(2, 1), "vertex 1 is not among the targets"),
        (lambda r: r.paths([4, 3, 1], source=2), "vertex 1 is not among the targets"),
        (lambda r: r.paths(5), r"paths takes a sequence of vertices, paths\(\[5\]\); .*path\(5\)"),
        (lambda r: r.routes("ab"), r"routes takes a sequence of vertices"),
        (lambda r: r.path(2, [3, 4]), r"path takes one vertex, not \[3, 4\]; for many, use paths"),
        (lambda r: r.path(2, np.array([3])), "path takes one vertex"),
        (lambda r: r.path(), "path takes a target, or a source and a target"),
        (lambda r: r.paths([4]), "this result has several sources: name one"),
        (lambda r: r.path(2, 9), "no vertex 9: vertices are labelled 1 to 4"),
    ],
)
def test_errors_name_labels(numbered: kl.Graph, ask: Any, message: str) -> None:
    r = kl.apsp(numbered, sources=[2, 3], targets=[3, 4])
    with pytest.raises(kl.KleeneError, match=message):
        ask(r)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("method", ["bellman_ford", "johnson"])
def test_negative_cycles_are_labels(method: str, reverse: bool) -> None:
    ends = {"source": ["x", "a", "b", "c"], "target": ["a", "b", "c", "a"], "w": [1, 1, -3, 1]}
    g = kl.Graph.from_table(ends, weight="w")
    solve = kl.sssp if method == "bellman_ford" else kl.apsp
    with pytest.raises(kl.NegativeCycleError) as caught:
        solve(g, sources=["a"], method=method, device="cpu", reverse=reverse)
    cycle = caught.value.cycle
    arcs = set(zip(ends["source"], ends["target"], strict=True))
    assert set(cycle) == {"a", "b", "c"}
    assert set(zip(cycle, [*cycle[1:], cycle[0]], strict=True)) <= arcs
    assert " -> ".join([*cycle, cycle[0]]) in str(caught.value)
    assert pickle.loads(pickle.dumps(caught.value)).cycle == cycle


def test_proofs_name_labels(numbered: kl.Graph) -> None:
    r = kl.sssp(numbered, 1)
    r.distances[2] += 1
    with pytest.raises(kl.VerificationError, match="from source 1: vertex 3 holds 31"):
        r.verify()


def test_odd_labels() -> None:
    g = kl.Graph.from_edges([0, 1], [1, 2], labels=[(0, 0), "a", b"c"])
    r = kl.bfs(g, (0, 0))
    assert r.path(b"c") == [(0, 0), "a", b"c"]
    assert kl.bfs(g, sources=[(0, 0), "a"]).path("a", b"c") == ["a", b"c"]
    assert r.to_arrow()["target"].to_pylist() == ["(0, 0)", "a", "b'c'"]
    assert r.to_polars()["predecessor"].to_list() == [None, "(0, 0)", "a"]


def test_values_of_a_boolean_label() -> None:
    g = kl.Graph.from_table(STREETS)
    with pytest.raises(kl.GraphError, match="no vertex True"):
        kl.bfs(g, True)
