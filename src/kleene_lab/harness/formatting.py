"""Formatting of numbers: 33.9 ms, 14.8 T, 2¹⁶, 1.2 GiB, 52 times."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

__all__ = ["amount", "count", "counts", "duration", "listed", "percent", "size", "three", "times"]

_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_PREFIXES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def duration(seconds: float) -> str:
    """Return seconds in three digits and a fitting unit.

    >>> duration(0.03391), duration(434.4), duration(2.4e-7), duration(1757.2)
    ('33.9 ms', '434 s', '240 ns', '1,757 s')
    """
    if not math.isfinite(seconds):
        return "-"
    for unit, name in _TIMES:
        if abs(seconds) >= 0.9995 * unit:
            return f"{three(seconds / unit)} {name}"
    return "0 s" if seconds == 0 else f"{three(seconds / 1e-9)} ns"


def amount(value: float, unit: str = "") -> str:
    """Return a number in three digits with a prefix for thousands.

    >>> amount(14.76e12, "relaxations/s"), amount(65536), amount(0.25)
    ('14.8 T relaxations/s', '65.5 k', '0.25')
    """
    if not math.isfinite(value):
        return "-"
    size, prefix = next(((s, p) for s, p in _PREFIXES if abs(value) >= 0.9995 * s), (1.0, ""))
    return " ".join(part for part in (three(value / size), prefix, unit) if part)


def count(value: float) -> str:
    """Return a number of things, exactly if it has at most six digits.

    >>> count(4096), count(44000), count(1 << 20), count(0.5)
    ('4,096', '44,000', '1.05 M', '0.5')
    """
    if float(value).is_integer() and abs(value) < 1e6:
        return f"{value:,.0f}"
    return amount(value)


def counts(values: Sequence[float]) -> list[str]:
    """Return numbers of things in one style: powers of two as such, where they get long.

    >>> counts([512, 3072, 4096]), counts([2**10, 2**16])
    (['512', '3,072', '4,096'], ['2¹⁰', '2¹⁶'])
    """
    powers = [_power_of_two(value) for value in values]
    if values and max(values) > 9999 and all(power is not None for power in powers):
        return [f"2{str(power).translate(_RAISED)}" for power in powers]
    return [count(value) for value in values]


def _power_of_two(value: float) -> int | None:
    if value < 1 or not math.isfinite(value):
        return None
    mantissa, exponent = math.frexp(value)
    return exponent - 1 if mantissa == 0.5 else None


def times(ratio: float) -> str:
    """Return how many times, for a column of a table.

    >>> times(212.3), times(52.41), times(3.14159), times(0.5)
    ('212', '52', '3.1', '0.50')
    """
    if not math.isfinite(ratio):
        return "-"
    return f"{ratio:,.{0 if ratio >= 10 else 1 if ratio >= 1 else 2}f}"


def percent(share: float) -> str:
    """Return a share.

    >>> percent(0.834), percent(0.0123)
    ('83 %', '1.2 %')
    """
    if not math.isfinite(share):
        return "-"
    return f"{100 * share:.{0 if share >= 0.0995 else 1}f} %"


def size(count: float) -> str:
    """Return a number of bytes with a unit.

    >>> size(1.5 * 2**30), size(12)
    ('1.5 GiB', '12 B')
    """
    units = iter(("B", "KiB", "MiB", "GiB", "TiB", "PiB"))
    unit = next(units)
    while count >= 1024 and unit != "PiB":
        count, unit = count / 1024, next(units)
    return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"


def listed(items: Iterable[str]) -> str:
    """Return items as a list in a sentence.

    >>> listed(["a", "b", "c"]), listed(["a"])
    ('a, b and c', 'a')
    """
    *most, last = list(items) or [""]
    return f"{', '.join(most)} and {last}" if most else last


def three(value: float) -> str:
    """Return three digits, or all before the point.

    >>> three(0.25), three(12.345), three(1757.2)
    ('0.25', '12.3', '1,757')
    """
    return f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:.3g}"
