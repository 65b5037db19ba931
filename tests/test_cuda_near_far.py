"""The near-far search in the emulator: bounded lists, several launches, wide sums, small steps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kleene as kl
from kleene.cuda import lengths
from kleene.cuda import sssp_near_far as near_far
from kleene.cuda.emulator import EmulatedDevice

TYPES = (np.int32, np.int64, np.float32, np.float64)


def solve(g: kl.Graph, source: int = 0, **options: Any) -> kl.Result:
    return kl.sssp(g, source, method="near_far", device="emulated", **options)


def assert_right(g: kl.Graph, source: int = 0, **options: Any) -> None:
    got, want = solve(g, source, **options), kl.sssp(g, source, device="cpu", **options)
    np.testing.assert_array_equal(got.distances, want.distances)


@contextmanager
def tuned(*, hops: bool = True, **values: Any) -> Iterator[None]:
    """Run with other constants: fields of the tuning, or names of the module in capitals."""
    name = "_NARROW" if hops else "_WIDE"
    fields = {key: value for key, value in values.items() if key.islower()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(near_far, "_NARROW_DEGREE", 1e9 if hops else 0)
        patch.setattr(near_far, name, getattr(near_far, name)._replace(**fields))
        for key in values.keys() - fields.keys():
            patch.setattr(near_far, f"_{key}", values[key])
        yield


@pytest.fixture
def counts(caplog: pytest.LogCaptureFixture) -> Iterator[Any]:
    """Give what searches tell about themselves, as a function."""
    with caplog.at_level("DEBUG", near_far.__name__):
        yield lambda: caplog.records[-1].args[2]  # type: ignore[index]


def grid(side: int, dtype: Any = np.int32) -> kl.Graph:
    place = np.arange(side * side).reshape(side, side)
    s = np.append(place[:, :-1], place[:-1].reshape(side, side - 1, order="F"))
    t = np.append(place[:, 1:], place[1:].reshape(side, side - 1, order="F"))
    weights = np.random.default_rng(side).integers(1, 256, len(s)).astype(dtype)
    return kl.Graph.from_edges(np.append(s, t), np.append(t, s), np.append(weights, weights))


def skewed(n: int, m: int, dtype: Any = np.int32) -> kl.Graph:
    """Return a graph with some hubs, as R-MAT graphs have them."""
    rng = np.random.default_rng(n)
    s, t = (n * rng.random((2, m)) ** 4).astype(int)
    weights = rng.integers(1, 256, m).astype(dtype)
    return kl.Graph.from_edges(np.append(s, t), np.append(t, s), np.append(weights, weights), n=n)


TINY = {"EACH_BLOCK": 40, "NEAR_ENTRIES": 6, "FAR_ENTRIES": 9}
arcs = st.lists(st.tuples(st.integers(0, 19), st.integers(0, 19), st.integers(0, 40)), max_size=80)


@settings(max_examples=150, deadline=None)
@given(
    arcs,
    st.sampled_from(TYPES),
    st.booleans(),
    st.sampled_from([{}, TINY, TINY | {"ROUNDS": 2}, {"DELTA": 1e9}, {"DELTA": 1e-9}]),
    st.none() | st.integers(0, 90),
    st.none() | st.lists(st.integers(0, 19), min_size=1, max_size=3),
)
def test_against_the_cpu(
    some: list[tuple[int, int, int]],
    dtype: Any,
    hops: bool,
    values: dict[str, Any],
    limit: int | None,
    targets: list[int] | None,
) -> None:
    s, t, w = np.array(some, int).reshape(-1, 3).T
    g = kl.Graph.from_edges(s, t, w.astype(dtype), n=20)
    with tuned(hops=hops, keep=3 if hops else 0, **values):
        assert_right(g, limit=limit, targets=targets)


@pytest.mark.parametrize("hops", [True, False])
@pytest.mark.parametrize("seed", [0, 3, 5])
def test_orders(hops: bool, seed: int, monkeypatch: pytest.MonkeyPatch, counts: Any) -> None:
    device = EmulatedDevice(seed, "_emulator_checked")
    monkeypatch.setattr(lengths, "open_device", lambda kind: device)
    for g in (grid(20), skewed(200, 1000)):
        with tuned(hops=hops, keep=20 if hops else 0, EACH_BLOCK=600):
            assert_right(g)
            assert counts()["spills"] == 0
        with tuned(hops=hops, keep=20 if hops else 0, **TINY | {"EACH_BLOCK": 600}):
            assert_right(g)
            assert counts()["spills"] > 0


def test_sums_that_need_64_bits(counts: Any) -> None:
    g = kl.Graph.from_edges([0, 1, 2, 0], [1, 2, 3, 4], np.array([2**31] * 3 + [2**32 - 2]))
    r = solve(g, predecessors=True)
    assert r.distances.tolist() == [0, 2**31, 2**32, 3 * 2**31, 2**32 - 2]
    r.verify()
    assert solve(g, limit=2**31).distances[2] == r.no_path
    assert solve(g, 3).distances.tolist()[3] == 0


def test_sums_that_fit_32_bits(counts: Any, caplog: pytest.LogCaptureFixture) -> None:
    """Whatever the answer's type, which holds the longest path that the graph might have."""
    chain = np.arange(9)
    g = kl.Graph.from_edges(
        np.append(chain, [0]), np.append(chain + 1, [9]), np.array([2**28] * 9 + [7])
    )
    r = solve(g)
    assert r.distances.dtype == np.int64
    assert r.distances[9] == 7
    assert [str(record.args[1]) for record in caplog.records] == ["uint32"]  # type: ignore[index]


