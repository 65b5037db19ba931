"""The k shortest paths, of one pair and of many, beside NetworkX."""

from __future__ import annotations

from itertools import islice, pairwise
from typing import Any

import graphs
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kleene as kl
from kleene import Graph, GraphError, NegativeCycleError, PathOverflowError, RequestError


def all_lengths(g: Graph, source: int, target: int) -> list[Any]:
    """Return the lengths of all simple paths, by exhaustive search."""
    arcs = graphs.arcs_of(g)
    network = nx.DiGraph(list(arcs))
    network.add_nodes_from(range(g.n))
    if source == target:
        return [0]
    paths = nx.all_simple_paths(network, source, target)
    return sorted(sum(arcs[arc] for arc in pairwise(path)) for path in paths)


def check(g: Graph, source: int, target: int, k: int, found: Any) -> None:
    """Compare with all simple paths; every path must be one, and be as long as it says."""
    arcs = graphs.arcs_of(g)
    want = all_lengths(g, source, target)[:k]
    np.testing.assert_allclose(found.distances, want, rtol=1e-12)
    assert len({tuple(path) for path in found.paths}) == len(found) == len(want)
    for path, distance in zip(found.paths, found.distances.tolist(), strict=True):
        assert (path[0], path[-1], len(set(path))) == (source, target, len(path))
        assert sum(arcs[arc] for arc in pairwise(path)) == pytest.approx(distance, rel=1e-12)


@st.composite
def small_graphs(draw: Any) -> Graph:
    n = draw(st.integers(1, 7))
    vertex = st.integers(0, n - 1)
    ends = draw(st.lists(st.tuples(vertex, vertex), max_size=18))
    kind = draw(st.sampled_from(["none", "ints", "floats", "negative"]))
    height = draw(st.lists(st.integers(-5, 5), min_size=n, max_size=n))
    weights: Any = None
    if kind != "none":
        weights = [draw(st.integers(0, 9)) for _ in ends]
    if kind == "floats":
        weights = [w / 7 for w in weights]
    if kind == "negative":  # no cycle can be
        weights = [w + height[v] - height[u] for w, (u, v) in zip(weights, ends, strict=True)]
    tails, heads = [u for u, _ in ends], [v for _, v in ends]
    directed = kind == "negative" or draw(st.booleans())
    return Graph.from_edges(tails, heads, weights, n=n, directed=directed)


@given(small_graphs(), st.integers(1, 30), st.integers(1, 3), st.data())
def test_random_graphs(g: Graph, k: int, threads: int, data: Any) -> None:
    vertex = st.integers(0, g.n - 1)
    pairs = data.draw(st.lists(st.tuples(vertex, vertex), max_size=6))
    many = kl.k_shortest(g, k=k, pairs=pairs, threads=threads)
    assert len(many) == len(pairs)
    for (source, target), found in zip(pairs, many, strict=True):
        assert (found.source, found.target) == (source, target)
        check(g, source, target, k, found)
        one = kl.k_shortest(g, source, target, k)
        assert list(one.paths) == list(found.paths)
        assert one.distances.tolist() == found.distances.tolist()


def test_roads_beside_networkx() -> None:
    g = kl.generate.grid(8, 9, weights=(1, 20), seed=4)
    network = g.to_networkx()
    pairs = [(0, 71), (5, 60), (71, 0), (8, 63)]
    for (source, target), found in zip(pairs, kl.k_shortest(g, k=12, pairs=pairs), strict=True):
        theirs = islice(nx.shortest_simple_paths(network, source, target, "weight"), 12)
        lengths = [nx.path_weight(network, path, "weight") for path in theirs]
        assert found.distances.tolist() == lengths
        assert found.distances.dtype == np.int64
        assert found.distances[0] == kl.sssp(g, source).distances[target]


def test_many_targets_go_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    import kleene.calls.k_shortest  # noqa: F401

    monkeypatch.setattr(sys.modules["kleene.calls.k_shortest"], "_CHUNK", 1)
    g = kl.generate.grid(5, 5, weights=(1, 9), seed=1)
    pairs = [(s, t) for s in (0, 7, 24) for t in range(24, -1, -1)]
    reports: list[tuple[int, int]] = []
    many = kl.k_shortest(g, k=3, pairs=pairs, threads=2, progress=lambda *now: reports.append(now))
    for (source, target), found in zip(pairs, many, strict=True):
        assert list(found.paths) == list(kl.k_shortest(g, source, target, 3).paths)
    assert reports == sorted(reports)
    assert reports[-1] == (75, 75)


