"""Numbers among the arguments: limits, counts and seeds, checked once."""

from __future__ import annotations

import math
import numbers
import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import RequestError
from kleene.graph import Graph

__all__ = ["as_count", "as_limit", "as_seed", "as_wide_limit", "sample_vertices"]


def as_limit(limit: Any, dtype: np.dtype[Any], hops: bool = False) -> int | float | None:
    """Return a limit in the type of the values; None where no value is beyond it.

    Integers and hop counts are whole, so a fraction of the limit makes no difference to them.
    """
    if limit is None:
        return None
    if isinstance(limit, np.generic):
        limit = limit.item()  # comparisons with a narrow type overflow
    if isinstance(limit, bool) or not isinstance(limit, numbers.Real):
        raise RequestError(f"limit must be a number, not {limit!r}")
    if limit != limit or limit < 0:  # NaN alone differs from itself
        raise RequestError(f"limit must be a number from 0 on, and is {limit}")
    number = int(limit) if isinstance(limit, numbers.Integral) else float(limit)
    most = float(np.finfo(dtype).max) if dtype.kind == "f" else int(np.iinfo(dtype).max)
    if number >= most:  # no value of this type is beyond
        return None
    if dtype.kind == "i" or hops:
        number = math.floor(number)
    rounded: int | float = dtype.type(number).item()  # compared with values of this type
    return rounded


def as_wide_limit(limit: Any, graph: Graph, dtype: np.dtype[Any], hops: bool) -> int | float | None:
    """Return a limit for lengths that are added in a type wider than that of the weights.

    It is rounded to the type of the weights first, as in calls that add in that type: a float32 arc
    of 0.1 is within the limit 0.1 in float64, too.
    """
    own = None if hops else graph.weight_dtype
    rounded = None if own is None else as_limit(limit, own)
    return as_limit(limit if rounded is None else rounded, dtype, hops)


def as_count(value: Any, name: str) -> int:
    """Return a whole number from 1 on."""
    try:
        count = 0 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        count = 0
    if not 1 <= count < 2**62:
        raise RequestError(f"{name} must be a whole number from 1 on, not {value!r}")
    return count


def sample_vertices(graph: Graph, samples: Any, chance: np.random.Generator) -> NDArray[Any]:
    """Return the positions of random vertices, in order: so many, or all if there are fewer."""
    count = min(as_count(samples, "samples"), graph.n)
    return np.sort(chance.choice(graph.n, count, replace=False)).astype(graph.id_dtype)


def as_seed(seed: Any) -> int:
    """Return a seed of random numbers."""
    if isinstance(seed, bool) or not isinstance(seed, numbers.Integral) or seed < 0:
        raise RequestError(f"seed must be a whole number from 0 on, not {seed!r}")
    return int(seed)
