"""Closures of graphs that were placed: the matrix is on the device once, and is finished there.

``KLEENE_TEST_DEVICE=cuda`` runs these tests on a GPU.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import kleene as kl
from kleene.backends.cuda.closure import placed
from kleene.backends.cuda.tuning import closure as tuning

DEVICE = os.environ.get("KLEENE_TEST_DEVICE", "emulated")

#: Semirings, types of weights and the largest weight: every conversion of ``closure_export``.
KINDS = [
    ("min_plus", "float32", 9),
    ("min_plus", "float64", 9),  # short inside
    ("min_plus", "float64", 2**20),  # int inside
    ("min_plus", "float64", 0.3),
    ("min_plus", "int32", 9),  # short inside
    ("min_plus", "int32", 2**20),
    ("min_plus", "int64", 9),
    ("min_plus", "int64", 2**40),
    ("max_min", "float32", 9),
    ("max_min", "int64", 9),
    ("max_times", "float64", 1),
    ("boolean", "int32", 9),
]


def sample(n: int, dtype: str, most: float, seed: int = 1) -> kl.Graph:
    """A ring with chords, and a few vertices that nothing reaches."""
    rng = np.random.default_rng(seed)
    ring = np.arange(n - 3)
    source = np.concatenate([ring, rng.integers(0, n, 2 * n)])
    target = np.concatenate([np.roll(ring, -1), rng.integers(0, n - 3, 2 * n)])
    weights = rng.random(len(source)) * most
    if most > 1:
        weights = np.ceil(weights)
    return kl.Graph.from_edges(source, target, weights.astype(dtype), n=n)


@pytest.mark.parametrize("captured", [True, False])
@pytest.mark.parametrize(("semiring", "dtype", "most"), KINDS)
def test_the_matrix_goes_to_the_device_once(
    semiring: str, dtype: str, most: float, captured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "CAPTURED_ROWS", 2048 if captured else 0)
    g = sample(150, dtype, most)
    there = g.to(DEVICE)
    wanted = kl.closure(g, semiring, method="floyd_warshall", device="cpu")
    for call in range(3):
        keep = "device" if call == 2 else "host"
        r = kl.closure(there, semiring, method="tiled", device=DEVICE, keep=keep)
        assert (r.stats.copy_in > 0) == (call == 0)
        assert (r.stats.copy_out > 0) == (keep == "host")
        assert r.values.dtype == wanted.values.dtype
        assert np.allclose(r.values, wanted.values, rtol=1e-6, equal_nan=True)
        r.verify()


@pytest.mark.parametrize(("dtype", "most"), [("float32", 0.9), ("float64", 2**20), ("int64", 9)])
def test_predecessors_are_recovered_on_the_device(
    dtype: str, most: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    monkeypatch.setattr(
        placed, "recover", lambda *args, **more: asked.append(RECOVER(*args, **more)) or asked[-1]
    )
    g = sample(150, dtype, most)
    there = g.to(DEVICE)
    for keep in ("host", "host", "device"):
        r = kl.apsp(there, method="tiled", device=DEVICE, keep=keep)
        assert np.allclose(r.distances, kl.apsp(g, device="cpu").distances)
        r.verify()
    assert [found is not None for found in asked] == [True, True, True]


RECOVER = placed.recover


@pytest.mark.parametrize("case", ["zero cycles", "negative", "cycle", "paths of a semiring"])
def test_the_host_helps_where_the_device_cannot_finish(case: str) -> None:
    rng = np.random.default_rng(2)
    weights = rng.integers(1, 9, (60, 60))
    call: Any = lambda g, **more: kl.apsp(g, **more)  # noqa: E731
    if case == "zero cycles":
        weights[:] = rng.integers(0, 2, (60, 60))
    elif case == "negative":
        heights = rng.integers(-50, 50, 60)
        weights = weights + heights[:, None] - heights
    elif case == "cycle":
        weights[3, 4], weights[4, 3] = 2, -5
    else:
        call = lambda g, **more: kl.closure(g, "max_min", predecessors=True, **more)  # noqa: E731
    np.fill_diagonal(weights, 0)
    g = kl.Graph.from_dense(weights, null_value=np.inf)
    there = g.to(DEVICE)
    for _ in range(2):
        if case == "cycle":
            with pytest.raises(kl.NegativeCycleError):
                call(there, method="tiled", device=DEVICE)
            continue
        for keep in ("host", "device"):
            r = call(there, method="tiled", device=DEVICE, keep=keep)
            r.verify()
            assert np.array_equal(r.values, call(g, device="cpu").values)


def test_too_little_memory_for_three_matrices_is_enough_for_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    g = sample(300, "float32", 9)
    there = g.to(DEVICE)
    wanted = kl.apsp(g, device="cpu").distances
    monkeypatch.setenv("KLEENE_DEVICE_MEMORY", str(there.placed.device.allocated + 1_600_000))
    assert np.array_equal(
        kl.apsp(there, method="tiled", device=DEVICE, predecessors=False).distances, wanted
    )
