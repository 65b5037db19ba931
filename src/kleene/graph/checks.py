"""Argument checks: return arrays of the right type, or raise an error that says what to do."""

from __future__ import annotations

import numbers
import operator
import sys
from collections.abc import Hashable
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kleene._native import BadArc
from kleene.errors import Code, GraphError, MemoryBudgetError, PathOverflowError, RequestError
from kleene.graph.foreign_columns import as_numpy
from kleene.graph.forms import adopt, copied, is_frozen
from kleene.system.formatting import format_bytes
from kleene.system.machine import available_memory

__all__ = [
    "FILL_IN",
    "as_array",
    "as_flag",
    "as_ids",
    "as_name",
    "as_seed",
    "as_summable",
    "as_vertex_count",
    "as_weights",
    "beyond",
    "explain_bad_arc",
    "holds",
    "id_dtype",
    "is_masked",
    "kept_ids",
    "memory_for",
    "over_budget",
    "overflow_error",
    "own",
    "require_finite",
    "require_memory",
    "require_one_each",
    "require_unmasked",
    "safe_length",
    "weight_dtype",
]

Array = NDArray[Any]

#: More than fit in any memory; keeps native arithmetic far from overflow.
MOST_VERTICES = 2**56

#: With more vertices, ids do not fit in int32.
MOST_INT32_VERTICES = 2**31 - 1


#: What to do about masked entries where none can be left out.
FILL_IN = "give them values by .filled(...)"
_LEAVE_OUT = f"leave them out, or {FILL_IN}"

_FOR_NAMES = "for names, use Graph.from_table({'source': [...], 'target': [...]})"


def as_array(values: ArrayLike, name: str, matrix: bool = False) -> Array:
    """Return any array-like as a NumPy array of numbers; messages differ for a matrix."""
    given = as_numpy(values, name)
    try:
        array = np.asarray(given)
    except ValueError as error:
        wanted = "rows of the same length" if matrix else "a flat sequence of numbers"
        raise GraphError(
            f"{name} is ragged: its rows have different lengths", advice=[f"pass {wanted}"]
        ) from error
    except (TypeError, OverflowError) as error:
        raise GraphError(f"{name} cannot be made an array of numbers: {error}") from error
    require_unmasked(values, name, FILL_IN if matrix else _LEAVE_OUT)
    if array.dtype == object:
        names = f"; {_FOR_NAMES}" if name in ("sources", "targets") else ""
        one = next((value for value in array.flat if type(value) not in (int, float, bool)), None)
        if isinstance(one, str):
            raise _text(name, one)
        raise GraphError(
            f"{name} holds Python objects, such as {str(one)[:40]!r} of the type "
            f"{type(one).__name__}",
            advice=[f"pass numbers of one type, without None{names}"],
        )
    return array


def _text(name: str, one: str = "") -> GraphError:
    """Return the error for text in place of numbers."""
    if name in ("sources", "targets"):
        return GraphError(Code(name), f" must hold vertex ids, not names; {_FOR_NAMES}")
    such = f", such as {one[:40]!r}" if one else ""
    return GraphError(
        f"{name} holds text{such}",
        advice=["make numbers of it first, as by pandas.to_numeric(column)"],
    )


def is_masked(thing: Any) -> TypeGuard[np.ma.MaskedArray[Any, Any]]:
    """Return whether this is a masked array, without importing their module: it takes 15 ms."""
    ma = sys.modules.get("numpy.ma")
    return ma is not None and isinstance(thing, ma.MaskedArray)


def require_unmasked(
    values: Any,
    name: str,
    advice: str = _LEAVE_OUT,
    error: type[GraphError | RequestError] = GraphError,
) -> None:
    """Raise if an array, or an array in a list, has a masked entry.

    The mask does not say whether the entry is absent or its value unknown.
    """
    if "numpy.ma" not in sys.modules:
        return
    nested = isinstance(values, (list, tuple)) and values and hasattr(values[0], "__len__")
    for array in values if nested else (values,):
        if is_masked(array) and np.ma.is_masked(array):
            raise error(f"{name} has masked entries; {advice}")


