"""Arrays that cannot change: what a Graph keeps and gives out.

NumPy lets anyone write to a read-only array again if its memory belongs to an array or to another
writable buffer. Frozen arrays therefore belong to an object that is neither: a ``_Memory`` or
``bytes``. A frozen array is passed on without a copy; any other is copied, unless the caller made
it and drops it (``adopt``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.system.machine import threads_for

__all__ = ["adopt", "copied", "frozen", "is_frozen", "is_ours"]

Array = NDArray[Any]


class _Memory:
    """The memory of a frozen array, which NumPy sees as read-only."""

    __slots__ = ("__array_interface__", "_owner")

    def __init__(self, owner: Array) -> None:
        interface = owner.__array_interface__
        interface["data"] = (interface["data"][0], True)
        self._owner = owner
        self.__array_interface__ = interface


def adopt(array: Any) -> Any:
    """Return a frozen array over the memory of an array to which nothing else will write.

    None stays None.
    """
    if array is None or is_frozen(array):
        return array
    if array.ndim == 1 and 0 < array.nbytes <= _SMALL and not array.dtype.hasobject:
        return np.frombuffer(array.tobytes(), array.dtype)  # faster than _Memory by 2 us
    return np.asarray(_Memory(array))


def frozen(array: Any) -> Any:
    """Return the array itself if it is frozen, otherwise a frozen copy; None stays None."""
    if array is None or is_frozen(array):
        return array
    return adopt(copied(array))


def is_frozen(array: Array) -> bool:
    """Return whether nothing can write to an array."""
    base: Any = array.base
    return type(base) in (_Memory, bytes)


def is_ours(array: Any) -> bool:
    """Return whether this is a matrix that Kleene gave out, as it stands."""
    base: Any = getattr(array, "base", None)
    return isinstance(array, np.ndarray) and type(base) is _Memory


def copied(array: Array) -> Array:
    """Return a contiguous copy, made on all cores if it is large."""
    large = array.nbytes > _SMALL and array.ndim == 1 and array.flags.c_contiguous
    if large and array.dtype in _NATIVE:
        return _native.copied(array, threads_for(len(array)))
    return np.array(array, order="C")


#: The most bytes of an array that is kept as a bytes object.
_SMALL = 4096

#: The types that the core copies.
_NATIVE = frozenset(np.dtype(t) for t in (np.int32, np.int64, np.float32, np.float64))
