"""Distances in place, in host memory and on a device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kleene as kl
from kleene.backends.cuda.closure.tiled import close_in_place
from kleene.backends.cuda.runtime.emulated_device import EmulatedDevice
from kleene.backends.cuda.runtime.interface import Array


def lengths(n: int, dtype: str = "float32") -> np.ndarray[Any, Any]:
    """Some arcs; negative ones make no cycle, since they follow potentials."""
    rng = np.random.default_rng(n)
    heights = rng.integers(0, 9, n)
    made = rng.integers(1, 50, (n, n)) + heights[:, None] - heights
    found = np.where(rng.random((n, n)) < 8 / max(n, 8), made, np.inf).astype(dtype)
    np.fill_diagonal(found, np.where(np.arange(n) % 2 == 0, np.inf, 5))
    return found


def wanted(matrix: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    arcs = matrix.astype(np.float64)
    np.fill_diagonal(arcs, 0)
    for k in range(len(arcs)):
        np.minimum(arcs, arcs[:, k, None] + arcs[k], out=arcs)
    return arcs


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [0, 1, 5, 130, 300])
def test_in_place(n: int, dtype: str) -> None:
    matrix = lengths(n, dtype)
    right = wanted(matrix)
    device = EmulatedDevice(seed=n)
    there = device.upload(matrix, "lengths")
    assert close_in_place(device, there, lambda done, total: None)
    assert np.array_equal(device.download(there), right)
    assert kl.close_distances(matrix) is matrix
    assert np.array_equal(matrix, right)


def test_a_part_of_an_array_is_enough() -> None:
    device = EmulatedDevice()
    whole = np.full((200, 220), -7, np.float32)
    whole[10:160, 30:180] = lengths(150)
    right = wanted(whole[10:160, 30:180])
    there = device.upload(whole)
    assert close_in_place(device, there[10:160, 30:180], lambda done, total: None)
    got = device.download(there)
    assert np.array_equal(got[10:160, 30:180], right)
    got[10:160, 30:180] = -7
    assert (got == -7).all()


@pytest.mark.parametrize("loop", [False, True])
def test_a_negative_cycle_leaves_the_matrix_alone(loop: bool) -> None:
    matrix = lengths(140)
    matrix[(3, 3) if loop else (3, 90)] = -500
    matrix[90, 3] = 1
    before = matrix.copy()
    with pytest.raises(kl.NegativeCycleError) as caught:
        kl.close_distances(matrix)
    assert 3 in caught.value.cycle
    device = EmulatedDevice()
    there = device.upload(matrix)
    assert not close_in_place(device, there, lambda done, total: None)
    for found in (matrix, device.download(there)):
        assert np.array_equal(found, before)


def test_what_is_refused() -> None:
    for wrong, words in (
        (np.zeros((2, 3)), "square"),
        (np.zeros(4), "square"),
        (np.zeros((2, 2), int), "float32 or float64"),
        ([[0.0]], "not list"),
    ):
        with pytest.raises(kl.RequestError, match=words):
            kl.close_distances(wrong)
    fixed = np.zeros((2, 2))
    fixed.flags.writeable = False
    with pytest.raises(kl.RequestError, match="read-only"):
        kl.close_distances(fixed)
    made = Array.new(256, (2, 3), np.float32, None)
    with pytest.raises(kl.RequestError, match="square"):
        kl.close_distances(made)
