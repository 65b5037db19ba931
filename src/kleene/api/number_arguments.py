"""Numbers among the arguments: limits and counts, checked once."""

from __future__ import annotations

import math
import numbers
import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import Code, RequestError
from kleene.graph import Graph

__all__ = ["as_count", "as_limit", "in_type_of_weights", "sample_vertices"]


def as_limit(
    limit: Any, graph: Graph, dtype: np.dtype[Any], hops: bool = False
) -> int | float | None:
    """Return a user's limit in the type of the values; None where no value is beyond it.

    It is rounded to the type of the weights first, as their sums are: a float32 arc of 0.1 is
    within the limit 0.1, also where values are float64. Integers and hop counts are whole, so a
    fraction of the limit makes no difference to them.
    """
    if limit is None:
        return None
    if isinstance(limit, np.generic):
        limit = limit.item()  # comparisons with a narrow type overflow
    if isinstance(limit, bool) or not isinstance(limit, numbers.Real):
        raise RequestError(Code("limit"), f" must be a number, not {limit!r}")
    if limit != limit or limit < 0:  # NaN alone differs from itself
        raise RequestError(Code("limit"), f" must be a number from 0 on, and is {limit}")
    number = int(limit) if isinstance(limit, numbers.Integral) else float(limit)
    number = in_type_of_weights(number, graph, hops)
    if dtype.kind == "f" and number < float(np.finfo(dtype).max):
        rounded: int | float = dtype.type(math.floor(number) if hops else number).item()
        return rounded  # compared with values of this type
    if dtype.kind == "i" and number < np.iinfo(dtype).max:
        return math.floor(number)
    return None  # no value of this type is beyond


def in_type_of_weights(limit: int | float, graph: Graph, hops: bool) -> int | float:
    """Return a limit rounded to the type of the weights, if these are floats and are added up."""
    own = None if hops else graph.weight_dtype
    if own is None or own.kind != "f" or limit >= float(np.finfo(own).max):
        return limit
    rounded: int | float = own.type(limit).item()
    return rounded


def as_count(value: Any, name: str) -> int:
    """Return a whole number from 1 on."""
    try:
        count = 0 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        count = 0
    if not 1 <= count < 2**62:
        raise RequestError(Code(name), f" must be a whole number from 1 on, not {value!r}")
    return count


def sample_vertices(graph: Graph, samples: Any, chance: np.random.Generator) -> NDArray[Any]:
    """Return the positions of random vertices, in order: so many, or all if there are fewer."""
    count = min(as_count(samples, "samples"), graph.n)
    return np.sort(chance.choice(graph.n, count, replace=False)).astype(graph.id_dtype)
