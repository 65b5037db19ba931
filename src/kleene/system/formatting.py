"""Numbers as people write them."""

from __future__ import annotations

import numbers
from typing import Any

__all__ = ["counted", "format_bytes", "format_duration", "format_number", "type_name"]


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return a number of things, in the singular for one.

    >>> counted(1, "arc"), counted(2000, "vertex", "vertices")
    ('1 arc', '2,000 vertices')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def format_bytes(count: float) -> str:
    """Return a size with a unit.

    >>> format_bytes(1.5 * 2**30), format_bytes(12)
    ('1.5 GiB', '12 B')
    """
    for unit in ("B", "KiB", "MiB", "GiB", "TiB", "PiB"):
        if count < 1024 or unit == "PiB":
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    raise AssertionError


def format_duration(seconds: float) -> str:
    """Return an estimated time in its largest unit.

    >>> [format_duration(s) for s in (0.2, 42.0, 600.0, 9000.0)]
    ['1 s', '42 s', '10 min', '2.5 h']
    """
    if seconds < 100:
        return f"{max(1, round(seconds))} s"
    if seconds < 5400:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"


def format_number(number: Any) -> str:
    """Return a number with separators of thousands; floats to six digits.

    >>> format_number(1234567), format_number(2 / 3)
    ('1,234,567', '0.666667')
    """
    return f"{number:,}" if isinstance(number, numbers.Integral) else f"{number:,.6g}"


def type_name(thing: object) -> str:
    """Return the name of a type with its package, so that "Graph" says whose.

    >>> type_name(3), type_name(numbers)
    ('int', 'module')
    """
    kind = type(thing)
    package = kind.__module__.partition(".")[0]
    return kind.__qualname__ if package == "builtins" else f"{package}.{kind.__qualname__}"
