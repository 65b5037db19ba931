"""A chart of lines: times, rates or shares by size.

The body, with both axes, is 400 pixels wide; to the right of it each line has its name. A page on
a phone cuts the names off and shows a legend instead, so the body must stand for itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from kleene.lab.report.data import Chart, Curve, shown, x_words, y_title
from kleene.lab.report.letters import fitting, text_width
from kleene.lab.report.palette import marker
from kleene.lab.report.scale import Scale, apart, scale_for, thinned
from kleene.viz.picture import Area, Group, Lines, Shape, Text

__all__ = ["BODY", "draw_lines", "height_for", "margin_for"]

BODY = 400
_LEFT, _TOP, _BOTTOM, _PLOT = 54, 24, 40, 244
_FONT, _LINE = 11.0, 13.5
_WIDEST = 210  # pixels that names may take


def margin_for(charts: Sequence[Chart]) -> int:
    """Return the pixels for names beside all these charts."""
    widths = [min(text_width(curve.name, _FONT), _WIDEST) for c in charts for curve in c.curves]
    return math.ceil(max(widths, default=0)) + 26


def height_for(charts: Sequence[Chart]) -> int:
    """Return a height at which all names find their places."""
    most = max((len(chart.curves) for chart in charts), default=0)
    return _TOP + max(_PLOT, math.ceil(most * _LINE)) + _BOTTOM


def draw_lines(
    chart: Chart, family: Sequence[Chart], height: int, left: float = 0, top: float = 0
) -> list[Shape]:
    """Draw a chart; those of its family have the same axes, so that eyes may compare."""
    x = _x_scale(family, left + _LEFT, left + BODY - 22)
    y = _y_scale(family, top + height - _BOTTOM, top + _TOP)
    shapes: list[Shape] = list(_axes(chart, family, x, y))
    names = _name_places(chart, y, top + _TOP + 4, top + height - _BOTTOM)
    order = sorted(chart.curves, key=lambda curve: not curve.published)
    for curve in order:
        name = Group("n", [*_name(curve, x, y, left + BODY, names[id(curve)])])
        inside = [*_curve(curve, x, y), name]
        shapes.append(Group(f"g g{curve.index}", inside))
    return shapes


# ---- axes ---------------------------------------------------------------------------------------


def _x_scale(family: Sequence[Chart], first: float, last: float) -> Scale:
    values = [mark.x for chart in family for mark in chart.marks]
    axis = family[0].x
    log = axis.log and not axis.words and all(value > 0 for value in values)
    return scale_for(values, first, last, log, margin=0.03)


def _y_scale(family: Sequence[Chart], bottom: float, top: float) -> Scale:
    values = [value for chart in family for value in chart.values]
    if family[0].y == "share":
        return Scale(0, max(1.0, *values) * 1.02 if values else 1.0, bottom, top, False)
    log = bool(values) and max(values) > 6 * min(values)
    if log or not values:
        return scale_for(values, bottom, top, True)
    return Scale(0, 1.06 * max(values), bottom, top, False)


def _axes(chart: Chart, family: Sequence[Chart], x: Scale, y: Scale) -> Iterator[Shape]:
    ticks = y.ticks()
    rules = [np.array([[x.first, y.at(tick)], [x.last + 10, y.at(tick)]]) for tick in ticks]
    yield Lines(rules, "rule", 1)
    for tick in ticks:
        words = shown(tick, chart.y) if tick else "0"
        yield Text(x.first - 8, y.at(tick) + 4, words, _FONT, "faded", "end")
    title = y_title(chart.y, chart.unit)
    yield Text(x.first - _LEFT, y.last - 10, title, _FONT, "faded")
    values = sorted({mark.x for one in family for mark in one.marks})
    places = [x.at(value) for value in values]
    if places:
        marks = [np.array([[place, y.first + 2], [place, y.first + 6]]) for place in places]
        yield Lines(marks, "faded", 1)
    names = x_words(chart.x, values)
    for index in thinned(places, [text_width(name, _FONT) for name in names]):
        yield Text(places[index], y.first + 19, names[index], _FONT, "faded", "middle")
    yield Text((x.first + x.last) / 2, y.first + 35, chart.x.name, _FONT, "faded", "middle")


# ---- curves -------------------------------------------------------------------------------------


def _curve(curve: Curve, x: Scale, y: Scale) -> Iterator[Shape]:
    at = np.array([[x.at(mark.x), y.at(mark.y)] for mark in curve.marks])
    whiskers = []
    for place, mark in zip(at, curve.marks, strict=True):
        ends = y.at(max(mark.low, y.low)), y.at(mark.high)  # an interval may go below zero
        if abs(ends[0] - ends[1]) > 1:
            whiskers.append(np.array([[place[0], end] for end in ends]))
    if whiskers:
        yield Lines(whiskers, curve.colour, 1.2)
    if len(at) > 1:
        yield Lines([at], curve.colour, 1.3 if curve.published else 1.8,
                    (4, 3) if curve.published else None)  # fmt: skip
    for place, mark in zip(at, curve.marks, strict=True):
        fill, rim = ("ground", curve.colour) if curve.published else (curve.colour, "ground")
        outline = marker(curve.marker, place[0], place[1], 0.85 if curve.published else 1)
        yield Area([outline], fill, rim, 1.2 if curve.published else 0.8, mark.tip)


def _name_places(chart: Chart, y: Scale, low: float, high: float) -> dict[int, float]:
    wanted = [y.at(curve.marks[-1].y) for curve in chart.curves]
    places = apart(wanted, _LINE, low, high)
    return {id(curve): place for curve, place in zip(chart.curves, places, strict=True)}


def _name(curve: Curve, x: Scale, y: Scale, edge: float, place: float) -> Iterator[Shape]:
    last = curve.marks[-1]
    end = np.array([x.at(last.x) + 6, y.at(last.y)])
    leader = np.array([end, [max(end[0], edge - 2), end[1]], [edge + 8, place]])
    yield Lines([leader], curve.colour, 0.6, (1, 2))
    yield Text(edge + 12, place + 4, fitting(curve.name, _FONT, _WIDEST), _FONT, curve.colour)
