"""Checks of the factors of a product, and the type of its values: no sum wraps or overflows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kleene import _native
from kleene.backends.common.product_form import adds_safely, safe_sum
from kleene.backends.semiring import SEMIRINGS
from kleene.errors import Code, PathOverflowError, RequestError, Text
from kleene.graph.checks import as_array, beyond, require_memory, safe_length
from kleene.graph.dlpack import to_numpy
from kleene.system.machine import threads_for

__all__ = [
    "Factor",
    "as_dtype",
    "as_factor",
    "choose_type",
    "no_path_in",
    "reach",
    "require_shapes",
]

Array = NDArray[Any]

_TYPES = ("int16", "int32", "int64", "float32", "float64")
_PLUS = ("min_plus", "max_plus")
_ADVICE = {
    "min_plus": "takes inf for 'no path', but not -inf",
    "max_plus": "takes -inf for 'no path', but not inf",
    "max_times": "takes finite non-negative numbers, 0 for 'no path'",
}

#: What an entry of 0 means, where it is not a path.
_ZERO = {"max_times": "'no path'", "max_min": "a path of width 0", "boolean": "'no path'"}


class Factor(NamedTuple):
    """A matrix, and the ends of its entries that are paths (0 if none is)."""

    matrix: Array
    low: Any
    high: Any


def no_path_in(semiring: str, dtype: np.dtype[Any]) -> Any:
    """Return the value of "no path"; the lowest one where the largest is best."""
    none = SEMIRINGS["max_min" if semiring == "max_plus" else semiring].zero(dtype)
    return dtype.type(none).item()


def as_factor(value: Any, name: str, semiring: str, threads: int | None) -> Factor:
    """Return a matrix of numbers that the semiring takes, contiguous."""
    if sp.issparse(value):
        raise RequestError(
            f"{name} is a sparse matrix, but a product takes dense ones: pass {name}.toarray(), "
            f"where an entry of 0 is {_ZERO.get(semiring, 'a path of length 0')}"
        )
    try:
        array = as_array(to_numpy(value), name, matrix=True)
    except (BufferError, RuntimeError) as error:  # a type that NumPy does not have
        raise RequestError(
            f"{name} cannot be read by NumPy: {error}", advice=["convert it"]
        ) from error
    require_matrix(array.shape, name)
    dtype = array.dtype.newbyteorder("=")
    require_type(dtype, name, semiring)
    if semiring == "boolean":
        return Factor(_contiguous(array != 0, name, np.dtype(bool)), False, True)
    matrix = _contiguous(array, name, dtype)
    team = threads_for(matrix.size, threads)
    low, high, has_nan = _native.closure_ends(matrix, no_path_in(semiring, dtype), team)
    if has_nan:
        raise RequestError(f"{name} holds nan at {_first(np.isnan(matrix))}", advice=["replace it"])
    require_entries(0 if low is None else low, 0 if high is None else high, name, semiring, matrix)
    return Factor(matrix, low or 0, high or 0)


def require_type(dtype: np.dtype[Any], name: str, semiring: str) -> None:
    """Raise for a type that a semiring does not take."""
    if semiring == "boolean":
        if dtype.kind not in "biu":
            raise RequestError(
                f"{name} is {dtype}, but 'boolean' takes True and False, or integers",
                advice=[f"pass {name} != 0, or whatever condition means a path"],
            )
    elif dtype.name not in _TYPES:
        raise RequestError(Code(name), f" must be {', '.join(_TYPES[:-1])} or float64, not {dtype}")


def require_matrix(shape: tuple[int, ...], name: str) -> None:
    """Raise unless a shape has two extents."""
    if len(shape) != 2:
        raise RequestError(
            Code(name),
            f" must be a matrix, not of shape {shape}; a vector is one row, {name}[None, :], "
            f"or one column, {name}[:, None]",
        )


def require_shapes(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    """Raise unless the columns of the left factor are the rows of the right one."""
    if left[1] != right[0]:
        raise RequestError(
            f"A has {left[1]:,} columns but B has {right[0]:,} rows: the shapes {left} and {right} "
            "do not fit"
        )


def require_entries(
    low: float, high: float, name: str, semiring: str, matrix: Array | None = None
) -> None:
    """Raise for entries that have no meaning in a semiring; a matrix says where they are."""
    if semiring == "min_plus":
        bad: Any = -np.inf if low == -np.inf else None
    elif semiring == "max_plus":
        bad = np.inf if high == np.inf else None
    elif semiring == "max_times":
        bad = low if low < 0 else np.inf if high == np.inf else None
    else:
        bad = None
    if bad is not None:
        at = "" if matrix is None else f" at {_first(matrix == bad)}"
        raise RequestError(f"{name} holds {bad}{at}, but {semiring!r} {_ADVICE[semiring]}")


def _first(found: Array) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(int(found.argmax()), found.shape))


def _contiguous(array: Array, name: str, dtype: np.dtype[Any]) -> Array:
    if array.flags.c_contiguous and array.dtype == dtype and array.dtype.isnative:
        return array
    require_memory(array.size * dtype.itemsize, f"{name} as {dtype}", "pass a contiguous array")
    return np.ascontiguousarray(array, dtype)


# ---- types --------------------------------------------------------------------------------------


def reach(semiring: str, a: Factor, b: Factor) -> tuple[Any, Any]:
    """Return the ends of what two entries may come to."""
    if semiring in _PLUS:
        return a.low + b.low, a.high + b.high
    if semiring == "max_times":
        with np.errstate(over="ignore"):
            return a.low * b.low, a.high * b.high
    return min(a.low, b.low), min(a.high, b.high)


def choose_type(semiring: str, a: Factor, b: Factor, dtype: Any) -> np.dtype[Any]:
    """Return the type of the values: that of the factors, a wider one, or that asked for."""
    if semiring == "boolean":
        return np.dtype(bool) if dtype is None else _as_type(dtype, ("bool",))
    own = np.result_type(a.matrix, b.matrix)
    if semiring == "max_times" and own.kind == "i":
        own = np.dtype(np.float64)
    low, high = reach(semiring, a, b)
    ends = min(low, a.low, b.low), max(high, a.high, b.high)
    wide = np.dtype(np.float64 if own.kind == "f" else np.int64)
    if dtype is None:
        types = (own, np.dtype(np.int32), wide) if own.kind == "i" else (own, wide)
        chosen = next((t for t in types if t >= own and _holds(t, semiring, ends)), wide)
        if chosen.kind == "f" and not _holds(chosen, semiring, ends):
            farthest = max(ends, key=abs)
            raise _overflow(wide, farthest, float(np.copysign(np.finfo(np.float64).max, farthest)))
    else:
        chosen = _as_type(dtype, _TYPES)
        if chosen.kind == "i" and own.kind == "f":
            raise RequestError(
                f"dtype {chosen} cannot hold the values of {semiring!r} for A of {a.matrix.dtype} "
                f"and B of {b.matrix.dtype}, which are {own}",
                advice=["leave out dtype, or pass a float type"],
            )
        if not _holds(chosen, semiring, ends):
            raise RequestError(
                f"dtype {chosen} cannot hold values from {ends[0]:g} to {ends[1]:g}, which the "
                "factors or the product may contain",
                advice=["leave out dtype, or pass a wider one"],
            )
    if chosen.kind == "i" and semiring in _PLUS:
        _require_safe_sums(semiring, a, b)
    return chosen


def _require_safe_sums(semiring: str, a: Factor, b: Factor) -> None:
    """Raise for sums of integers that are not safe in int64, the widest type of the engines."""
    wide, sign = np.dtype(np.int64), -1 if semiring == "max_plus" else 1
    low, *_, high = sorted(sign * end for end in (a.low, b.low, a.high, b.high))
    highest = max(sign * end for end in reach(semiring, a, b))
    if adds_safely(wide, (low, high), highest):
        return
    if low < -safe_length(wide):
        raise _overflow(wide, sign * low, -sign * safe_length(wide))
    beside = f" beside entries of {sign * low:g}" if low < 0 else ""
    raise _overflow(wide, sign * highest, sign * safe_sum(wide, low), beside)


def _overflow(
    widest: np.dtype[Any], value: int | float, safe: int | float, beside: str = ""
) -> PathOverflowError:
    advice = [Text("pass ", Code("dtype='float64'"))] if widest.kind == "i" else []
    return PathOverflowError(
        f"{beyond(widest, value, safe)}{beside}",
        advice=[*advice, "scale the entries of A and B down"],
    )


def _as_type(dtype: Any, names: tuple[str, ...]) -> np.dtype[Any]:
    try:
        asked: np.dtype[Any] = np.dtype(dtype)
    except (TypeError, ValueError):
        asked = np.dtype(object)
    if asked.name not in names:
        raise RequestError(Code("dtype"), f" must be {' or '.join(names)}, not {dtype!r}")
    return asked


def _holds(dtype: np.dtype[Any], semiring: str, ends: tuple[Any, Any]) -> bool:
    """Return whether a type holds these values beside that of "no path"."""
    low, high = ends
    if dtype.kind == "f":
        most = float(np.finfo(dtype).max)
        infinite = semiring == "max_min"  # entries may be, and nothing is added
        return all(abs(end) <= most or (infinite and abs(end) == np.inf) for end in ends)
    limits = np.iinfo(dtype)
    least, largest = int(limits.min), int(limits.max)
    none = no_path_in(semiring, dtype)
    return bool(least + (none == least) <= low and high <= largest - (none == largest))


def as_dtype(matrix: Array, semiring: str, dtype: np.dtype[Any]) -> Array:
    """Return a matrix or vector in another type, with that type's "no path"."""
    if matrix.dtype == dtype:
        return matrix
    with np.errstate(over="ignore"):
        converted = matrix.astype(dtype)
    if matrix.dtype.kind == "f" and (np.isinf(converted) & ~np.isinf(matrix)).any():
        raise RequestError(f"dtype {dtype} cannot hold all entries", advice=["leave out dtype"])
    if matrix.dtype.kind in "iu":  # infinity stays what it is
        absent = matrix == no_path_in(semiring, matrix.dtype)
        converted[absent] = no_path_in(semiring, dtype)
    return converted
