"""Searches from many sources at once, a vector lane each: every type, level, shape and end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kleene as kl
from kleene import _native
from kleene.system.machine import cores

LEVELS = range(len(_native.simd_levels()))
TYPES = [np.int32, np.int64, np.float32, np.float64]


def one_by_one(g: kl.Graph, sources: Any, **options: Any) -> Any:
    """Return distances by another method, each search on its own."""
    return kl.sssp(g, sources=sources, method="dijkstra", device="cpu", **options).distances


def in_lanes(g: kl.Graph, sources: Any, **options: Any) -> kl.Result:
    return kl.sssp(g, sources=sources, method="delta_stepping", device="cpu", **options)


def weighted(dtype: Any, n: int = 300, m: int = 1500, seed: int = 1, low: int = 0) -> kl.Graph:
    rng = np.random.default_rng(seed)
    weights = rng.integers(low, 50, m).astype(dtype)
    if np.dtype(dtype).kind == "f":
        weights += rng.random(m).astype(dtype) * (weights > 0)
    return kl.Graph.from_edges(rng.integers(0, n, m), rng.integers(0, n, m), weights, n=n)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", TYPES)
def test_every_type_and_level(dtype: Any, level: int, monkeypatch: pytest.MonkeyPatch) -> None:
    g, native = weighted(dtype), _native.sssp
    monkeypatch.setattr(_native, "sssp", lambda *given: native(*given, level=level))
    found = kl.apsp(g, method="batched", device="cpu", threads=2)
    found.verify()
    monkeypatch.undo()
    np.testing.assert_array_equal(found.distances, one_by_one(g, range(g.n)))


@pytest.mark.parametrize("count", [1, 7, 8, 9, 15, 16, 17, 33, 300])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_any_number_of_sources(count: int, threads: int) -> None:
    g = weighted(np.int32)
    sources = np.random.default_rng(count).permutation(g.n)[:count]
    found = in_lanes(g, sources, threads=threads)
    found.verify()
    np.testing.assert_array_equal(found.distances, one_by_one(g, sources))


def test_a_source_may_come_again() -> None:
    g = weighted(np.int32)
    found = in_lanes(g, [5] * 20 + [6] * 20)
    assert (found.distances[:20] == found.distances[0]).all()
    np.testing.assert_array_equal(found.distances[[0, 20]], one_by_one(g, [5, 6]))


def test_what_cannot_be_reached() -> None:
    g = kl.Graph.from_edges([0, 1, 5], [1, 2, 6], [1, 2, 3], n=40)
    found = kl.apsp(g, method="batched", device="cpu", threads=1)
    assert found.reached.sum() == g.n + 4
    assert found.predecessors[0].tolist()[:4] == [-1, 0, 1, -1]
    found.verify()


def test_arcs_of_length_zero_make_no_circle() -> None:
    rng = np.random.default_rng(2)
    s, t = rng.integers(0, 60, (2, 400))
    g = kl.Graph.from_edges(s, t, np.where(rng.random(400) < 0.8, 0, 1), n=60, directed=False)
    kl.apsp(g, method="batched", device="cpu", threads=1).verify()


@pytest.mark.parametrize("limit", [0, 1, 40, 10**6])
def test_a_limit(limit: int) -> None:
    g = weighted(np.int32)
    found = in_lanes(g, range(g.n), limit=limit, threads=1)
    found.verify()
    np.testing.assert_array_equal(found.distances, one_by_one(g, range(g.n), limit=limit))


def test_sources_far_from_each_other() -> None:
    """Single searches take over where the sources of a batch share little work."""
    g = kl.generate.grid(70, 70, seed=1, weights=(1, 255))
    sources = np.random.default_rng(1).permutation(g.n)[:64]
    found = in_lanes(g, sources, threads=1)
    np.testing.assert_array_equal(found.distances, one_by_one(g, sources))
    found.verify(sample=4)


def test_distances_far_beyond_the_first_buckets() -> None:
    n = 3000
    at = np.arange(n - 1)
    weights = np.where(at % 7 == 0, 100_000, 1)
    g = kl.Graph.from_edges(at, at + 1, weights, n=n, directed=False)
    sources = range(0, n, 60)
    found = in_lanes(g, sources, threads=1)
    np.testing.assert_array_equal(found.distances, one_by_one(g, sources))


def test_lengths_at_the_end_of_their_type() -> None:
    g = kl.Graph.from_edges([0, 1, 2], [1, 2, 3], [2**29, 2**28, 2**28 - 2], n=20)
    found = in_lanes(g, range(20), threads=1, dtype="int32")
    assert found.distances[0, 3] == 2**30 - 2
    np.testing.assert_array_equal(found.distances, one_by_one(g, range(20), dtype="int32"))


def test_a_hub_with_more_arcs_than_go_at_once() -> None:
    n = 5000
    leaves = np.arange(1, n)
    weights = np.random.default_rng(1).integers(1, 9, n - 1)
    g = kl.Graph.from_edges(np.zeros(n - 1, int), leaves, weights, n=n, directed=False)
    found = in_lanes(g, range(40), threads=1)
    found.verify(sample=5)


def test_progress_comes_to_its_end() -> None:
    calls: list[tuple[int, int]] = []
    g = weighted(np.int32)
    kl.apsp(g, method="batched", device="cpu", progress=lambda *how: calls.append(how))
    assert calls[-1] == (g.n, g.n)
    assert all(done <= total for done, total in calls)


@given(st.integers(0, 10**6), st.sampled_from(TYPES), st.integers(1, 2 * cores()))
def test_against_searches_one_by_one(seed: int, dtype: Any, threads: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 80))
    g = weighted(dtype, n, int(rng.integers(0, 5 * n)), seed)
    sources = rng.integers(0, n, int(rng.integers(8, 60)))
    found = in_lanes(g, sources, threads=threads)
    np.testing.assert_array_equal(found.distances, one_by_one(g, sources))
    found.verify()