def test_lengths_that_32_bits_do_not_hold() -> None:
    g = kl.Graph.from_edges([0, 1], [1, 2], np.array([2**32 - 1, 2**40]))
    assert solve(g).distances.tolist() == [0, 2**32 - 1, 2**40 + 2**32 - 1]


@pytest.mark.parametrize("hops", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_steps_that_rounding_takes_away(dtype: Any, hops: bool) -> None:
    chain = np.arange(40)
    weights = np.where(chain % 3 == 0, 1e20, np.finfo(dtype).smallest_subnormal).astype(dtype)
    g = kl.Graph.from_edges(chain, chain + 1, weights)
    for delta in (1e-300, 1e-30, 1e300):
        with tuned(hops=hops, DELTA=delta, low=0):
            assert_right(g)
            assert_right(g.reweight(weights[::-1].copy()))


def test_distances_at_the_end_of_floats() -> None:
    g = kl.Graph.from_edges([0, 1, 2], [1, 2, 3], np.array([3e38, 3e38, 1], np.float32))
    r = solve(g)
    if r.distances.dtype == np.float32:
        assert r.distances.tolist()[2:] == [np.inf, np.inf]
    assert_right(g.reweight(np.array([1e38, 1e38, 1e38], np.float32)))


@pytest.mark.parametrize("hops", [True, False])
@pytest.mark.parametrize("near", [1, 3, 2**22])
def test_hubs(hops: bool, near: int) -> None:
    """Hubs of more arcs than a list has entries for."""
    n = 700
    spokes = np.arange(1, n)
    s, t = np.append(np.zeros(n - 1, int), spokes), np.append(spokes, np.zeros(n - 1, int))
    g = kl.Graph.from_edges(s, t, np.append(spokes % 7, spokes[::-1] % 5))
    with tuned(hops=hops, NEAR_ENTRIES=near):
        assert_right(g)
        assert_right(g, 5)


@pytest.mark.parametrize("hops", [True, False])
def test_several_launches(hops: bool, counts: Any) -> None:
    chain = np.arange(300)
    g = kl.Graph.from_edges(chain, chain + 1, chain % 4)
    with tuned(hops=hops, ROUNDS=3, DELTA=2.0, low=0):
        assert_right(g, predecessors=True)
        assert counts()["launches"] > 10
        assert counts()["arcs"] == 300
    with tuned(hops=hops, ARCS=20, DELTA=2.0, low=0):
        assert_right(grid(12))
        assert counts()["launches"] > 2


@pytest.mark.parametrize("hops", [True, False])
def test_delta_is_steered(hops: bool, counts: Any) -> None:
    chain = np.arange(500)
    g = kl.Graph.from_edges(chain, chain + 1, np.full(500, 100))
    with tuned(hops=hops, DELTA=1.0, low=0):
        assert_right(g)
        assert counts()["thresholds"] == 501
    with tuned(hops=hops, DELTA=1.0, low=2**10):
        assert_right(g)
        assert counts()["thresholds"] < 30
    with tuned(hops=hops, DELTA=1.0, low=10, high=20):
        assert_right(g)
        assert 30 < counts()["thresholds"] < 400


def test_several_sources_with_paths() -> None:
    g = grid(12, np.float64).to("emulated")
    some = [0, 77, 143]
    r = kl.sssp(g, sources=some, method="near_far", device="emulated", predecessors=True)
    assert r.verify().rows == 3
    want = kl.sssp(g, sources=some, device="cpu")
    np.testing.assert_array_equal(r.distances, want.distances)
