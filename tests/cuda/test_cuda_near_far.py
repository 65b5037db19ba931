"""The near-far searches in the emulator: bounded lists, several launches, wide sums, small steps.

Both engines run on every kind of graph: by themselves, one takes those of few arcs a vertex, the
other the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from emulators import needs_checked
from hypothesis import given, settings
from hypothesis import strategies as st

import kleene as kl
from kleene.backends.cuda.runtime.emulated_device import EmulatedDevice
from kleene.backends.cuda.sssp import near_far as near_far
from kleene.backends.cuda.sssp import search as lengths
from kleene.backends.cuda.tuning import sssp as tuning

TYPES = (np.int32, np.int64, np.float32, np.float64)


def solve(g: kl.Graph, source: int = 0, **options: Any) -> kl.Result:
    return kl.sssp(g, source, method="near_far", device="emulated", **options)


def assert_right(g: kl.Graph, source: int = 0, **options: Any) -> None:
    got, want = solve(g, source, **options), kl.sssp(g, source, device="cpu", **options)
    np.testing.assert_array_equal(got.distances, want.distances)


@contextmanager
def tuned(narrow: bool, **values: Any) -> Iterator[None]:
    """Run one engine with other tuning numbers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuning, "NARROW_DEGREE", 1e9 if narrow else -1)
        for key, value in values.items():
            own = f"{'NARROW' if narrow else 'WIDE'}_{key}"
            patch.setattr(tuning, own if hasattr(tuning, own) else key, value)
        yield


both = pytest.mark.parametrize("narrow", [True, False], ids=["narrow", "wide"])


@pytest.fixture
def counts(caplog: pytest.LogCaptureFixture) -> Iterator[Any]:
    """Give what searches tell about themselves, as a function."""
    with caplog.at_level("DEBUG", near_far.__name__):
        yield lambda: caplog.records[-1].args[2]  # type: ignore[index]


