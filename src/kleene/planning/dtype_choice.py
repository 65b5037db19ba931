"""In which type path values are computed and returned: wide enough that no sum wraps or overflows.

One rule for integers and floats, for every method, before anything is computed: a type is used only
if it holds the sums of all simple paths, with room for what methods form on the way. A sum that
overflowed would read as "no path".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.errors import PathOverflowError, RequestError
from kleene.planning.request import Facts, Request
from kleene.registry import LENGTH_PROBLEMS
from kleene.system.suggestions import did_you_mean

__all__ = ["NO_ARC", "choose_dtype", "holds", "overflow_error"]

#: How many times the longest path floats must hold. Methods on matrices add two paths; Johnson's
#: algorithm adds two potentials to a path, and rounding comes on top.
_ROOM = 4

#: Problems whose calls take ``dtype=``.
_TAKE_DTYPE = ("sssp", "apsp", "closure")

#: What to do with weights that are not lengths.
NO_ARC = "if huge weights stand for 'no arc', leave these arcs out"


def choose_dtype(facts: Facts, request: Request) -> tuple[np.dtype[Any], str]:
    """Return the type of the values and why, or refuse the one that was asked for."""
    if request.problem == "betweenness":
        _require_comparable(facts)
        return np.dtype(np.float64), "float64: sums of parts of paths"
    if request.problem not in LENGTH_PROBLEMS:  # its values are not path lengths
        return np.dtype(request.dtype or facts.weight_dtype or np.int32), "the type of the input"
    if request.problem == "bfs":
        chosen, reason = np.dtype(np.int32 if facts.n < 2**31 else np.int64), "hop counts"
    elif request.semiring == "boolean":
        chosen, reason = np.dtype(bool), "a pair is joined or not"
    else:
        chosen, reason = _fitting_dtype(facts, request)
    if request.dtype is not None:
        asked = _as_value_dtype(request.dtype)
        _require_fit(facts, request, chosen, asked)
        return asked, f"dtype {asked} was asked for"
    return chosen, f"{chosen}: {reason}"


def _require_comparable(facts: Facts) -> None:
    """Refuse paths whose lengths do not fit: int64 for integers, float64 for floats."""
    own = np.dtype(facts.weight_dtype or np.int64)
    wide = np.dtype(np.float64 if own.kind == "f" else np.int64)
    if not holds(wide, facts.path_bound):
        raise PathOverflowError(
            f"path lengths may reach {float(facts.path_bound):g}, too much for {wide}; use smaller "
            "units, or graph.reweight with smaller weights"
        )


def _fitting_dtype(facts: Facts, request: Request) -> tuple[np.dtype[Any], str]:
    own = np.dtype(facts.weight_dtype or np.int32)
    whose = "the type of the weights" if facts.weight_dtype else "a unit weight per arc"
    if request.semiring == "max_times":  # probabilities: no product is larger than its factors
        kept = own if own.kind == "f" else np.dtype(np.float64)
        return kept, whose if own.kind == "f" else "products need floats"
    bound = facts.path_bound
    if request.semiring == "max_min":  # paths are as wide as an arc; "no path" is the lowest value
        if own.kind == "f":
            return own, whose
        bound = max(abs(facts.min_weight), abs(facts.max_weight)) / 2
    if holds(own, bound):
        return own, whose
    wide = np.dtype(np.float64 if own.kind == "f" else np.int64)
    if holds(wide, bound):
        return wide, f"path values may reach {float(bound):g}, too much for {own}"
    if request.dtype is not None:
        return wide, "the widest type there is"
    raise overflow_error(wide, bound, _advice(request, wide))


def holds(dtype: np.dtype[Any], path_bound: int | float) -> bool:
    """Can this type hold every path length, and the sums that methods make of several?"""
    if dtype.kind == "f":
        return _ROOM * float(path_bound) < float(np.finfo(dtype).max)
    return 2 * path_bound < np.iinfo(dtype).max


def overflow_error(
    widest: np.dtype[Any], path_bound: int | float, advice: str
) -> PathOverflowError:
    """Return the error for path values that the widest type of their kind cannot hold."""
    largest = float(np.iinfo(widest).max if widest.kind == "i" else np.finfo(widest).max)
    reach = f"reach {float(path_bound):g}" if path_bound < np.inf else f"exceed {largest:.2g}"
    return PathOverflowError(f"path values may {reach}, too much for {widest}; {advice}")


def _advice(request: Request, widest: np.dtype[Any]) -> str:
    """Return what to do about path values that are too large, in terms of the call."""
    if widest.kind == "f":
        return f"scale the weights down; {NO_ARC} or give them the weight inf"
    takes_dtype = request.takes_dtype and request.problem in _TAKE_DTYPE
    first = "pass dtype='float64', or" if takes_dtype else "make the weights float64, or"
    return f"{first} scale the weights down; {NO_ARC}"


def _as_value_dtype(dtype: str) -> np.dtype[Any]:
    try:
        asked = np.dtype(dtype)
    except (TypeError, ValueError):
        asked = None
    allowed = ("int32", "int64", "float32", "float64")
    if asked is None or asked.name not in allowed:
        question = did_you_mean(dtype, allowed)
        raise RequestError(
            f"dtype must be int32, int64, float32 or float64, not {dtype!r}"
            + (f"; {question}" if question else "")
        )
    return asked


def _require_fit(
    facts: Facts, request: Request, chosen: np.dtype[Any], asked: np.dtype[Any]
) -> None:
    if chosen.kind == "b":
        raise RequestError("a boolean closure takes no dtype: its values are True and False")
    if chosen.kind == "f" and asked.kind == "i":
        raise RequestError(f"dtype {asked} cannot hold {chosen} path values")
    if request.semiring == "min_plus" and not holds(asked, facts.path_bound):
        if asked == np.float64:
            raise overflow_error(asked, facts.path_bound, _advice(request, asked))
        raise RequestError(
            f"dtype {asked} cannot hold path lengths that may reach "
            f"{float(facts.path_bound):g}; leave out dtype, or pass a wider one"
        )
    if request.semiring == "max_min":
        if asked.kind == "f":
            highest: int | float = float(np.finfo(asked).max)
        else:
            highest = int(np.iinfo(asked).max)
        if not (-highest <= facts.min_weight and facts.max_weight < highest):
            raise RequestError(
                f"dtype {asked} cannot hold weights from {facts.min_weight} to {facts.max_weight}"
            )
