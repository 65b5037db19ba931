"""Whether rows of a closed matrix are right: Dijkstra's algorithm finds them again, in NumPy.

With paths, every predecessor of those rows must be tight and lead to the source.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.lab.dense_inputs import Array, Case

__all__ = ["best_row", "require_paths", "require_row"]

_ALGEBRA: dict[str, tuple[Any, Any, Any, float, float]] = {
    # extend a path, the better of two, the place of the best, no path, the empty path
    "min_plus": (np.add, np.minimum, np.argmin, np.inf, 0.0),
    "max_min": (np.minimum, np.maximum, np.argmax, -np.inf, np.inf),
    "max_times": (np.multiply, np.maximum, np.argmax, -np.inf, 1.0),
}


def best_row(case: Case, matrix: Array, source: int, heights: Array) -> Array:
    """Return what leads from a source to every vertex, by settling the best vertex again and again.

    Where weights are negative, arcs count as if the ground were level, which makes them positive,
    and the row is put right after.
    """
    if case.semiring == "boolean":
        return _reached(matrix, source)
    extend, better, place, worst, empty = _ALGEBRA[case.semiring]
    n = len(matrix)
    level = heights[:n] if case.negative else np.zeros(n)
    waiting, row, todo = np.full(n, worst), np.empty(n), np.ones(n, bool)
    waiting[source] = empty
    for _ in range(n):
        u = int(place(waiting))
        row[u], waiting[u], todo[u] = waiting[u], worst, False
        arcs = matrix[u].astype(np.float64)
        if case.negative:
            arcs -= level - level[u]
        better(waiting, extend(row[u], arcs), out=waiting, where=todo)
    results: Array = row + level - level[source]
    return results


def _reached(words: Array, source: int) -> Array:
    n = len(words)
    seen = np.zeros(n, bool)
    new = np.array([source])
    while len(new):
        seen[new] = True
        union = np.bitwise_or.reduce(words[new], axis=0)
        new = np.flatnonzero(_unpacked(union, n) & ~seen)
    return seen


def _unpacked(words: Array, n: int) -> Array:
    """Return the truth values of a row of bits."""
    return np.unpackbits(words.view(np.uint8), bitorder="little")[:n].astype(bool)


def _require_near(case: Case, results: Array, wanted: Array, texts: str) -> None:
    relative, absolute = 1e-5, 5e-3 if case.negative else 0.0
    if case.dtype == "float64":
        relative, absolute = 1e-12, 0.0
    np.testing.assert_allclose(results, wanted, relative, absolute, err_msg=texts)


def require_row(case: Case, row: Array, wanted: Array, source: int) -> None:
    """Raise AssertionError if a row of an answer is not what it should be."""
    texts = f"{case.name}: row {source}"
    if case.semiring == "boolean":
        assert (_unpacked(row, len(wanted)) == wanted).all(), texts
        return
    got, right = row.astype(np.float64), wanted.copy()
    got[source], right[source] = 0, 0  # the empty path: nothing to compute
    _require_near(case, got, right, texts)


def require_paths(case: Case, matrix: Array, closed: Array, last: Array, source: int) -> None:
    """Raise AssertionError if predecessors in a row are not those of best paths from its source."""
    row = closed.astype(np.float64)
    # Where rounding hides who comes before, nobody is named, and the caller looks again.
    others = np.flatnonzero((np.arange(len(row)) != source) & (last >= 0))
    unknown = len(row) - 1 - len(others)
    few = len(row) // 100 if case.recovered and case.dtype[0] == "f" else 0
    assert unknown <= few, f"{case.name}: {unknown} predecessors of row {source} are missing"
    before = last[others]
    extend, empty = _ALGEBRA[case.semiring][0], _ALGEBRA[case.semiring][4]
    row[source] = empty
    by = extend(row[before], matrix[before, others].astype(np.float64))
    _require_near(case, by, row[others], f"{case.name}: paths of row {source}")
    ancestor = np.where(last >= 0, last, source).astype(np.int64)
    ancestor[source] = source
    for _ in range(len(row).bit_length()):  # twice as far each time
        ancestor = ancestor[ancestor]
    assert (ancestor == source).all(), f"{case.name}: a path of row {source} does not end"