def test_labels_and_routes() -> None:
    streets = {
        "source": ["a", "a", "b", "c", "a"],
        "target": ["b", "c", "d", "d", "b"],
        "weight": [1.5, 2.0, 1.0, 2.0, 9.0],
    }
    g = Graph.from_table(streets, weight="weight")
    r = kl.k_shortest(g, "a", "d", 4)
    assert (r.source, r.target, len(r)) == ("a", "d", 2)
    assert list(r.paths) == [["a", "b", "d"], ["a", "c", "d"]]
    assert [route.vertices for route in r] == list(r.paths)
    assert [route.distance for route in r.routes()] == [2.5, 4.0]
    assert [route.rows.tolist() for route in r] == [[0, 2], [1, 3]]  # not row 4, which is longer
    assert r[-1].vertices == ["a", "c", "d"]
    assert [route.distance for route in r[1:]] == [4.0]
    assert repr(r) == "KShortest(2 paths from 'a' to 'd', length 2.5 to 4)"
    frame = r.to_frame()
    assert frame["path"].tolist() == list(r.paths)
    assert frame["rank"].tolist() == [0, 1]
    many = kl.k_shortest(g, k=1, pairs=[("a", "d"), ("d", "a"), ("b", "b")])
    assert repr(many) == "KShortestPairs(3 pairs, 2 paths)"
    assert many.to_frame()["source"].tolist() == ["a", "b"]
    assert [repr(one) for one in many[1:]] == [
        "KShortest(0 paths from 'd' to 'a')",
        "KShortest(1 path from 'b' to 'b', length 0)",
    ]
    empty = kl.k_shortest(g, k=1, pairs=[])
    assert (len(empty), len(empty.to_frame())) == (0, 0)


def test_hops_without_weights() -> None:
    g = Graph.from_edges([0, 1, 0, 2, 3], [1, 4, 2, 3, 4])
    r = kl.k_shortest(g, 0, 4, 9)
    assert (r.distances.tolist(), r.distances.dtype) == ([2, 3], np.dtype(np.int64))


def test_integer_labels_are_labels() -> None:
    g = Graph.from_table({"source": [1, 2, 1], "target": [2, 3, 3], "w": [10, 20, 99]}, weight="w")
    assert list(kl.k_shortest(g, 1, 3, 2).paths) == [[1, 2, 3], [1, 3]]


def test_negative_cycles() -> None:
    """Only a cycle that leads to the target is an error; it is listed along its arcs."""
    ends = {"source": list("abcdx"), "target": list("bcbzd"), "w": [1, -3, 1, 1, 1]}
    g = Graph.from_table(ends, weight="w")
    with pytest.raises(NegativeCycleError) as caught:
        kl.k_shortest(g, "a", "c", 2)
    assert caught.value.cycle in (["b", "c"], ["c", "b"])
    triangle = Graph.from_table(
        {"source": list("xyzz"), "target": list("yzxo"), "w": [-1, -1, -1, 1]}, weight="w"
    )
    with pytest.raises(NegativeCycleError) as caught:
        kl.k_shortest(triangle, "x", "o", 2)
    assert "".join(caught.value.cycle * 2).find("xyz") >= 0
    assert list(kl.k_shortest(g, "x", "z", 2).paths) == [["x", "d", "z"]]


def test_wrong_arguments() -> None:
    g = Graph.from_edges([0], [1], [5])
    for k in (None, 0, -1, 1.5, "2", True):
        with pytest.raises(RequestError, match="k must be the number of paths"):
            kl.k_shortest(g, 0, 1, k)  # type: ignore[call-overload]
    with pytest.raises(RequestError, match="needs a source and a target"):
        kl.k_shortest(g, 0, k=1)  # type: ignore[call-overload]
    with pytest.raises(RequestError, match="leave out source and target"):
        kl.k_shortest(g, 0, 1, 1, pairs=[(0, 1)])  # type: ignore[call-overload]
    with pytest.raises(GraphError):
        kl.k_shortest(g, 0, 2, 1)
    with pytest.raises(RequestError, match="pairs must be"):
        kl.k_shortest(g, k=1, pairs=[0, 1])
    with pytest.raises(GraphError, match=r"expected a kleene\.Graph"):
        kl.k_shortest(None, 0, 1, 1)  # type: ignore[call-overload]
    with pytest.raises(PathOverflowError, match=r"2\^53"):
        kl.k_shortest(Graph.from_edges([0, 1], [1, 2], [2**53, 1]), 0, 2, 1)


def test_a_huge_k_is_all_paths() -> None:
    g = kl.generate.complete(6)
    r = kl.k_shortest(g, 0, 5, 2**70)
    assert len(r) == len(all_lengths(g, 0, 5)) == 65


def test_a_graph_on_a_device() -> None:
    pytest.importorskip("kleene._emulator")
    g = kl.generate.grid(3, 3).to("emulated")
    assert kl.k_shortest(g, 0, 8, 2).distances.tolist() == [4, 4]
