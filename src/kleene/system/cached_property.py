"""Attributes that are computed once, without a lock.

Python 3.11's ``functools.cached_property`` holds a lock, one for all objects, while it computes: a
process forked by another thread at that moment inherits the lock locked, and hangs at its first
access. Python 3.12 dropped the lock. Two threads may compute the same attribute at once; both get
the same value.
"""

from __future__ import annotations

import sys

__all__ = ["cached_property"]

if sys.version_info >= (3, 12):
    from functools import cached_property
else:
    from collections.abc import Callable
    from typing import Any, Generic, TypeVar, overload

    Value = TypeVar("Value")

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
            # The first value stays: what a thread has been given does not change.
            value: Value = instance.__dict__.setdefault(self._name, self.func(instance))
            return value
