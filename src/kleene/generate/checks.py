"""Checks at the door of every generator: a number of the right kind, or an error that helps."""

from __future__ import annotations

import math
import operator
from typing import Any

from kleene.errors import RequestError

__all__ = ["as_count", "as_seed", "as_share", "as_threads", "as_threshold"]

#: More vertices than any memory holds; keeps native arithmetic far from overflow.
MOST_VERTICES = 2**40

#: So that the number of an ordered pair of vertices fits in 63 bits.
MOST_PAIRED_VERTICES = 2**31


def as_count(value: Any, name: str, least: int = 0, most: int = MOST_VERTICES) -> int:
    """Return a whole number from ``least`` to ``most``."""
    try:
        count = operator.index(value)
    except TypeError:
        raise RequestError(f"{name} must be a whole number, not {value!r}") from None
    if not least <= count <= most:
        raise RequestError(f"{name} must be {least} to {most:,}, and is {count:,}")
    return count


def as_share(value: Any, name: str, most: float = 1.0) -> float:
    """Return a probability or a share of a whole, from 0 to ``most``."""
    try:
        share = float(value)
    except (TypeError, ValueError):
        raise RequestError(f"{name} must be a number from 0 to {most:g}, not {value!r}") from None
    if not 0 <= share <= most:  # false for NaN, too
        advice = f"; for {share:g} % pass {share / 100:g}" if most == 1 and 1 < share <= 100 else ""
        raise RequestError(f"{name} must be from 0 to {most:g}, and is {share:g}{advice}")
    return share


def as_threshold(share: float) -> int:
    """Return the number t for which 64 random bits are below t with this probability."""
    return min(math.floor(share * 2**64), 2**64 - 1)


def as_seed(seed: Any) -> int:
    """Return a seed as the native core takes it."""
    return as_count(seed, "seed", most=2**64 - 1)


def as_threads(threads: Any) -> int | None:
    """Return a number of threads, or None for the machine's choice."""
    return None if threads is None else as_count(threads, "threads", least=1, most=1024)
