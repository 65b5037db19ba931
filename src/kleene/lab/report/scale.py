"""From values to places on a chart: logarithmic and linear scales, and where their ticks stand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Scale", "apart", "linear_ticks", "log_ticks", "scale_for", "thinned"]

_MOST_TICKS = 7


@dataclass(frozen=True)
class Scale:
    """Values from low to high on pixels from first to last."""

    low: float
    high: float
    first: float
    last: float
    log: bool

    def at(self, value: float) -> float:
        """Return where a value stands."""
        low, high = self._of(self.low), self._of(self.high)
        share = (self._of(value) - low) / (high - low)
        return self.first + share * (self.last - self.first)

    def ticks(self) -> list[float]:
        """Return round values between low and high."""
        return (log_ticks if self.log else linear_ticks)(self.low, self.high)

    def _of(self, value: float) -> float:
        return math.log(value) if self.log else value


def scale_for(
    values: Sequence[float], first: float, last: float, log: bool, margin: float = 0.04
) -> Scale:
    """Return a scale on which all values have their place, with some room around them.

    A logarithmic scale takes positive values only; where there are none, it shows one to ten. A
    linear scale of times or rates starts at zero when the values come near it.
    """
    usable = [v for v in values if math.isfinite(v) and (v > 0 or not log)]
    low, high = (min(usable), max(usable)) if usable else (1.0, 10.0)
    if log:
        if high <= low * 1.0001:
            low, high = low / 2, high * 2
        room = (high / low) ** margin
        return Scale(max(low / room, 1e-300), min(high * room, 1e300), first, last, True)
    if high - low <= 1e-9 * max(abs(high), abs(low)):
        spread = abs(high) / 2 or 1.0
        low, high = low - spread, high + spread
    room = margin * (high - low)
    return Scale(low - room, high + room, first, last, False)


def log_ticks(low: float, high: float, most: int = _MOST_TICKS) -> list[float]:
    """Return decades, some of them, or 1-2-5 between them, whichever are three to ``most``.

    >>> log_ticks(0.002, 40)
    [0.01, 0.1, 1.0, 10.0]
    >>> log_ticks(1.5, 30)
    [2.0, 5.0, 10.0, 20.0]
    >>> log_ticks(10, 14)
    [10.0, 11.0, 12.0, 13.0, 14.0]
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    decades = [
        d for d in range(first, last + 1) if low <= _power(d) * 1.0000001 and _power(d) <= high
    ]
    if len(decades) >= 3:
        step = math.ceil(len(decades) / most)
        return [_power(d) for d in decades if d % step == 0]
    fine = [
        value
        for d in range(first, last + 1)
        for value in (_power(d), _power(d, 2), _power(d, 5))
        if low <= value <= high
    ]
    return fine if 3 <= len(fine) <= most else linear_ticks(low, high)


def linear_ticks(low: float, high: float, most: int = _MOST_TICKS) -> list[float]:
    """Return multiples of a round step.

    >>> linear_ticks(0, 1)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    exponent = math.floor(math.log10((high - low) / most))
    for factor in (1, 2, 5, 10, 20):
        step = _power(exponent, factor)
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first + 1 <= most:
            return [_power(exponent, factor * index) for index in range(first, last + 1)]
    raise AssertionError((low, high))


def _power(exponent: int, factor: int = 1) -> float:
    """Return the float nearest to a decimal number."""
    return float(f"{factor}e{exponent}")


def thinned(places: Sequence[float], widths: Sequence[float], gap: float = 8.0) -> list[int]:
    """Return which of the labels at these places, by rising place, can stand side by side.

    The last has its place for sure, since it tells how far things go; then from the first on.
    """
    if not places:
        return []
    last = len(places) - 1
    kept: list[int] = []
    for index in range(last):
        free = not kept or _clear(places, widths, kept[-1], index, gap)
        if free and _clear(places, widths, index, last, gap):
            kept.append(index)
    return [*kept, last]


def _clear(places: Sequence[float], widths: Sequence[float], a: int, b: int, gap: float) -> bool:
    return places[b] - places[a] >= (widths[a] + widths[b]) / 2 + gap


def apart(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Return places at least ``gap`` apart, in the order of those wanted and as near to them.

    Least squares: labels that would overlap are pooled, and a pool stands around its mean.

    >>> apart([10, 50, 51], 10, 0, 100)
    [10.0, 45.5, 55.5]
    """
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    pools: list[list[float]] = []  # [sum of places, each less what its rank takes; members]
    for rank, index in enumerate(order):
        pools.append([wanted[index] - rank * gap, 1])
        while len(pools) > 1 and pools[-2][0] / pools[-2][1] > pools[-1][0] / pools[-1][1]:
            total, members = pools.pop()
            pools[-1][0] += total
            pools[-1][1] += members
    most = high - (len(wanted) - 1) * gap
    means = [total / members for total, members in pools for _ in range(int(members))]
    places = [0.0] * len(wanted)
    for rank, (index, mean) in enumerate(zip(order, means, strict=True)):
        places[index] = max(low, min(mean, max(most, low))) + rank * gap
    return places
