"""The ``weights=`` argument of the generators.

================================  ================================================================
``None``                          no weights
``7``, ``0.5``                    the same weight for every arc
``(1, 10)``                       random integers from 1 to 10, both included: int32, or int64 if
                                  they need it
``(0.0, 1.0)``                    random float64 in [0, 1)
``(0, 1, "float32")``             the same in another type: float32, float64, int32 or int64
``f``                             a function: ``f(rng, count)`` returns ``count`` numbers, where
                                  ``rng`` is a ``numpy.random.Generator`` made from the seed
================================  ================================================================

The weight of an arc depends only on the seed and its tail and head. An undirected edge has one
weight for both directions. Weights may be negative.
"""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kleene import _native
from kleene.errors import RequestError
from kleene.graph import CSR, Graph
from kleene.graph.checks import as_weights
from kleene.graph.core import Progress
from kleene.graph.forms import adopt

__all__ = ["Range", "WeightRule", "add_weights", "as_rule", "draw_weights", "rule_bytes"]

Draw = Callable[[np.random.Generator, int], ArrayLike]
WeightRule: TypeAlias = (
    float | tuple[int, int] | tuple[float, float] | tuple[float, float, str] | Draw | None
)

_DTYPES = ("int32", "int64", "float32", "float64")
_ADVICE = "pass None, a number, (low, high), (low, high, dtype) or a function of (rng, count)"


@dataclass(frozen=True)
class Range:
    """Uniform between two numbers; the upper one is included for integers only."""

    low: float
    high: float
    dtype: str


Rule: TypeAlias = Range | Draw | None


def as_rule(weights: Any) -> Rule:
    """Check a ``weights=`` argument and return it as a Range, a function or None."""
    if weights is None or callable(weights):
        return weights  # type: ignore[no-any-return]
    if isinstance(weights, (tuple, list)) and len(weights) in (2, 3):
        low, high = (_as_number(value) for value in weights[:2])
        dtype = weights[2] if len(weights) == 3 else None
    elif isinstance(weights, numbers.Real):
        low = high = _as_number(weights)
        dtype = None
    else:
        raise RequestError(f"weights cannot be {weights!r}: {_ADVICE}")
    if low > high:
        raise RequestError(f"weights = {weights!r} has low > high", advice=["swap them"])
    return _as_range(low, high, dtype)


def _as_number(value: Any) -> float:
    """Return a Python int or float."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise RequestError(f"weights contains {value!r}, which is not a number: {_ADVICE}")
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = float(value)
    if not math.isfinite(number):
        raise RequestError(f"weights must be finite, but contains {number}")
    return number


def _as_range(low: float, high: float, dtype: Any) -> Range:
    integral = isinstance(low, int) and isinstance(high, int)
    if dtype is None:
        # The largest integer of a type means "no arc" in the dense form, so it is excluded.
        fits = low >= -(2**31) and high < 2**31 - 1
        dtype = ("int32" if fits else "int64") if integral else "float64"
    try:
        dtype = np.dtype(dtype).name
    except TypeError:
        dtype = repr(dtype)
    if dtype not in _DTYPES:
        raise RequestError(f"the type of weights must be {', '.join(_DTYPES)}, not {dtype}")
    if dtype.startswith("int"):
        if not integral:
            raise RequestError(
                f"weights from {low} to {high} cannot be {dtype}: pass integers, or a float type"
            )
        limits = np.iinfo(dtype)
        if low < limits.min or high >= limits.max or high - low >= 2**63:
            raise RequestError(f"weights from {low} to {high} do not fit in {dtype}")
        return Range(low, high, dtype)
    most = float(np.finfo(dtype).max)
    if low < -most or high > most or high - low > most:
        raise RequestError(f"weights from {low} to {high} do not fit in {dtype}")
    return Range(float(low), float(high), dtype)


def rule_bytes(rule: Rule) -> int:
    """Return the bytes per weight while they are made."""
    if rule is None:
        return 0
    return np.dtype(rule.dtype).itemsize if isinstance(rule, Range) else 32


def add_weights(
    graph: Graph, rule: Rule, seed: int, threads: int, progress: Progress | None = None
) -> Graph:
    """Return the graph with weights drawn by the rule."""
    if rule is None:
        return graph
    if not isinstance(rule, Range):
        return _weighted_by_call(graph, rule, seed)
    values = draw_weights(
        rule,
        graph.n,
        0,
        graph.offsets,
        graph.neighbors,
        directed=graph.directed,
        seed=seed,
        threads=threads,
        progress=progress,
    )
    csr = CSR(graph.offsets, graph.neighbors, adopt(values))
    return Graph(csr, graph.directed, graph.labels, graph.name)


def draw_weights(
    rule: Range,
    n: int,
    first: int,
    offsets: NDArray[np.int64],
    neighbors: NDArray[Any],
    *,
    directed: bool,
    seed: int,
    threads: int,
    progress: Progress | None = None,
) -> NDArray[Any]:
    """Return weights for some rows of a graph of ``n`` vertices, from vertex ``first`` on."""
    if rule.low == rule.high:
        return np.full(len(neighbors), rule.low, dtype=rule.dtype)
    integral = rule.dtype.startswith("int")
    low, count = (int(rule.low), int(rule.high) - int(rule.low) + 1) if integral else (0, 0)
    values = _native.arc_weights(
        n,
        first,
        offsets,
        neighbors,
        not directed,
        rule.dtype,
        low,
        count,
        seed,
        threads,
        progress,
    )
    if not integral:  # scale from [0, 1) in NumPy, where no compiler fuses the two steps
        scalar = values.dtype.type
        values *= scalar(rule.high - rule.low)
        values += scalar(rule.low)
        np.minimum(values, np.nextafter(scalar(rule.high), scalar(rule.low)), out=values)
    return values


def _weighted_by_call(graph: Graph, draw: Draw, seed: int) -> Graph:
    sources, targets, _ = graph.coo
    if not graph.directed:
        once = sources < targets
        sources, targets = sources[once], targets[once]
    values = as_weights(draw(np.random.default_rng(seed), len(sources)), "weights")
    if values is None or values.shape != sources.shape:
        found = "None" if values is None else f"an array of shape {values.shape}"
        raise RequestError(
            f"the weights function must return {len(sources)} numbers, but returned {found}"
        )
    return Graph.from_edges(
        sources,
        targets,
        values,
        n=graph.n,
        directed=graph.directed,
        name=graph.name,
        keep_rows=False,
    )
