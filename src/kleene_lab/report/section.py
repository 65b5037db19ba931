"""One experiment on the page: question, charts, findings, tables, what was skipped."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence

from kleene_lab.harness.experiment import Axis, Experiment
from kleene_lab.harness.measurements import Measurements
from kleene_lab.harness.record import Record, Skip
from kleene_lab.report.chart_data import Chart, Series, charts_of, x_labels
from kleene_lab.report.charts import BODY, Family, chart_spec, frame_of
from kleene_lab.report.html import Html, join, slug, tag
from kleene_lab.report.palette import VARIABLES
from kleene_lab.report.render import static_svg
from kleene_lab.report.summary import document_of
from kleene_lab.report.tables import full_table, overview

__all__ = ["charts_and_findings", "experiment_section", "not_measured"]

_OPEN_ROWS = 16  # of a table that is not folded


def experiment_section(
    experiment: Experiment,
    measurements: Sequence[Measurements],
    styles: Mapping[str, int],
    record: Record,
    problems: list[str],
) -> Html:
    """Return all about an experiment that was measured."""
    name = slug(experiment.id)
    skips = [skip for skip in record.skips if skip.experiment == experiment.id]
    return tag(
        "section",
        tag("h2", tag("a", experiment.title, href=f"#{name}"), id=f"{name}-title"),
        tag("p", experiment.question, class_="question"),
        _source(experiment),
        *charts_and_findings(experiment, measurements, styles, problems),
        *_tables(experiment, measurements, problems),
        _skipped(experiment, skips, record, name),
        tag("p", "Measure it: ", tag("code", f"kleene lab run {experiment.id}"), class_="rerun"),
        class_="experiment",
        id=name,
        aria_labelledby=f"{name}-title",
    )


def _source(experiment: Experiment) -> Html | None:
    parts = []
    if experiment.document is not None:
        parts.append(f"After {document_of(experiment)}.")
    if experiment.notes:
        parts.append(experiment.notes)
    return tag("p", " ".join(parts), class_="source") if parts else None


def charts_and_findings(
    experiment: Experiment,
    measurements: Sequence[Measurements],
    styles: Mapping[str, int],
    problems: list[str],
) -> list[Html]:
    """Return a legend, and for each machine its charts and findings."""
    charts = charts_of(experiment, measurements, styles)
    families = list(zip(*charts, strict=True))
    columns = [
        tag(
            "div",
            tag("h3", results.run.place),
            tag("div", *map(_figure, own, families), class_="charts"),
            _findings(results, problems),
            class_="machine",
        )
        for results, own in zip(measurements, charts, strict=True)
    ]
    single = " single" if len(measurements) == 1 else ""
    key = _key([chart for own in charts for chart in own if not chart.bars])
    return [
        *([] if key is None else [key]),
        tag("div", *columns, class_=f"columns machines{single}"),
    ]


def _figure(chart: Chart, family: Family) -> Html:
    """Return a static drawing and the specification that the page's script replaces it by."""
    caption = tag("figcaption", chart.panel) if chart.panel else None
    if all(series.published for series in chart.series):
        return tag("figure", caption, tag("p", "Not measured here.", class_="source"))
    spec = chart_spec(chart, family)
    width, height = frame_of(chart, family).size
    data = json.dumps(spec, separators=(",", ":"), ensure_ascii=False).replace("</", "<\\/")
    drawing = tag(
        "div",
        Html(static_svg(spec)),
        tag("script", Html(data.replace("<!--", "<\\u0021--")), type="application/json"),
        class_="chart",
        style=f"--w:{width};--h:{height};--body:{width if chart.bars else BODY}",
        role="img",
        aria_label=chart.description,
    )
    return tag("figure", caption, drawing)


def _findings(results: Measurements, problems: list[str]) -> Html | None:
    try:
        sentences = [str(sentence) for sentence in results.experiment.findings(results)]
    except Exception as error:
        where = f"{results.experiment.id}: findings on {results.run.place}"
        problems.append(f"{where}: {type(error).__name__}: {error}")
        return tag("p", f"The findings failed: {type(error).__name__}.", class_="source")
    return tag("ul", *(tag("li", s) for s in sentences), class_="findings") if sentences else None


