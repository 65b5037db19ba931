"""The tables of an experiment: medians by series and x, and every number."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence

from kleene_lab.harness.experiment import Experiment, Published
from kleene_lab.harness.formatting import amount, count, duration, percent, size, times
from kleene_lab.harness.measurements import Measurements
from kleene_lab.harness.record import Point
from kleene_lab.report.chart_data import format_value, published_in, x_labels
from kleene_lab.report.html import Html, table, tag

__all__ = ["column_names", "full_table", "overview"]


# ---- medians -----------------------------------------------------------------------------------


def overview(
    experiment: Experiment, measurements: Sequence[Measurements], panel: str
) -> tuple[Html, int]:
    """Return medians by series and x, the machines one under the other; and how many rows."""
    published = published_in(experiment, panel)
    ours = {point.x for results in measurements for point in results.of(panel=panel)}
    places = sorted(ours | {x for p in published for x in p.x})
    groups = [(results.run.place, _medians(results, panel, places)) for results in measurements]
    groups = [(name, rows) for name, rows in groups if rows]
    theirs = [
        [f"{p.series}, {p.machine}", *(_published_cell(p, x) for x in places)] for p in published
    ]
    if theirs:
        groups.append(("published", theirs))
    what = "Medians" + (f", {panel}" if panel else "") + f", by {experiment.x.name}"
    heads = [panel or experiment.x.name, *x_labels(experiment.x, places)]
    return table(what, heads, groups), sum(len(rows) for _, rows in groups)


def _medians(results: Measurements, panel: str, places: Sequence[float]) -> list[list[str]]:
    """Return a row for each series, the best at the greatest x first, the best at each x bold."""
    sign = 1 if results.experiment.y == "seconds" else -1  # of rates the greatest is the best
    values = {
        name: {p.x: v for p in results.of(name, panel) if math.isfinite(v := results.value(p))}
        for name in dict.fromkeys(point.series for point in results.of(panel=panel))
    }
    best = {
        x: min((sign * row[x] for row in values.values() if x in row), default=None)
        for x in places
    }  # fmt: skip

    def rank(name: str) -> list[float]:
        row = values[name]
        return [sign * row[x] if x in row else math.inf for x in reversed(places)]

    def cell(row: dict[float, float], x: float) -> str:
        if x not in row:
            return ""
        text = format_value(row[x], results.experiment.y)
        return tag("b", text) if len(values) > 1 and sign * row[x] == best[x] else text

    ordered = sorted(values, key=rank)
    return [[name, *(cell(values[name], x) for x in places)] for name in ordered]


def _published_cell(published: Published, x: float) -> str:
    at = dict(zip(published.x, published.y, strict=True))
    return tag("i", duration(at[x])) if x in at else ""


# ---- every number -------------------------------------------------------------------------------


def full_table(
    experiment: Experiment, measurements: Sequence[Measurements], problems: list[str]
) -> tuple[Html, int]:
    """Return every point with all that is known of it; and how many there are."""
    columns = _columns(experiment, problems)
    groups: list[tuple[str, list[list[str]]]] = []
    for results in measurements:
        points = [
            p for panel in results.panels for s in results.series for p in results.of(s, panel)
        ]
        groups.append(
            (results.run.place, [[make(results, p) for _, make in columns] for p in points])
        )
    cells = [row for _, rows in groups for row in rows]
    used = [at for at in range(len(columns)) if any(row[at] for row in cells)]
    heads = [columns[at][0] for at in used]
    kept = [(name, [[row[at] for at in used] for row in rows]) for name, rows in groups]
    return table("Every number", heads, kept, text=("panel", "checked")), len(cells)


Maker = Callable[[Measurements, Point], str]

#: The column of x.
_X = 2


def _columns(experiment: Experiment, problems: list[str]) -> list[tuple[str, Maker]]:
    """Return every column that there can be; those that stay empty are left out."""
    x = experiment.x
    columns: list[tuple[str, Maker]] = [
        ("series", lambda _, p: p.series),
        ("panel", lambda _, p: p.panel),
        (x.name, lambda _, p: x_labels(x, [p.x])[0] if x.labels else count(p.x)),
        ("median", lambda f, p: duration(f.time(p))),
        ("spread", _spread),
        ("repeats", lambda f, p: str(len(f.times(p)))),
        (f"times as fast as {experiment.baseline or 'the slowest'}", _over_baseline),
        ("times as fast as published", _over_published),
        ("rate", lambda _, p: amount(p.rate, f"{p.unit}/s") if p.times and p.rate else ""),
        ("of ceiling", _share),
        ("copy in", lambda _, p: _time(p.copy_in)),
        ("compute", lambda _, p: _median(p.compute) if p.seconds else ""),
        ("copy out", lambda _, p: _time(p.copy_out)),
        ("whole call", lambda _, p: _median(p.seconds) if p.compute else ""),
        ("cold", lambda _, p: _time(p.cold)),
        ("memory", lambda _, p: "" if p.peak is None else size(p.peak)),
        ("on the GPU", lambda _, p: "" if p.device_peak is None else size(p.device_peak)),
        ("threads", lambda _, p: "" if p.threads is None else str(p.threads)),
        *((name, _guarded(name, make, experiment, problems)) for name, make in experiment.columns),
        ("checked", lambda _, p: p.checked),
    ]
    return [c for at, c in enumerate(columns) if c[0] != x.name or at == _X]  # "threads"


def column_names(experiment: Experiment) -> list[str]:
    """Return the names of all columns that the table of an experiment may have."""
    return [name for name, _ in _columns(experiment, [])]


def _guarded(
    name: str, make: Callable[[Point], str], experiment: Experiment, problems: list[str]
) -> Maker:
    def cell(_: Measurements, point: Point) -> str:
        try:
            return str(make(point))
        except Exception as error:
            problem = f"{experiment.id}: column {name!r}: {type(error).__name__}: {error}"
            if problem not in problems:
                problems.append(problem)
            return "?"

    return cell


def _spread(results: Measurements, point: Point) -> str:
    spread = results.time_spread(point)
    if not spread.low < spread.high:
        return ""
    return f"{duration(spread.low)} … {duration(spread.high)}"


def _over_baseline(results: Measurements, point: Point) -> str:
    """Compare with the baseline, or else with the slowest, at the same x."""
    rivals = [p for p in results.of(panel=point.panel) if p.x == point.x and results.times(p)]
    baseline = results.experiment.baseline
    if len(rivals) < 2 or not results.times(point):
        return ""
    slow = [results.time(p) for p in rivals if baseline in ("", p.series)]
    return times(max(slow) / max(results.time(point), 1e-12)) if slow else ""


def _over_published(results: Measurements, point: Point) -> str:
    """Compare with the document's series of the same name, or else with its fastest."""
    at = [
        (p.series, dict(zip(p.x, p.y, strict=True))[point.x])
        for p in published_in(results.experiment, point.panel)
        if point.x in p.x
    ]
    if not at or not results.times(point):
        return ""
    same = [one for one in at if one[0] == point.series]
    name, seconds = same[0] if same else min(at, key=lambda one: one[1])
    ratio = times(seconds / max(results.time(point), 1e-12))
    return tag("span", ratio, title=f"published: {name}, {duration(seconds)}")


def _share(_: Measurements, point: Point) -> str:
    if not (point.times and point.rate and point.ceiling):
        return ""
    return percent(point.rate / point.ceiling)


def _time(seconds: float | None) -> str:
    return "" if seconds is None else duration(seconds)


def _median(seconds: Sequence[float]) -> str:
    return duration(statistics.median(seconds)) if seconds else ""
