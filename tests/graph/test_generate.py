"""Generators: documented properties, and dependence on the seed only."""

from __future__ import annotations

import math
import zlib
from collections import Counter, deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kleene as kl
from kleene import generate

quick = settings(max_examples=40, deadline=None)
seeds = st.integers(0, 2**64 - 1)

# One call of each, small enough to look at and large enough to split between threads.
CALLS = {
    "rmat": lambda **o: generate.rmat(12, 16, weights=(1, 255), noise=0.05, **o),
    "rmat undirected": lambda **o: generate.rmat(12, 16, weights=(0.0, 1.0), directed=False, **o),
    "uniform": lambda **o: generate.uniform(5000, 60_000, weights=(-5, 5), **o),
    "uniform undirected": lambda **o: generate.uniform(5000, 60_000, directed=False, **o),
    "dense": lambda **o: generate.dense(300, 0.8, **o),
    "capped": lambda **o: generate.capped(600, 0.25, 0.3, weights=(1, 2, "float32"), **o),
    "capped sparse": lambda **o: generate.capped(5000, 0.001, 7, **o),
    "path_plus": lambda **o: generate.path_plus(5000, **o),
    "grid": lambda **o: generate.grid(60, 70, drop=0.2, weights=(1, 9), **o),
    "grid directed": lambda **o: generate.grid(9, 10, 50, directed=True, diagonals=True, **o),
    "small_world": lambda **o: generate.small_world(5000, 6, 0.2, weights=(1, 2**40), **o),
    "path": lambda **o: generate.path(100, weights=(1, 9), **o),
    "cycle": lambda **o: generate.cycle(100, weights=(1, 9), **o),
    "star": lambda **o: generate.star(100, weights=(1, 9), **o),
    "tree": lambda **o: generate.tree(100, 3, weights=(1, 9), **o),
    "complete": lambda **o: generate.complete(50, weights=(1, 9), **o),
}

# What seed 7 makes. A change here changes every graph that anyone has made and published a seed of.
GOLDEN = {
    "rmat": 1561280489,
    "rmat undirected": 1957589438,
    "uniform": 473276759,
    "uniform undirected": 3302437518,
    "dense": 2619932811,
    "capped": 2281180022,
    "capped sparse": 13539586,
    "path_plus": 259501053,
    "grid": 3754148288,
    "grid directed": 3390675684,
    "small_world": 2259933868,
    "path": 4013851541,
    "cycle": 2477267241,
    "star": 3411738018,
    "tree": 1923427408,
    "complete": 1160141325,
}


def checksum(graph: kl.Graph) -> int:
    weights = () if graph.weights is None else graph.weights
    arrays = (graph.offsets, np.asarray(graph.neighbors, np.int64), np.asarray(weights, np.float64))
    return zlib.crc32(b"".join(array.astype(array.dtype.newbyteorder("<")) for array in arrays))


def my_rule(rng: np.random.Generator, count: int) -> np.ndarray:
    return rng.integers(1, 9, count)


def is_canonical(graph: kl.Graph) -> bool:
    """Return whether rebuilding the graph from its arcs changes nothing."""
    s, t, w = graph.coo
    return bool(kl.Graph.from_edges(s, t, w, n=graph.n).equals(graph)) and not np.any(s == t)


def reached_from_zero(graph: kl.Graph) -> int:
    seen, queue = {0}, deque([0])
    while queue:
        v = queue.popleft()
        for u in graph.neighbors[graph.offsets[v] : graph.offsets[v + 1]].tolist():
            if u not in seen:
                seen.add(u)
                queue.append(u)
    return len(seen)


def out_degrees(graph: kl.Graph) -> np.ndarray:
    return np.diff(graph.offsets)


def in_degrees(graph: kl.Graph) -> np.ndarray:
    return np.bincount(graph.neighbors, minlength=graph.n)


# ---- all generators -------------------------------------------------------------------------


@pytest.mark.parametrize("call", CALLS)
def test_threads_do_not_matter(call):
    one = CALLS[call](seed=5, threads=1)
    assert one.equals(CALLS[call](seed=5, threads=2))
    assert one.equals(CALLS[call](seed=5, threads=3))
    assert is_canonical(one)


@pytest.mark.parametrize("call", CALLS)
def test_golden(call):
    assert checksum(CALLS[call](seed=7)) == GOLDEN[call]


