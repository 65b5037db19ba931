"""Axes of charts: domains, round ticks with labels, and places for names that do not overlap."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from statistics import fmean
from typing import Any

import altair as alt

__all__ = [
    "NAME_STEP",
    "Domain",
    "axis_labels",
    "axis_scale",
    "from_pixel",
    "padded_domain",
    "round_ticks",
    "spread_apart",
    "to_pixel",
]

NAME_STEP = 13.5  # pixels from one name to the next
_TICKS = 7

Domain = tuple[float, float, bool]  # low, high, logarithmic


def axis_labels(values: Sequence[float], texts: Sequence[str]) -> dict[str, Any]:
    """Return the part of an axis that puts texts at values."""
    nth = f"round(datum.index * {len(texts) - 1})"
    return {"values": list(values), "labelExpr": f"{json.dumps(texts)}[{nth}]"}


def axis_scale(domain: Domain) -> alt.Scale:
    low, high, log = domain
    if log:
        return alt.Scale(type="log", domain=[low, high], nice=False)
    return alt.Scale(domain=[low, high], nice=False, zero=False)


def padded_domain(values: Sequence[float], log: bool, margin: float = 0.04) -> Domain:
    """Return a domain with some room around the values."""
    low, high = (min(values), max(values)) if values else (1.0, 10.0)
    if log:
        low, high = (low / 2, high * 2) if high <= low * 1.0001 else (low, high)
        room = (high / low) ** margin
        return low / room, high * room, True
    if high - low <= 1e-9 * max(abs(high), abs(low)):
        half = abs(high) / 2 or 1.0
        low, high = low - half, high + half
    room = margin * (high - low)
    return low - room, high + room, False


def round_ticks(domain: Domain) -> list[float]:
    """Return round values: decades, or 1-2-5 between them, or multiples of a round step."""
    low, high, log = domain
    if log:
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        for factors in ((1,), (1, 2, 5)):
            ticks = [v for p in powers for f in factors if low <= (v := float(f"{f}e{p}")) <= high]
            if len(ticks) >= 3:
                return ticks[:: -(-len(ticks) // _TICKS)]
    exponent = math.floor(math.log10((high - low) / _TICKS))
    for factor in (1, 2, 5, 10, 20):
        step = float(f"{factor}e{exponent}")
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first < _TICKS:
            return [float(f"{factor * k}e{exponent}") for k in range(first, last + 1)]
    return [low, high]


def to_pixel(value: float, domain: Domain, height: int) -> float:
    low, high, log = domain
    of = math.log if log else float
    return height * (of(high) - of(value)) / (of(high) - of(low))


def from_pixel(pixel: float, domain: Domain, height: int) -> float:
    low, high, log = domain
    share = 1 - pixel / height
    return low * (high / low) ** share if log else low + (high - low) * share


def spread_apart(wanted: Sequence[float], height: int, gap: float = NAME_STEP) -> list[float]:
    """Return places at least ``gap`` apart, in the order of those wanted and near to them.

    Least squares: names that would overlap are pooled, and a pool is around its mean.

    >>> spread_apart([10, 50, 51], 100, 10)
    [10.0, 45.5, 55.5]
    """
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    pools: list[list[float]] = []
    for rank, index in enumerate(order):
        pools.append([wanted[index] - rank * gap])
        while len(pools) > 1 and fmean(pools[-2]) > fmean(pools[-1]):
            pools[-2:] = [pools[-2] + pools[-1]]
    most = max(0.0, height - (len(wanted) - 1) * gap)
    means = [min(max(fmean(pool), 0.0), most) for pool in pools for _ in pool]
    places = {
        index: mean + rank * gap
        for rank, (index, mean) in enumerate(zip(order, means, strict=True))
    }
    return [places[index] for index in range(len(wanted))]
