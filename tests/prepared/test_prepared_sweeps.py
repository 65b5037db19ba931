"""Trees and matrices on eliminated graphs: every type, semiring, level and number of threads."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import graphs
import numpy as np
import prepared_reference
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kleene as kl
from kleene import _native
from kleene.prepared import sweeps
from kleene.prepared.customization import Customization, customize
from kleene.prepared.elimination import Elimination, eliminate

LEVELS = range(len(_native.simd_levels()))
SEMIRINGS = ["min_plus", "boolean", "max_min", "max_times"]
TYPES = [np.int32, np.int64, np.float32, np.float64]

#: With a negative cycle somewhere: there are no shortest paths.
CYCLES = graphs.WITH_NEGATIVE_CYCLE | {"negative_cycle_elsewhere"}
CASES = [
    (name, semiring)
    for name in graphs.names()
    for semiring in SEMIRINGS
    if not (semiring == "min_plus" and name in CYCLES)
    and not (semiring == "max_times" and name not in ("probabilities", "zero_weights"))
]


def expected(g: kl.Graph, semiring: str, **options: Any) -> kl.Result:
    return kl.closure(g, semiring, device="reference", **options)


def prepared(g: kl.Graph, semiring: str, dtype: Any, seed: int = 0) -> Any:
    order = np.random.default_rng(seed).permutation(g.n).tolist()
    elimination = prepared_reference.eliminate(g, order)
    return elimination, prepared_reference.customize(g, elimination, semiring, dtype)


@cache
def named(name: str, semiring: str) -> tuple[Elimination, Customization, Any]:
    """Return a graph of the zoo, prepared, and its closure."""
    g = graphs.graph(name)
    values = expected(g, semiring).values
    return *prepared(g, semiring, values.dtype), values


def narrow(customization: Customization) -> Customization:
    """Return the same values in 32 bits."""
    half = {n: np.iinfo(n).max // 2 for n in (np.int32, np.int64)}
    up, down = (
        np.where(a == half[np.int64], half[np.int32], a).astype(np.int32)
        for a in (customization.up, customization.down)
    )
    return replace(customization, up=up, down=down)


def all_trees(elimination: Any, customization: Any, sources: Any = None, **options: Any) -> Any:
    sources = np.arange(elimination.n) if sources is None else np.asarray(sources)
    values = np.empty((len(sources), elimination.n), dtype=customization.dtype)
    sweeps.trees(elimination, customization, sources, values, **options)
    return values


def one_matrix(
    elimination: Any, customization: Any, sources: Any, targets: Any, **options: Any
) -> Any:
    values = np.empty((len(sources), len(targets)), dtype=customization.dtype)
    sweeps.matrix(
        elimination,
        customization,
        np.asarray(sources, dtype=int),
        np.asarray(targets, dtype=int),
        values,
        **options,
    )
    return values


def assert_equal(found: Any, values: Any) -> None:
    """Sums of floats may round differently: they are made in another order."""
    assert found.dtype == values.dtype
    if values.dtype.kind == "f":
        near = 1e-4 if values.itemsize == 4 else 1e-12
        np.testing.assert_allclose(found, values, rtol=near, atol=near)
    else:
        np.testing.assert_array_equal(found, values)


def weighted(dtype: Any, seed: int = 1, n: int = 90, m: int = 250, scale: float = 1) -> kl.Graph:
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 50, m).astype(dtype)
    if np.dtype(dtype).kind == "f":
        weights += rng.random(m).astype(dtype) * (weights > 0)
        weights *= dtype(scale)
    return kl.Graph.from_edges(rng.integers(0, n, m), rng.integers(0, n, m), weights, n=n)


def with_heights(dtype: Any, seed: int = 1) -> kl.Graph:
    """Return a graph with negative weights and no negative cycle."""
    g = weighted(dtype, seed)
    heights = np.random.default_rng(seed).integers(-99, 99, g.n).astype(dtype)
    tails, heads, weights = g.coo
    assert weights is not None
    return kl.Graph.from_edges(tails, heads, weights + heights[heads] - heights[tails], n=g.n)


def at_level(monkeypatch: pytest.MonkeyPatch, level: int) -> None:
    """Use this level of vector instructions in all that follows."""
    for name in ("prepared_sweep", "prepared_multiply_climbs"):
        native = getattr(_native, name)
        monkeypatch.setattr(_native, name, lambda *given, run=native: run(*given, level=level))


# ---- trees --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "semiring"), CASES)
def test_trees_of_every_graph(name: str, semiring: str) -> None:
    elimination, customization, values = named(name, semiring)
    assert_equal(all_trees(elimination, customization), values)
    assert_equal(all_trees(elimination, customization, reverse=True), values.T)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("semiring", SEMIRINGS)
@pytest.mark.parametrize("dtype", TYPES)
def test_every_type_and_level(
    dtype: Any, semiring: str, level: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    g = weighted(dtype)
    if semiring == "max_times":
        if np.dtype(dtype).kind == "i":
            pytest.skip("products need floats")
        g = weighted(dtype, scale=1 / 64)
    values = expected(g, semiring).values
    at_level(monkeypatch, level)
    elimination, customization = prepared(g, semiring, values.dtype)
    assert_equal(all_trees(elimination, customization), values)
    assert_equal(
        one_matrix(elimination, customization, [5, 1], [7, 3, 5]), values[[5, 1]][:, [7, 3, 5]]
    )


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", TYPES)
def test_negative_values(dtype: Any, level: int, monkeypatch: pytest.MonkeyPatch) -> None:
    g = with_heights(dtype)
    values = expected(g, "min_plus").values
    at_level(monkeypatch, level)
    elimination, customization = prepared(g, "min_plus", values.dtype)
    assert customization.negative
    assert_equal(all_trees(elimination, customization), values)


@pytest.mark.parametrize("signed", [False, True])
def test_values_in_32_bits_widen(signed: bool) -> None:
    g = with_heights(np.int64) if signed else weighted(np.int64)
    values = expected(g, "min_plus").values
    elimination, customization = prepared(g, "min_plus", np.int64)
    found = all_trees(elimination, narrow(customization))
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, values)
    both = np.arange(g.n)
    np.testing.assert_array_equal(
        one_matrix(elimination, narrow(customization), both, both), values
    )


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("count", [0, 1, 7, 16, 17, 40])
def test_any_number_of_sources(count: int, threads: int) -> None:
    elimination, customization, values = named("unweighted_random", "min_plus")
    sources = np.random.default_rng(count).integers(0, elimination.n, count)
    found = all_trees(elimination, customization, sources, threads=threads)
    np.testing.assert_array_equal(found, values[sources])


# ---- predecessors -------------------------------------------------------------------------------


def trees_with_predecessors(elimination: Any, customization: Any, **options: Any) -> Any:
    shape = (elimination.n, elimination.n)
    values = np.empty(shape, dtype=customization.dtype)
    predecessors = np.empty(shape, dtype=np.int32)
    sources = np.arange(elimination.n)
    sweeps.trees(elimination, customization, sources, values, predecessors, **options)
    return values, predecessors


def assert_proved(g: kl.Graph, semiring: str, values: Any, predecessors: Any) -> None:
    """Put the answers into a result, which proves itself."""
    result = expected(g, semiring, predecessors=True)
    assert_equal(values, result.values)
    result.values[...] = values
    result.predecessors[...] = predecessors
    result.verify()


@pytest.mark.parametrize(("name", "semiring"), CASES)
def test_predecessors_of_every_graph(name: str, semiring: str) -> None:
    g = graphs.graph(name)
    elimination, customization, _ = named(name, semiring)
    assert_proved(g, semiring, *trees_with_predecessors(elimination, customization))
    if g.n:
        back = trees_with_predecessors(elimination, customization, reverse=True)
        assert_proved(g.transpose(), semiring, *back)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", TYPES)
def test_predecessors_at_every_level(
    dtype: Any, level: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_level(monkeypatch, level)
    for make in (weighted, with_heights):
        g = make(dtype)
        elimination, customization = prepared(g, "min_plus", expected(g, "min_plus").values.dtype)
        assert_proved(g, "min_plus", *trees_with_predecessors(elimination, customization))


# ---- matrices -----------------------------------------------------------------------------------


def by_way(monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    """Compute matrices in this way, whatever it costs."""
    monkeypatch.setattr(sweeps, "_cheapest", lambda *given: way)


def ways(customization: Customization) -> list[str]:
    """Return in which ways matrices may be computed."""
    up = customization.up
    signed = up.dtype.kind == "i" and customization.negative and customization.semiring[:3] == "min"
    return ["sweep", "sweep back"] + ["multiply"] * (up.dtype != np.uint8 and not signed)


@pytest.mark.parametrize(("name", "semiring"), CASES)
def test_matrices_of_every_graph(name: str, semiring: str, monkeypatch: pytest.MonkeyPatch) -> None:
    elimination, customization, values = named(name, semiring)
    n = elimination.n
    for way in ways(customization):
        by_way(monkeypatch, way)
        rng = np.random.default_rng(1)
        for s, t in ((1, 1), (3, 50), (50, 3), (30, 80)) if n else ((0, 0),):
            sources, targets = (rng.integers(0, max(1, n), k) for k in (s, t))
            found = one_matrix(elimination, customization, sources, targets)
            assert_equal(found, values[sources][:, targets])
            found = one_matrix(elimination, customization, sources, targets, reverse=True)
            assert_equal(found, values.T[sources][:, targets])


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("semiring", ["min_plus", "max_min"])
@pytest.mark.parametrize("dtype", TYPES)
def test_products_at_every_level(
    dtype: Any, semiring: str, level: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_level(monkeypatch, level)
    by_way(monkeypatch, "multiply")
    g = weighted(dtype, n=130, m=260)
    values = expected(g, semiring).values
    elimination, customization = prepared(g, semiring, values.dtype)
    both = np.random.default_rng(2).permutation(g.n)
    found = one_matrix(elimination, customization, both, both, threads=2)
    assert_equal(found, values[both][:, both])


def test_targets_in_several_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    by_way(monkeypatch, "multiply")
    elimination, customization, values = named("grid", "min_plus")
    targets = np.random.default_rng(1).integers(0, elimination.n, 70_000)
    found = one_matrix(elimination, customization, [5, 9], targets, threads=2)
    np.testing.assert_array_equal(found, values[[5, 9]][:, targets])


# ---- many vertices ------------------------------------------------------------------------------


@cache
def large() -> tuple[kl.Graph, Elimination, Customization]:
    """Return a graph whose lines do not fit into a cache, and which takes several threads."""
    g = kl.generate.grid(105, 100, seed=1, weights=(0, 99))
    elimination = eliminate(g)
    return g, elimination, customize(elimination, g, dtype=np.int64)


def test_the_cheapest_way() -> None:
    g, elimination, customization = large()

    def way(s: int, t: int, customization: Customization) -> str:
        ranks = np.random.default_rng(1).permutation(g.n).astype(np.int32)
        return sweeps._cheapest(elimination, customization, ranks[:s], ranks[:t])

    assert way(1, g.n, customization) == "sweep"
    assert way(g.n, 1, customization) == "sweep back"
    assert way(400, 400, customization) == "multiply"
    assert way(400, 400, replace(customization, negative=True)) == "sweep"
    assert way(400, 400, customize(elimination, g, "boolean", dtype=bool)) == "sweep"


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_large_trees(threads: int) -> None:
    g, elimination, customization = large()
    sources = np.random.default_rng(1).integers(0, g.n, 40)
    values = kl.sssp(g, sources=sources, method="dijkstra", device="cpu", dtype="int64").distances
    found = all_trees(elimination, customization, sources, threads=threads)
    np.testing.assert_array_equal(found, values)
    few = np.array([3, 77])
    found, predecessors = (np.empty((2, g.n), dtype) for dtype in (np.int64, np.int32))
    sweeps.trees(elimination, customization, few, found, predecessors, threads=threads)
    result = kl.sssp(g, sources=few, method="dijkstra", device="cpu", dtype="int64")
    np.testing.assert_array_equal(found, result.distances)
    result.predecessors[...] = predecessors
    result.verify()


@pytest.mark.parametrize("way", ["sweep", "sweep back", "multiply"])
@pytest.mark.parametrize("threads", [1, 3])
def test_large_matrices(way: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    by_way(monkeypatch, way)
    g, elimination, customization = large()
    sources = np.random.default_rng(1).integers(0, g.n, 30)
    targets = np.random.default_rng(2).integers(0, g.n, 9000)
    values = kl.sssp(g, sources=sources, method="dijkstra", device="cpu", dtype="int64").distances
    found = one_matrix(elimination, customization, sources, targets, threads=threads)
    np.testing.assert_array_equal(found, values[:, targets])


def test_a_call_that_fails_leaves_the_next_one_alone() -> None:
    _, elimination, customization = large()

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    for solve in (
        lambda **how: all_trees(elimination, customization, range(600), **how),
        lambda **how: one_matrix(elimination, customization, range(600), range(9000), **how),
    ):
        with pytest.raises(KeyboardInterrupt):
            solve(progress=stop, threads=2)
        assert solve(threads=2).shape[0] == 600


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_matrices_on_threads(threads: int) -> None:
    elimination, customization, values = named("grid", "min_plus")
    both = np.random.default_rng(1).permutation(elimination.n)
    found = one_matrix(elimination, customization, both, both, threads=threads)
    np.testing.assert_array_equal(found, values[both][:, both])


@pytest.mark.parametrize(("s", "t"), [(0, 0), (0, 5), (5, 0)])
def test_empty_matrices(s: int, t: int) -> None:
    elimination, customization, _ = named("grid", "min_plus")
    assert one_matrix(elimination, customization, [1] * s, [2] * t).shape == (s, t)


def test_progress_comes_to_its_end() -> None:
    elimination, customization, _ = named("grid", "min_plus")
    calls: list[tuple[int, int]] = []
    all_trees(elimination, customization, progress=lambda *how: calls.append(how))
    assert calls[-1] == (elimination.n, elimination.n)
    one_matrix(elimination, customization, [1], [2], progress=lambda *how: calls.append(how))
    assert calls[-1] == (1, 1)
    assert all(done <= total for done, total in calls)


@given(st.integers(0, 10**6), st.sampled_from(TYPES), st.integers(1, 3))
def test_against_searches(seed: int, dtype: Any, threads: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    g = weighted(dtype, seed, n, int(rng.integers(0, 3 * n)))
    values = kl.apsp(g, method="batched", device="cpu").distances
    elimination, customization = prepared(g, "min_plus", values.dtype, seed)
    sources = rng.integers(0, n, int(rng.integers(1, 40)))
    targets = rng.integers(0, n, int(rng.integers(1, 40)))
    assert_equal(all_trees(elimination, customization, sources, threads=threads), values[sources])
    assert_equal(
        one_matrix(elimination, customization, sources, targets, threads=threads),
        values[sources][:, targets],
    )
