"""Products of matrices over semirings: every device, type and shape against their definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emulators import needs_checked
from fences import fenced
from hypothesis import given
from hypothesis import strategies as st
from product_samples import CASES, DEVICES, TYPES, by_numpy, expected, factor, nothing

import kleene as kl
from kleene import _native
from kleene.backends.cuda.tuning import closure as tuning
from kleene.registry.algebra import PRODUCT_SEMIRINGS

SHAPES = [(1, 1, 1), (1, 300, 130), (65, 129, 200), (129, 600, 3)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("semiring", "dtype"), CASES)
@pytest.mark.parametrize("device", DEVICES)
def test_products(device: str, semiring: str, dtype: str, shape: tuple[int, int, int]) -> None:
    rows, depth, columns = shape
    rng = np.random.default_rng(depth)
    a = factor(rng, (rows, depth), semiring, dtype)
    b = factor(rng, (depth, columns), semiring, dtype)
    kind = "float64" if semiring == "max_times" and dtype.startswith("int") else dtype
    values, inner = by_numpy(a, b, semiring, kind)
    got = kl.product(a, b, semiring, device=device)
    assert got.dtype == kind
    assert np.array_equal(got, values)
    got, chosen = kl.product(a, b, semiring, argmin=True, device=device)
    assert (got.dtype, chosen.dtype) == (kind, np.int32)
    assert np.array_equal(got, values)
    assert np.array_equal(chosen, inner)


@pytest.mark.parametrize(("semiring", "dtype"), CASES)
def test_the_quick_oracle_is_right(semiring: str, dtype: str) -> None:
    rng = np.random.default_rng(5)
    a, b = factor(rng, (6, 9), semiring, dtype), factor(rng, (9, 7), semiring, dtype)
    kind = "float64" if semiring == "max_times" and dtype.startswith("int") else dtype
    for got, wanted in zip(
        by_numpy(a, b, semiring, kind), expected(a, b, semiring, kind), strict=True
    ):
        assert np.array_equal(got, wanted)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("semiring", "dtype"), CASES)
def test_empty_extents(device: str, semiring: str, dtype: str) -> None:
    for rows, depth, columns in [(0, 3, 4), (3, 0, 4), (3, 4, 0), (0, 0, 0)]:
        a, b = np.zeros((rows, depth), dtype), np.zeros((depth, columns), dtype)
        kind = "float64" if semiring == "max_times" and dtype.startswith("int") else dtype
        values, inner = kl.product(a, b, semiring, argmin=True, device=device)
        assert (values.shape, values.dtype) == ((rows, columns), kind)
        assert (values == nothing(semiring, kind)).all()
        assert (inner.shape, inner.dtype) == ((rows, columns), np.int32)
        assert (inner == -1).all()


@pytest.mark.parametrize("device", DEVICES)
def test_no_path_at_all(device: str) -> None:
    for semiring, dtype in CASES:
        a = np.full((5, 40), nothing(semiring, dtype))
        b = np.full((40, 6), nothing(semiring, dtype))
        for left, right in ((a, b), (a, np.ones_like(b)), (np.ones_like(a), b)):
            values, inner = kl.product(left, right, semiring, argmin=True, device=device)
            assert (values == nothing(semiring, values.dtype)).all(), (semiring, dtype)
            assert (inner == -1).all(), (semiring, dtype)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("semiring", PRODUCT_SEMIRINGS)
def test_ties_are_for_the_smallest_position(device: str, semiring: str) -> None:
    """Also across the blocks of 96, 128 and 512 inner positions that engines take."""
    dtype = bool if semiring == "boolean" else np.float32
    for first in (0, 1, 95, 96, 127, 128, 511, 512, 699):
        a, b = np.ones((2, 700), dtype), np.ones((700, 3), dtype)
        a[:, :first] = nothing(semiring, dtype)
        assert (kl.product(a, b, semiring, argmin=True, device=device)[1] == first).all()


@pytest.mark.parametrize("device", DEVICES)
def test_zeros_of_either_sign_are_equal(device: str) -> None:
    for semiring in ("min_plus", "max_plus", "max_min", "max_times"):
        for dtype in (np.float32, np.float64):
            a, b = np.zeros((3, 8), dtype), np.zeros((8, 2), dtype)
            a[:, 3:], b[5:] = -0.0, -0.0
            values, inner = kl.product(a, b, semiring, argmin=True, device=device)
            assert (values == 0).all()
            assert (inner == (-1 if semiring == "max_times" else 0)).all(), semiring


@pytest.mark.parametrize("device", DEVICES)
def test_infinite_entries(device: str) -> None:
    inf = np.inf
    a = np.array([[inf, 2.0], [-inf, inf], [-inf, -inf]], np.float32)
    b = np.array([[3.0, inf], [-inf, 7.0]], np.float32)
    values, inner = kl.product(a, b, "max_min", argmin=True, device=device)
    assert values.tolist() == [[3.0, inf], [-inf, 7.0], [-inf, -inf]]
    assert inner.tolist() == [[0, 0], [-1, 1], [-1, -1]]


# ---- laws ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("semiring", ["min_plus", "max_min", "max_times", "boolean"])
def test_a_closure_is_a_fixed_point(semiring: str) -> None:
    g = kl.generate.uniform(70, 300, weights=(0.1, 0.9), seed=4)
    closed = kl.closure(g, semiring).values
    again = kl.product(closed, closed, semiring)
    if semiring in ("max_min", "boolean"):
        assert np.array_equal(again, closed)
    else:
        assert np.allclose(again, closed, rtol=1e-12)
    # Repeated squaring of the arcs and empty paths gives the closure.
    arcs = np.full((g.n, g.n), nothing(semiring, closed.dtype), closed.dtype)
    tails, heads, weights = g.coo
    arcs[tails, heads] = True if semiring == "boolean" else weights
    np.fill_diagonal(arcs, closed.diagonal())
    for _ in range(7):
        arcs = kl.product(arcs, arcs, semiring)
    assert np.allclose(arcs, closed, rtol=1e-12)


@given(st.data())
def test_products_are_associative_and_transpose(data: Any) -> None:
    semiring = data.draw(st.sampled_from(PRODUCT_SEMIRINGS))
    extents = [data.draw(st.integers(1, 12)) for _ in range(4)]
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    dtype = {"boolean": "bool", "max_times": "float64"}.get(semiring, "int32")
    a, b, c = (factor(rng, (extents[i], extents[i + 1]), semiring, dtype, 0.5) for i in range(3))
    left = kl.product(kl.product(a, b, semiring), c, semiring)
    right = kl.product(a, kl.product(b, c, semiring), semiring)
    assert np.array_equal(left, right)
    swapped = kl.product(b.T, a.T, semiring)
    assert np.array_equal(swapped.T, kl.product(a, b, semiring))


def test_threads_do_not_matter() -> None:
    rng = np.random.default_rng(8)
    a, b = rng.random((211, 307)), rng.random((307, 190))
    wanted = kl.product(a, b, argmin=True, threads=1, device="cpu")
    for threads in (2, 5):
        got = kl.product(a, b, argmin=True, threads=threads, device="cpu")
        assert all(np.array_equal(x, y) for x, y in zip(got, wanted, strict=True))


def test_ends_of_entries() -> None:
    """Around the lanes of the native loop, and the parts that threads take."""
    rng = np.random.default_rng(1)
    for dtype in TYPES:
        none = nothing("min_plus", dtype)
        for size in (1, 2, 15, 16, 17, 63, 64, 65, 200_000):
            values = rng.integers(-99, 99, size).astype(dtype)
            values[rng.random(size) < 0.5] = none
            rest = values[values != none]
            wanted = (rest.min(), rest.max(), False) if rest.size else (None, None, False)
            assert _native.closure_ends(fenced(values), none.item(), 3) == wanted
    for at in (0, 17, 99_999):
        values = np.ones(100_000, np.float32)
        values[at] = np.nan
        assert _native.closure_ends(values, np.inf, 3) == (1.0, 1.0, True)


@pytest.mark.skipif("emulated" not in DEVICES, reason="built without the emulator")
def test_bands_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Large products are launched in parts."""
    rng = np.random.default_rng(9)
    a, b = (
        factor(rng, (400, 600), "min_plus", "int32"),
        factor(rng, (600, 200), "min_plus", "int32"),
    )
    for tiles in (1, 3, 6, 100):
        monkeypatch.setattr(tuning, "PRODUCT_TILES", tiles)
        got = kl.product(a, b, argmin=True, device="emulated")
        wanted = kl.product(a, b, argmin=True, device="cpu")
        assert all(map(np.array_equal, got, wanted))


@needs_checked
@pytest.mark.parametrize("seed", [0, 5])
@pytest.mark.parametrize(("semiring", "dtype"), CASES)
def test_under_the_checked_emulator(
    semiring: str, dtype: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KLEENE_EMULATOR", "checked")
    monkeypatch.setenv("KLEENE_EMULATOR_SEED", str(seed))
    rng = np.random.default_rng(6)
    a, b = factor(rng, (33, 70), semiring, dtype), factor(rng, (70, 40), semiring, dtype)
    for argmin in (False, True):
        got = kl.product(a, b, semiring, argmin=argmin, device="emulated")
        wanted = kl.product(a, b, semiring, argmin=argmin, device="reference")
        assert np.array_equal(got, wanted) if not argmin else all(map(np.array_equal, got, wanted))
