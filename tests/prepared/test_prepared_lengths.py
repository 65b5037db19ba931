"""Lengths of paths in prepared graphs: negative cycles, rounding, and the types that hold sums."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import graphs
import numpy as np
import prepared_reference
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prepared_values import assert_same, in_any_order, pairs_of

import kleene as kl
from kleene.backends.common.johnson import is_negative
from kleene.prepared.customization import customize
from kleene.prepared.elimination import eliminate
from kleene.proofs.pairs import PairValues, verify_pairs

CYCLES = graphs.WITH_NEGATIVE_CYCLE | {"negative_cycle_elsewhere"}


# ---- negative cycles -----------------------------------------------------------------------------


def assert_negative_cycle(g: kl.Graph, cycle: list[int], dtype: np.dtype[Any]) -> None:
    assert len(set(cycle)) == len(cycle)
    arcs = graphs.arcs_of(g)
    assert all(pair in arcs for pair in zip(cycle, cycle[1:] + cycle[:1], strict=True))
    assert is_negative(g, cycle, dtype)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", sorted(CYCLES))
def test_negative_cycles(name: str, threads: int) -> None:
    g = graphs.graph(name)
    for seed in range(5):
        with pytest.raises(kl.NegativeCycleError) as caught:
            customize(in_any_order(g, seed), g, dtype=g.weight_dtype, threads=threads)
        assert_negative_cycle(g, caught.value.cycle, g.weight_dtype)


@given(st.data())
def test_negative_weights(data: Any) -> None:
    n = data.draw(st.integers(2, 9))
    pairs = st.tuples(*[st.integers(0, n - 1)] * 2, st.integers(-3, 9))
    arcs = data.draw(st.lists(pairs, min_size=1, max_size=25))
    dtype = np.dtype(data.draw(st.sampled_from(["int32", "int64", "float32", "float64"])))
    tails, heads, weights = zip(*arcs, strict=True)
    g = kl.Graph.from_edges(tails, heads, np.array(weights, dtype), n=n)
    e = in_any_order(g, data.draw(st.integers(0, 99)))
    try:
        kl.closure(g, "min_plus", device="reference")
    except kl.NegativeCycleError:
        with pytest.raises(kl.NegativeCycleError) as caught:
            customize(e, g, dtype=dtype)
        assert_negative_cycle(g, caught.value.cycle, dtype)
    else:
        assert_same(customize(e, g, dtype=dtype), prepared_reference.customize(g, e, dtype=dtype))


def test_integers_wrap_above_a_negative_cycle() -> None:
    """Many negative cycles through one another: sums double at every vertex."""
    n = 80
    tails, heads = np.nonzero(~np.eye(n, dtype=bool))
    for dtype in (np.int32, np.int64):
        g = kl.Graph.from_edges(tails, heads, np.full(len(tails), -5, dtype))
        with pytest.raises(kl.NegativeCycleError) as caught:
            customize(eliminate(g, np.arange(n)), g, dtype=dtype)
        assert_negative_cycle(g, caught.value.cycle, np.dtype(dtype))


def test_rounding_is_no_negative_cycle() -> None:
    g = kl.Graph.from_edges([0, 1, 2], [1, 2, 0], [0.3, -0.1, -0.2])
    assert 0.3 - 0.1 - 0.2 < 0
    for seed in range(6):
        e = in_any_order(g, seed)
        assert_same(customize(e, g, dtype=np.float64), prepared_reference.customize(g, e))
    little = kl.Graph.from_edges([0, 1, 2], [1, 2, 0], [0.3, -0.1, -0.2000001])
    with pytest.raises(kl.NegativeCycleError):
        customize(in_any_order(little), little, dtype=np.float64)


def test_heights_make_no_negative_cycle() -> None:
    """Lengths from heights: every cycle is zero but for rounding, and thousands look negative."""
    rng = np.random.default_rng(2)
    grid = kl.generate.grid(25, 25)
    height = rng.standard_normal(grid.n)
    g = grid.reweight(lambda s, t: height[t] - height[s])
    e = eliminate(g)
    found = customize(e, g, dtype=np.float64)
    low, high = np.array(pairs_of(e)).T
    np.testing.assert_allclose(found.up, height[e.order[high]] - height[e.order[low]], atol=1e-13)
    arc = (int(g.coo.sources[100]), int(g.coo.targets[100]))
    lower = g.update({arc: g.weights[100] - 1e-9})
    with pytest.raises(kl.NegativeCycleError) as caught:
        customize(e, lower, dtype=np.float64)
    assert_negative_cycle(lower, caught.value.cycle, np.dtype(np.float64))


def with_cycles_of_about_zero(seed: int) -> kl.Graph:
    """Most weights are differences of heights, so that most cycles add up to rounding errors."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 9))
    tails, heads = rng.integers(n, size=(2, int(rng.integers(n, 4 * n))))
    heights = rng.normal(size=n) * 10.0 ** rng.integers(-2, 3)
    more = rng.random(len(tails))
    weights = more * (rng.random(len(tails)) < 0.4) + heights[heads] - heights[tails]
    apart = tails != heads
    return kl.Graph.from_edges(tails[apart], heads[apart], weights[apart], n=n)


