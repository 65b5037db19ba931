"""Shortest paths from single sources by CUDA, in the emulator: trees, cycles, hubs, rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kleene as kl
from kleene.cuda.emulator import EmulatedDevice
from kleene.cuda.resident import on_device
from kleene.cuda.trees import recover_tree

TYPES = (np.int32, np.int64, np.float32, np.float64)


def recovered(g: kl.Graph, source: int, distances: Any, seed: int = 0, **options: Any) -> Any:
    device = EmulatedDevice(seed, "_emulator_checked")
    parents = device.empty(g.n, np.int32)
    there = device.upload(np.asarray(distances))
    left = recover_tree(device, on_device(g, device), there, source, parents, **options)
    return left, device.download(parents)


def assert_tree(g: kl.Graph, source: int, distances: Any, parents: Any) -> None:
    """Each reached vertex but the source hangs on it by tight arcs."""
    weights = np.ones(g.m, distances.dtype) if g.weights is None else g.weights
    weights = weights.astype(distances.dtype)
    none = np.inf if distances.dtype.kind == "f" else np.iinfo(distances.dtype).max
    for v in range(g.n):
        walk, u = [], v
        while parents[u] >= 0:
            assert len(walk) < g.n
            walk.append(u)
            p = int(parents[u])
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
        left, parents = recovered(g, 7, far, seed, negative=negative)
        assert left == 0
        assert_tree(g, 7, far, parents)


def test_a_tree_of_zeros_is_hung_layer_by_layer() -> None:
    chain = np.arange(600)
    s, t = np.append(chain, chain + 1), np.append(chain + 1, chain)
    g = kl.Graph.from_edges(s, t, np.zeros(1200))
    left, parents = recovered(g, 300, np.zeros(601))
    assert left == 0
    assert parents.tolist() == [*range(1, 301), -1, *range(300, 600)]


def test_a_tree_where_rounding_takes_short_arcs_away() -> None:
    g = kl.Graph.from_edges([0, 1, 2, 3, 4], [1, 2, 3, 4, 2], [1.0, 1e-20, 1e-20, 1e-20, 1e-20])
    far = np.array([0.0, 1, 1, 1, 1])
    left, parents = recovered(g, 0, far)
    assert left == 0
    assert parents.tolist() == [-1, 0, 1, 2, 3]


def test_a_tree_with_hubs_and_vertices_without_arcs() -> None:
    n = 9000
    hub = np.arange(1, 3000)
    s = np.concatenate([np.zeros(2999, int), hub, [n - 1]])
    t = np.concatenate([hub, np.full(2999, n - 1), [n - 2]])
    weights = np.concatenate([hub % 2, np.ones(2999), [0]]).astype(np.int32)
    g = kl.Graph.from_edges(s, t, weights, n=n)
    far = kl.sssp(g, 0, device="cpu").distances
    left, parents = recovered(g, 0, far)
    assert left == 0
    assert_tree(g, 0, far, parents)


def test_circles_of_rounding_are_told() -> None:
    g = kl.Graph.from_edges([0, 1, 2], [1, 2, 1], [1.0, 0.5, -0.5])
    assert recovered(g, 0, np.array([0.0, 0.75, 1.25]), negative=True)[0] == 2
    left, parents = recovered(g, 0, np.array([0.0, 0.75, 1.25]), negative=True, slack=0.2)
    assert (left, parents.tolist()) == (0, [-1, 0, 1])


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
    left, parents = recovered(g, 0, far, seed, negative=negative)
    assert left == 0
    assert_tree(g, 0, far, parents)
