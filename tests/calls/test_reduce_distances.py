"""Sums, maxima and histograms of distances, beside the distances themselves."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise
from typing import Any

import graphs
import networkx as nx
import numpy as np
import pytest

import kleene as kl
from kleene.engine import reduce as module

CITY = kl.generate.grid(20, 20, weights=(1, 9), seed=3)
FLOATS = kl.generate.rmat(scale=8, edge_factor=6, seed=2, weights=(0.5, 2.0))


def rows_of(graph: kl.Graph, hops: bool = False, **keywords: Any) -> Any:
    """Return distances as floats, infinite where there is no path."""
    if hops:
        keywords.setdefault("sources", np.arange(graph.n))
    return (kl.bfs if hops else kl.apsp)(graph, predecessors=False, **keywords).floats


@pytest.mark.parametrize("small_batches", [False, True])
@pytest.mark.parametrize(
    "keywords",
    [
        {},
        {"hops": True},
        {"reverse": True},
        {"limit": 5},
        {"limit": 4, "hops": True, "reverse": True},
        {"sources": [7, 3, 7]},
    ],
)
@pytest.mark.parametrize("graph", [CITY, FLOATS], ids=["city", "floats"])
def test_numbers_are_those_of_rows(
    graph: kl.Graph, keywords: Any, small_batches: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if small_batches:
        monkeypatch.setattr(module, "_BATCH_BYTES", 2**14)
    edges = np.array([0, 1, 2.5, 7, 100])
    r = kl.reduce_distances(graph, bins=edges, **keywords)
    rows = rows_of(graph, **keywords)
    there = np.isfinite(rows)
    assert np.array_equal(r.reached, there.sum(axis=1))
    assert np.allclose(r.sums, np.where(there, rows, 0).sum(axis=1), rtol=1e-12)
    assert np.array_equal(r.maxima, np.where(there, rows, 0).max(axis=1))
    counted = [[int(((row >= a) & (row < b)).sum()) for a, b in pairwise(edges)] for row in rows]
    assert r.histogram.tolist() == counted
    assert r.verify(sample=None).rows == len(rows)


@pytest.mark.parametrize("name", graphs.names())
def test_every_graph_of_the_zoo(name: str) -> None:
    graph = graphs.graph(name)
    try:
        rows = rows_of(graph)
    except kl.KleeneError as error:  # a negative cycle: the same error, by label
        with pytest.raises(type(error), match=r".*"):
            kl.reduce_distances(graph)
        return
    r = kl.reduce_distances(graph)
    assert r.reached.tolist() == np.isfinite(rows).sum(axis=1).tolist()
    assert np.allclose(r.sums.astype(float), np.where(np.isfinite(rows), rows, 0).sum(axis=1))
    r.verify()


def test_measures_are_those_of_networkx() -> None:
    graph = nx.gnp_random_graph(60, 0.04, seed=5, directed=True)
    g = kl.Graph.from_networkx(graph)
    r = kl.reduce_distances(g, reverse=True)
    right = nx.closeness_centrality(graph)
    for vertex, value in zip(r.sources.tolist(), r.closeness.tolist(), strict=True):
        assert value == pytest.approx(right[vertex])
    whole = nx.connected_watts_strogatz_graph(50, 4, 0.2, seed=1)
    r = kl.reduce_distances(kl.Graph.from_networkx(whole), hops=True)
    assert dict(zip(r.sources.tolist(), r.eccentricity.tolist(), strict=True)) == nx.eccentricity(
        whole
    )
    assert r.mean_distance == pytest.approx(nx.average_shortest_path_length(whole))


def test_a_prepared_graph_and_labels() -> None:
    g = kl.datasets.rome()
    r = kl.reduce_distances(kl.prepare(g), sources=[5, 3353, 1])
    assert np.array_equal(r.sums, kl.sssp(g, sources=[5, 3353, 1]).distances.sum(axis=1))
    assert r.plan.method == "prepared"
    assert r.sources.tolist() == [5, 3353, 1]
    assert repr(r).startswith("DistanceReduction(lengths from 3 sources of 3,353 vertices, int32")


def test_nothing_in_reach() -> None:
    r = kl.reduce_distances(kl.Graph.from_edges([], [], n=3), bins=2)
    assert r.sums.tolist() == r.maxima.tolist() == [0, 0, 0]
    assert r.closeness.tolist() == [0, 0, 0]
    assert np.isnan(r.mean_distance)
    assert r.histogram.tolist() == [[1, 0]] * 3
    assert kl.reduce_distances(kl.Graph.from_edges([], [], n=0)).sums.tolist() == []


def test_rows_are_never_all_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """No buffer has more rows than fit in a batch, or than there are threads."""
    made = []
    empty = np.empty

    def recorded(shape: Any, *args: Any, **keywords: Any) -> Any:
        made.append(shape)
        return empty(shape, *args, **keywords)

    monkeypatch.setattr(module, "_BATCH_BYTES", 2**12)
    monkeypatch.setattr(np, "empty", recorded)
    kl.reduce_distances(CITY, threads=2, device="cpu")
    assert max(s[0] for s in made if isinstance(s, tuple) and s[1:] == (400,)) == 2


@pytest.mark.parametrize("field", ["sums", "maxima", "reached", "histogram"])
@pytest.mark.parametrize(("graph", "hops"), [(CITY, False), (CITY, True), (FLOATS, False)])
def test_a_wrong_number_is_refused(field: str, graph: kl.Graph, hops: bool) -> None:
    r = kl.reduce_distances(graph, hops=hops, bins=8)
    numbers = getattr(r, field)
    numbers[17] += 1
    with pytest.raises(kl.VerificationError, match="17"):
        r.verify(sample=None)


@pytest.mark.parametrize("bins", [0, -3, [1], [3, 2], [[1, 2], [3, 4]], "abc", [1, [2]], True])
def test_bins_that_are_none(bins: Any) -> None:
    with pytest.raises(kl.RequestError, match="bins"):
        kl.reduce_distances(CITY, bins=bins)


@pytest.mark.parametrize(
    ("bins", "says"),
    [
        (2.0, "bins must be an integer, or at least two edges"),
        (0, "bins must be a positive integer"),
        ([0, 10**30], "edges that do not fit in int64; pass them as floats"),
        (np.array([3, 2], np.uint8), "edges in ascending order"),
        (10**30, "bins needs"),
        (2**62, "bins needs"),
    ],
)
def test_what_is_wrong_with_bins(bins: Any, says: str) -> None:
    for call in (kl.reduce_distances, kl.distance_histogram):
        with pytest.raises(kl.KleeneError, match=says):
            call(CITY, bins=bins)


def test_bins_of_any_integers() -> None:
    assert len(kl.reduce_distances(CITY, bins=np.uint8(255)).edges) == 256
    ends = np.iinfo(np.int64)
    everything = kl.reduce_distances(CITY, bins=[ends.min, ends.max])
    assert everything.histogram is not None
    assert everything.histogram[:, 0].tolist() == everything.reached.tolist()


def test_edges_are_copied() -> None:
    edges = np.array([0, 5, 9])
    r = kl.reduce_distances(CITY, bins=edges)
    edges[:] = 0
    assert r.edges.tolist() == [0, 5, 9]


def test_progress_and_a_negative_cycle() -> None:
    seen: list[tuple[int, int]] = []
    kl.reduce_distances(CITY, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (400, 400)
    cycle = kl.Graph.from_edges([0, 1], [1, 0], [1, -3], labels=["a", "b"])
    with pytest.raises(kl.NegativeCycleError, match=r"a -> b|b -> a"):
        kl.reduce_distances(cycle)


def dense(n: int = 700) -> kl.Graph:
    """Return a graph on which tiles pay, whose arrays are smaller than the matrix."""
    rng = np.random.default_rng(1)
    ends = rng.integers(0, n, (2, n * n // 12))
    return kl.Graph.from_edges(*ends, rng.integers(1, 99, ends.shape[1]).astype(np.int32), n=n)


@pytest.mark.parametrize("call", [kl.reduce_distances, kl.closeness, kl.harmonic])
def test_a_matrix_is_built_only_if_small_and_is_planned(
    call: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    g = dense()
    matrix = 4 * g.n * g.n
    small = call(g)
    assert small.plan.method == "tiled"
    assert small.plan.memory >= matrix
    monkeypatch.setattr(module, "_MATRIX_BYTES", matrix - 1)
    monkeypatch.setattr(module, "_MATRIX_GRAPHS", 1)
    monkeypatch.setattr(module, "_BATCH_BYTES", 2**16)
    tracemalloc.start()
    try:
        large = call(g, threads=1)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert large.plan.method == "batched"
    assert large.plan.memory < matrix
    assert peak < matrix
    assert "asked for" not in str(large.plan)
    field = "sums" if call is kl.reduce_distances else "values"
    np.testing.assert_allclose(getattr(large, field), getattr(small, field), rtol=1e-12)


def test_a_matrix_may_be_some_times_as_large_as_the_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MATRIX_BYTES", 0)
    assert kl.closeness(dense(200)).plan.method == "tiled"
    monkeypatch.setattr(module, "_MATRIX_GRAPHS", 1)
    g = kl.Graph.from_dense(np.random.default_rng(2).integers(1, 9, (200, 200)))
    assert kl.closeness(g).plan.method == "tiled"
    assert kl.closeness(dense(200)).plan.method == "batched"
