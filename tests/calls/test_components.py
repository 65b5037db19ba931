"""Weak and strong components beside SciPy and NetworkX, and their numbering."""

from __future__ import annotations

from typing import Any

import graphs
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

import kleene as kl
from kleene import Graph, GraphError, RequestError, _native

KINDS = ("weak", "strong")


def by_size(sets: Any) -> list[list[int]]:
    """Return sets of vertices in the order that the numbering promises."""
    return sorted((sorted(s) for s in sets), key=lambda s: (-len(s), s[0]))


def check(g: Graph, kind: Any, threads: int | None = None) -> None:
    """Compare with SciPy and with NetworkX."""
    found = kl.components(g, kind, threads=threads)
    lists = [found.members(i).tolist() for i in range(found.count)]
    assert found.sizes.tolist() == list(map(len, lists))
    for number, members in enumerate(lists):
        assert (found.component[members] == number).all()
    matrix = g.to_scipy()
    matrix.data = np.ones(g.m)  # SciPy ignores an arc of weight zero in places
    if g.n:
        count, labels = connected_components(matrix, connection=kind)
        theirs = [np.flatnonzero(labels == i).tolist() for i in range(count)]
        assert lists == by_size(theirs)
    network = nx.DiGraph()
    network.add_nodes_from(range(g.n))
    network.add_edges_from(zip(g.coo.sources.tolist(), g.coo.targets.tolist(), strict=True))
    search = nx.weakly_connected_components if kind == "weak" else nx.strongly_connected_components
    assert lists == by_size(search(network))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", graphs.names())
def test_graphs_of_all_kinds(name: str, kind: str, threads: int) -> None:
    check(graphs.graph(name), kind, threads)


@given(
    st.integers(1, 12),
    st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=40),
    st.booleans(),
    st.sampled_from(KINDS),
    st.integers(1, 3),
)
def test_random_graphs(
    n: int, arcs: list[tuple[int, int]], directed: bool, kind: str, threads: int
) -> None:
    ends = np.array([(u % n, v % n) for u, v in arcs], dtype=int).reshape(-1, 2)
    check(Graph.from_edges(ends[:, 0], ends[:, 1], n=n, directed=directed), kind, threads)


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "make",
    [
        lambda: kl.generate.rmat(12, 4, seed=3),  # one large component, many single vertices
        lambda: kl.generate.uniform(5000, 4500, seed=1),  # many small ones
        lambda: kl.generate.uniform(5000, 60_000, directed=False, seed=1),
        lambda: kl.generate.grid(70, 70, drop=0.5, seed=2),
    ],
)
def test_graphs_that_threads_share(make: Any, kind: str, threads: int) -> None:
    g = make()
    found = kl.components(g, kind, threads=threads)
    count, labels = connected_components(g.to_scipy(), connection=kind)
    assert found.count == count
    pairs = np.unique(np.stack([found.component, labels]), axis=1)
    assert pairs.shape[1] == count  # the same partition
    first = np.unique(found.component, return_index=True)[1]
    order = np.lexsort([first, -found.sizes])
    assert (order == np.arange(count)).all()
    assert (np.bincount(found.component) == found.sizes).all()
    again = kl.components(g, kind, threads=1)
    assert (found.component == again.component).all()


def shuffled(tails: Any, heads: Any, n: int) -> Graph:
    """Return a graph whose vertices are numbered at random."""
    number = np.random.default_rng(1).permutation(n)
    return Graph.from_edges(number[tails], number[heads], n=n)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_million_vertices_in_a_row(threads: int) -> None:
    """Long paths need no recursion, and no time that grows faster than they do."""
    n = 10**6
    at = np.arange(n)
    path, cycle = shuffled(at[:-1], at[1:], n), shuffled(at, (at + 1) % n, n)
    for g in (path, cycle):
        assert kl.components(g, threads=threads).sizes.tolist() == [n]
    assert kl.components(cycle, "strong", threads=threads).sizes.tolist() == [n]
    singles = kl.components(path, "strong", threads=threads)
    assert singles.count == n
    assert (singles.component == at).all()


def test_numbers_do_not_depend_on_the_order_of_vertices_within() -> None:
    g = Graph.from_edges([5, 6, 2, 0, 9], [6, 5, 3, 1, 9], n=10)
    found = kl.components(g)
    assert found.sizes.tolist() == [2, 2, 2, 1, 1, 1, 1]
    assert found.component.tolist() == [0, 0, 1, 1, 3, 2, 2, 4, 5, 6]


