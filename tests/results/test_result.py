"""Results: arguments at the door, values, paths, tables, files."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from graphs import graph
from hypothesis import given
from hypothesis import strategies as st

import kleene as kl
from kleene import FormatError, GraphError, RequestError
from kleene.system.atomic_file import atomic_path

LABELLED = kl.Graph.from_table(
    {"source": ["a", "b", "a"], "target": ["b", "c", "d"], "km": [1, 2, 9]}, weight="km"
)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda g: kl.bfs(g), RequestError, "bfs needs a source, or several: sources=[...]"),
        (lambda g: kl.bfs(g, 0, sources=[1]), RequestError, "either source or sources, not both"),
        (lambda g: kl.bfs(g, [0, 1]), RequestError, "bfs(g, sources=[...])"),
        (lambda g: kl.sssp(g, sources=3), RequestError, "must be a sequence of vertices, not 3"),
        (lambda g: kl.sssp(g, sources="ab"), RequestError, "must be a sequence of vertices"),
        (lambda g: kl.sssp(g, sources=np.eye(2)), RequestError, "must be one-dimensional"),
        (lambda g: kl.sssp(g, 108), GraphError, "no vertex 108: the graph's vertices are 0 to 107"),
        (lambda g: kl.sssp(g, -1), GraphError, "no vertex -1"),
        (lambda g: kl.sssp(g, 1.5), GraphError, "no vertex 1.5: the graph's vertices are 0 to 107"),
        (
            lambda g: kl.sssp(g, 0, limit=-1),
            RequestError,
            "limit must be a non-negative number",
        ),
        (
            lambda g: kl.sssp(g, 0, limit=float("nan")),
            RequestError,
            "limit must be a non-negative number",
        ),
        (lambda g: kl.sssp(g, 0, limit="far"), RequestError, "limit must be a number, not 'far'"),
        (lambda g: kl.sssp(g, 0, threads=0), RequestError, "threads must be an integer from 1"),
        (lambda g: kl.sssp(g, 0, progress=7), RequestError, "progress must be True, False or a"),
        (lambda g: kl.sssp(g, 0, out=7), RequestError, "out must be an array or a file name"),
        (lambda g: kl.sssp(g, 0, out="a.txt"), RequestError, "must name an .npy file"),
        (lambda g: kl.apsp(g, out=np.empty(3)), RequestError, "of shape (108, 108), not a"),
        (lambda g: kl.closure(g, "plus"), RequestError, "no semiring 'plus'; there are 'min_plus'"),
        (lambda g: kl.sssp(np.eye(2), 0), GraphError, "not numpy.ndarray; make one with"),
        (
            lambda g: kl.sssp(sp.csr_array(np.eye(2)), 0),
            GraphError,
            "kleene.Graph.from_any(...)",
        ),
        (lambda g: kl.sssp(nx.Graph(), 0), GraphError, "kleene.Graph.from_any(...)"),
        (lambda g: kl.sssp(None, 0), GraphError, "expected a kleene.Graph, not NoneType"),
        (lambda g: kl.bfs(kl.Graph.from_edges([], []), 0), GraphError, "the graph is empty"),
    ],
)
def test_bad_arguments(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        call(graph("grid"))
    assert message in str(caught.value)


def test_shapes_follow_the_question() -> None:
    g = graph("grid")
    assert kl.bfs(g, 0).distances.shape == (g.n,)
    assert kl.bfs(g, sources=[0]).distances.shape == (1, g.n)
    assert kl.bfs(g, 0, targets=[5, 6, 7]).distances.shape == (3,)
    assert kl.apsp(g, sources=[1, 2], targets=[5]).distances.shape == (2, 1)
    assert kl.apsp(g, sources=np.array([], dtype=int)).distances.shape == (0, g.n)
    assert kl.sssp(g, 0).next_hops.shape == (g.n,)


def test_types_of_no_path() -> None:
    g = kl.Graph.from_edges([0], [1], n=3)
    assert kl.bfs(g, 0).distances.tolist() == [0, 1, -1]
    assert kl.sssp(g, 0).distances.tolist() == [0, 1, 2**31 - 1]
    assert kl.sssp(g, 0, dtype="float64").distances.tolist() == [0, 1, np.inf]
    assert kl.sssp(g, 0, dtype=np.int64).distances.dtype == np.int64


def test_vertices_are_labels() -> None:
    r = kl.sssp(LABELLED, "a")
    assert r.path("c") == ["a", "b", "c"]
    assert kl.sssp(LABELLED, sources=["a", "b"]).path("b", "c") == ["b", "c"]
    assert kl.sssp(LABELLED, "a", targets=["d", "b"]).distances.tolist() == [9, 1]


def test_path_errors() -> None:
    g = graph("grid")
    with pytest.raises(RequestError, match="make the call with predecessors=True"):
        kl.sssp(g, 0, predecessors=False).path(3)
    with pytest.raises(RequestError, match="path takes a target, or a source and a target"):
        kl.apsp(g).path(3)
    with pytest.raises(RequestError, match="vertex 9 is not among the sources"):
        kl.apsp(g, sources=[1, 2]).path(9, 3)
    with pytest.raises(RequestError, match="vertex 9 is not among the targets"):
        kl.sssp(g, 0, targets=[4]).path(9)
    with pytest.raises(RequestError, match="several sources: name one"):
        kl.apsp(g).paths()
    with pytest.raises(RequestError, match="predecessors=True"):
        _ = kl.apsp(g, predecessors=False).next_hops


@given(st.integers(0, 107), st.lists(st.integers(0, 107), max_size=9))
def test_many_paths_are_the_single_ones(source: int, targets: list[int]) -> None:
    r = kl.sssp(graph("grid"), source)
    paths = r.paths(targets)
    assert list(paths) == [r.path(target) for target in targets]
    assert [paths.vertices[a:b].tolist() for a, b in pairwise(paths.offsets)] == list(paths)
    for v in range(graph("grid").n):
        path = r.path(v)
        assert r.next_hops[v] == (path[1] if len(path) > 1 else -1)


def test_to_pandas() -> None:
    table = kl.sssp(LABELLED, "b").to_pandas()
    assert table[["source", "target", "distance"]].values.tolist() == [["b", "b", 0], ["b", "c", 2]]
    assert table["predecessor"].isna().tolist() == [True, False]
    assert table["predecessor"][1] == "b"
    few = kl.apsp(LABELLED, sources=["a"], targets=["d"], predecessors=False).to_pandas()
    assert few.values.tolist() == [["a", "d", 9]]


@pytest.mark.parametrize(
    "make",
    [
        lambda: kl.bfs(graph("grid"), 3, limit=4),
        lambda: kl.sssp(graph("grid"), 3, targets=[7, 8]),
        lambda: kl.apsp(graph("grid"), predecessors=False),
        lambda: kl.closure(graph("grid"), "max_min"),
    ],
)
def test_save_and_load(make: Any, tmp_path: Path) -> None:
    r = make()
    file = tmp_path / "result.npz"
    r.save(file)
    back = kl.Result.load(file, r.graph)
    assert back.distances.tolist() == r.distances.tolist()
    assert repr(back) == repr(r)
    assert str(back.plan) == str(r.plan)
    back.verify()
    with pytest.raises(FormatError, match="belongs to another graph"):
        kl.Result.load(file, graph("complete"))
    assert [f.name for f in tmp_path.iterdir()] == ["result.npz"]


def test_loading_rubbish(tmp_path: Path) -> None:
    file = tmp_path / "result.npz"
    kl.bfs(graph("grid"), 3).save(file)
    whole = file.read_bytes()
    for spoiled in (b"", b"rubbish", whole[: len(whole) // 2], whole[:100] + b"x" * 50):
        file.write_bytes(spoiled)
        with pytest.raises(FormatError, match="found a damaged archive"):
            kl.Result.load(file, graph("grid"))
    np.savez(file, head="{}", values=np.zeros(3))
    with pytest.raises(FormatError, match="not a result"):
        kl.Result.load(file, graph("grid"))


def test_predecessors_in_a_circle_do_not_hang() -> None:
    r = kl.sssp(graph("zero_cycle"), 0)
    assert r.predecessors is not None
    r.predecessors[1] = 3
    for use in (lambda: r.path(2), lambda: r.paths([2]), lambda: r.next_hops):
        with pytest.raises(kl.VerificationError, match="form a cycle"):
            use()


def test_writing_to_links_and_pipes(tmp_path: Path) -> None:
    real, link, pipe = (tmp_path / name for name in ("real.npz", "link.npz", "pipe.npz"))
    real.write_text("old")
    link.symlink_to(real)
    kl.bfs(graph("grid"), 3).save(link)
    assert link.is_symlink()
    assert real.stat().st_size > 100
    os.mkfifo(pipe)
    with atomic_path(pipe) as same:
        assert same == pipe
    assert pipe.is_fifo()


def test_failed_save_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "result.npz"
    file.write_text("old")

    def fail(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez", fail)
    with pytest.raises(KeyboardInterrupt):
        kl.bfs(graph("grid"), 3).save(file)
    assert file.read_text() == "old"
    assert [f.name for f in tmp_path.iterdir()] == ["result.npz"]


def test_failed_out_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(kl.NegativeCycleError):
        kl.apsp(graph("negative_cycle"), out=tmp_path / "d.npy")
    assert list(tmp_path.iterdir()) == []


def test_single_source_out() -> None:
    g = graph("grid")
    out = np.empty(g.n, dtype=np.int32)
    assert np.shares_memory(kl.sssp(g, 0, out=out).distances, out)
    with pytest.raises(RequestError, match="C-contiguous"):
        kl.sssp(g, 0, out=np.empty(2 * g.n, dtype=np.int32)[::2])
    out.flags.writeable = False
    with pytest.raises(RequestError, match="read-only int32 array"):
        kl.sssp(g, 0, out=out)


def test_repr_and_stats() -> None:
    r = kl.sssp(graph("disconnected"), 0, targets=[1])
    assert repr(r).startswith("Result(sssp by dijkstra on cpu, from 1 source to 1 target, 1")
    assert r.stats.total == r.stats.compute > 0
    assert r.reached.tolist() == [True]
    assert r.to_numpy().tolist() == [3]


# ---- against other libraries --------------------------------------------------------------------


@given(st.integers(1, 12), st.integers(0, 40), st.integers(0, 10**6), st.booleans())
def test_against_scipy(n: int, m: int, seed: int, negative: bool) -> None:
    from scipy.sparse import csgraph

    rng = np.random.default_rng(seed)
    height = rng.integers(0, 20, n) if negative else np.zeros(n, dtype=int)
    s, t = rng.integers(0, n, (2, m))
    g = kl.Graph.from_edges(s, t, rng.integers(1, 30, m) + height[t] - height[s], n=n)
    matrix = g.to_scipy().copy()  # old SciPy writes to it
    want = csgraph.johnson(matrix) if negative else csgraph.dijkstra(matrix)
    for r in (
        kl.apsp(g, method="johnson", dtype=float),
        kl.apsp(g, method="floyd_warshall", dtype=float),
        kl.sssp(g, sources=range(n), dtype=float),
    ):
        assert np.array_equal(r.distances, want)
        r.verify()


def test_against_networkx() -> None:
    karate = nx.karate_club_graph()
    r = kl.apsp(kl.Graph.from_networkx(karate))
    for s, lengths in nx.all_pairs_dijkstra_path_length(karate):
        assert {t: r.distances[s, t] for t in lengths} == lengths
    assert kl.bfs(r.graph, 0).distances.tolist() == [
        nx.shortest_path_length(karate, 0, v) for v in range(34)
    ]
    paths = nx.transitive_closure(nx.DiGraph([(0, 1), (1, 2), (3, 1)]), reflexive=True)
    reach = kl.closure(kl.Graph.from_edges([0, 1, 3], [1, 2, 1])).values
    assert {(u, v) for u, v in np.argwhere(reach).tolist()} == set(paths.edges)
