"""Attributes that are computed once, without a lock.

Python 3.11's ``functools.cached_property`` holds a lock, one for all objects, while it computes: a
process forked by another thread at that moment inherits the lock locked, and hangs at its first
access. Python 3.12 dropped the lock. Two threads may compute the same attribute at once; both get
the same value.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

__all__ = ["cached", "cached_property"]

Value = TypeVar("Value")


def cached(instance: object, name: str, compute: Callable[[], Value]) -> Value:
    """Return what an object holds under a name, computed at the first call.

    For what a property cannot compute, since it takes arguments. Two threads may compute it at
    once; the first value stays, and both get that one: it must be complete when it is returned.

    >>> class Town: ...
    >>> town = Town()
    >>> cached(town, "_streets", lambda: [1, 2]) is cached(town, "_streets", list)
    True
    """
    found = instance.__dict__.get(name, _NOTHING)
    value: Value = found if found is not _NOTHING else instance.__dict__.setdefault(name, compute())
    return value


_NOTHING: Any = object()

if sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property(Generic[Value]):  # noqa: N801  (as in functools)
        """A property that stores what it computed under its own name in the object."""

        def __init__(self, func: Callable[[Any], Value]) -> None:
            self.func = func
            self.__doc__ = func.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self._name = name

        @overload
        def __get__(self, instance: None, owner: type) -> cached_property[Value]: ...

        @overload
        def __get__(self, instance: object, owner: type) -> Value: ...

        def __get__(self, instance: object | None, owner: type) -> cached_property[Value] | Value:
            if instance is None:
                return self
            return cached(instance, self._name, lambda: self.func(instance))
