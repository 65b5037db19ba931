"""Edge weights as NetworkX finds them, and as arrays: exactly, or not at all.

NetworkX adds whatever objects it meets. Whole numbers that fit 64 bits, and floats, have the same
sums in arrays; fractions, decimals, huge integers and infinities do not, and are refused. The
refusal is NotImplementedError, which tells NetworkX's dispatcher to try the next backend.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["MISSING", "Weights", "is_plain", "read_weights"]


class _Missing:
    """Stands where an edge does not have the attribute."""


MISSING = _Missing()

_WHOLE = {int, bool, np.bool_, *(np.dtype(c).type for c in "bhilqBHILQ")}
_REAL = {float, np.float64}
#: No path of n arcs may come near what the type cannot hold.
_MOST_WHOLE, _MOST_REAL, _MOST_MIXED = 2.0**62, 1e307, 2.0**53


class Weights(NamedTuple):
    """One number per arc; ``present`` and ``real`` are None where they would be all true."""

    values: NDArray[Any] | None  # int64 or float64; None when all are 1
    present: NDArray[np.bool_] | None  # False where a weight of None hides an arc
    real: NDArray[np.bool_] | None  # False for whole numbers among floats


def is_plain(value: Any) -> bool:
    """Whether arrays can hold such a weight, by its type alone."""
    return value is None or type(value) in _WHOLE or type(value) in _REAL


def read_weights(values: Sequence[Any], n: int, default: Any = 1) -> Weights:
    """Turn the weights of all arcs of a graph with n nodes into an array, or refuse."""
    kinds = set(map(type, values))
    if _Missing in kinds:
        values = [default if v is MISSING else v for v in values]
        kinds = kinds - {_Missing} | {type(default)}
    present = None
    if type(None) in kinds:
        present = np.fromiter((v is not None for v in values), dtype=bool, count=len(values))
        values = [v for v in values if v is not None]
        kinds.remove(type(None))
    strange = kinds - _WHOLE - _REAL
    if strange:
        name = min(kind.__name__ for kind in strange)
        raise NotImplementedError(f"weights of type {name} have no exact array form")
    if kinds <= _WHOLE:
        return Weights(_whole(values, n), present, None)
    array = np.array(values, dtype=np.float64)
    if not np.isfinite(array).all():
        raise NotImplementedError("some weights are infinite or not a number")
    if float(np.abs(array).max(initial=0)) * n > _MOST_REAL:
        raise NotImplementedError("sums of these weights may overflow")
    if kinds <= _REAL:
        return Weights(array, present, None)
    real = np.fromiter((type(v) in _REAL for v in values), dtype=bool, count=len(values))
    if float(np.abs(array[~real]).max(initial=0)) * n > _MOST_MIXED:
        raise NotImplementedError("integer weights among floats are too large to be exact")
    return Weights(array, present, real)


def _whole(values: Sequence[Any], n: int) -> NDArray[np.int64] | None:
    try:
        array = np.fromiter(values, dtype=np.int64, count=len(values))
    except OverflowError:
        raise NotImplementedError("integer weights do not fit 64 bits") from None
    if float(np.abs(array.astype(float)).max(initial=0)) * n > _MOST_WHOLE:
        raise NotImplementedError("sums of these integer weights may not fit 64 bits")
    return None if (array == 1).all() else array
