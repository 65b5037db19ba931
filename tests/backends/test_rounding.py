"""Where floating point bites: cycles of length zero, weights that cancel, limits in float32."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_methods import ROWS, label, solve

import kleene as kl
from kleene.registry import Method

TAKES_NEGATIVE = [row for row in ROWS if row.negative and row.problem != "bfs"]
SEARCHES = [row for row in ROWS if row.problem in ("sssp", "apsp")]


@pytest.mark.parametrize("row", TAKES_NEGATIVE, ids=label)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cycles_of_length_zero(row: Method, dtype: type) -> None:
    """Rounding must neither make a cycle negative nor send a path round it."""
    rng = np.random.default_rng(5)
    for _ in range(10 if row.device == "emulated" else 40):
        n = int(rng.integers(3, 8))
        # There and back along a random tree sums to zero exactly; all other arcs are long.
        child = np.arange(1, n)
        parent = np.array([int(rng.integers(0, v)) for v in child])
        step = rng.normal(size=n - 1).astype(dtype) * rng.choice([1, 1000])
        s, t = rng.integers(0, n, (2, 8))
        far = (rng.random(8) + 2 * np.abs(step).sum()).astype(dtype)
        g = kl.Graph.from_edges(
            np.concatenate([parent, child, s]),
            np.concatenate([child, parent, t]),
            np.concatenate([step, -step, far]),
            n=n,
        )
        r = solve(row, g, "min_plus", predecessors=True)
        r.verify()
        for source in range(n):
            for target in range(n):
                assert len(r.path(source, target)) <= n


@pytest.mark.parametrize("row", TAKES_NEGATIVE, ids=label)
def test_an_exact_cycle_of_length_zero(row: Method) -> None:
    g = kl.Graph.from_edges([0, 1, 2], [1, 0, 0], [2.31, -2.31, 0.9])
    r = solve(row, g, "min_plus", predecessors=True)
    assert r.path(2, 0) == [2, 0]
    assert r.path(2, 1) == [2, 0, 1]
    r.verify()


def tenths(dtype: Any) -> kl.Graph:
    """0.3 - 0.1 - 0.2 is below zero, by rounding only; so is the way round with an arc of 0."""
    s, t = [0, 1, 2, 2, 5, 0, 2, 3], [1, 2, 0, 5, 0, 3, 3, 4]
    return kl.Graph.from_edges(s, t, np.array([0.3, -0.1, -0.2, -0.2, 0, 5, 1, 0.1], dtype))


def differences(n: int, dtype: Any, scale: float = 1) -> kl.Graph:
    """Lengths are differences of heights: every cycle sums to zero, but for rounding."""
    height = np.random.default_rng(n).normal(size=n) * np.geomspace(1, scale, n)
    s, t = np.nonzero(~np.eye(n, dtype=bool))
    height = height.astype(dtype)
    return kl.Graph.from_edges(s, t, height[t] - height[s])


ABOUT_ZERO: dict[str, Callable[[Any], kl.Graph]] = {
    "tenths": tenths,
    "few": lambda dtype: differences(5, dtype),
    "many": lambda dtype: differences(33, dtype),
    "of_all_sizes": lambda dtype: differences(20, dtype, 1e6),
}


@pytest.mark.parametrize("row", [*TAKES_NEGATIVE, None], ids=lambda r: label(r) if r else "auto")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ABOUT_ZERO)
def test_cycles_of_about_zero(row: Method | None, dtype: Any, name: str) -> None:
    g = ABOUT_ZERO[name](dtype)
    for predecessors in (True, False):
        if row is not None:
            found = [solve(row, g, "min_plus", predecessors=predecessors, sources=[0, 1, 2])]
        else:
            asked: Any = {"device": "cpu", "predecessors": predecessors}
            found = [kl.sssp(g, 0, **asked), kl.apsp(g, **asked)]
        for r in found:
            r.verify()
            if name == "tenths":
                wanted = pytest.approx([0, 0.3, 0.2, 1.2, 1.3, 0], abs=1e-6)
                assert np.atleast_2d(r.distances)[0].tolist() == wanted


@pytest.mark.parametrize("row", TAKES_NEGATIVE, ids=label)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_cycle_is_negative_below_what_rounding_explains(row: Method, dtype: Any) -> None:
    eps = np.finfo(dtype).eps
    weights = np.array([1, -0.5, -0.5 - eps / 2, 3], dtype)
    g = kl.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], weights)
    r = solve(row, g, "min_plus", sources=[0])
    r.verify()
    assert r.distances[0].round(6).tolist() == [0, 1, 0.5, 3.5]
    weights[2] -= 8 * eps
    g = kl.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], weights)
    with pytest.raises(kl.NegativeCycleError) as caught:
        solve(row, g, "min_plus", sources=[0])
    assert sorted(caught.value.cycle) == [0, 1, 2]


@pytest.mark.parametrize("row", TAKES_NEGATIVE, ids=label)
def test_a_huge_weight_does_not_drown_small_ones(row: Method) -> None:
    g = kl.Graph.from_edges([0, 1, 1, 3], [2, 2, 3, 2], [-1e16, 1.0, 1.0, -0.5])
    r = solve(row, g, "min_plus", sources=[0, 1])
    assert r.distances[1, 2] == 0.5
    r.verify()


@pytest.mark.parametrize("row", SEARCHES, ids=label)
def test_limits_and_targets_in_float32(row: Method) -> None:
    tenth: Any = np.array([0.3], dtype=np.float32)
    g = kl.Graph.from_edges([0], [1], tenth)
    r = solve(row, g, "min_plus", sources=[0], limit=0.3)
    assert r.reached.tolist() == [[True, True]]
    r.verify()
    g = kl.Graph.from_edges([0, 1], [1, 2], np.array([1, 1e-9], dtype=np.float32))
    solve(row, g, "min_plus", sources=[0], targets=[1]).verify()


@pytest.mark.parametrize("row", SEARCHES, ids=label)
@pytest.mark.parametrize("limit", [1e12, 2**70, 10**400, 1e300], ids=range(4))
def test_a_limit_beyond_the_type_is_none(row: Method, limit: float) -> None:
    for dtype in (np.int32, np.float32):
        g = kl.Graph.from_edges([0, 1], [1, 2], np.array([5, 6], dtype=dtype))
        assert solve(row, g, "min_plus", sources=[0], limit=limit).distances.tolist() == [
            [0, 5, 11]
        ]
