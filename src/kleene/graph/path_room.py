"""How long paths may be in a type, with room for what methods form on the way.

In integers, half of the largest value stands for "no path" in many methods, so that no sum with it
wraps. In 32 bits it is no length, since 64 bits are at hand. In floats, methods on matrices add two
paths; Johnson's algorithm adds two potentials to a path, and rounding comes on top.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.errors import PathOverflowError

__all__ = ["beyond", "holds", "overflow_error", "safe_length"]

#: How many times the longest path a type must hold.
_ROOM = {"i": 2, "f": 4}


def holds(dtype: np.dtype[Any], path_bound: int | float) -> bool:
    """Can this type hold every path length, and the sums that methods make of several?"""
    if dtype.kind == "f":
        return _ROOM["f"] * float(path_bound) < float(np.finfo(dtype).max)
    return _ROOM["i"] * path_bound < np.iinfo(dtype).max - (dtype.itemsize < 8)


def safe_length(dtype: np.dtype[Any]) -> int | float:
    """Return up to which length a type holds paths.

    >>> safe_length(np.dtype(np.int64)) == 2**62 - 1
    True
    """
    if dtype.kind == "f":
        return float(np.finfo(dtype).max) / _ROOM["f"]
    return int(np.iinfo(dtype).max) // _ROOM["i"] - (dtype.itemsize < 8)


def beyond(dtype: np.dtype[Any], reach: int | float, safe: int | float | None = None) -> str:
    """Return in words how far values may go, and up to where a type is safe: for paths, if None.

    >>> beyond(np.dtype(np.int64), 5 * 10**18)
    'path values may reach 5e+18, and int64 is safe up to 4.61169e+18'
    """
    if safe is None:
        safe = safe_length(dtype)
    side = "up to" if reach > safe else "down to"
    if abs(reach) == np.inf:
        return f"path values may exceed the range of {dtype}, which is safe {side} {safe:g}"
    first, second = f"{float(reach):g}", f"{float(safe):g}"
    if first == second:
        first, second = str(reach), str(safe)
    return f"path values may reach {first}, and {dtype} is safe {side} {second}"


def overflow_error(
    widest: np.dtype[Any], reach: int | float, *advice: str, safe: int | float | None = None
) -> PathOverflowError:
    """Return the error for path values that are not safe in the widest type of their kind."""
    return PathOverflowError(beyond(widest, reach, safe), advice=advice)
