"""Edge weights of NetworkX as arrays: exactly, or not at all.

NetworkX adds Python objects of any type. Integers that fit in 64 bits and floats have the same sums
in arrays; fractions.Fraction, Decimal, larger integers and infinities do not, and are refused with
NotImplementedError, which tells NetworkX's dispatcher to try the next backend.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["MISSING", "Weights", "is_exact_type", "read_weights"]


class _Missing:
    """The value of an attribute that an edge does not have."""


MISSING = _Missing()

_INTEGERS = {int, bool, np.bool_, *(np.dtype(c).type for c in "bhilqBHILQ")}
_FLOATS = {float, np.float64}
#: Bounds on n times the largest weight, so that no path length overflows its type.
_MAX_INTEGER, _MAX_FLOAT, _MAX_MIXED = 2**62, 1e307, 2.0**53


class Weights(NamedTuple):
    """One number per arc; ``present`` and ``is_float`` are None if true for all arcs."""

    values: NDArray[Any] | None  # int64 or float64; None when all are 1
    present: NDArray[np.bool_] | None  # False where a weight of None hides an arc
    is_float: NDArray[np.bool_] | None  # False for integers among floats


def is_exact_type(value: Any) -> bool:
    """Return whether arrays hold weights of this type exactly."""
    return value is None or type(value) in _INTEGERS or type(value) in _FLOATS


def read_weights(values: Sequence[Any], n: int, default: Any = 1) -> Weights:
    """Return the weights of all arcs of a graph with n nodes as an array, or refuse."""
    kinds = set(map(type, values))
    if _Missing in kinds:
        values = [default if v is MISSING else v for v in values]
        kinds = kinds - {_Missing} | {type(default)}
    present = None
    if type(None) in kinds:
        present = np.fromiter((v is not None for v in values), dtype=bool, count=len(values))
        values = [v for v in values if v is not None]
        kinds.remove(type(None))
    unsupported = kinds - _INTEGERS - _FLOATS
    if unsupported:
        name = min(kind.__name__ for kind in unsupported)
        raise NotImplementedError(f"weights of type {name} have no exact array form")
    if kinds <= _INTEGERS:
        return Weights(_integers(values, n), present, None)
    array = np.array(values, dtype=np.float64)
    if not np.isfinite(array).all():
        raise NotImplementedError("some weights are infinite or not a number")
    if float(np.abs(array).max(initial=0)) * n > _MAX_FLOAT:
        raise NotImplementedError("sums of these weights may overflow")
    if kinds <= _FLOATS:
        return Weights(array, present, None)
    is_float = np.fromiter((type(v) in _FLOATS for v in values), dtype=bool, count=len(values))
    if float(np.abs(array[~is_float]).max(initial=0)) * n > _MAX_MIXED:
        raise NotImplementedError("integer weights among floats are too large to be exact")
    return Weights(array, present, is_float)


def _integers(values: Sequence[Any], n: int) -> NDArray[np.int64] | None:
    try:
        array = np.fromiter(values, dtype=np.int64, count=len(values))
    except OverflowError:
        raise NotImplementedError("integer weights do not fit 64 bits") from None
    largest = max(int(array.max(initial=0)), -int(array.min(initial=0)))
    if largest * n >= _MAX_INTEGER:
        raise NotImplementedError("sums of these integer weights may reach 2^62: not safe in int64")
    return None if (array == 1).all() else array
