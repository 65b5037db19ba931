"""The four path algebras: what it means to choose between paths and to extend one.

A semiring has an *add*, which chooses between two paths, and a *times*, which joins two paths end
to end. Its *zero* stands for "no path", its *one* for the empty path. Shortest paths are
(min, +), reachability is (or, and), widest paths are (max, min), most reliable paths (max, x);
one algorithm serves all four (Aho, Hopcroft and Ullman 1974, section 5.6).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import RequestError
from kleene.graph.no_path import no_path
from kleene.system.suggestions import no_such

__all__ = ["SEMIRINGS", "Semiring", "semiring"]

Array = NDArray[Any]


@dataclass(frozen=True)
class Semiring:
    """One path algebra over NumPy arrays."""

    name: str
    finds: str
    better: np.ufunc  # better(a, b): is a strictly the better path value?
    _times: Callable[[Array, Array], Array]
    _zero: Callable[[np.dtype[Any]], Any]
    _one: Callable[[np.dtype[Any]], Any]

    def times(self, a: Array, b: Array) -> Array:
        """Return the values of paths ``a`` followed by paths ``b``; "no path" stays so."""
        return self._times(a, b)

    def zero(self, dtype: np.dtype[Any]) -> Any:
        """Return the value that stands for "no path" in this type."""
        return self._zero(dtype)

    def one(self, dtype: np.dtype[Any]) -> Any:
        """Return the value of the empty path in this type."""
        return self._one(dtype)

    def __repr__(self) -> str:
        return f"Semiring({self.name!r}: {self.finds})"


def _lowest(dtype: np.dtype[Any]) -> Any:
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


def _plus(a: Array, b: Array) -> Array:
    """Add; for integers, whose "no path" is an ordinary number, leave that number alone."""
    if a.dtype.kind == "f":
        return np.add(a, b)
    none = no_path(a.dtype)
    absent = (a == none) | (b == none)
    with np.errstate(over="ignore"):
        return np.where(absent, none, a + b)


SEMIRINGS = {
    s.name: s
    for s in (
        Semiring("min_plus", "shortest paths", np.less, _plus, no_path, lambda _: 0),
        Semiring(
            "boolean", "reachability", np.greater, np.logical_and, lambda _: False, lambda _: True
        ),
        Semiring("max_min", "widest paths", np.greater, np.minimum, _lowest, no_path),
        Semiring(
            "max_times",
            "most reliable paths",
            np.greater,
            np.multiply,
            lambda _: 0.0,
            lambda _: 1.0,
        ),
    )
}


def semiring(name: str | Semiring) -> Semiring:
    """Return a semiring by its name.

    Examples
    --------
    >>> from kleene.backends.semiring import semiring
    >>> semiring("max_min")
    Semiring('max_min': widest paths)
    """
    if isinstance(name, Semiring):
        return name
    if isinstance(name, str) and name in SEMIRINGS:
        return SEMIRINGS[name]
    raise RequestError(no_such("semiring", name, SEMIRINGS), option="semiring")