@pytest.mark.parametrize("seed", [13, 128, 243, 271, 673])
def test_values_from_a_detour_are_proved(seed: int) -> None:
    """A path around a cycle of about zero may round to less than the path that is shown."""
    g = with_cycles_of_about_zero(seed)
    p, every = kl.prepare(g), range(g.n)
    ends = [(s, t) for s in every for t in every]
    p.paths(ends).verify()
    spoiled = p.paths(ends)
    spoiled._answer.values[0, np.flatnonzero(spoiled.reached)[1]] += 1e-9
    with pytest.raises(kl.VerificationError):
        spoiled.verify()


@pytest.mark.parametrize("wrong", [2.0, 30.0, -30.0])
def test_a_detour_over_huge_weights_explains_nothing(wrong: float) -> None:
    """The path of the pair has no huge weight: its length has one value."""
    weights = [1.0, 1e16, -9999999999999998.0]
    found = kl.prepare(kl.Graph.from_edges([0, 0, 1], [2, 1, 2], weights)).paths([(0, 2)])
    assert found.distances.tolist() == [1.0]
    found.verify()
    found._answer.values[0, 0] = wrong
    with pytest.raises(kl.VerificationError, match="pair 0"):
        found.verify()


def test_a_detour_is_as_long_as_its_weights_say() -> None:
    """A path over huge weights is right up to their rounding, but its length has one value."""
    weights = [1.0, 1e16, -9999999999999998.0]
    g = kl.Graph.from_edges([0, 0, 1], [2, 1, 2], weights)
    detour = np.array([0, 1, 2], np.int32), np.array([0, 3])
    for length, refused in ((2.0, False), (3.0, True), (-30.0, True)):
        ends = np.array([0]), np.array([2])
        claim = PairValues(g, False, *ends, np.array([length]), detour, None, by_target=False)
        with pytest.raises(kl.VerificationError) if refused else nullcontext():
            verify_pairs(claim)


def test_a_huge_weight_explains_nothing_elsewhere() -> None:
    """What rounding explains in a row is a matter of the paths to a vertex."""
    g = kl.Graph.from_edges([0, 1, 0, 0], [1, 0, 2, 3], [1.5, -1.5, -0.25, 1e20])
    found = kl.prepare(g).paths([(0, 1), (0, 2), (0, 3)])
    found.verify()
    found._answer.values[0, 1] -= 1e-9
    with pytest.raises(kl.VerificationError, match="pair 1"):
        found.verify()


def test_a_negative_loop_matters_to_sums_only() -> None:
    g = graphs.graph("negative_loop")
    e = in_any_order(g)
    assert_same(
        customize(e, g, "max_min", dtype=np.int64),
        prepared_reference.customize(g, e, "max_min", np.int64),
    )


