"""Graphs for closures over several devices, and how their results are compared."""

from __future__ import annotations

from typing import Any

import numpy as np

import kleene as kl

__all__ = ["ALL", "ONE", "THREE", "assert_equal_bits", "sample"]

#: Four emulated devices, three of them, and one.
ALL: dict[str, Any] = {"device": "emulated", "devices": [0, 1, 2, 3]}
THREE: dict[str, Any] = {"device": "emulated", "devices": [0, 1, 2]}
ONE: dict[str, Any] = {"device": "emulated", "devices": [0]}


def sample(n: int, dtype: str, semiring: str = "min_plus", negative: bool = False) -> kl.Graph:
    """A ring in a shuffled order, with chords; sums of floats are rounded."""
    rng = np.random.default_rng(n)
    order = rng.permutation(n)
    chords = rng.integers(0, n, (2, 2 * n))
    source = np.concatenate([order, chords[0]])
    target = np.concatenate([np.roll(order, -1), chords[1]])
    weights = rng.random(3 * n)
    if semiring == "max_times":
        weights = 0.5 + weights / 2
    elif negative:
        heights = 5 * rng.random(n)
        weights = weights + heights[source] - heights[target]
    if dtype.startswith("int"):
        weights = np.floor(100 * weights)
    return kl.Graph.from_edges(source, target, weights.astype(dtype), n=n)


def assert_equal_bits(got: kl.Result, wanted: kl.Result) -> None:
    assert got.values.tobytes() == wanted.values.tobytes()
    if wanted.predecessors is not None:
        assert np.array_equal(got.predecessors, wanted.predecessors)