@pytest.mark.parametrize("call", CALLS)
def test_seeds_matter(call):
    one, other = CALLS[call](seed=1), CALLS[call](seed=2)
    without_chance = call == "grid directed"
    assert one.equals(other) == without_chance


@pytest.mark.parametrize("call", CALLS)
def test_name_reproduces_the_graph(call):
    graph = CALLS[call](seed=3)
    assert eval(graph.name, vars(generate)).equals(graph)


def test_name_is_plain():
    assert generate.uniform(np.int64(5), 3, threads=1).name == "uniform(n=5, m=3)"
    assert generate.path(3, weights=my_rule).name == "path(n=3, weights=my_rule)"


@pytest.mark.parametrize("call", CALLS)
def test_undirected_is_symmetric(call):
    graph = CALLS[call](seed=4)
    s, t, w = graph.coo
    reverse = kl.Graph.from_edges(t, s, w, n=graph.n)
    assert graph.directed or reverse.equals(graph)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_tiny(n):
    for graph in (
        generate.uniform(n, 0),
        generate.uniform(n, density=1.0, directed=False),
        generate.dense(n),
        generate.capped(n, 0.5),
        generate.path_plus(n, 5),
        generate.grid(n, n),
        generate.grid(n, 2, 2),
        generate.small_world(n, 0),
        generate.path(n),
        generate.cycle(n),
        generate.star(n),
        generate.tree(n),
        generate.complete(n),
    ):
        assert is_canonical(graph)
    assert generate.rmat(0).m == 0
    assert generate.rmat(3, 0).n == 8


# ---- R-MAT ----------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_rmat_quadrants(noise):
    # Drawn without build, since parallel arcs would collapse in the dense corner.
    from kleene.generate.kronecker import _levels, _tables

    levels = _levels(10, 0.5, 0.25, 0.15, noise, seed=3)
    sources, targets = kl._native.rmat_arcs(_tables(levels), 1024, 0, 400_000, False, 3, 2)
    for depth, level in enumerate(levels):
        bit = 9 - depth
        quadrant = 2 * (sources >> bit & 1) + (targets >> bit & 1)
        found = np.bincount(quadrant, minlength=4) / len(quadrant)
        assert np.abs(found - np.array(level) / 2**52).max() < 0.005
    assert (len(set(levels)) > 1) == (noise > 0)


def test_rmat_relabel_is_a_permutation():
    plain, shuffled = generate.rmat(9, 8, relabel=False), generate.rmat(9, 8)
    assert plain.m == shuffled.m
    assert sorted(out_degrees(plain)) == sorted(out_degrees(shuffled))
    assert out_degrees(plain).argmax() == 0  # the corner of the matrix
    assert not plain.equals(shuffled)


def test_rmat_extreme_probabilities():
    graph = generate.rmat(6, 4, a=0, b=1, c=0, relabel=False)  # always the upper right
    assert graph.coo.sources.tolist() == [0]
    assert graph.coo.targets.tolist() == [63]


# ---- uniform, dense -------------------------------------------------------------------------


@quick
@given(st.integers(0, 40), st.data(), st.booleans(), seeds)
def test_uniform_has_exactly_m(n, data, directed, seed):
    possible = n * (n - 1) // (1 if directed else 2)
    m = data.draw(st.integers(0, possible))
    graph = generate.uniform(n, m, directed=directed, seed=seed)
    assert graph.m == (m if directed else 2 * m)
    assert is_canonical(graph)


@pytest.mark.parametrize("directed", [True, False])
def test_uniform_is_uniform(directed):
    """All sets of 3 arcs among 4 vertices occur equally often, by a chi-squared test."""
    trials = 6000
    made = (generate.uniform(4, 3, directed=directed, seed=seed) for seed in range(trials))
    counts = Counter(tuple(graph.dense.ravel()) for graph in made)
    outcomes = math.comb(12 if directed else 6, 3)
    expected = trials / outcomes
    chi = sum((count - expected) ** 2 / expected for count in counts.values())
    assert len(counts) == outcomes
    assert abs(chi - (outcomes - 1)) < 4 * math.sqrt(2 * (outcomes - 1))


@pytest.mark.parametrize("m", [30_000, 400_000])  # two sampling methods
def test_uniform_degree_distribution(m):
    n = 2000
    share = m / (n * (n - 1))
    graph = generate.uniform(n, m, seed=11)
    for degrees in (out_degrees(graph), in_degrees(graph)):
        assert degrees.var() == pytest.approx((n - 1) * share * (1 - share), rel=0.15)


