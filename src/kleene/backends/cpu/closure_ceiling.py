"""The rate of the dense CPU kernel with its operands in the nearest cache."""

from __future__ import annotations

import statistics

from kleene import _native

__all__ = ["measure_ceiling"]

_REPEATS = 3


def measure_ceiling(
    semiring: str, dtype: str, predecessors: bool, threads: int, seconds: float
) -> float:
    """Return relaxations per second, the median of some runs that take so many seconds together."""
    each = seconds / _REPEATS
    return statistics.median(
        _native.closure_peak_rate(semiring, dtype, predecessors, threads, each)
        for _ in range(_REPEATS)
    )
