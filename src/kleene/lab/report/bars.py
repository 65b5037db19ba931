"""A chart of bars, where what is compared has names and no size.

Bars start at zero, so their lengths can be compared. Where the longest would dwarf the rest, the
axis is logarithmic and has no zero; then there are dots, and no bars.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from kleene.lab.report.data import Chart, Curve, Mark, shown, x_words, y_title
from kleene.lab.report.letters import fitting, text_width
from kleene.lab.report.palette import marker
from kleene.lab.report.scale import Scale, scale_for
from kleene.viz.picture import Area, Box, Group, Lines, Shape, Text

__all__ = ["BAR_WIDTH", "bars_height", "draw_bars"]

BAR_WIDTH = 420
_FONT, _ROW, _HEAD, _TOP, _BOTTOM = 11.0, 17, 22, 22, 12
_MOST_NAME, _VALUE = 180, 64
_FACTOR = 40  # between the largest and the smallest, up to which bars are good


def bars_height(chart: Chart) -> int:
    """Return the height of a chart."""
    groups = {mark.x for mark in chart.marks}
    return _TOP + len(groups) * _HEAD + len(chart.marks) * _ROW + _BOTTOM


def draw_bars(
    chart: Chart, family: Sequence[Chart], left: float = 0, top: float = 0
) -> list[Shape]:
    """Draw a chart; those of its family have the same axis."""
    names = [curve.name for one in family for curve in one.curves]
    room = min(_MOST_NAME, max((text_width(name, _FONT) for name in names), default=0))
    first = left + 8 + room + 10
    scale = _scale(family, first, left + BAR_WIDTH - _VALUE)
    shapes: list[Shape] = [*_axis(chart, scale, left, top)]
    y = top + _TOP
    groups = sorted({mark.x for mark in chart.marks})
    for x, words in zip(groups, x_words(chart.x, groups), strict=True):
        y += _HEAD
        shapes.append(Text(left, y - 7, words, _FONT, "ink", bold=True))
        for curve in chart.curves:
            for mark in curve.marks:
                if mark.x == x:
                    inside = [*_row(chart, curve, mark, scale, y + _ROW / 2, room)]
                    shapes.append(Group(f"g g{curve.index}", inside))
                    y += _ROW
    return shapes


def _scale(family: Sequence[Chart], first: float, last: float) -> Scale:
    values = [value for chart in family for value in chart.values]
    if not values:
        return Scale(0, 1, first, last, False)
    if max(values) > _FACTOR * min(values):
        return scale_for(values, first, last, True, margin=0.06)
    return Scale(0, max(values), first, last, False)


def _axis(chart: Chart, scale: Scale, left: float, top: float) -> Iterator[Shape]:
    title = y_title(chart.y, chart.unit)
    words = f"{title} (logarithmic)" if scale.log else title
    yield Text(left, top + 12, words, _FONT, "faded")
    ends = (top + _TOP + 2, top + bars_height(chart) - _BOTTOM)
    ticks = scale.ticks() if scale.log else [0.0]
    rules = [np.array([[scale.at(tick), end] for end in ends]) for tick in ticks]
    yield Lines(rules, "rule", 1)


def _row(
    chart: Chart, curve: Curve, mark: Mark, scale: Scale, y: float, room: float
) -> Iterator[Shape]:
    end = scale.at(mark.y)
    name = fitting(curve.name, _FONT, room)
    yield Text(scale.first - 8, y + 4, name, _FONT, "faded" if curve.published else "ink", "end")
    if scale.log:
        yield Lines([np.array([[scale.first, y], [end, y]])], "rule", 1)
        fill, rim = ("ground", curve.colour) if curve.published else (curve.colour, "ground")
        yield Area([marker(curve.marker, end, y)], fill, rim, 1, mark.tip)
    elif curve.published:
        outline = np.array([[scale.first, y - 5], [end, y - 5], [end, y + 5], [scale.first, y + 5]])
        yield Area([outline], "ground", curve.colour, 1, mark.tip)
    else:
        yield Box(scale.first, y - 6, max(end - scale.first, 0.5), 12, curve.colour)
    low, high = scale.at(max(mark.low, scale.low)), scale.at(mark.high)
    if high - low > 1:
        yield Lines([np.array([[low, y], [high, y]])], "ink", 1)
    reach = max(end, high) + (7 if scale.log else 5)
    yield Text(reach, y + 4, shown(mark.y, chart.y), _FONT, "faded")