def types(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the types of numbers of the searches so far."""
    return [str(record.args[1]) for record in caplog.records]  # type: ignore[index]


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


TINY = {"WORK_PER_BLOCK": 40, "NEAR_ENTRIES": 6, "FAR_ENTRIES": 9, "SHORTEST_LIST": 2}
CHOICES: list[tuple[bool, dict[str, Any]]] = [
    *((False, more) for more in ({}, TINY, TINY | {"ROUNDS": 2}, {"DELTA": 1e9}, {"DELTA": 1e-9})),
    *((True, more) for more in ({}, TINY, TINY | {"HOPS": 2}, {"DELTA": 1e9}, {"DELTA": 1e-9})),
    *((True, TINY | {"LOCAL_HOPS": locals, "MANY": 1}) for locals in range(3)),
    (True, {"WORK_PER_BLOCK": 40, "LOCAL_HOPS": 2, "HOPS": 3}),
]
arcs = st.lists(st.tuples(st.integers(0, 19), st.integers(0, 19), st.integers(0, 40)), max_size=80)


@settings(max_examples=400, deadline=None)
@given(
    arcs,
    st.sampled_from(TYPES),
    st.sampled_from(CHOICES),
    st.none() | st.integers(0, 90),
    st.none() | st.lists(st.integers(0, 19), min_size=1, max_size=3),
)
def test_against_the_cpu(
    some: list[tuple[int, int, int]],
    dtype: Any,
    choice: tuple[bool, dict[str, Any]],
    limit: int | None,
    targets: list[int] | None,
) -> None:
    s, t, w = np.array(some, int).reshape(-1, 3).T
    g = kl.Graph.from_edges(s, t, w.astype(dtype), n=20)
    narrow, values = choice
    with tuned(narrow, **values):
        assert_right(g, limit=limit, targets=targets)


def test_which_engine(counts: Any) -> None:
    assert_right(grid(6))
    assert "hops" in counts()
    assert_right(skewed(100, 3000))
    assert "rounds" in counts()


@needs_checked
@both
@pytest.mark.parametrize("seed", [0, 3, 5])
def test_orders(narrow: bool, seed: int, monkeypatch: pytest.MonkeyPatch, counts: Any) -> None:
    device = EmulatedDevice(seed, "_emulator_checked")
    monkeypatch.setattr(lengths, "open_device", lambda kind: device)
    spills = "sweeps" if narrow else "spills"
    short: dict[str, Any] = {"LOCAL_HOPS": 3, "DELTA": 8.0} if narrow else {}
    for g in (grid(20), skewed(200, 1000)):
        with tuned(narrow, WORK_PER_BLOCK=600):
            assert_right(g)
            assert counts()[spills] == 0
        with tuned(narrow, **TINY | {"WORK_PER_BLOCK": 600} | short):
            assert_right(g)
            assert counts()[spills] > 0


@needs_checked
@pytest.mark.parametrize("locals", range(4))
def test_hops_of_a_block_by_itself(
    locals: int, monkeypatch: pytest.MonkeyPatch, counts: Any
) -> None:
    device = EmulatedDevice(locals, "_emulator_checked")
    monkeypatch.setattr(lengths, "open_device", lambda kind: device)
    g = grid(16)
    with tuned(True, WORK_PER_BLOCK=256, LOCAL_HOPS=locals):
        assert_right(g)
        assert_right(g, 77, limit=600)
        assert_right(g, 77, targets=[80, 200])
    chain = np.arange(300)
    with tuned(True, WORK_PER_BLOCK=256, LOCAL_HOPS=locals, DELTA=1e9):
        assert_right(kl.Graph.from_edges(chain, chain + 1, chain % 4))
        assert 300 / (locals + 1) < counts()["hops"] < 310 / (locals + 1)


@both
def test_sums_that_need_64_bits(narrow: bool, caplog: pytest.LogCaptureFixture) -> None:
    g = kl.Graph.from_edges([0, 1, 2, 0], [1, 2, 3, 4], np.array([2**31] * 3 + [2**32 - 2]))
    with tuned(narrow), caplog.at_level("DEBUG", near_far.__name__):
        r = solve(g, predecessors=True)
        assert r.distances.tolist() == [0, 2**31, 2**32, 3 * 2**31, 2**32 - 2]
        r.verify()
        assert types(caplog) == ["uint32", "int64"]
        assert solve(g, limit=2**31).distances[2] == r.no_path
        assert solve(g, 3).distances.tolist()[3] == 0


@both
def test_sums_that_fit_32_bits(narrow: bool, caplog: pytest.LogCaptureFixture) -> None:
    """Whatever the answer's type, which holds the longest path that the graph might have."""
    chain = np.arange(9)
    g = kl.Graph.from_edges(
        np.append(chain, [0]), np.append(chain + 1, [9]), np.array([2**28] * 9 + [7])
    )
    with tuned(narrow), caplog.at_level("DEBUG", near_far.__name__):
        r = solve(g)
    assert r.distances.dtype == np.int64
    assert r.distances[9] == 7
    assert types(caplog) == ["uint32"]


@both
def test_lengths_that_32_bits_do_not_hold(narrow: bool) -> None:
    g = kl.Graph.from_edges([0, 1], [1, 2], np.array([2**32 - 1, 2**40]))
    with tuned(narrow):
        assert solve(g).distances.tolist() == [0, 2**32 - 1, 2**40 + 2**32 - 1]


@both
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_steps_that_rounding_takes_away(dtype: Any, narrow: bool) -> None:
    chain = np.arange(40)
    weights = np.where(chain % 3 == 0, 1e20, np.finfo(dtype).smallest_subnormal).astype(dtype)
    g = kl.Graph.from_edges(chain, chain + 1, weights)
    steer = {"FEW": 0} if narrow else {"LOW_ARCS": 0}
    for delta in (1e-300, 1e-30, 1e300):
        with tuned(narrow, DELTA=delta, **steer):
            assert_right(g)
            assert_right(g.reweight(arcs=weights[::-1].copy()))


@both
def test_distances_at_the_end_of_floats(narrow: bool) -> None:
    g = kl.Graph.from_edges([0, 1, 2], [1, 2, 3], np.array([3e38, 3e38, 1], np.float32))
    with tuned(narrow):
        r = solve(g)
        if r.distances.dtype == np.float32:
            assert r.distances.tolist()[2:] == [np.inf, np.inf]
        assert_right(g.reweight(arcs=np.array([1e38, 1e38, 1e38], np.float32)))


@both
@pytest.mark.parametrize("near", [1, 3, 2**22])
def test_hubs(narrow: bool, near: int) -> None:
    """Hubs of more arcs than a list has entries for."""
    n = 700
    spokes = np.arange(1, n)
    s, t = np.append(np.zeros(n - 1, int), spokes), np.append(spokes, np.zeros(n - 1, int))
    g = kl.Graph.from_edges(s, t, np.append(spokes % 7, spokes[::-1] % 5))
    with tuned(narrow, NEAR_ENTRIES=near, SHORTEST_LIST=near):
        assert_right(g)
        assert_right(g, 5)


@both
def test_cycles_of_zeros(narrow: bool, counts: Any) -> None:
    ring = np.arange(60)
    s, t = np.append(ring, ring[1:]), np.append((ring + 1) % 60, ring[:-1])
    for delta in (1.0, 1e9):
        with tuned(narrow, DELTA=delta):
            assert_right(kl.Graph.from_edges(s, t, np.zeros(len(s), int)), predecessors=True)
            assert_right(kl.Graph.from_edges(s, t, s % 10 // 9), predecessors=True)


def test_several_launches(counts: Any) -> None:
    chain = np.arange(300)
    g = kl.Graph.from_edges(chain, chain + 1, chain % 4)
    with tuned(False, ROUNDS=3, DELTA=2.0, LOW_ARCS=0):
        assert_right(g, predecessors=True)
        assert counts()["launches"] > 10
        assert counts()["arcs"] == 300
    with tuned(False, ARCS=20, DELTA=2.0, LOW_ARCS=0):
        assert_right(grid(12))
        assert counts()["launches"] > 2
    for hops in (1, 2, 7):
        with tuned(True, HOPS=hops, WORK_PER_BLOCK=256, FEW=0):
            assert_right(g, predecessors=True)
            assert counts()["launches"] == counts()["hops"] // hops + 1
            assert_right(grid(12))


def test_delta_is_steered(counts: Any) -> None:
    chain = np.arange(500)
    g = kl.Graph.from_edges(chain, chain + 1, np.full(500, 100))
    with tuned(False, DELTA=0.01, LOW_ARCS=0):
        assert_right(g)
        assert counts()["thresholds"] == 501
    with tuned(False, DELTA=0.01, LOW_ARCS=2**10):
        assert_right(g)
        assert counts()["thresholds"] < 30
    with tuned(False, DELTA=0.01, LOW_ARCS=10, HIGH_ARCS=20):
        assert_right(g)
        assert 30 < counts()["thresholds"] < 400
    with tuned(True, DELTA=0.01, FEW=0):
        assert_right(g)
        assert counts()["thresholds"] == 501
        assert counts()["delta"] == 1
    with tuned(True, DELTA=0.01):
        assert_right(g)
        assert counts()["thresholds"] < 30
    with tuned(True, DELTA=0.01, FEW=2, MANY=0):
        assert_right(g)
        assert counts()["thresholds"] == 501


@both
def test_several_sources_with_paths(narrow: bool) -> None:
    g = grid(12, np.float64).to("emulated")
    some = [0, 77, 143]
    with tuned(narrow):
        r = kl.sssp(g, sources=some, method="near_far", device="emulated", predecessors=True)
    assert r.verify().rows == 3
    want = kl.sssp(g, sources=some, device="cpu")
    np.testing.assert_array_equal(r.distances, want.distances)
