"""Charts as Vega-Lite specifications, made with Altair.

One panel on one machine is one chart: lines by size, or bars where x is a name. Charts of a panel
share their axes on all machines. Sizes are fixed (no automatic layout), so that a static drawing
and the live chart that replaces it are congruent. The plot with both axes of a line chart is
`BODY` pixels wide; to the right of it each line has its name. A page on a phone cuts the names off
and shows a legend instead.
"""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Mapping, Sequence
from functools import cache
from statistics import fmean
from typing import Any, NamedTuple, cast

import altair as alt
from altair.utils.schemapi import debug_mode

from kleene_lab.harness.experiment import Experiment
from kleene_lab.report.chart_data import Chart, format_value, x_labels
from kleene_lab.report.palette import LIGHT, VARIABLES

__all__ = [
    "BODY", "Frame", "chart_spec", "config", "figure_spec", "frame_of", "padded_domain",
    "round_ticks", "spread_apart",
]  # fmt: skip

# ---- axes: domains, round ticks with labels, and places for names that do not overlap ------------

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


BODY = 400
_BAR_WIDTH, _BAR_STEP = 420, 18
_LONGEST_NAME = 216
_FONT = "Helvetica Neue, Helvetica, Arial, Liberation Sans, sans-serif"
_FACTOR = 40  # largest value over smallest up to which bars are readable; above, dots on a log axis
_FOCUS = {"name": "focus", "value": ""}  # the series that stands out; the page's script sets it

_x_pixel, _x2_pixel = cast(Any, alt.XValue), cast(Any, alt.X2Value)  # Altair does not type them

Family = Sequence[Chart]  # the charts of one panel on all machines
Colours = Mapping[str, str]
Spec = dict[str, Any]