def test_dense():
    graph = generate.dense(80)
    assert graph.m == 80 * 79
    assert (graph.stats.min_weight, graph.stats.max_weight) == (1, 1000)
    assert generate.dense(80, 0.3).m == round(0.3 * 80 * 79)


# ---- connected ------------------------------------------------------------------------------


@quick
@given(st.integers(1, 60), st.floats(0, 1), st.data(), seeds)
def test_capped(n, density, data, seed):
    arcs = max(round(density * n * (n - 1)), n - 1)
    cap = data.draw(st.integers(max(-(-arcs // n), 1), max(n - 1, 1)))
    graph = generate.capped(n, density, cap, seed=seed)
    assert graph.m == arcs
    assert out_degrees(graph).max() <= cap
    assert reached_from_zero(graph) == n
    assert is_canonical(graph)


def test_capped_at_degree_one():
    graph = generate.capped(200, 0.0, 1, seed=5)  # a single path through all vertices
    assert graph.m == 199
    assert reached_from_zero(graph) == 200


def test_capped_by_float():
    graph = generate.capped(100, 0.25, 0.29)
    assert out_degrees(graph).max() <= 29
    assert generate.capped(100, 0.25, 1.0).m == generate.capped(100, 0.25, 99).m == 2475


@quick
@given(st.integers(1, 60), st.integers(0, 10), seeds)
def test_path_plus(n, extra, seed):
    graph = generate.path_plus(n, extra, seed=seed)
    s, t, w = graph.coo
    assert set(zip(range(n - 1), range(1, n), strict=True)) <= set(
        zip(s.tolist(), t.tolist(), strict=True)
    )
    expected = np.minimum(np.full(n, extra) + (np.arange(n) > 0), n - 1)
    assert in_degrees(graph).tolist() == expected.tolist()
    assert set(w.tolist()) <= {1, 2, 3}


# ---- lattices -------------------------------------------------------------------------------


@quick
@given(
    st.integers(1, 6),
    st.integers(1, 6),
    st.none() | st.integers(1, 6),
    st.booleans(),
    st.booleans(),
)
def test_grid_joins_neighbours(rows, columns, layers, diagonals, directed):
    graph = generate.grid(rows, columns, layers, diagonals=diagonals, directed=directed)
    depth = layers or 1
    assert graph.n == rows * columns * depth
    place = np.stack(np.unravel_index(np.arange(graph.n), (depth, rows, columns)), axis=1)
    apart = np.abs(place[:, None] - place[None, :])
    near = apart.max(axis=2) == 1 if diagonals else apart.sum(axis=2) == 1
    assert np.array_equal(np.stack(graph.coo[:2]), np.stack(np.nonzero(near)))


def test_grid_drops_the_expected_number():
    whole, left = generate.grid(200, 200), generate.grid(200, 200, drop=0.3)
    assert left.m / whole.m == pytest.approx(0.7, abs=0.01)
    assert generate.grid(20, 20, drop=1.0).m == 0
    one_way = generate.grid(50, 50, drop=0.3, directed=True)
    assert not one_way.stats.symmetric


@quick
@given(st.integers(1, 60), st.data(), st.floats(0, 1), seeds)
def test_small_world(n, data, p, seed):
    k = 2 * data.draw(st.integers(0, (n - 1) // 2))
    graph = generate.small_world(n, k, p, seed=seed)
    assert graph.m == n * k
    assert is_canonical(graph)


def test_small_world_rewires_the_expected_number():
    ring = generate.small_world(2000, 10, 0.0)
    assert set(out_degrees(ring).tolist()) == {10}
    step = np.abs(np.subtract(*generate.small_world(2000, 10, 0.25).coo[:2], dtype=np.int64))
    assert np.mean(np.minimum(step, 2000 - step) > 5) == pytest.approx(0.25, abs=0.02)


def test_classic_families():
    assert generate.path(5).m == 8
    assert generate.cycle(5).m == 10
    assert generate.star(5).m == 8
    assert generate.tree(5, 3).coo.targets.tolist() == [1, 2, 3, 0, 4, 0, 0, 1]
    assert generate.complete(5).m == 20
    assert not generate.complete(5).directed
