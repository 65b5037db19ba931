"""What an answer must be: by rounds over all arcs, with no code of the package.

Every row of values is improved by all arcs at once until nothing changes, in the type of the
answer: for sums of weights that are not negative these are the numbers that decide a limit.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

import kleene as kl
from torture.random_graphs import Spec

__all__ = ["Expected", "close", "error_is_due", "fault"]


class Expected:
    """The best values of one graph, computed once for each type."""

    def __init__(self, spec: Spec, semiring: str, hops: bool) -> None:
        self.spec, self.semiring, self.hops = spec, semiring, hops
        arcs = [(u, v, 1 if hops else w) for u, v, w in spec.arcs()]
        self.arcs = [(u, v, w) for u, v, w in arcs if u != v or w < 0]  # other loops change nothing
        self.sources = spec.asked.get("sources", list(range(spec.n)))
        self._rows: dict[str, Any] = {}

    def rows(self, dtype: Any) -> tuple[Any, Any] | None:
        """Return values and where there is a path, one row a source; None for a negative cycle."""
        key = str(dtype)
        if key not in self._rows:
            self._rows[key] = self._compute(np.dtype(dtype))
        return self._rows[key]

    def _compute(self, dtype: np.dtype[Any]) -> tuple[Any, Any] | None:
        kind = np.dtype(object) if dtype.kind == "i" else dtype
        count, n = len(self.sources), self.spec.n
        values = np.zeros((count, n), kind)
        reached = np.zeros((count, n), bool)
        reached[np.arange(count), self.sources] = True
        values[np.arange(count), self.sources] = _ONE[self.semiring]
        order = sorted(self.arcs, key=lambda arc: arc[1])
        if not order or not count:
            return values, reached
        tails = np.array([u for u, _, _ in order])
        heads = np.array([v for _, v, _ in order])
        weights = np.array([w for _, _, w in order], kind)
        starts = np.flatnonzero(np.diff(heads, prepend=-1))
        at = heads[starts]
        times, best = _TIMES[self.semiring], _BEST[self.semiring]
        worst: Any = np.inf if best is np.minimum else -np.inf
        for _ in range(n + 1):
            through = np.where(reached[:, tails], times(values[:, tails], weights), worst)
            offered = best.reduceat(through, starts, axis=1)
            held = np.where(reached[:, at], values[:, at], worst)
            better = best(offered, held) != held
            if self.semiring == "max_times":
                better &= offered != 0
            if not better.any():
                return values, reached
            values[:, at] = np.where(better, offered, values[:, at])
            reached[:, at] |= better
        return None


_ONE = {"min_plus": 0, "boolean": 1, "max_min": np.inf, "max_times": 1}
_TIMES = {
    "min_plus": np.add,
    "boolean": lambda a, b: np.ones(np.broadcast(a, b).shape, a.dtype),
    "max_min": np.minimum,
    "max_times": np.multiply,
}
_BEST = {
    "min_plus": np.minimum,
    "boolean": np.maximum,
    "max_min": np.maximum,
    "max_times": np.maximum,
}


def fault(result: kl.Result, expected: Expected) -> str | None:
    """Return what is wrong with an answer, None if nothing is."""
    spec, dtype = expected.spec, result.distances.dtype
    rows = expected.rows(dtype)
    if rows is None:
        return "there is a negative cycle, and no error"
    values, reached = rows
    limit = spec.asked.get("limit")
    if limit is not None:
        if dtype.kind == "f" and not expected.hops and limit < np.finfo(dtype).max:
            limit = dtype.type(limit)
        reached = reached & (values <= limit)
    if "targets" in spec.asked:
        values, reached = values[:, spec.asked["targets"]], reached[:, spec.asked["targets"]]
    got, found = np.atleast_2d(result.distances), np.atleast_2d(result.reached)
    if got.shape != values.shape:
        return f"the shape is {got.shape}, and should be {values.shape}"
    if (found != reached).any():
        i, j = np.argwhere(found != reached)[0].tolist()
        state = "reached" if found[i, j] else "not reached"
        return f"[{i}, {j}] is {state}; it holds {got[i, j]}, and should {values[i, j]}"
    wrong = reached & ~close(got, values, expected)
    if wrong.any():
        i, j = np.argwhere(wrong)[0].tolist()
        return f"[{i}, {j}] holds {got[i, j]}, and should {values[i, j]}"
    return None


def close(got: Any, want: Any, expected: Expected) -> Any:
    """Return which values are what they should be, up to rounding."""
    if got.dtype.kind != "f":
        top = 1 if got.dtype == bool else np.iinfo(got.dtype).max
        return got.astype(object) == np.minimum(want, top)
    heaviest = max((abs(w) for _, _, w in expected.arcs), default=0)
    exact = expected.spec.exact and got.dtype == np.float64 and heaviest * expected.spec.n < 2**50
    if exact or expected.hops or expected.semiring == "max_min":
        return got == want
    eps = np.finfo(got.dtype).eps
    with np.errstate(invalid="ignore", over="ignore"):
        gap = np.abs(got - want)
        slack = 2 * eps * (expected.spec.n + 1) * np.abs(want) + np.finfo(got.dtype).tiny
        return (gap <= slack) | (got == want)


def error_is_due(error: kl.KleeneError, expected: Expected) -> bool:
    """Return whether this graph and request deserve this error."""
    spec = expected.spec
    heaviest = max((abs(Fraction(w)) for _, _, w in expected.arcs), default=Fraction(0))
    negative = any(w < 0 for _, _, w in expected.arcs)
    if isinstance(error, kl.NegativeCycleError):
        return expected.rows(np.float64) is None and _is_negative_cycle(error.cycle, expected)
    asked = spec.asked.get("dtype")
    if isinstance(error, kl.PathOverflowError):
        floats = asked is not None or (spec.dtype or "int").startswith("float")
        most = Fraction(float(np.finfo(np.float64).max)) / 4 if floats else Fraction(2**62)
        return heaviest * (spec.n + 1) >= most
    if isinstance(error, kl.RequestError) and negative and "limit" in spec.asked:
        return True
    if isinstance(error, kl.RequestError) and asked is not None:
        if asked.startswith("int") and (spec.dtype or "int").startswith("float"):
            return True
        most = np.finfo(asked).max if asked.startswith("float") else np.iinfo(asked).max
        return heaviest * (spec.n + 1) * 4 >= Fraction(float(most))
    return False


def _is_negative_cycle(cycle: list[int], expected: Expected) -> bool:
    lightest: dict[tuple[int, int], Any] = {}
    for u, v, w in expected.arcs:
        lightest[u, v] = min(w, lightest.get((u, v), math.inf))
    around = zip(cycle, cycle[1:] + cycle[:1], strict=True)
    return math.fsum(lightest.get(arc, math.inf) for arc in around) < 0
