"""Prepared graphs for tests on a device, and fixtures for small pieces and other schedules.

``KLEENE_TEST_DEVICE=cuda`` runs these tests on a GPU.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from emulators import CHECKED

import kleene as kl
from kleene.backends.cuda.prepared import batches
from kleene.backends.cuda.tuning import prepared as tuning
from kleene.prepared.customization import Customization, customize
from kleene.prepared.elimination import Elimination, eliminate
from kleene.system.machine import this_machine

DEVICE = os.environ.get("KLEENE_TEST_DEVICE", "emulated")
needs_device = pytest.mark.skipif(
    DEVICE not in this_machine().devices, reason=dict(this_machine().absent).get(DEVICE, "")
)
in_emulator = pytest.mark.skipif(DEVICE != "emulated", reason="looks into the emulator")

KINDS = ["int32", "int64", "float32", "float64"]
NONE = np.iinfo(np.int32).max
SEMIRINGS = ["min_plus", "max_min", "max_times", "boolean"]


@pytest.fixture(params=["", "3", pytest.param("checked", id="checked")])
def schedule(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """In order, in another order, and in another order while every access is watched."""
    if request.param and DEVICE != "emulated":
        pytest.skip("a GPU has a schedule of its own")
    if request.param == "checked":
        if not CHECKED:
            pytest.skip("built without the checked emulator")
        monkeypatch.setenv("KLEENE_EMULATOR", "checked")
    monkeypatch.setenv("KLEENE_EMULATOR_SEED", "5" if request.param == "checked" else request.param)


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many pieces even of small graphs."""
    monkeypatch.setattr(tuning, "PIECE_VERTICES", 6)
    monkeypatch.setattr(tuning, "PIECE_RATIO", 2)


def sample(n: int, kind: str | None = "int32", seed: int = 0, directed: bool = True) -> kl.Graph:
    """A grid with some arcs left out, some one way, and some of its vertices apart."""
    rng = np.random.default_rng([n, seed])
    side = int(np.ceil(np.sqrt(n)))
    here = np.arange(n)
    right, below = here[(here % side < side - 1) & (here + 1 < n)], here[here + side < n]
    tails, heads = np.r_[right, below], np.r_[right + 1, below + side]
    if directed:
        tails, heads = np.r_[tails, heads], np.r_[heads, tails]
    kept = rng.random(len(tails)) < 0.85
    tails, heads = tails[kept], heads[kept]
    weights = None
    if kind is not None:
        weights = rng.integers(1, 50, len(tails)).astype(kind)
        if weights.dtype.kind == "f":
            weights /= 64
    return kl.Graph.from_edges(tails, heads, weights, n=n, directed=directed)


def prepared(
    g: kl.Graph, semiring: str = "min_plus", dtype: Any = None, seed: int | None = None
) -> tuple[Elimination, Customization]:
    """Eliminated by nested dissection, or in a random order."""
    order = None if seed is None else np.random.default_rng(seed).permutation(g.n)
    elimination = eliminate(g, order)
    if dtype is None:
        dtype = bool if semiring == "boolean" else g.weight_dtype or np.int32
    return elimination, customize(elimination, g, semiring, dtype=dtype)


def all_trees(elimination: Elimination, customization: Customization, **options: Any) -> Any:
    sources = options.pop("sources", np.arange(elimination.n))
    values = np.empty((len(sources), elimination.n), customization.dtype)
    batches.trees(elimination, customization, sources, values, device=DEVICE, **options)
    return values


def expected(g: kl.Graph, semiring: str, dtype: Any) -> Any:
    if semiring == "min_plus":
        found = kl.apsp(g, device="cpu", predecessors=False, method="tiled", dtype=dtype)
    else:
        found = kl.closure(g, semiring, device="cpu", predecessors=False, method="tiled")
    return found.distances


def assert_equal(got: Any, want: Any) -> None:
    if got.dtype.kind == "f":
        np.testing.assert_allclose(got, want, rtol=1e-5 if got.dtype == np.float32 else 1e-12)
    else:
        np.testing.assert_array_equal(got, want)
