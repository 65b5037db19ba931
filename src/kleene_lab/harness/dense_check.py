"""A check for rows of dense closures: Dijkstra's algorithm in NumPy computes them again.

With paths, every predecessor of those rows must be tight and lead to the source. It reads the
matrix, where `Result.verify` would make compressed rows of all arcs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene_lab.harness.dense_inputs import Array, Case

__all__ = ["best_row", "require_paths", "require_row"]

_ALGEBRA: dict[str, tuple[Any, Any, Any, float, float]] = {
    # extend a path, the better of two, the place of the best, no path, the empty path
    "min_plus": (np.add, np.minimum, np.argmin, np.inf, 0.0),
    "max_min": (np.minimum, np.maximum, np.argmax, -np.inf, np.inf),
    "max_times": (np.multiply, np.maximum, np.argmax, -np.inf, 1.0),
    "boolean": (np.minimum, np.maximum, np.argmax, -np.inf, 1.0),  # a path of width one
}


def best_row(case: Case, matrix: Array, source: int, heights: Array) -> Array:
    """Return the values from a source to every vertex, settling the best vertex in each step.

    Negative weights are reduced by the potentials they were made from, which makes them positive.
    """
    extend, better, place, no_path, empty = _ALGEBRA[case.semiring]
    if case.semiring == "boolean":
        return _arcs(_reached(matrix, source), no_path)
    n = len(matrix)
    level = heights[:n] if case.negative else np.zeros(n)
    waiting, row, todo = np.full(n, no_path), np.empty(n), np.ones(n, bool)
    waiting[source] = empty
    for _ in range(n):
        u = int(place(waiting))
        if waiting[u] == no_path:
            break
        row[u], waiting[u], todo[u] = waiting[u], no_path, False
        arcs = _arcs(matrix[u], no_path)
        if case.negative:
            arcs -= level - level[u]
        better(waiting, extend(row[u], arcs), out=waiting, where=todo)
    row[todo] = no_path
    values: Array = row + level - level[source]
    return values


def _reached(matrix: Array, source: int) -> Array:
    """Return which vertices a breadth-first search reaches."""
    reached, frontier = np.zeros(len(matrix), bool), np.array([source])
    while len(frontier):
        reached[frontier] = True
        frontier = np.flatnonzero(matrix[frontier].any(axis=0) & ~reached)
    return reached


def _arcs(entries: Array, no_path: float) -> Array:
    """Return weights of arcs; those of truth values are one."""
    return np.where(entries, 1.0, no_path) if entries.dtype == bool else entries.astype(np.float64)


def _values(case: Case, row: Array) -> Array:
    """Return a row of an answer as float64, with the algebra's value for no path."""
    no_path = _ALGEBRA[case.semiring][3]
    if row.dtype == bool:
        return _arcs(row, no_path)
    values = row.astype(np.float64)
    if row.dtype.kind == "i":
        values[row == np.iinfo(row.dtype).max] = no_path
    return values


def _require_near(case: Case, values: Array, wanted: Array, message: str) -> None:
    relative, absolute = 1e-5, 5e-3 if case.negative else 0.0
    if case.dtype == "float64":
        relative, absolute = 1e-12, 0.0
    np.testing.assert_allclose(values, wanted, relative, absolute, err_msg=message)


def require_row(case: Case, row: Array, wanted: Array, source: int) -> None:
    """Raise AssertionError if a row of an answer is wrong."""
    values, right = _values(case, row), wanted.copy()
    values[source], right[source] = 0, 0  # the empty path: nothing to compute
    _require_near(case, values, right, f"{case.name}: row {source}")


def require_paths(case: Case, matrix: Array, row: Array, predecessors: Array, source: int) -> None:
    """Raise AssertionError if predecessors in a row are not those of best paths from its source."""
    values = _values(case, row)
    extend, _, _, no_path, empty = _ALGEBRA[case.semiring]
    others = np.flatnonzero((np.arange(len(values)) != source) & (values != no_path))
    before = predecessors[others]
    missing = int((before < 0).sum())
    assert not missing, f"{case.name}: {missing} predecessors of row {source} are missing"
    values[source] = empty
    by = extend(values[before], matrix[before, others].astype(np.float64))
    _require_near(case, by, values[others], f"{case.name}: paths of row {source}")
    ancestor = np.where(predecessors >= 0, predecessors, source).astype(np.int64)
    ancestor[source] = source
    for _ in range(len(values).bit_length()):  # twice as far each time
        ancestor = ancestor[ancestor]
    assert (ancestor == source).all(), f"{case.name}: a path of row {source} does not end"
