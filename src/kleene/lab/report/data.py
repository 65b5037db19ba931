"""What charts show: the curves of an experiment on one machine, and its document's own.

A series has one colour and one marker in all charts of an experiment. Published numbers are
dashed and hollow; they take the colour of our series of the same name, or grey.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kleene.lab.experiment import Axis, Experiment, Published
from kleene.lab.found import Found, Spread
from kleene.lab.record import Point
from kleene.lab.report.palette import series_style
from kleene.lab.words import amount, count, counts, duration, percent, times

__all__ = ["Chart", "Curve", "Mark", "charts_of", "published_in", "shown", "x_words", "y_title"]


@dataclass(frozen=True)
class Mark:
    """A value at an x, and the ends of its spread."""

    x: float
    y: float
    low: float
    high: float
    tip: str


@dataclass(frozen=True)
class Curve:
    """A series in one chart."""

    name: str
    index: int  # the same in all charts of the experiment
    colour: str
    marker: int
    published: bool
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class Chart:
    """All curves of one panel on one machine."""

    panel: str
    machine: str
    x: Axis
    y: str
    unit: str  # of the work, where y is a rate
    curves: tuple[Curve, ...]
    bars: bool

    @property
    def marks(self) -> list[Mark]:
        return [mark for curve in self.curves for mark in curve.marks]

    @property
    def values(self) -> list[float]:
        """All y, with the ends of the spreads."""
        return [y for mark in self.marks for y in (mark.y, mark.low, mark.high) if y > 0]

    @property
    def description(self) -> str:
        """Say what the chart shows to those who cannot see it."""
        if not self.marks:
            return f"No points on {self.machine}."
        names = [curve.name for curve in self.curves]
        least, most = (pick(self.marks, key=lambda mark: mark.y) for pick in (min, max))
        return (
            f"{y_title(self.y, self.unit)} by {self.x.name} on {self.machine}: "
            f"{', '.join(names)}. The lowest is {least.tip}; the highest is {most.tip}. "
            "The tables have all numbers."
        )


def charts_of(experiment: Experiment, founds: Sequence[Found]) -> list[list[Chart]]:
    """Return the charts of each machine, panel by panel, the same panels for all."""
    panels = dict.fromkeys(panel for found in founds for panel in found.panels)
    ours = list(dict.fromkeys(name for found in founds for name in found.series))
    theirs = [p.series for p in experiment.published if p.series not in ours]
    index = {name: at for at, name in enumerate(dict.fromkeys([*ours, *theirs]))}
    units = [point.unit for found in founds for point in found.points if point.unit]
    unit = units[0] if units else "operations"
    made: list[list[Chart]] = [[] for _ in founds]
    for panel in panels:
        told = [_published(p, experiment, ours, index) for p in published_in(experiment, panel)]
        curves = [
            [*told, *(_ours(name, panel, found, index[name]) for name in ours)] for found in founds
        ]
        places = {mark.x for machine in curves for curve in machine for mark in curve.marks}
        bars = experiment.kind == "bars" or len(places) == 1
        for at, found in enumerate(founds):
            kept = tuple(curve for curve in curves[at] if curve.marks)
            chart = Chart(panel, found.run.place, experiment.x, experiment.y, unit, kept, bars)
            made[at].append(chart)
    return made


def published_in(experiment: Experiment, panel: str) -> list[Published]:
    """Return what a document tells about a panel; without one named, it is told in all."""
    if experiment.y != "seconds":
        return []
    return [p for p in experiment.published if p.panel in ("", panel)]


def _ours(name: str, panel: str, found: Found, index: int) -> Curve:
    colour, marker = series_style(index)
    marks = []
    for point in found.of(name, panel):
        value = found.value(point)
        if math.isfinite(value) and value > 0:
            spread = found.spread(point)
            tip = _tip(name, point, value, spread, found)
            marks.append(Mark(point.x, value, spread.low, spread.high, tip))
    return Curve(name, index, colour, marker, False, tuple(marks))


def _tip(name: str, point: Point, value: float, spread: Spread, found: Found) -> str:
    experiment = found.experiment
    repeats = len(found.times(point))
    around = (
        f", {spread.kind} {shown(spread.low, experiment.y)} to {shown(spread.high, experiment.y)}"
        if repeats > 1 or spread.kind == "99 % interval"
        else ""
    )
    again = "once" if repeats == 1 else f"{repeats} times"
    at = x_words(experiment.x, [point.x])[0]
    what = f"{name} at {at} {experiment.x.name}" if not experiment.x.words else f"{name}, {at}"
    return f"{what}: {shown(value, experiment.y, point.unit)} (measured {again}{around})"


def _published(
    published: Published, experiment: Experiment, ours: list[str], index: dict[str, int]
) -> Curve:
    at = index[published.series]
    colour, marker = series_style(at)
    if published.series not in ours:
        colour, marker = "published", at - len(ours)
    marks = tuple(
        Mark(
            x, y, y, y,
            f"{published.series} at {x_words(experiment.x, [x])[0]} {experiment.x.name}: "
            f"{duration(y)} (published, {published.machine})",
        )
        for x, y in sorted(zip(published.x, published.y, strict=True))
        if y > 0
    )  # fmt: skip
    name = f"{published.series}, {published.machine}"
    return Curve(name, at, colour, marker, True, marks)


# ---- words --------------------------------------------------------------------------------------


def shown(value: float, y: str, unit: str = "") -> str:
    """Return a value of a chart in words."""
    if y == "speedup":
        return f"{times(value)} x"
    if y == "rate":
        return amount(value, f"{unit}/s" if unit else "")
    return percent(value) if y == "share" else duration(value)


def y_title(y: str, unit: str) -> str:
    """Return what stands over the axis."""
    if y == "rate":
        return f"{unit} a second"
    if y == "speedup":
        return "times as fast"
    return "share of the ceiling" if y == "share" else "time"


def x_words(axis: Axis, values: Sequence[float]) -> list[str]:
    """Return what stands along the axis, or in a table, for some x."""
    if not axis.words:
        return counts(values)
    return [
        axis.words[int(x)] if float(x).is_integer() and 0 <= x < len(axis.words) else count(x)
        for x in values
    ]
