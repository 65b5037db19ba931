"""Argument checks of the generators."""

from __future__ import annotations

import math
import operator
from typing import Any

from kleene.errors import Code, RequestError
from kleene.graph.checks import is_masked

__all__ = ["as_count", "as_proportion", "as_seed", "as_threshold"]

#: More vertices than fit in any memory; keeps native arithmetic far from overflow.
MOST_VERTICES = 2**40

#: With more, the index of an ordered pair of vertices would not fit in 63 bits.
MOST_PAIRED_VERTICES = 2**31


def as_count(value: Any, name: str, least: int = 0, most: int = MOST_VERTICES) -> int:
    """Return an integer from ``least`` to ``most``."""
    try:
        count = operator.index(value)
    except TypeError:
        raise RequestError(Code(name), f" must be an integer, not {value!r}") from None
    if not least <= count <= most:
        raise RequestError(Code(name), f" must be from {least} to {most:,}, but is {count:,}")
    return count


def as_proportion(value: Any, name: str, most: float = 1.0) -> float:
    """Return a float from 0 to ``most``: a probability or a density."""
    try:
        if is_masked(value):
            raise TypeError
        proportion = float(value)
    except (TypeError, ValueError, OverflowError):
        raise RequestError(
            Code(name), f" must be a number from 0 to {most:g}, not {value!r}"
        ) from None
    if not 0 <= proportion <= most:  # also false for NaN
        percent = most == 1 and 1 < proportion <= 100
        advice = f"; for {proportion:g} % pass {proportion / 100:g}" if percent else ""
        raise RequestError(
            Code(name), f" must be from 0 to {most:g}, but is {proportion:g}{advice}"
        )
    return proportion


def as_threshold(probability: float) -> int:
    """Return t such that a random 64-bit integer is below t with this probability."""
    return min(math.floor(probability * 2**64), 2**64 - 1)


def as_seed(seed: Any) -> int:
    """Return a seed as an unsigned 64-bit integer."""
    return as_count(seed, "seed", most=2**64 - 1)
