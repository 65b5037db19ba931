"""Numbers as people write them."""

from __future__ import annotations

__all__ = ["format_bytes"]


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
