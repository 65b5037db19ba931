"""Products of rectangular tiles, and tiles of a matrix of arcs: native steps of blocked rounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fences import fenced

from kleene import _native
from kleene.backends.semiring import SEMIRINGS

Array = np.ndarray[Any, np.dtype[Any]]

SHAPES = [(1, 1, 1), (5, 7, 3), (64, 64, 64), (25, 200, 65), (100, 97, 130)]  # rows, depth, columns
TYPES = {
    "min_plus": ("float32", "float64", "int16", "int32", "int64"),
    "max_min": ("float32", "float64", "int32", "int64"),
    "max_times": ("float32", "float64"),
}


def numbers(rng: np.random.Generator, shape: tuple[int, int], dtype: str, low: int = 0) -> Array:
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return (rng.random(shape) + low).astype(kind)
    return rng.integers(1000 * low, 1000, shape).astype(kind)


def packed(bits: Array) -> Array:
    words = np.zeros((len(bits), -(-bits.shape[1] // 64)), np.uint64)
    for v in range(bits.shape[1]):
        words[:, v // 64] |= bits[:, v].astype(np.uint64) << np.uint64(v % 64)
    return words


@pytest.mark.parametrize("paths", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("semiring", TYPES)
def test_a_product_takes_the_best_and_its_predecessor(
    semiring: str, shape: tuple[int, int, int], paths: bool
) -> None:
    rng = np.random.default_rng(sum(shape))
    rows, depth, columns = shape
    for dtype in TYPES[semiring]:
        if dtype == "int16" and paths:
            continue
        for low in (0, -1) if semiring == "min_plus" else (0,):
            left, right = (numbers(rng, s, dtype, low) for s in ((rows, depth), (depth, columns)))
            values = numbers(rng, (rows, columns), dtype, low)
            found, before = (
                rng.integers(0, 99, s).astype(np.int32) for s in (values.shape, right.shape)
            )
            best, links = values.copy(), found.copy()
            for k in range(depth):
                candidate = SEMIRINGS[semiring].times(left[:, k, None], right[k])
                better = SEMIRINGS[semiring].better(candidate, best)
                best[better] = candidate[better]
                links[better] = np.broadcast_to(before[k], links.shape)[better]
            for threads in (1, 3):
                got, got_links = fenced(values), fenced(found) if paths else None
                _native.closure_multiply(
                    semiring, fenced(left), fenced(right), fenced(before) if paths else None,
                    got, got_links, depth, columns, threads,
                )  # fmt: skip
                assert np.array_equal(got, best), (dtype, low)
                assert got_links is None or np.array_equal(got_links, links), (dtype, low)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_product_of_bits(shape: tuple[int, int, int]) -> None:
    rng = np.random.default_rng(sum(shape))
    rows, depth, columns = shape
    left, right, values = (
        rng.random(s) < 0.1 for s in ((rows, depth), (depth, columns), (rows, columns))
    )
    got = fenced(packed(values))
    _native.closure_multiply(
        "boolean", packed(left), packed(right), None, got, None, depth, columns, 2
    )
    wanted = values | (left.astype(int) @ right.astype(int) > 0)
    assert np.array_equal(got, packed(wanted))


def test_a_product_of_the_wrong_shapes_is_refused() -> None:
    square, other = np.zeros((4, 4)), np.zeros((4, 5))
    for arrays in ((other, square, square), (square, other, square), (square, square, other)):
        left, right, values = arrays
        with pytest.raises(TypeError):
            _native.closure_multiply("min_plus", left, right, None, values, None, 4, 4, 1)
    links = np.zeros((4, 4), np.int32)
    with pytest.raises(TypeError):  # predecessors of the right factor alone
        _native.closure_multiply("min_plus", square, square, links, square.copy(), None, 4, 4, 1)
    short = square.astype(np.int16)
    with pytest.raises(TypeError):  # a type without predecessors
        _native.closure_multiply("min_plus", short, short, None, short.copy(), links, 4, 4, 1)


@pytest.mark.parametrize("dtype", ["float64", "uint64"])
def test_tiles_of_arcs_are_parts_of_the_matrix(dtype: str) -> None:
    n, side = 150, 64
    rng = np.random.default_rng(1)
    entries = np.where(rng.random((n, n)) < 0.1, rng.integers(-3, 9, (n, n)), np.inf)
    offsets, neighbors, weights = _native.csr_from_matrix(entries, True, 1)
    bits, none = dtype == "uint64", 0 if dtype == "uint64" else np.inf

    def filled(rows: range, columns: range) -> tuple[Array, Array | None]:
        width = -(-len(columns) // 64) if bits else len(columns)
        matrix = fenced(np.empty((len(rows), width), dtype))
        links = None if bits else fenced(np.empty(matrix.shape, np.int32))
        _native.closure_fill(
            "boolean" if bits else "min_plus", offsets, neighbors, None if bits else weights, None,
            none, matrix, links, 2, rows.start, columns.start, len(columns),
        )  # fmt: skip
        return matrix, links

    whole, predecessors = filled(range(n), range(n))
    step = 1 if bits else 64
    ranges = [range(first, min(first + side, n)) for first in range(0, n, side)]
    for i, rows in enumerate(ranges):
        for j, columns in enumerate(ranges):
            tile, links = filled(rows, columns)
            part = (slice(rows.start, rows.stop), slice(j * step, j * step + tile.shape[1]))
            assert np.array_equal(tile, whole[part]), (i, j)
            assert predecessors is None or np.array_equal(links, predecessors[part])  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        filled(range(n), range(1, n + 1))