# ---- the legend, where names have no room in the charts -----------------------------------------


def _key(charts: Sequence[Chart]) -> Html | None:
    series = {one.name: one for chart in charts for one in chart.series}
    items = [
        tag("span", _swatch(one), one.name, data_series=one.name)
        for one in sorted(series.values(), key=lambda one: one.published)
    ]
    return tag("div", *items, class_="key", aria_hidden="true") if items else None


def _swatch(series: Series) -> Html:
    colour, ground = VARIABLES[series.colour], VARIABLES["ground"]
    fill, rim = (ground, colour) if series.published else (colour, ground)
    dash = ' stroke-dasharray="4 3"' if series.published else ""
    return Html(
        f'<svg viewBox="-14 -6 28 12"><path d="M-13,0H13" stroke="{colour}" stroke-width="1.8"'
        f'{dash}/><path d="{series.marker}" transform="scale(3.7)" fill="{fill}" stroke="{rim}" '
        'stroke-width=".3"/></svg>'
    )


# ---- tables -------------------------------------------------------------------------------------


def _tables(
    experiment: Experiment, measurements: Sequence[Measurements], problems: list[str]
) -> list[Html]:
    panels = dict.fromkeys(panel for results in measurements for panel in results.panels)
    made = [overview(experiment, measurements, panel) for panel in panels]
    rows = sum(count for _, count in made)
    everything, points = full_table(experiment, measurements, problems)
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
        tag("summary", f"Skipped: {len(skips):,}"),
        *lists,
        id=f"{name}-skipped",
        open=any(skip.failed for skip in skips),
    )


# ---- what was skipped and why, and what was not measured -----------------------------------------


def skip_list(skips: Sequence[Skip], axis: Axis) -> Html:
    """Return a list of reasons, each with what was skipped for it."""
    items = []
    for group in _grouped(skips):
        first = group[0]
        alike = all(skip.why == first.why for skip in group)
        why = _readable(first.why) + ("" if alike else " (the first; the others likewise)")
        failed = tag("strong", "failed: ") if first.failed else None
        items.append(tag("li", _series(group, axis), ": ", failed, why))
    return tag("ul", *items, class_="skips")


def _grouped(skips: Sequence[Skip]) -> list[list[Skip]]:
    """Return skips by reason, failures first; reasons that differ in numbers only are one."""
    groups: dict[tuple[bool, str], list[Skip]] = {}
    for skip in skips:
        groups.setdefault((not skip.failed, re.sub(r"[\d.,]+", "#", skip.why)), []).append(skip)
    return [group for _, group in sorted(groups.items(), key=lambda item: item[0][0])]


def _readable(why: str) -> str:
    """Return a reason without the exponents that records of earlier versions have.

    >>> _readable("a call would take about 4.63e+05 s")
    'a call would take about 463,000 s'
    """
    return re.sub(r"\d[\d.]*e\+\d+", lambda number: f"{float(number[0]):,.0f}", why)


def _series(group: Sequence[Skip], axis: Axis) -> Html:
    """Return the series of a group, each with its x."""
    by_series: dict[str, list[float]] = {}
    for skip in group:
        name = ", ".join(filter(None, (skip.series, skip.panel))) or "the whole experiment"
        by_series.setdefault(name, []).extend([] if skip.x is None else [skip.x])
    series = [
        tag("span", name, f" ({', '.join(x_labels(axis, sorted(places)))})" if places else "")
        for name, places in by_series.items()
    ]
    return join(series, ", ")


def not_measured(experiments: Iterable[Experiment], record: Record) -> Html | None:
    """Return one list of the experiments without a point, with the reasons."""
    items = []
    for experiment in experiments:
        skips = [skip for skip in record.skips if skip.experiment == experiment.id]
        reasons = [_readable(group[0].why) for group in _grouped(skips)] or ["not run"]
        name = tag("code", experiment.id)
        items.append(tag("li", name, f" {experiment.title}: {'; '.join(reasons)}"))
    if not items:
        return None
    return tag(
        "section",
        tag("h2", "Not measured"),
        tag("ul", *items, class_="skips"),
        id="about-not-measured",
    )
