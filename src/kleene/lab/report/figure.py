"""The figure of an experiment: as small pictures for the page, and as one for a file."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from kleene.lab.experiment import Experiment
from kleene.lab.report.bars import BAR_WIDTH, bars_height, draw_bars
from kleene.lab.report.data import Chart
from kleene.lab.report.lines import BODY, draw_lines, height_for, margin_for
from kleene.lab.report.palette import LIGHT
from kleene.viz.picture import Box, Picture, Shape, Text

__all__ = ["cell_pictures", "whole_figure"]

_GAP, _MARGIN, _HEAD = 28, 24, 24


def cell_pictures(experiment: Experiment, charts: Sequence[Sequence[Chart]]) -> list[list[Picture]]:
    """Return a picture for each chart, machine by machine."""
    return [
        [_cell(experiment, chart, charts, at) for at, chart in enumerate(machine)]
        for machine in charts
    ]


def _cell(
    experiment: Experiment, chart: Chart, charts: Sequence[Sequence[Chart]], at: int
) -> Picture:
    width, height = _size(charts, at)
    if chart.bars:
        height = bars_height(chart)
    title = " · ".join(filter(None, (experiment.title, chart.panel, chart.machine)))
    picture = Picture(width, height, title, chart.description, palette=LIGHT)
    picture.shapes += _shapes(chart, charts, at, 0, 0)
    return picture


def _shapes(
    chart: Chart, charts: Sequence[Sequence[Chart]], at: int, left: float, top: float
) -> list[Shape]:
    family = [machine[at] for machine in charts]
    if chart.bars:
        return draw_bars(chart, family, left, top)
    _, height = _size(charts, at)
    return draw_lines(chart, family, height, left, top)


def _size(charts: Sequence[Sequence[Chart]], at: int) -> tuple[int, int]:
    """Return width and height of the charts of one panel: alike on all machines."""
    family = [machine[at] for machine in charts]
    if family[0].bars:
        return BAR_WIDTH, max(map(bars_height, family))
    lines = [chart for machine in charts for chart in machine if not chart.bars]
    return BODY + margin_for(lines), height_for(family)


def whole_figure(experiment: Experiment, charts: Sequence[Sequence[Chart]]) -> Picture:
    """Return all charts in one picture, a column for each machine and a row for each panel."""
    panels = range(len(charts[0]))
    widths = max(_size(charts, at)[0] for at in panels)
    heights = [_size(charts, at)[1] for at in panels]
    width = 2 * _MARGIN + len(charts) * widths + (len(charts) - 1) * _GAP
    question = textwrap.wrap(experiment.question, width // 6)
    head = _MARGIN + 20 + 16 * len(question) + 8
    height = head + sum(heights) + len(heights) * _HEAD + _MARGIN
    told = " ".join(chart.description for machine in charts for chart in machine)
    picture = Picture(width, height, experiment.title, told, palette=LIGHT)
    picture.shapes.append(Box(0, 0, width, height, "ground"))
    picture.shapes.append(Text(_MARGIN, _MARGIN + 12, experiment.title, 17, "ink", bold=True))
    for row, words in enumerate(question):
        picture.shapes.append(Text(_MARGIN, _MARGIN + 33 + 16 * row, words, 12, "faded"))
    top = float(head)
    for at in panels:
        for column, machine in enumerate(charts):
            left = _MARGIN + column * (widths + _GAP)
            name = " · ".join(filter(None, (machine[at].machine, machine[at].panel)))
            picture.shapes.append(Text(left, top + 16, name, 12.5, "ink", bold=True))
            picture.shapes += _shapes(machine[at], charts, at, left, top + _HEAD)
        top += heights[at] + _HEAD
    return picture
