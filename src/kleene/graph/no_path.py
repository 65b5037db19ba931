"""The value of "no path", which is also the value of "no arc" in a matrix.

Infinity for floats, the largest value of the type for integers: both compare larger than every path
length. Hop counts use -1 instead.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

__all__ = ["NO_HOPS", "no_path"]

#: The hop count of an unreachable vertex.
NO_HOPS = -1


@cache
def no_path(dtype: np.dtype[Any]) -> Any:
    """Return the distance that means "no path" in arrays of this type.

    >>> no_path(np.dtype(np.float32)), no_path(np.dtype(np.int32))
    (inf, 2147483647)
    """
    return np.inf if dtype.kind == "f" else np.iinfo(dtype).max
