"""On a real GPU: sizes around every edge of a tile, over every type and semiring, with paths.

Skipped where there is no GPU; ``KLEENE_TEST_DEVICE=emulated`` runs all of it in the emulator.
"""

from __future__ import annotations

import gc
import os
from typing import Any

import numpy as np
import pytest

import kleene as kl
from kleene.system.machine import this_machine

DEVICE = os.environ.get("KLEENE_TEST_DEVICE", "cuda")
pytestmark = pytest.mark.skipif(
    DEVICE not in this_machine().devices, reason=dict(this_machine().absent).get(DEVICE, "")
)

#: A tile has 128 rows, and 64, 128, 256 or 4096 columns.
SIZES = (1, 127, 128, 129, 255, 256, 257, 383, 513)
KINDS = [
    *(("min_plus", dtype) for dtype in ("float32", "float64", "int32", "int64", "hops")),
    *(("max_min", dtype) for dtype in ("float32", "float64", "int32", "int64")),
    *(("max_times", dtype) for dtype in ("float32", "float64")),
    ("boolean", "hops"),
]


def make(n: int, semiring: str, dtype: str, negative: bool = False) -> kl.Graph:
    """Return a graph that is connected in most parts; "hops" have no weights, and are short."""
    rng = np.random.default_rng(n)
    degree = 2 if semiring == "boolean" else 6
    s, t = rng.integers(0, n, (2, degree * n))
    if dtype == "hops":
        return kl.Graph.from_edges(s, t, n=n)
    weights = rng.random(len(s)) if semiring == "max_times" else rng.random(len(s)) * 1000
    weights = weights.astype(dtype)
    if negative:  # a walk downhill; no cycle is negative
        heights = (rng.random(n) * 3000).astype(dtype)
        weights = weights + heights[t] - heights[s]
    return kl.Graph.from_edges(s, t, weights, n=n)


def closure(g: kl.Graph, semiring: str, device: str = DEVICE, **options: Any) -> kl.Result:
    return kl.closure(g, semiring, method="tiled", device=device, **options)


@pytest.mark.parametrize("paths", [False, True], ids=["lengths", "paths"])
@pytest.mark.parametrize(("semiring", "dtype"), KINDS)
@pytest.mark.parametrize("n", SIZES)
def test_every_edge_of_a_tile(n: int, semiring: str, dtype: str, paths: bool) -> None:
    g = make(n, semiring, dtype)
    result = closure(g, semiring, predecessors=paths)
    proof = result.verify()
    assert proof.rows == n
    assert (result.predecessors is not None) == paths
    again = closure(g, semiring, device="cpu", predecessors=False)
    np.testing.assert_allclose(result.distances, again.distances, rtol=1e-5)


@pytest.mark.parametrize("paths", [False, True], ids=["lengths", "paths"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("n", [129, 383])
def test_negative_weights(n: int, dtype: str, paths: bool) -> None:
    g = make(n, "min_plus", dtype, negative=True)
    assert g.stats.negative
    closure(g, "min_plus", predecessors=paths).verify()


@pytest.mark.parametrize("paths", [False, True], ids=["lengths", "paths"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("at", [0, 127, 200, 511])
def test_negative_cycles(at: int, dtype: str, paths: bool) -> None:
    """A cycle through several tiles, far from or on their edges, is found and reported."""
    n = 513
    s, t = np.arange(n), np.roll(np.arange(n), -1)
    weights = np.ones(n, dtype)
    weights[at] = -n
    with pytest.raises(kl.NegativeCycleError) as caught:
        closure(kl.Graph.from_edges(s, t, weights, n=n), "min_plus", predecessors=paths)
    assert sorted(caught.value.cycle) == list(range(n))


def test_memory_of_the_caller(tmp_path: Any) -> None:
    g = make(257, "min_plus", "float32")
    whole = closure(g, "min_plus").distances
    out = np.empty_like(whole)
    assert closure(g, "min_plus", out=out).distances.base is not None
    assert (out == whole).all()
    closure(g, "min_plus", out=tmp_path / "all.npy")
    assert (np.load(tmp_path / "all.npy") == whole).all()
    some = closure(g, "min_plus", sources=[200, 3])
    assert (some.distances == whole[[200, 3]]).all()
    some.verify()


def test_a_thousand_calls_leave_nothing_behind() -> None:
    """Memory is given back, and calls in a row do not disturb each other."""
    from kleene.backends.cuda.runtime.device import open_device

    g = make(127, "min_plus", "int32")
    wanted = closure(g, "min_plus", device="cpu").distances
    for _ in range(1000 if DEVICE == "cuda" else 3):
        assert (closure(g, "min_plus").distances == wanted).all()
    gc.collect()
    assert getattr(open_device(DEVICE), "allocated", 0) == 0
