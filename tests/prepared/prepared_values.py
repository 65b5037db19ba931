"""Values of pairs by other means than the package's, and comparisons with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import prepared_reference

import kleene as kl
from kleene.backends.semiring import SEMIRINGS
from kleene.prepared.customization import Customization
from kleene.prepared.elimination import Elimination

INT32, INT64 = np.dtype(np.int32), np.dtype(np.int64)


def in_any_order(g: kl.Graph, seed: int = 0) -> Elimination:
    return prepared_reference.eliminate(g, np.random.default_rng(seed).permutation(g.n).tolist())


def widened(values: Any, like: Any, semiring: str) -> Any:
    """Return values of 32 bits as 64, where the others are."""
    if values.dtype == like.dtype:
        return values
    assert (values.dtype, like.dtype, semiring) == (INT32, INT64, "min_plus")
    none = values == np.iinfo(INT32).max // 2
    return np.where(none, np.iinfo(INT64).max // 2, values.astype(INT64))


def assert_same(found: Customization, expected: Customization, dtype: Any = None) -> None:
    for name in ("up", "down"):
        right = getattr(expected, name)
        np.testing.assert_array_equal(
            widened(getattr(found, name), right, found.semiring), right, name
        )
    assert (found.semiring, found.dtype, found.negative) == (
        expected.semiring,
        expected.dtype if dtype is None else dtype,
        expected.negative,
    )


def by_matrix(g: kl.Graph, e: Elimination, semiring: str, dtype: Any) -> Customization:
    """Eliminate one vertex after the other in the whole matrix: for graphs of some 100 vertices."""
    algebra, dtype = SEMIRINGS[semiring], np.dtype(dtype)
    matrix = np.full((g.n, g.n), algebra.zero(dtype), dtype=dtype)
    tails, heads, weights = g.coo
    plain = weights is None or dtype.kind == "b"
    matrix[e.ranks[tails], e.ranks[heads]] = 1 if plain else weights.astype(dtype)
    for v in range(g.n):
        above = slice(v + 1, None)
        offered = algebra.times(matrix[above, v, None], matrix[None, v, above])
        better = algebra.better(offered, matrix[above, above])
        matrix[above, above] = np.where(better, offered, matrix[above, above])
    low, high = np.repeat(np.arange(g.n), np.diff(e.offsets)), e.heads
    up, down = matrix[low, high], matrix[high, low]
    if semiring == "min_plus" and dtype.kind == "i":
        none = algebra.zero(dtype)
        up, down = (np.where(a == none, none // 2, a).astype(dtype) for a in (up, down))
    if dtype.kind == "b":
        up, down = up.view(np.uint8), down.view(np.uint8)
    negative = not plain and bool((weights < 0).any())
    return Customization(semiring, dtype, negative, up, down)


def unpacked(e: Elimination, middles: Any, tail: int, head: int) -> list[int]:
    """Return the ranks on the path that a pair stands for."""
    low, high = sorted((tail, head))
    row = e.heads[e.offsets[low] : e.offsets[low + 1]].tolist()
    middle = int(middles[tail > head][e.offsets[low] + row.index(high)])
    if middle < 0:
        return [tail, head]
    assert middle < low
    return unpacked(e, middles, tail, middle)[:-1] + unpacked(e, middles, middle, head)


def pairs_of(e: Elimination) -> list[tuple[int, int]]:
    low = np.repeat(np.arange(e.n), np.diff(e.offsets))
    return list(zip(low.tolist(), e.heads.tolist(), strict=True))
