"""A small town, and what the tests of prepared graphs compare by."""

from __future__ import annotations

import itertools
from typing import Any

import graphs
import numpy as np

import kleene as kl

TOWN = kl.generate.grid(7, 9, weights=(1, 9), seed=4)
STREETS = {
    "source": ["a", "b", "c", "a", "d"],
    "target": ["b", "c", "d", "d", "e"],
    "weight": [2, 3, 4, 12, 1],
}


def same(found: Any, right: Any) -> None:
    """Integers must agree exactly, floats up to the order of their sums."""
    found, right = np.asarray(found), np.asarray(right)
    assert found.dtype == right.dtype
    assert found.shape == right.shape
    if right.dtype.kind == "f":
        np.testing.assert_allclose(found, right, rtol=1e-5 if right.dtype.itemsize == 4 else 1e-12)
    else:
        assert np.array_equal(found, right)


def length_of(g: kl.Graph, path: list[Any]) -> Any:
    arcs = graphs.arcs_of(g)
    return sum(arcs[tail, head] for tail, head in itertools.pairwise(path))
