"""Factors of products over semirings, and two oracles for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.registry import methods
from kleene.registry.algebra import PRODUCT_SEMIRINGS
from kleene.system.machine import this_machine

DEVICES = [
    row.device for row in methods("product") if row.device in this_machine().devices
]  # every row of the registry
TYPES = ("int16", "int32", "int64", "float32", "float64")
CASES = [(s, t) for s in PRODUCT_SEMIRINGS if s != "boolean" for t in TYPES] + [("boolean", "bool")]


def nothing(semiring: str, dtype: Any) -> Any:
    """The value of "no path", by the documentation."""
    kind = np.dtype(dtype)
    if semiring in ("max_times", "boolean"):
        return kind.type(0)
    sign = 1 if semiring == "min_plus" else -1
    if kind.kind == "f":
        return kind.type(sign * np.inf)
    return kind.type(np.iinfo(kind).max if sign > 0 else np.iinfo(kind).min)


def expected(a: Any, b: Any, semiring: str, dtype: Any = None) -> tuple[Any, Any]:
    """Return the product in Python numbers, entry by entry."""
    best = min if semiring == "min_plus" else max
    times = {
        "min_plus": lambda x, y: x + y, "max_plus": lambda x, y: x + y, "max_min": min,
        "max_times": lambda x, y: x * y, "boolean": lambda x, y: x and y,
    }[semiring]  # fmt: skip
    none_a, none_b = nothing(semiring, a.dtype).item(), nothing(semiring, b.dtype).item()
    kind = np.result_type(a, b) if dtype is None else np.dtype(dtype)
    values = np.full((len(a), b.shape[1]), nothing(semiring, kind), kind)
    inner = np.full(values.shape, -1, np.int32)
    for i, row in enumerate(a.tolist()):
        for j, column in enumerate(b.T.tolist()):
            through = [
                (kind.type(times(kind.type(x), kind.type(y))), k)
                for k, (x, y) in enumerate(zip(row, column, strict=True))
                if x != none_a and y != none_b
            ]
            if through:
                value = best(v for v, _ in through)
                if value != nothing(semiring, kind):
                    values[i, j], inner[i, j] = value, next(k for v, k in through if v == value)
    return values, inner


def factor(rng: Any, shape: tuple[int, int], semiring: str, dtype: str, some: float = 0.3) -> Any:
    """Return a matrix with many ties, in which some entries are paths."""
    if dtype == "bool":
        return rng.random(shape) < some / 4
    low = 0 if semiring == "max_times" else -7
    entries = rng.integers(low, 20, shape).astype(dtype)
    entries[rng.random(shape) >= some] = nothing(semiring, dtype)
    return entries


def by_numpy(a: Any, b: Any, semiring: str, kind: str) -> tuple[Any, Any]:
    """Return the product by arrays of float64, which hold all numbers here, with their infinities.

    As quick as the tests need; it is compared with the definition below.
    """
    worst = {"min_plus": np.inf, "max_times": 0.0, "boolean": 0.0}.get(semiring, -np.inf)
    x, y = (np.where(f == nothing(semiring, f.dtype), worst, f.astype(float)) for f in (a, b))
    times = {"min_plus": np.add, "max_plus": np.add, "max_times": np.multiply}
    through = times.get(semiring, np.minimum)(x[:, :, None], y[None, :, :])
    smallest = semiring == "min_plus"
    best = through.min(axis=1) if smallest else through.max(axis=1)
    inner = through.argmin(axis=1) if smallest else through.argmax(axis=1)
    lost = best == worst
    values = np.where(lost, 0, best).astype(kind)
    values[lost] = nothing(semiring, kind)
    return values, np.where(lost, -1, inner)