# ---- types ---------------------------------------------------------------------------------------

HALF = np.iinfo(np.int32).max // 2


def street(weights: Any, both_ways: bool = True) -> kl.Graph:
    n = len(weights)
    return kl.Graph.from_edges(range(n), range(1, n + 1), weights, directed=not both_ways)


def compute_type(g: kl.Graph, dtype: Any = np.int64) -> np.dtype[Any]:
    e = in_any_order(g)
    found = customize(e, g, dtype=dtype)
    assert_same(found, prepared_reference.customize(g, e, dtype=np.int64), dtype)
    return found.up.dtype


def test_32_bits_where_the_bound_says_so() -> None:
    assert compute_type(street([HALF // 4, HALF // 4 - 1, 1, 0])) == np.int32
    assert compute_type(street(np.array([5, 6, -1]), False)) == np.int32


def test_32_bits_where_distances_are_short_enough() -> None:
    star = kl.Graph.from_edges([0] * 9, range(1, 10), [HALF // 4 - 1] * 9, directed=False)
    assert star.stats.path_bound > HALF
    assert compute_type(star) == np.int32
    longer = kl.Graph.from_edges([0] * 9, range(1, 10), [HALF // 2 + 1] * 9, directed=False)
    assert compute_type(longer) == np.int64


def test_32_bits_with_vertices_apart() -> None:
    """Of a star and two stubs, one that leads to it and one that leads away, both narrow or not."""
    for share, kind in ((5, np.int32), (4, np.int64)):  # there and back, 2 stubs, 1 arc between
        tails, heads = [*[0] * 9, *range(1, 10), 10, 1], [*range(1, 10), *[0] * 9, 0, 11]
        g = kl.Graph.from_edges(tails, heads, [HALF // share] * 20)
        e = eliminate(g, [*range(1, 12), 0])
        assert e.order[-1] == 0
        found = customize(e, g, dtype=np.int64)
        assert_same(found, prepared_reference.customize(g, e, dtype=np.int64))
        assert found.up.dtype == kind, share


@given(st.data())
def test_the_bound_holds(data: Any) -> None:
    """Whatever the graph: where 32 bits are chosen, no distance is too long for them."""
    n = data.draw(st.integers(2, 8))
    pairs = st.tuples(*[st.integers(0, n - 1)] * 2, st.integers(1, 12))
    arcs = data.draw(st.lists(pairs, min_size=1, max_size=20))
    unit = HALF // 24
    tails, heads, weights = zip(*arcs, strict=True)
    g = kl.Graph.from_edges(tails, heads, np.array(weights, np.int64) * unit, n=n)
    e = in_any_order(g, data.draw(st.integers(0, 99)))
    found = customize(e, g, dtype=np.int64)
    distances = kl.closure(g, "min_plus", device="reference").values
    reached = distances < np.iinfo(np.int64).max
    if found.up.dtype == np.int32:
        assert distances[reached].max() < HALF
    else:
        assert_same(found, prepared_reference.customize(g, e, dtype=np.int64))


def test_the_last_lengths_of_32_bits() -> None:
    """A path as long as the number that stands for "no path" needs the wide type."""
    below, exact = street([HALF // 2], False), street([HALF // 3] * 2, False)
    assert (below.stats.path_bound, exact.stats.path_bound) == (HALF - 1, HALF)
    assert compute_type(below, np.int32) == np.int32
    assert compute_type(exact, np.int32) == np.int64
    assert compute_type(street([HALF], False)) == np.int64
    negative = street(np.array([-HALF + 1, HALF - 1, 0]), False)
    assert compute_type(negative) == np.int64


def test_the_last_lengths_of_64_bits() -> None:
    half = np.iinfo(np.int64).max // 2
    assert compute_type(street([half - 1], False)) == np.int64
    assert compute_type(street(np.array([1 - half // 2, half // 2]), False)) == np.int64
    with pytest.raises(kl.PathOverflowError, match="float64"):
        compute_type(street([half], False))