def own(array: Array, given: ArrayLike | None) -> Array:
    """Return an array made from ``given``, copied if it can change with it: they share memory."""
    if isinstance(given, (list, tuple)) or is_frozen(array):
        return array
    if not np.may_share_memory(array, np.asarray(as_numpy(given, "the array"))):
        return array
    return copied(array)


def kept_ids(ids: Array, given: ArrayLike, n: int) -> Array:
    """Return checked ids as a frozen array of the smallest type, which ``given`` cannot change."""
    narrow = ids.astype(id_dtype(n), copy=False)
    kept: Array = adopt(narrow if narrow is not ids else own(ids, given))
    return kept


def as_ids(values: ArrayLike, name: str) -> Array:
    """Return a one-dimensional, contiguous int32 or int64 array of vertex ids."""
    array = as_array(values, name)
    if array.ndim != 1:
        raise GraphError(Code(name), f" must be one-dimensional, but has shape {array.shape}")
    if array.size == 0:
        return np.empty(0, dtype=np.int32)
    if array.dtype.kind == "f":
        integral = (
            np.isfinite(array) & (array == np.floor(array)) & (np.abs(array) < np.float64(2**53))
        )
        if not integral.all():
            at = int(np.argmin(integral))
            raise GraphError(f"{name}[{at}] is {array[at]}, which is not an integer vertex id")
        return array.astype(np.int64)
    if array.dtype.kind in "US":
        raise _text(name, str(array[0]))
    if array.dtype.kind not in "iu":
        raise GraphError(Code(name), f" must hold integer vertex ids, not {array.dtype}")
    if array.dtype == np.uint64 and array.max() > np.iinfo(np.int64).max:
        at = int(array.argmax())
        raise GraphError(f"{name}[{at}] is {array[at]}, too large for a vertex id")
    wide = array.dtype.itemsize == 8 or array.dtype == np.uint32
    return _converted(array, np.dtype(np.int64 if wide else np.int32), name)


def as_weights(values: ArrayLike | None, name: str) -> Array | None:
    """Return weights as a contiguous float32, float64, int32 or int64 array, or None."""
    if values is None:
        return None
    array = as_array(values, name)
    if array.dtype == np.uint64 and array.size and array.max() > np.iinfo(np.int64).max:
        at = np.unravel_index(int(array.argmax()), array.shape)
        raise GraphError(
            f"{name} holds {array[at]}, too large for int64", advice=["pass weights as float64"]
        )
    if array.dtype.kind in "US" and array.size:
        raise _text(name, str(array.flat[0]))
    dtype = weight_dtype(array.dtype, name)
    if array.dtype.itemsize > dtype.itemsize:  # long double
        with np.errstate(over="ignore"):
            converted = array.astype(dtype, order="C")
        if (np.isinf(converted) & ~np.isinf(array)).any():
            raise GraphError(
                f"{name} holds a number too large for float64", advice=["scale the weights down"]
            )
        return converted
    return _converted(array, dtype, name)


def _converted(array: Array, dtype: np.dtype[Any], name: str) -> Array:
    """Return a contiguous array of this type: the same one, or a copy that fits in memory."""
    if array.dtype == dtype and array.flags.c_contiguous:
        return array
    advice = f"pass a contiguous array of {dtype}"
    require_memory(array.size * dtype.itemsize, f"{name} as {dtype}", advice)
    return np.asarray(array, dtype=dtype, order="C")


def weight_dtype(dtype: np.dtype[Any], name: str) -> np.dtype[Any]:
    """Return the type in which weights of this type are kept."""
    kind, size = dtype.kind, dtype.itemsize
    if kind == "f":
        return np.dtype(np.float32 if size <= 4 else np.float64)
    if kind in "US":
        raise _text(name)
    if kind not in "biu":
        raise GraphError(Code(name), f" must hold real numbers, not {dtype}")
    return np.dtype(np.int32 if size <= (2 if kind == "u" else 4) else np.int64)


def require_one_each(weights: Array, count: int, what: str = "arcs") -> None:
    """Raise unless there is one weight for each of so many arcs, or rows."""
    if weights.ndim != 1:
        raise GraphError(
            f"weights must be one-dimensional, one for each of {count} {what}, not of shape "
            f"{weights.shape}"
        )
    if len(weights) != count:
        raise GraphError(f"got {len(weights)} weights for {count} {what}")


