"""Ctrl-C between two steps of the main thread.

Python runs the handler of a signal after any call, also between a call that takes something (a
lock, a descriptor, a thread) and the next step, which would note that it must be given back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["keep"]


def keep(kept: list[Any], function: Callable[..., Any], *args: Any) -> None:
    """Append ``function(*args)`` to a list: on Ctrl-C both have happened, or neither.

    The function must be written in C: then all of it is one step of Python.

    >>> opened = []
    >>> keep(opened, len, "four")
    >>> opened
    [4]
    """
    kept.extend(map(function, *((arg,) for arg in args)))
