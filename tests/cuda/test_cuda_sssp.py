"""Shortest paths from single sources by CUDA, in the emulator: trees, cycles, hubs, rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emulators import CHECKED
from hypothesis import given, settings
from hypothesis import strategies as st

import kleene as kl
from kleene.backends.cuda.graph import get_device_graph
from kleene.backends.cuda.runtime.emulated_device import EmulatedDevice
from kleene.backends.cuda.sssp.bellman_ford import _BellmanFord
from kleene.backends.cuda.sssp.predecessors import recover_predecessors

METHODS = ("bellman_ford", "bellman_ford_plain", "llp")
TYPES = (np.int32, np.int64, np.float32, np.float64)


def recovered(g: kl.Graph, source: int, distances: Any, seed: int = 0, **options: Any) -> Any:
    if not CHECKED:
        pytest.skip("built without the checked emulator")
    device = EmulatedDevice(seed, "_emulator_checked")
    predecessors = device.empty(g.n, np.int32)
    there = device.upload(np.asarray(distances))
    left = recover_predecessors(
        device, get_device_graph(g, device), there, source, predecessors, **options
    )
    return left, device.download(predecessors)


def assert_tree(g: kl.Graph, source: int, distances: Any, predecessors: Any) -> None:
    """Each reached vertex is connected to the source by tight arcs."""
    weights = np.ones(g.m, distances.dtype) if g.weights is None else g.weights
    weights = weights.astype(distances.dtype)
    none = np.inf if distances.dtype.kind == "f" else np.iinfo(distances.dtype).max
    for v in range(g.n):
        walk, u = [], v
        while predecessors[u] >= 0:
            assert len(walk) < g.n
            walk.append(u)
            p = int(predecessors[u])
            row = g.neighbors[g.offsets[p] : g.offsets[p + 1]]
            arc = g.offsets[p] + int(np.flatnonzero(row == u)[0])
            assert distances[p] + weights[arc] == distances[u]
            u = p
        assert u == (v if distances[v] == none else source)


# ---- the tree alone -----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 3])
@pytest.mark.parametrize("dtype", TYPES)
def test_trees_of_plain_graphs(dtype: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 3, 900).astype(dtype)
    g = kl.Graph.from_edges(rng.integers(0, 300, 900), rng.integers(0, 250, 900), weights, n=300)
    far = kl.sssp(g, 7, device="cpu").distances
    for negative in (False, True):
        left, predecessors = recovered(g, 7, far, seed, negative=negative)
        assert left == 0
        assert_tree(g, 7, far, predecessors)


def test_a_tree_of_zeros_is_hung_layer_by_layer() -> None:
    chain = np.arange(600)
    s, t = np.append(chain, chain + 1), np.append(chain + 1, chain)
    g = kl.Graph.from_edges(s, t, np.zeros(1200))
    left, predecessors = recovered(g, 300, np.zeros(601))
    assert left == 0
    assert predecessors.tolist() == [*range(1, 301), -1, *range(300, 600)]


def test_a_tree_where_rounding_takes_short_arcs_away() -> None:
    g = kl.Graph.from_edges([0, 1, 2, 3, 4], [1, 2, 3, 4, 2], [1.0, 1e-20, 1e-20, 1e-20, 1e-20])
    far = np.array([0.0, 1, 1, 1, 1])
    left, predecessors = recovered(g, 0, far)
    assert left == 0
    assert predecessors.tolist() == [-1, 0, 1, 2, 3]


def test_a_tree_with_hubs_and_vertices_without_arcs() -> None:
    n = 9000
    hub = np.arange(1, 3000)
    s = np.concatenate([np.zeros(2999, int), hub, [n - 1]])
    t = np.concatenate([hub, np.full(2999, n - 1), [n - 2]])
    weights = np.concatenate([hub % 2, np.ones(2999), [0]]).astype(np.int32)
    g = kl.Graph.from_edges(s, t, weights, n=n)
    far = kl.sssp(g, 0, device="cpu").distances
    left, predecessors = recovered(g, 0, far)
    assert left == 0
    assert_tree(g, 0, far, predecessors)


def test_cycles_of_rounding_are_counted() -> None:
    g = kl.Graph.from_edges([0, 1, 2], [1, 2, 1], [1.0, 0.5, -0.5])
    assert recovered(g, 0, np.array([0.0, 0.75, 1.25]), negative=True)[0] == 2
    raised = np.array([0, 1.25, 1.25 * 1.25 + 0.5 * 1.25])
    left, predecessors = recovered(g, 0, raised, negative=True, bias=0.25)
    assert (left, predecessors.tolist()) == (0, [-1, 0, 1])


@st.composite
def graphs(draw: Any, low: int = 0) -> kl.Graph:
    n = draw(st.integers(1, 12))
    ends = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), st.integers(low, 3))
    arcs = draw(st.lists(ends, max_size=30))
    dtype = draw(st.sampled_from(TYPES))
    s, t, w = (np.array([arc[i] for arc in arcs], dtype=int) for i in range(3))
    return kl.Graph.from_edges(s, t, w.astype(dtype), n=n)


@settings(max_examples=60, deadline=None)
@given(graphs(), st.booleans(), st.integers(0, 5))
def test_any_tree(g: kl.Graph, negative: bool, seed: int) -> None:
    far = kl.sssp(g, 0, device="reference").distances
    left, predecessors = recovered(g, 0, far, seed, negative=negative)
    assert left == 0
    assert_tree(g, 0, far, predecessors)


# ---- searches -----------------------------------------------------------------------------------


def solve(g: kl.Graph, method: str, source: int = 0, **options: Any) -> kl.Result:
    return kl.sssp(g, source, method=method, device="emulated", **options)


def assert_negative_cycle(g: kl.Graph, cycle: list[int]) -> None:
    length = 0
    for u, v in zip(cycle, cycle[1:] + cycle[:1], strict=True):
        row = slice(g.offsets[u], g.offsets[u + 1])
        length += g.weights[row][g.neighbors[row] == v][0]
    assert length < 0


@settings(max_examples=60, deadline=None)
@given(graphs(), st.sampled_from(METHODS), st.sampled_from([None, 0, 2, 3.5]))
def test_any_search(g: kl.Graph, method: str, limit: float | None) -> None:
    r = solve(g, method, limit=limit)
    want = kl.sssp(g, 0, device="reference", limit=limit)
    assert r.distances.tolist() == want.distances.tolist()
    r.verify()


@settings(max_examples=80, deadline=None)
@given(graphs(-1), st.sampled_from(METHODS[:2]), st.booleans())
def test_any_search_with_negative_weights(g: kl.Graph, method: str, predecessors: bool) -> None:
    try:
        want = kl.sssp(g, 0, method="bellman_ford", device="reference")
    except kl.NegativeCycleError:
        with pytest.raises(kl.NegativeCycleError) as caught:
            solve(g, method, predecessors=predecessors)
        assert_negative_cycle(g, caught.value.cycle)
        return
    r = solve(g, method, predecessors=predecessors)
    assert r.distances.tolist() == want.distances.tolist()
    r.verify()


def hubs(n: int, high: int, dtype: Any) -> kl.Graph:
    """Two vertices with arcs to and from nearly all others, and some arcs between those."""
    rng = np.random.default_rng(8)
    all_ = np.arange(2, n - 20)
    s = np.concatenate([np.zeros(n - 22, int), all_, np.ones(n - 22, int), rng.integers(2, n, n)])
    t = np.concatenate([all_, np.ones(n - 22, int), all_, rng.integers(2, n - 10, n)])
    return kl.Graph.from_edges(s, t, rng.integers(0, high, len(s)).astype(dtype), n=n)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("dtype", "seed"), [(np.int32, 0), (np.float64, 3)])
def test_hubs(method: str, dtype: Any, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """More arcs into and out of a vertex than a warp takes, over several blocks."""
    monkeypatch.setenv("KLEENE_EMULATOR_SEED", str(seed))
    g = hubs(1500, 100, dtype)
    want = kl.sssp(g, 0, device="cpu")
    r = solve(g, method)
    assert r.distances.tolist() == want.distances.tolist()
    r.verify()


@pytest.mark.parametrize("method", METHODS[:2])
@pytest.mark.parametrize("dtype", [np.int32, np.float32])
def test_a_negative_cycle_behind_hubs(method: str, dtype: Any) -> None:
    g = hubs(700, 100, dtype)
    s, t, w = g.coo
    cycle = [690, 691, 692]
    g = kl.Graph.from_edges(
        np.concatenate([s, [600], cycle]),
        np.concatenate([t, [690], cycle[1:], cycle[:1]]),
        np.concatenate([w, [5, 40, -70, 29]]).astype(dtype),
        n=700,
    )
    with pytest.raises(kl.NegativeCycleError) as caught:
        solve(g, method)
    assert sorted(caught.value.cycle) == cycle


@pytest.mark.parametrize("method", METHODS[:2])
def test_integers_do_not_wrap_on_the_way_round(method: str) -> None:
    weights = np.array([2**29 - 9, -(2**29) + 1, 7], np.int32)
    g = kl.Graph.from_edges([0, 1, 2], [1, 2, 1], weights)
    with pytest.raises(kl.NegativeCycleError) as caught:
        solve(g, method)
    assert sorted(caught.value.cycle) == [1, 2]


def test_a_cycle_that_notes_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_BellmanFord, "_find_cycle", lambda self: [])
    g = kl.Graph.from_edges([0, 1, 2], [1, 2, 1], [3, -5, 4])
    with pytest.raises(kl.NegativeCycleError) as caught:
        solve(g, "bellman_ford")
    assert sorted(caught.value.cycle) == [1, 2]


def test_circles_that_do_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_BellmanFord, "_forms_tree", lambda self, source: False)
    g = kl.Graph.from_edges([0, 1], [1, 2], [3.0, -5.0])
    r = solve(g, "bellman_ford")
    assert r.distances.tolist() == [0, 3, -2]
    r.verify()


@pytest.mark.parametrize("method", METHODS[:2])
def test_distances_near_the_end_of_floats(method: str) -> None:
    g = kl.Graph.from_edges([0, 1, 2], [1, 2, 3], np.array([-0.8e38, 1, -1], np.float32))
    r = solve(g, method)
    assert r.plan.dtype == "float32"
    assert r.distances.tolist() == [0, *[float(np.float32(-0.8e38))] * 3]
    r.verify()


@pytest.mark.parametrize("method", METHODS[:2])
def test_rounding_at_the_source(method: str) -> None:
    """The cycle 0.3 - 0.1 - 0.2 is negative by rounding alone; improvements elsewhere count."""
    g = kl.Graph.from_edges(
        [0, 1, 2, 0, 2, 3], [1, 2, 0, 3, 3, 4], [0.3, -0.1, -0.2, 5.0, 1.0, 0.1]
    )
    for predecessors in (True, False):
        r = solve(g, method, predecessors=predecessors)
        np.testing.assert_allclose(r.distances, [0, 0.3, 0.2, 1.2, 1.3])
        r.verify()
    assert solve(g, method).path(0, 4) == [0, 1, 2, 3, 4]


def test_searches_on_a_graph_that_is_there() -> None:
    g = hubs(300, 50, np.int64).to("emulated")
    for method in METHODS:
        assert solve(g, method).verify().rows == 1
