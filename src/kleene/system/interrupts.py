"""Ctrl-C between two steps of the main thread.

Python runs the handler of a signal after any call, also between a call that takes something (a
lock, a descriptor, a thread) and the next step, which would note that it must be given back.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["interrupt_first", "keep"]


def keep(kept: list[Any], function: Callable[..., Any], *args: Any) -> None:
    """Append ``function(*args)`` to a list: on Ctrl-C both have happened, or neither.

    The function must be written in C: then all of it is one step of Python.

    >>> opened = []
    >>> keep(opened, len, "four")
    >>> opened
    [4]
    """
    kept.extend(map(function, *((arg,) for arg in args)))


@contextmanager
def interrupt_first() -> Iterator[None]:
    """Raise Ctrl-C that came in the block, where cleaning up after it raised another error.

    An archive cannot be closed, say, while a part of it is open for writing: that it is half
    written is no news then.
    """
    before = sys.exception()
    try:
        yield
    except Exception as error:
        earlier = error.__context__
        while earlier is not None and earlier is not before:
            if isinstance(earlier, KeyboardInterrupt):
                raise earlier from None
            earlier = earlier.__context__
        raise
