"""Graphs for the tests of closures in rounds, and what their results are compared by."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kleene as kl
from kleene.backends.cuda.runtime.device import open_device

#: Vertices that take four rounds in MEMORY, with predecessors and values of four bytes.
N, MEMORY = 300, "600K"


def graph(dtype: str | None = "float32", n: int = N, seed: int = 1, degree: int = 6) -> kl.Graph:
    """Return a random graph with weights from 0 to 1, or from 1 to 99."""
    rng = np.random.default_rng(seed)
    m = degree * n
    weights: Any = rng.random(m)
    weights = rng.integers(1, 99, m) if dtype == "int32" else weights
    ends = rng.integers(0, n, (2, m))
    return kl.Graph.from_edges(*ends, weights.astype(dtype or "float32"), n=n)


def allow_on_device(patch: pytest.MonkeyPatch, count: int) -> None:
    """Let the emulated device have this many bytes more than are allocated there."""
    allocated = open_device("emulated").allocated
    patch.setenv("KLEENE_DEVICE_MEMORY", str(allocated + count))


def same(found: kl.Result, right: kl.Result) -> None:
    """Require the same bits."""
    np.testing.assert_array_equal(np.asarray(found.values), np.asarray(right.values))
    if right.predecessors is not None:
        np.testing.assert_array_equal(found.predecessors, right.predecessors)
