"""The tiled engine on a device: what one stream prepares while another is at work."""

from __future__ import annotations

import numpy as np
import pytest

import kleene as kl

#: Words of one, of several and of half as many columns as others; see kernels/dense_algebra.cuh.
KINDS = [
    ("min_plus", "float32"),
    ("min_plus", "float64"),
    ("min_plus", "int64"),
    ("min_plus", "int32"),  # short inside
    ("max_min", "float64"),
    ("boolean", "int32"),
]


def sample(n: int, dtype: str) -> kl.Graph:
    """A ring in a shuffled order, with few chords: paths go through every block of vertices."""
    rng = np.random.default_rng(n)
    order = rng.permutation(n)
    chords = rng.integers(0, n, (2, n))
    source = np.concatenate([order, chords[0]])
    target = np.concatenate([np.roll(order, -1), chords[1]])
    return kl.Graph.from_edges(source, target, rng.integers(1, 9, 2 * n).astype(dtype), n=n)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(("semiring", "dtype"), KINDS)
def test_rounds_overlap_in_any_order(
    semiring: str, dtype: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KLEENE_EMULATOR_SEED", str(seed))
    g = sample(600, dtype)
    got = kl.closure(g, semiring, method="tiled", device="emulated")
    wanted = kl.closure(g, semiring, method="floyd_warshall", device="cpu")
    assert np.array_equal(got.values, wanted.values)


@pytest.mark.parametrize("weights", [(1, 9), (1, 1), (0, 2)])
def test_paths_are_recovered_or_carried_along(weights: tuple[int, int]) -> None:
    """Few tight arcs, all arcs tight, and weights of zero."""
    rng = np.random.default_rng(1)
    dense = rng.integers(weights[0], weights[1], (150, 150), endpoint=True).astype(np.float32)
    g = kl.Graph.from_dense(dense)
    kl.apsp(g, method="tiled", device="emulated").verify()
    half = kl.Graph.from_dense(np.where(rng.random((150, 150)) < 0.5, dense, np.inf))
    kl.apsp(half, method="tiled", device="emulated").verify()
