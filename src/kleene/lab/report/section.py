"""One experiment on the page: question, charts, what one learns, tables, what was left out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kleene.lab.experiment import Experiment
from kleene.lab.found import Found
from kleene.lab.record import Record, Skip
from kleene.lab.report.data import Chart, Curve, charts_of
from kleene.lab.report.figure import cell_pictures
from kleene.lab.report.html import Html, join, slug, tag
from kleene.lab.report.lines import BODY
from kleene.lab.report.numbers import full_table, overview
from kleene.lab.report.opening import document_of
from kleene.lab.report.palette import LIGHT, marker
from kleene.lab.report.skipped import skip_list
from kleene.viz.picture import Area, Lines, Picture

__all__ = ["charts_and_lessons", "experiment_section"]

_OPEN_ROWS = 16  # of a table that is not folded


def experiment_section(
    experiment: Experiment, founds: Sequence[Found], record: Record, problems: list[str]
) -> Html:
    """Return all about an experiment."""
    name = slug(experiment.id)
    skips = [skip for skip in record.skips if skip.experiment == experiment.id]
    body = [tag("p", "Not measured.")]
    if founds:
        body = charts_and_lessons(experiment, founds, problems)
        body += _tables(experiment, founds, problems)
    return tag(
        "section",
        tag("h2", tag("a", experiment.title, href=f"#{name}"), id=f"{name}-title"),
        tag("p", experiment.question, class_="question"),
        _source(experiment),
        *body,
        _skipped(experiment, skips, record, name),
        tag("p", "Measure it: ", tag("code", f"kleene lab run {experiment.id}"), class_="rerun"),
        class_="experiment",
        id=name,
        aria_labelledby=f"{name}-title",
    )  # fmt: skip


def _source(experiment: Experiment) -> Html | None:
    words = []
    if experiment.document is not None:
        words.append(f"After {document_of(experiment)}.")
    if experiment.notes:
        words.append(experiment.notes)
    return tag("p", " ".join(words), class_="source") if words else None


def charts_and_lessons(
    experiment: Experiment, founds: Sequence[Found], problems: list[str]
) -> list[Html]:
    """Return a legend, and for each machine its charts and what one learns from them."""
    charts = charts_of(experiment, founds)
    pictures = cell_pictures(experiment, charts)
    columns = [
        tag(
            "div",
            tag("h3", found.run.place),
            tag("div", *(_chart(c, p) for c, p in zip(own, drawn, strict=True)), class_="charts"),
            _learned(found, problems),
            class_="machine",
        )
        for found, own, drawn in zip(founds, charts, pictures, strict=True)
    ]
    single = " single" if len(founds) == 1 else ""
    key = _key([chart for own in charts for chart in own if not chart.bars])
    return [
        *([] if key is None else [key]),
        tag("div", *columns, class_=f"columns machines{single}"),
    ]


def _chart(chart: Chart, picture: Picture) -> Html:
    caption = tag("figcaption", chart.panel) if chart.panel else None
    if all(curve.published for curve in chart.curves):
        return tag("figure", caption, tag("p", "Not measured here.", class_="source"))
    body = picture.width if chart.bars else BODY
    style = f"--w:{picture.width};--h:{picture.height};--body:{body}"
    return tag("figure", caption, tag("div", Html(picture.svg()), class_="cut", style=style))


def _learned(found: Found, problems: list[str]) -> Html | None:
    try:
        sentences = [str(sentence) for sentence in found.experiment.learned(found)]
    except Exception as error:
        where = f"{found.experiment.id}: learned on {found.run.place}"
        problems.append(f"{where}: {type(error).__name__}: {error}")
        return tag(
            "p", f"What one learns could not be told: {type(error).__name__}.", class_="source"
        )
    return tag("ul", *(tag("li", s) for s in sentences), class_="learned") if sentences else None


# ---- the legend, where names have no room in the charts -----------------------------------------


def _key(charts: Sequence[Chart]) -> Html | None:
    curves = {(c.name, c.published): c for chart in charts for c in chart.curves}
    if not curves:
        return None
    items = [
        tag("span", Html(_swatch(curve)), curve.name, class_=f"g g{curve.index}")
        for curve in sorted(curves.values(), key=lambda curve: curve.published)
    ]
    return tag("div", *items, class_="key", aria_hidden="true")


def _swatch(curve: Curve) -> str:
    fill, rim = ("ground", curve.colour) if curve.published else (curve.colour, "ground")
    line = np.array([[1.0, 6.0], [27.0, 6.0]])
    picture = Picture(28, 12, "", "", palette=LIGHT)
    picture.shapes += [
        Lines([line], curve.colour, 1.8, (4, 3) if curve.published else None),
        Area([marker(curve.marker, 14, 6)], fill, rim, 1.2),
    ]
    return picture.svg().replace("<title></title><desc></desc>", "")


# ---- tables -------------------------------------------------------------------------------------


def _tables(experiment: Experiment, founds: Sequence[Found], problems: list[str]) -> list[Html]:
    panels = dict.fromkeys(panel for found in founds for panel in found.panels)
    made = [overview(experiment, founds, panel) for panel in panels]
    rows = sum(count for _, count in made)
    everything, points = full_table(experiment, founds, problems)
    short, whole = tag("summary", "Medians"), tag("summary", f"Every number: {points:,} points")
    return [
        tag("details", short, *(one for one, _ in made), open=rows <= _OPEN_ROWS),
        tag("details", whole, everything, class_="all"),
    ]


def _skipped(
    experiment: Experiment, skips: Sequence[Skip], record: Record, name: str
) -> Html | None:
    if not skips:
        return None
    by_machine: dict[str, list[Skip]] = {}
    for skip in skips:
        by_machine.setdefault(record.runs[skip.run].place, []).append(skip)
    lists = [
        join((tag("h4", machine), skip_list(some, experiment.x)))
        for machine, some in by_machine.items()
    ]
    return tag(
        "details",
        tag("summary", f"Not measured: {len(skips):,}"),
        *lists,
        id=f"{name}-skipped",
        open=any(skip.failed for skip in skips),
    )
