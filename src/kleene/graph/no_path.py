"""The value of "no path", which is also the weight of an absent arc in a matrix.

Infinity for floats, the largest value of the type for integers: adding a weight never makes either
look like a shorter path. Hop counts say -1 instead, as SciPy and NetworkX users expect.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["NO_HOPS", "no_path"]

#: The hop count of a vertex that cannot be reached.
NO_HOPS = -1


def no_path(dtype: np.dtype[Any]) -> Any:
    """Return the distance that stands for "no path" in arrays of this type.

    >>> no_path(np.dtype(np.float32)), no_path(np.dtype(np.int32))
    (inf, 2147483647)
    """
    return np.inf if dtype.kind == "f" else np.iinfo(dtype).max