def test_labels_go_out_and_into_subgraphs() -> None:
    table = {"source": ["b", "a", "c", "x", "y"], "target": ["a", "c", "b", "y", "a"]}
    g = Graph.from_table(table)
    strong = kl.components(g, "strong")
    assert strong.largest.tolist() == ["b", "a", "c"]
    assert repr(strong) == "Components(3 strong components, the largest of 3 vertices)"
    inner = g.subgraph(strong.largest)
    assert inner.labels is not None
    assert inner.labels.tolist() == ["b", "a", "c"]
    assert kl.components(inner, "strong").count == 1
    assert [members.tolist() for members in strong] == [["b", "a", "c"], ["x"], ["y"]]
    assert (len(strong), strong[-1].tolist()) == (3, ["y"])
    assert [members.tolist() for members in strong[1:]] == [["x"], ["y"]]
    frame = strong.to_frame()
    assert frame.columns.tolist() == ["vertex", "component", "size"]
    assert frame["vertex"].tolist() == ["b", "a", "c", "x", "y"]
    assert frame["component"].tolist() == [0, 0, 0, 1, 2]
    assert frame["size"].tolist() == [3, 3, 3, 1, 1]
    numbers = Graph.from_table({"source": [10, 30], "target": [20, 40]})
    assert kl.components(numbers).members(1).tolist() == [30, 40]


def test_nothing_and_little() -> None:
    none = kl.components(Graph.from_edges([], []))
    assert (none.count, none.largest.tolist(), len(none.to_frame())) == (0, [], 0)
    assert repr(none) == "Components(0 weak components)"
    with pytest.raises(RequestError, match="no component 0: there are none"):
        none.members(0)
    one = kl.components(Graph.from_edges([], [], n=1), "strong")
    assert repr(one) == "Components(1 strong component, the largest of 1 vertex)"
    with pytest.raises(RequestError, match="no component 1: they are numbered 0 to 0"):
        one.members(1)
    for wrong in (-1, 1.0, "0", True, None):
        with pytest.raises(RequestError):
            one.members(wrong)  # type: ignore[arg-type]
    assert not one.component.flags.writeable


def test_wrong_arguments() -> None:
    g = Graph.from_edges([0], [1])
    with pytest.raises(RequestError, match="kind must be 'weak' or 'strong', not 'week'"):
        kl.components(g, "week")  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="kind must be"):
        kl.components(g, ["weak"])  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="threads must be an integer"):
        kl.components(g, threads=0)
    with pytest.raises(GraphError, match=r"expected a kleene\.Graph"):
        kl.components([[0, 1]])  # type: ignore[arg-type]


def test_a_graph_on_a_device_is_searched_by_the_cpu() -> None:
    pytest.importorskip("kleene._emulator")
    assert kl.components(kl.generate.grid(3, 3).to("emulated")).count == 1


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=30))
def test_search_order_leaves_sinks_first(arcs: list[tuple[int, int]]) -> None:
    g = Graph.from_edges([u for u, _ in arcs], [v for _, v in arcs], n=10)
    for bits in (np.int32, np.int64):
        component, sizes = _native.strong_components_in_search_order(
            g.offsets, g.neighbors.astype(bits)
        )
        assert (component[g.coo.sources] >= component[g.coo.targets]).all()
        assert (np.bincount(component) == sizes).all()
        same = kl.components(g, "strong").component
        assert np.unique(np.stack([component, same]), axis=1).shape[1] == len(sizes)


def test_ids_of_eight_bytes() -> None:
    g = kl.generate.rmat(8, 3, seed=5)
    wide = [a.astype(np.int64) for a in (g.neighbors, g.csc.neighbors)]
    weak = _native.weak_components(g.offsets, wide[0], False, 2)
    strong = _native.strong_components(g.offsets, wide[0], g.csc.offsets, wide[1], 2)
    for kind, (component, sizes) in zip(KINDS, (weak, strong), strict=True):
        assert component.dtype == np.int64
        assert (component == kl.components(g, kind).component).all()  # type: ignore[arg-type]
        assert (sizes == kl.components(g, kind).sizes).all()  # type: ignore[arg-type]
