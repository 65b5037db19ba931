"""Panels of a matrix, closed one after the other, give the bits of the whole matrix in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kleene import _native

Array = NDArray[Any]

STEP = _native.closure_panel_step
KINDS = [
    ("min_plus", "float32"),
    ("min_plus", "float64"),
    ("min_plus", "int16"),
    ("min_plus", "int32"),
    ("min_plus", "int64"),
    ("max_min", "float32"),
    ("max_min", "int64"),
    ("max_times", "float32"),
    ("boolean", "uint64"),
]


def matrix_of(semiring: str, dtype: str, n: int, seed: int) -> tuple[Array, Any]:
    """Return a random matrix of arcs, and what means no path there."""
    rng = np.random.default_rng(seed)
    if dtype == "uint64":
        bits = np.zeros((n, -(-n // 64) * 64), bool)
        bits[:, :n] = (rng.random((n, n)) < 2 / n) | np.eye(n, dtype=bool)
        return np.packbits(bits, axis=1, bitorder="little").view(np.uint64), None
    whole = dtype.startswith("i")
    values = (rng.random((n, n)) * (50 if whole else 1)).astype(dtype)
    highest = np.iinfo(dtype).max if whole else np.inf
    lowest = np.iinfo(dtype).min if whole else -np.inf
    none, empty = {
        "min_plus": (highest // 2 if whole else np.inf, 0),
        "max_min": (lowest, highest),
        "max_times": (0, 1),
    }[semiring]
    values[rng.random((n, n)) > 0.1] = none
    np.fill_diagonal(values, empty)
    return values, none


def in_panels(semiring: str, values: Array, links: Array | None, n: int, sizes: Any) -> None:
    """Close a matrix in place by panels of some vertices and bands of some rows."""
    vertices, band, threads = sizes

    def rows(first: int, stop: int) -> tuple[Array, Array | None]:
        return values[first:stop], None if links is None else links[first:stop]

    for first in range(0, n, vertices):
        stop = min(first + vertices, n)
        panel = _native.closure_panel(semiring, *rows(first, stop), n, first, threads)
        assert panel is not None
        for begin, end in ((0, first), (stop, n)):
            for row in range(begin, end, band):
                panel.relax(*rows(row, min(row + band, end)), row, threads)


@pytest.mark.parametrize("sizes", [(STEP, 1000, 1), (2 * STEP, 50, 3), (3 * STEP, 7, 2)])
@pytest.mark.parametrize("n", [1, STEP - 1, STEP + 1, 200, 333])
@pytest.mark.parametrize(("semiring", "dtype"), KINDS)
def test_panels_give_the_bits_of_the_whole(semiring: str, dtype: str, n: int, sizes: Any) -> None:
    for paths in (False, True) if np.dtype(dtype).itemsize >= 4 and dtype != "uint64" else (False,):
        values, none = matrix_of(semiring, dtype, n, seed=n)
        links = None
        if paths:
            tails = np.arange(n, dtype=np.int32)[:, None]
            links = np.where(values == none, np.int32(-1), tails)
            np.fill_diagonal(links, -1)
        right, right_links = values.copy(), None if links is None else links.copy()
        assert _native.closure("tiled", semiring, right, right_links, 2)
        in_panels(semiring, values, links, n, sizes)
        np.testing.assert_array_equal(values, right)
        if links is not None:
            np.testing.assert_array_equal(links, right_links)


@pytest.mark.parametrize("where", [0, 95, 96, 150])
def test_a_negative_cycle_is_found_in_the_panel_of_its_last_vertex(where: int) -> None:
    n = 200
    values, _ = matrix_of("min_plus", "float32", n, 0)
    values[where, 199], values[199, where] = -5, -5
    found = []
    for first in range(0, n, STEP):
        stop = min(first + STEP, n)
        panel = _native.closure_panel("min_plus", values[first:stop], None, n, first, 2)
        found.append(panel is None)
        if panel is None:
            break
        panel.relax(values[:first], None, 0, 2)
        panel.relax(values[stop:], None, stop, 2)
    assert found == [False, False, True]


def test_rows_are_filled_from_any_vertex_on() -> None:
    n = 70
    weights = np.random.default_rng(0).random((n, n)).astype(np.float32)
    whole, links = np.empty((n, n), np.float32), np.empty((n, n), np.int32)
    _native.closure_fill_from_matrix("min_plus", weights, np.inf, whole, links, 1)
    some, own = np.empty((9, n), np.float32), np.empty((9, n), np.int32)
    _native.closure_fill_from_matrix("min_plus", weights, np.inf, some, own, 2, 61)
    np.testing.assert_array_equal(some, whole[61:])
    np.testing.assert_array_equal(own, links[61:])


def test_wrong_arrays_are_refused() -> None:
    rows, links = np.zeros((10, 50), np.float32), np.zeros((10, 50), np.int32)
    for bad in (
        (rows, None, 49, 0),  # another width
        (rows, None, 50, 41),  # past the end
        (rows, None, 50, -1),
        (rows, links[:9], 50, 0),
        (rows.astype(np.int16), links, 50, 0),  # which has no paths
        (np.zeros((10, 1), np.uint64), links, 50, 0),
    ):
        with pytest.raises(TypeError):
            _native.closure_panel("min_plus", *bad, 1)
    panel = _native.closure_panel("min_plus", rows, None, 50, 0, 1)
    assert panel is not None
    for other, paths in ((rows, links), (rows.astype(np.float64), None), (rows[:, :49], None)):
        with pytest.raises(TypeError):
            panel.relax(np.ascontiguousarray(other), paths, 10, 1)
