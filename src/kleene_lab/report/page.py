"""The page: one file with everything in it; it fetches nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kleene_lab.harness.experiment import Experiment
from kleene_lab.harness.formatting import count, duration, listed
from kleene_lab.harness.record import Record
from kleene_lab.report.chart_data import styles_of
from kleene_lab.report.html import Html, join, table, tag
from kleene_lab.report.palette import page_style
from kleene_lab.report.render import chart_script
from kleene_lab.report.section import experiment_section, not_measured
from kleene_lab.report.summary import (
    checks,
    contents,
    headline_lists,
    machine_lists,
    machines_of,
    skipped_summary,
)

__all__ = ["page_of"]

_TITLE = "Shortest paths, measured"
_QUICK = "A quick run on tiny graphs: these times say nothing about speed."


def page_of(record: Record, experiments: Sequence[Experiment], problems: list[str]) -> str:
    """Return the whole page as text; errors in declarations are added to the problems."""
    record = record.latest()
    if _quick_only(record):  # documents measured graphs of another size
        experiments = [replace(experiment, published=()) for experiment in experiments]
    machines = machines_of(record)
    results, styles = styles_of(record, experiments)
    every = [one for some in results.values() for one in some]
    measured = [experiment for experiment in experiments if results[experiment.id]]
    body = join(
        [
            _header(record),
            tag(
                "main",
                tag("section", tag("h2", "In short"), headline_lists(machines, every, problems)),
                tag("section", tag("h2", "Contents"), contents(measured)) if measured else None,
                _grounds(record, measured),
                *(experiment_section(e, results[e.id], styles, record, problems) for e in measured),
                not_measured((e for e in experiments if e not in measured), record),
                _unknown(record, experiments),
            ),
            _footer(problems),
            tag("script", Html(chart_script())) if measured else None,
        ]
    )
    return _document(body)


def _quick_only(record: Record) -> bool:
    """Return whether all runs were quick ones, on tiny graphs."""
    return all(run.options.get("quick") for run in record.runs.values())


def _document(body: Html) -> str:
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{_TITLE}</title><meta name="color-scheme" content="light dark">'
        f"<style>{page_style()}</style>"
    )
    return (
        f'<!doctype html>\n<html lang="en">\n<head>{head}</head>\n'
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def _header(record: Record) -> Html:
    dates = sorted({run.began[:10] for run in record.runs.values()})
    when = "" if not dates else dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    where = listed(run.place for run in machines_of(record))
    choices = [
        tag("label", Html(f'<input type="radio" name="theme" id="theme-{value}"{checked}>'), value)
        for value, checked in (("auto", " checked"), ("light", ""), ("dark", ""))
    ]
    return tag(
        "header",
        tag("fieldset", tag("legend", "Colours"), *choices, class_="theme"),
        tag("p", "The Kleene lab", class_="over"),
        tag("h1", _TITLE),
        tag("p", ", ".join(filter(None, (where, when))), class_="question") if where else None,
        tag("p", _QUICK) if record.runs and _quick_only(record) else None,
    )


def _grounds(record: Record, experiments: Sequence[Experiment]) -> Html:
    """Return how it was measured: method, checks, machines."""
    return tag(
        "section",
        tag("h2", "How it was measured"),
        tag(
            "p",
            "Every answer was checked before it was timed. Times are medians after a warm-up; "
            "whiskers and spreads span the middle half of the repeats (all of them where there are "
            "fewer than four), or the 99 % interval where an experiment has one. Dashed lines are "
            "numbers that a document published, measured on its own machine. Charts of one panel "
            "have the same axes on all machines. Hover over a point for its values.",
        ),
        checks(record),
        skipped_summary(record, experiments),
        machine_lists(machines_of(record)),
        id="about-machines",
    )


def _unknown(record: Record, experiments: Sequence[Experiment]) -> Html | None:
    """Return points of experiments that this version does not have."""
    known = {experiment.id for experiment in experiments}
    groups: dict[str, list[list[str]]] = {}
    for p in record.points:
        if p.experiment not in known:
            time = duration(p.median) if p.times else ""
            row = [p.series, p.panel, record.runs[p.run].place, count(p.x), time, str(len(p.times))]
            groups.setdefault(p.experiment, []).append(row)
    if not groups:
        return None
    heads = ["series", "panel", "machine", "x", "median", "repeats"]
    return tag(
        "section",
        tag("h2", "Other experiments"),
        tag("p", "The records hold points of experiments that this version does not have."),
        table("Points of unknown experiments", heads, list(groups.items()), text=heads[1:3]),
        id="about-unknown",
    )  # fmt: skip


def _footer(problems: Sequence[str]) -> Html:
    errors = (
        tag("details", tag("summary", f"{len(problems)} problems while this page was made"),
            tag("ul", *(tag("li", problem) for problem in problems)))
        if problems
        else None
    )  # fmt: skip
    return tag("footer", errors, tag("p", "Made by ", tag("code", "kleene lab report"), "."))