class Frame(NamedTuple):
    """The plot's size and what is around it, in pixels."""

    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the whole chart."""
        return self.left + self.width + self.right, self.top + self.height + self.bottom


def frame_of(chart: Chart, family: Family) -> Frame:
    """Return the frame of a chart; line charts of a family have the same."""
    names = _name_width(series.name for one in family for series in one.series)
    if chart.bars:
        left, right = names + 18, 78
        return Frame(
            _BAR_WIDTH - left - right, len(_bar_keys(chart)) * _BAR_STEP, left, right, 22, 4
        )
    left, right = 54, 22
    most = max(len(one.series) for one in family)
    height = max(244, math.ceil(most * NAME_STEP))
    return Frame(BODY - left - right, height, left, right + names + 16, 24, 40)


def chart_spec(chart: Chart, family: Family) -> Spec:
    """Return the specification of a chart on a page, without the configuration, which all share."""
    frame = frame_of(chart, family)
    padding = {side: getattr(frame, side) for side in ("left", "right", "top", "bottom")}
    spec, data = _chart(chart, family, VARIABLES)
    return spec | {"padding": padding, "autosize": "none", "params": [_FOCUS], "datasets": data}


def figure_spec(experiment: Experiment, charts: Sequence[Family]) -> Spec:
    """Return all charts of an experiment: a column for each machine, a row for each panel."""
    cells: list[Spec] = []
    datasets: Spec = {}
    for family in zip(*charts, strict=True):
        for chart in family:
            title = " · ".join(filter(None, (chart.machine, chart.panel)))
            spec, data = _chart(chart, family, LIGHT, f"{len(cells)} ")
            cells.append(spec | {"title": {"text": title, "fontSize": 12.5, "anchor": "start"}})
            datasets |= data
    question = textwrap.wrap(experiment.question, 70 * len(charts))
    heads = {"title": {"color": LIGHT["ink"], "subtitleColor": LIGHT["faded"]}}
    return {
        "title": {"text": experiment.title, "subtitle": question, "anchor": "start",
                  "fontSize": 17, "offset": 14},
        "concat": cells, "columns": len(charts), "spacing": 28, "padding": 24,
        "params": [_FOCUS], "datasets": datasets, "config": config(LIGHT) | heads,
        "background": LIGHT["ground"],
    }  # fmt: skip


def config(colours: Colours) -> Spec:
    """Return the configuration that all charts share."""
    return {
        "background": "transparent",
        "font": _FONT,
        "aria": False,
        "view": {"stroke": None},
        "axis": {
            "domain": False, "ticks": False, "grid": False, "labelFontSize": 11,
            "titleFontSize": 11, "titleFontWeight": "normal", "labelColor": colours["faded"],
            "titleColor": colours["faded"], "gridColor": colours["rule"],
            "tickColor": colours["faded"],
        },
        "text": {"fontSize": 11, "baseline": "middle"},
    }  # fmt: skip


def _chart(
    chart: Chart, family: Family, colours: Colours, prefix: str = ""
) -> tuple[Spec, dict[str, list[Spec]]]:
    """Return a chart and its data sets, whose names begin with a prefix."""
    frame = frame_of(chart, family)
    with debug_mode(False):  # Altair would check each part; the tests check the whole
        made, data = (_bars if chart.bars else _lines)(chart, family, colours, frame, prefix)
    spec: Spec = made.to_dict(validate=False)
    spec = {key: value for key, value in spec.items() if key not in ("$schema", "config")}
    return spec | {"width": frame.width, "height": frame.height}, data


# ---- what lines and bars share ------------------------------------------------------------------


def _rows(chart: Chart, domain: Domain) -> list[Spec]:
    """Return a row for each point; a whisker ends where the axis does."""
    return [
        {
            "series": series.name, "x": point.x, "y": point.y, "low": max(point.low, domain[0]),
            "high": point.high, "at": point.at, "value": point.value, "details": point.details,
            "published": series.published,
        }
        for series in chart.series for point in series.points
    ]  # fmt: skip


@cache
def _base(test: str = "") -> alt.Chart:
    """Return a layer of the points that pass a test; the series in focus stands out."""
    focus = alt.condition("focus == '' || focus == datum.series", alt.value(1), alt.value(0.15))
    base = alt.Chart().encode(opacity=focus)
    return base.transform_filter(test) if test else base


_OURS, _PUBLISHED, _SPREAD = "!datum.published", "datum.published", "datum.high > 1.01 * datum.low"


def _tooltip(chart: Chart) -> list[alt.Tooltip]:
    titles = {"series": "series", "at": chart.x.name, "value": chart.y_title, "details": "details"}
    return [alt.Tooltip(f"{name}:N", title=title) for name, title in titles.items()]


def _styles(chart: Chart, colours: Colours) -> tuple[alt.Color, alt.Shape, alt.Stroke]:
    names = [series.name for series in chart.series]
    own = alt.Scale(domain=names, range=[colours[series.colour] for series in chart.series])
    markers = alt.Scale(domain=names, range=[series.marker for series in chart.series])
    return (
        alt.Color("series:N", legend=None, scale=own),
        alt.Shape("series:N", legend=None, scale=markers),
        alt.Stroke("series:N", legend=None, scale=own),
    )


def _name_width(names: Any) -> int:
    """Return about how many pixels the longest name takes."""
    return min(_LONGEST_NAME, math.ceil(6.1 * max(map(len, names), default=0)) + 4)


# ---- lines --------------------------------------------------------------------------------------


def _lines(
    chart: Chart, family: Family, colours: Colours, frame: Frame, prefix: str
) -> tuple[Any, dict[str, list[Spec]]]:
    domain = _y_domain(family)
    x, y_axis = _x_axis(chart, family), _y_axis(chart, domain)
    y, low, place = (alt.Y(f"{name}:Q", **y_axis) for name in ("y", "low", "place"))
    colour, shape, _ = _styles(chart, colours)
    ours, theirs = (_base(test).encode(x=x, y=y, color=colour) for test in (_OURS, _PUBLISHED))
    dots = {"shape": shape, "tooltip": _tooltip(chart)}
    ends, edge = _base().properties(data=alt.NamedData(f"{prefix}names")), frame.width + 22
    leaders = ends.mark_rule(strokeDash=[1, 2], strokeWidth=0.6).properties(name=f"{prefix}leaders")
    names = ends.mark_text(align="left", limit=_LONGEST_NAME).properties(name=f"{prefix}names")
    layers = [
        _base(_SPREAD)
        .mark_rule(strokeWidth=1.2)
        .encode(x=x, y=low, y2=alt.Y2("high:Q"), color=colour),
        ours.mark_line(strokeWidth=1.8),
        ours.mark_point(size=54, filled=True, stroke=colours["ground"], strokeWidth=0.8).encode(
            **dots
        ),
        leaders.encode(x=x, x2=_x2_pixel(edge + 8), y=y, y2=alt.Y2("place:Q"), color=colour),
        names.encode(x=_x_pixel(edge + 12), y=place, text=alt.Text("series:N"), color=colour),
    ]
    if any(series.published for series in chart.series):
        layers[:0] = [
            theirs.mark_line(strokeDash=[4, 3], strokeWidth=1.3),
            theirs.mark_point(size=38, fill=colours["ground"], strokeWidth=1.2).encode(**dots),
        ]
    data = {f"{prefix}points": _rows(chart, domain), f"{prefix}names": _names(chart, frame, domain)}
    return alt.layer(*layers, data=alt.NamedData(f"{prefix}points")), data


def _x_axis(chart: Chart, family: Family) -> alt.X:
    values = sorted({point.x for one in family for point in one.points})
    log = chart.x.log and not chart.x.labels and all(value > 0 for value in values)
    axis = alt.Axis(
        title=chart.x.name, ticks=True, tickSize=4, tickOffset=0, offset=2, labelPadding=4,
        labelOverlap="greedy", labelSeparation=8, titlePadding=5,
        **axis_labels(values, x_labels(chart.x, values)),
    )  # fmt: skip
    return alt.X("x:Q", scale=axis_scale(padded_domain(values, log, 0.03)), axis=axis)


def _y_domain(family: Family) -> Domain:
    values = [value for chart in family for value in chart.values]
    if family[0].y == "share":
        return 0, max(1.0, *values) * 1.02 if values else 1.0, False
    if not values or max(values) > 6 * min(values):
        return padded_domain(values, True)
    return 0, 1.06 * max(values), False


def _y_axis(chart: Chart, domain: Domain) -> Spec:
    ticks = round_ticks(domain)
    texts = [format_value(tick, chart.y) if tick else "0" for tick in ticks]
    axis = alt.Axis(
        title=chart.y_title, titleAngle=0, titleAlign="left", titleBaseline="bottom", titleX=-54,
        titleY=-10, grid=True, labelPadding=8, **axis_labels(ticks, texts),
    )  # fmt: skip
    return {"scale": axis_scale(domain), "axis": axis}


def _names(chart: Chart, frame: Frame, domain: Domain) -> list[Spec]:
    """Return where the lines end, and the places of their names, apart from each other."""
    ends = [(series.name, series.points[-1]) for series in chart.series]
    pixels = spread_apart(
        [to_pixel(point.y, domain, frame.height) for _, point in ends], frame.height
    )
    return [
        {"series": name, "x": end.x, "y": end.y, "place": from_pixel(pixel, domain, frame.height)}
        for (name, end), pixel in zip(ends, pixels, strict=True)
    ]


# ---- bars ---------------------------------------------------------------------------------------


def _bar_keys(chart: Chart) -> list[str]:
    """Return the rows of a bar chart: for each x its label, then the series that have it."""
    keys = []
    for x in sorted({point.x for point in chart.points}):
        keys.append(f"{x:g}")
        keys += [f"{x:g} {s.name}" for s in chart.series for p in s.points if p.x == x]
    return keys


def _bars(
    chart: Chart, family: Family, colours: Colours, frame: Frame, prefix: str
) -> tuple[Any, dict[str, list[Spec]]]:
    """Bars begin at zero; where the longest would dwarf the rest, there are dots on a log axis."""
    values = [value for one in family for value in one.values]
    domain: Domain = (0, max(values, default=1.0), False)
    if values and max(values) > _FACTOR * min(values):
        domain = padded_domain(values, True, 0.06)
    log = domain[2]
    axis = alt.Axis(
        orient="top", title=f"{chart.y_title} (logarithmic)" if log else chart.y_title,
        labels=False, grid=True, values=round_ticks(domain) if log else [0], titleAnchor="start",
        titleAlign="left", titleX=-frame.left, titleY=-8, titleBaseline="bottom", zindex=0,
    )  # fmt: skip
    x, low, reach = (
        alt.X(f"{name}:Q", scale=axis_scale(domain), axis=axis) for name in ("y", "low", "reach")
    )
    y = alt.Y("key:N", scale=alt.Scale(domain=_bar_keys(chart)), axis=None)
    colour, shape, stroke = _styles(chart, colours)
    tips = _tooltip(chart)
    base = _base().encode(y=y)
    ours, theirs = (_base(test).encode(x=x, y=y) for test in (_OURS, _PUBLISHED))
    layers = [
        base.mark_text(align="right", limit=frame.left - 18).encode(
            x=_x_pixel(-8), text=alt.Text("series:N"), tooltip=tips,
            color=alt.condition(_PUBLISHED, alt.value(colours["faded"]), alt.value(colours["ink"])),
        )
    ]  # fmt: skip
    spread = _base(_SPREAD).mark_rule(color=colours["ink"]).encode(x=low, x2=alt.X2("high:Q"), y=y)
    if log:
        dots = {"shape": shape, "color": colour, "tooltip": tips}
        filled = ours.mark_point(size=54, filled=True, stroke=colours["ground"], strokeWidth=1)
        hollow = theirs.mark_point(size=44, fill=colours["ground"], strokeWidth=1.2)
        guide = base.mark_rule(color=colours["rule"]).encode(x=x, x2=_x2_pixel(0))
        layers += [guide, spread, filled.encode(**dots), hollow.encode(**dots)]
    else:
        hollow = theirs.mark_bar(size=10, fill=colours["ground"], strokeWidth=1)
        filled = ours.mark_bar(size=12).encode(color=colour, tooltip=tips)
        layers += [filled, hollow.encode(stroke=stroke, tooltip=tips), spread]
    layers += [
        base.mark_text(align="left", dx=8, color=colours["faded"]).encode(
            x=reach, text=alt.Text("label:N")
        ),
        alt.Chart(alt.NamedData(f"{prefix}labels"))
        .mark_text(align="left", fontWeight=600, color=colours["ink"])
        .encode(x=_x_pixel(-frame.left), y=y, text=alt.Text("label:N")),
    ]
    rows = _rows(chart, domain)
    for row in rows:
        row["key"] = f"{row['x']:g} {row['series']}"
        row["reach"] = max(row["y"], row["high"])
        row["label"] = format_value(row["y"], chart.y)
    places = sorted({point.x for point in chart.points})
    labels = zip(places, x_labels(chart.x, places), strict=True)
    heads = [{"key": f"{x:g}", "label": label} for x, label in labels]
    data = {f"{prefix}points": rows, f"{prefix}labels": heads}
    return alt.layer(*layers, data=alt.NamedData(f"{prefix}points")), data
