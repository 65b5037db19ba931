"""In which type path values are computed and returned: wide enough that no sum wraps or overflows.

One rule for integers and floats, for every method, before anything is computed: a type is used only
if it holds the sums of all simple paths, with room for what methods form on the way. A sum that
overflowed would read as "no path".
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from kleene.errors import Code, RequestError, Text
from kleene.graph.checks import beyond, holds, overflow_error
from kleene.planning.ask import Ask
from kleene.planning.facts import Facts
from kleene.registry import LENGTH_PROBLEMS
from kleene.system.suggestions import did_you_mean

__all__ = ["NO_ARC", "choose_dtype"]

#: What to do with weights that are not lengths.
NO_ARC = "if huge weights stand for 'no arc', leave these arcs out"


@lru_cache(maxsize=256)
def choose_dtype(facts: Facts, ask: Ask) -> tuple[np.dtype[Any], str]:
    """Return the type of the values and why, or refuse the one that was asked for."""
    if ask.what.problem == "betweenness":
        _require_comparable(facts)
        return np.dtype(np.float64), "float64: sums of parts of paths"
    if ask.what.problem not in LENGTH_PROBLEMS:  # its values are not path lengths
        return np.dtype(ask.what.dtype or facts.weight_dtype or np.int32), "the type of the input"
    if ask.what.problem == "bfs":
        chosen, reason = np.dtype(np.int32 if facts.n < 2**31 else np.int64), "hop counts"
    elif ask.what.semiring == "boolean":
        chosen, reason = np.dtype(bool), "whether a path exists"
    else:
        chosen, reason = _fitting_dtype(facts, ask)
    if ask.what.dtype is not None:
        asked = _as_value_dtype(ask.what.dtype)
        _require_fit(facts, ask, chosen, asked)
        return asked, f"dtype {asked} was asked for"
    return chosen, f"{chosen}: {reason}"


def _require_comparable(facts: Facts) -> None:
    """Refuse paths whose lengths do not fit: int64 for integers, float64 for floats."""
    own = np.dtype(facts.weight_dtype or np.int64)
    wide = np.dtype(np.float64 if own.kind == "f" else np.int64)
    if not holds(wide, facts.path_bound):
        advice = "use smaller units, or graph.reweight with smaller weights"
        raise overflow_error(wide, facts.path_bound, advice)


def _fitting_dtype(facts: Facts, ask: Ask) -> tuple[np.dtype[Any], str]:
    own = np.dtype(facts.weight_dtype or np.int32)
    whose = "the type of the weights" if facts.weight_dtype else "a unit weight per arc"
    if ask.what.semiring == "max_times":  # probabilities: no product is larger than its factors
        kept = own if own.kind == "f" else np.dtype(np.float64)
        return kept, whose if own.kind == "f" else "products need floats"
    if ask.what.semiring == "max_min":
        return _fitting_widths(facts, ask, own, whose)
    bound = facts.path_bound
    if holds(own, bound):
        return own, whose
    wide = np.dtype(np.float64 if own.kind == "f" else np.int64)
    if holds(wide, bound):
        return wide, beyond(own, bound)
    if ask.what.dtype is not None:
        return wide, "the widest type there is"
    raise overflow_error(wide, bound, *_advice(ask, wide))


def _fitting_widths(
    facts: Facts, ask: Ask, own: np.dtype[Any], whose: str
) -> tuple[np.dtype[Any], str]:
    """Return the type of widths: paths are as wide as an arc, and nothing is added."""
    if own.kind == "f":
        return own, whose
    widest = max(facts.min_weight, facts.max_weight, key=abs)
    sign, wide = (1 if widest > 0 else -1), np.dtype(np.int64)
    if abs(widest) <= _safe_width(own):
        return own, whose
    if abs(widest) <= _safe_width(wide):
        return wide, beyond(own, widest, sign * _safe_width(own))
    if ask.what.dtype is not None:
        return wide, "the widest type there is"
    raise overflow_error(wide, widest, *_advice(ask, wide), safe=sign * _safe_width(wide))


def _safe_width(dtype: np.dtype[Any]) -> int:
    """Return the largest width of an arc; the ends of a type are "no path" and the empty path."""
    return int(np.iinfo(dtype).max) - 1


def _advice(ask: Ask, widest: np.dtype[Any]) -> list[str]:
    """Return what to do about path values that are too large, in terms of the call."""
    if widest.kind == "f":
        return [f"scale the weights down; {NO_ARC} or give them the weight inf"]
    wider = Text("pass ", Code("dtype='float64'"))
    return [
        wider if ask.advises("dtype") else "make the weights float64",
        f"scale the weights down; {NO_ARC}",
    ]


def _as_value_dtype(dtype: str) -> np.dtype[Any]:
    try:
        asked = np.dtype(dtype)
    except (TypeError, ValueError):
        asked = None
    allowed = ("int32", "int64", "float32", "float64")
    if asked is None or asked.name not in allowed:
        question = did_you_mean(dtype, allowed)
        raise RequestError(
            Code("dtype"),
            f" must be int32, int64, float32 or float64, not {dtype!r}",
            advice=[question] if question else [],
        )
    return asked


def _require_fit(facts: Facts, ask: Ask, chosen: np.dtype[Any], asked: np.dtype[Any]) -> None:
    if chosen.kind == "b":
        raise RequestError(
            "a boolean closure takes no ", Code("dtype"), ": its values are True and False"
        )
    if chosen.kind == "f" and asked.kind == "i":
        raise RequestError(Code("dtype"), f" {asked} cannot hold {chosen} path values")
    if ask.what.semiring == "min_plus" and not holds(asked, facts.path_bound):
        if asked == np.float64:
            raise overflow_error(asked, facts.path_bound, *_advice(ask, asked))
        advice = [Text("leave out ", Code("dtype")), "pass a wider one"]
        if not ask.advises("dtype"):
            advice = ["use a wider type"]
        raise RequestError(
            f"{asked} is too narrow: {beyond(asked, facts.path_bound)}", advice=advice
        )
    if ask.what.semiring == "max_min":
        if asked.kind == "f":
            highest: int | float = float(np.finfo(asked).max)
        else:
            highest = int(np.iinfo(asked).max)
        if not (-highest <= facts.min_weight and facts.max_weight < highest):
            raise RequestError(
                Code("dtype"),
                f" {asked} cannot hold weights from {facts.min_weight} to {facts.max_weight}",
            )
