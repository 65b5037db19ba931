"""What charts show: the series of an experiment on one machine, and its document's own.

A series has one colour and one marker in all charts of an experiment. Published numbers are
dashed and hollow; they take the colour of our series of the same name, or grey.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kleene_lab.harness.experiment import Axis, Experiment, Published
from kleene_lab.harness.formatting import amount, count, counts, duration, percent, times
from kleene_lab.harness.measurements import Measurements, measurements_in
from kleene_lab.harness.record import Point, Record
from kleene_lab.report.palette import assign_styles, series_style

__all__ = [
    "Chart",
    "ChartPoint",
    "Series",
    "charts_of",
    "format_value",
    "published_in",
    "styles_of",
    "x_labels",
    "y_title",
]


@dataclass(frozen=True)
class ChartPoint:
    """A value at an x, the ends of its spread, and what a tooltip says about it."""

    x: float
    y: float
    low: float
    high: float
    at: str
    value: str
    details: str


@dataclass(frozen=True)
class Series:
    """A series in one chart."""

    name: str
    colour: str  # a name of the palette
    marker: str
    published: bool
    points: tuple[ChartPoint, ...]


@dataclass(frozen=True)
class Chart:
    """All series of one panel on one machine."""

    panel: str
    machine: str
    x: Axis
    y: str
    unit: str  # of the work, where y is a rate
    series: tuple[Series, ...]
    bars: bool

    @property
    def points(self) -> list[ChartPoint]:
        return [point for series in self.series for point in series.points]

    @property
    def values(self) -> list[float]:
        """All y, with the ends of the spreads."""
        return [y for p in self.points for y in (p.y, p.low, p.high) if y > 0]

    @property
    def y_title(self) -> str:
        return y_title(self.y, self.unit)

    @property
    def description(self) -> str:
        """Describe the chart to those who cannot see it."""
        if not self.points:
            return f"No points on {self.machine}."
        named = [(p, f"{s.name}, {p.at}: {p.value}") for s in self.series for p in s.points]
        least, most = (pick(named, key=lambda one: one[0].y)[1] for pick in (min, max))
        return (
            f"{self.y_title} by {self.x.name} on {self.machine}: "
            f"{', '.join(series.name for series in self.series)}. Lowest: {least}. "
            f"Highest: {most}. The tables have all numbers."
        )


def styles_of(
    record: Record, experiments: Sequence[Experiment]
) -> tuple[dict[str, list[Measurements]], dict[str, int]]:
    """Return the measurements of each experiment, and a style for each series of all of them."""
    results = {one.id: measurements_in(record, one) for one in experiments}
    groups = []
    for some in results.values():
        panels: dict[str, list[str]] = {}
        for point in (point for one in some for point in one.points):
            panels.setdefault(point.series, []).append(point.panel)
        groups.append(panels)
    return results, assign_styles(groups)


def charts_of(
    experiment: Experiment,
    measurements: Sequence[Measurements],
    styles: Mapping[str, int] | None = None,
) -> list[list[Chart]]:
    """Return the charts of each machine, panel by panel, the same panels for all.

    ``styles`` are the indices of series that `assign_styles` returns, if other charts share them.
    """
    panels = dict.fromkeys(panel for results in measurements for panel in results.panels)
    ours = list(dict.fromkeys(name for results in measurements for name in results.series))
    styles = assign_styles([dict.fromkeys(ours, ("",))]) if styles is None else styles
    units = [point.unit for results in measurements for point in results.points if point.unit]
    unit = units[0] if units else "operations"
    charts: list[list[Chart]] = [[] for _ in measurements]
    for panel in panels:
        published = [
            _published(p, experiment, ours, styles) for p in published_in(experiment, panel)
        ]
        series = [
            [*published, *(_measured(name, styles[name], panel, results) for name in ours)]
            for results in measurements
        ]
        places = {point.x for machine in series for one in machine for point in one.points}
        bars = experiment.kind == "bars" or len(places) == 1
        for own, some, results in zip(charts, series, measurements, strict=True):
            kept = tuple(one for one in some if one.points)
            place = results.run.place
            own.append(Chart(panel, place, experiment.x, experiment.y, unit, kept, bars))
    return charts


def published_in(experiment: Experiment, panel: str) -> list[Published]:
    """Return the published series of a panel; one without a panel is in all of them."""
    if experiment.y != "seconds":
        return []
    return [p for p in experiment.published if p.panel in ("", panel)]


def _measured(name: str, index: int, panel: str, results: Measurements) -> Series:
    points = []
    for point in results.of(name, panel):
        value = results.value(point)
        if math.isfinite(value) and value > 0:
            spread = results.spread(point)
            at = x_labels(results.experiment.x, [point.x])[0]
            shown = format_value(value, results.experiment.y, point.unit)
            details = _details(point, results)
            points.append(ChartPoint(point.x, value, spread.low, spread.high, at, shown, details))
    return Series(name, *series_style(index), False, tuple(points))


def _details(point: Point, results: Measurements) -> str:
    repeats, spread, y = len(results.times(point)), results.spread(point), results.experiment.y
    text = "measured once" if repeats == 1 else f"measured {repeats} times"
    if repeats > 1 or spread.kind == "99 % interval":
        text += f", {spread.kind} {format_value(spread.low, y)} to {format_value(spread.high, y)}"
    return text


def _published(
    published: Published, experiment: Experiment, ours: list[str], styles: Mapping[str, int]
) -> Series:
    if published.series in ours:
        colour, marker = series_style(styles[published.series])
    else:
        theirs = list(dict.fromkeys(p.series for p in experiment.published if p.series not in ours))
        colour, marker = "published", series_style(theirs.index(published.series))[1]
    points = tuple(
        ChartPoint(
            x, y, y, y, x_labels(experiment.x, [x])[0], duration(y),
            f"published, {published.machine}",
        )
        for x, y in sorted(zip(published.x, published.y, strict=True))
        if y > 0
    )  # fmt: skip
    return Series(f"{published.series}, {published.machine}", colour, marker, True, points)


# ---- formatting ---------------------------------------------------------------------------------


def format_value(value: float, y: str, unit: str = "") -> str:
    """Return a value of a chart as text."""
    if y == "speedup":
        return f"{times(value)} x"
    if y == "rate":
        return amount(value, f"{unit}/s" if unit else "")
    return percent(value) if y == "share" else duration(value)


def y_title(y: str, unit: str) -> str:
    """Return the title of the y axis."""
    if y == "rate":
        return f"{unit} per second"
    if y == "speedup":
        return "speedup"
    return "share of the ceiling" if y == "share" else "time"


def x_labels(axis: Axis, values: Sequence[float]) -> list[str]:
    """Return the labels of some x, on the axis or in a table."""
    if not axis.labels:
        return counts(values)
    return [
        axis.labels[int(x)] if float(x).is_integer() and 0 <= x < len(axis.labels) else count(x)
        for x in values
    ]