def as_summable(weights: Array) -> Array:
    """Return weights in a type in which no sum of them can overflow."""
    if weights.dtype.kind == "f":
        return weights
    total = float(np.abs(weights.astype(np.float64)).sum())
    if total >= np.iinfo(np.int64).max:
        raise GraphError(
            "the sum of parallel arcs may overflow int64", advice=["pass weights as float64"]
        )
    return weights if total < np.iinfo(np.int32).max else weights.astype(np.int64)


def require_finite(weights: Array | None) -> None:
    """Raise if a sum of float weights overflowed."""
    if weights is not None and weights.dtype.kind == "f" and not np.isfinite(weights).all():
        raise GraphError(
            f"the sum of parallel arcs overflows {weights.dtype}", advice=["scale the weights down"]
        )


def as_flag(value: Any, name: str) -> bool:
    """Return a value that is True or False."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise RequestError(Code(name), f" must be True or False, not {value!r}")


def as_seed(seed: Any) -> int:
    """Return a seed of random numbers."""
    if isinstance(seed, bool) or not isinstance(seed, numbers.Integral) or seed < 0:
        raise RequestError(Code("seed"), f" must be a non-negative integer, not {seed!r}")
    return int(seed)


def as_name(value: Any, what: str) -> Any:
    """Return the name of a column or attribute: anything that can be one."""
    if isinstance(value, Hashable):
        return value
    raise GraphError(Code(what), f" must be a name, not {type(value).__name__}")


def id_dtype(n: int) -> np.dtype[Any]:
    """Return the type of vertex ids in a graph of ``n`` vertices."""
    return np.dtype(np.int32 if n <= MOST_INT32_VERTICES else np.int64)


def as_vertex_count(n: Any) -> int:
    """Return ``n`` as a non-negative int."""
    try:
        count = operator.index(n)
    except TypeError:
        raise GraphError(f"n must be an integer, not {n!r}") from None
    if count < 0:
        raise GraphError(f"n must not be negative, but is {count}")
    if count > MOST_VERTICES:
        raise MemoryBudgetError(f"n = {count:,} is more vertices than fit in any memory")
    return count


def explain_bad_arc(
    bad: BadArc, n: int, sources: Array | None, targets: Array, weights: Array | None
) -> GraphError:
    """Return the error for the native core's (fault, position) in terms of the user's input."""
    fault, at = bad.args
    if fault == "changed":
        return GraphError(
            "the arrays changed while the graph was being made; do not write to them during the "
            "call"
        )
    if fault == "weight":
        assert weights is not None
        advice = "remove the arc or correct the weight"
        return GraphError(f"the weight of arc {at} is {weights[at]}; {advice}")
    assert fault == "target" or sources is not None
    ids = sources if fault == "source" and sources is not None else targets
    problem = "negative" if ids[at] < 0 else f"not below n = {n}"
    return GraphError(f"the {fault} of arc {at} is vertex {ids[at]}, which is {problem}")


def require_memory(needed: int, what: str, *advice: str) -> None:
    """Raise MemoryBudgetError if ``needed`` bytes exceed the available memory."""
    available = memory_for(needed)
    if needed > available:
        raise over_budget(needed, available, what, *advice)


def memory_for(most: int) -> int:
    """Return the bytes available to work that takes up to ``most``; a huge number if unknown."""
    unlimited = 2**62
    if most < 2**26:  # too little to query the system
        return unlimited
    available = available_memory()
    return unlimited if available is None else available


def over_budget(needed: int, available: int, what: str, *advice: str) -> MemoryBudgetError:
    """Return the error for work that takes more memory than there is."""
    return MemoryBudgetError(
        f"{what} needs {format_bytes(needed)}, but {format_bytes(available)} are available",
        advice=advice,
        lead="; ",
        needed=needed,
        available=available,
    )


# ---- How long paths may be in a type, with room for what methods form on the way ----------------
# In integers, half of the largest value stands for "no path" in many methods, so that no sum with
# it wraps. In 32 bits it is not a length, since 64 bits are available. In floats, methods on
# matrices add two paths; Johnson's algorithm adds two potentials to a path, and rounding comes on
# top.

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
