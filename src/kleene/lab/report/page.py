"""The page: one file with everything in it, and nothing fetched from anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kleene.lab.experiment import Experiment
from kleene.lab.found import found_in
from kleene.lab.record import Record
from kleene.lab.report.html import Html, join, table, tag
from kleene.lab.report.opening import (
    checks,
    contents,
    headline_lists,
    machine_lists,
    machines_of,
    skipped_in_short,
)
from kleene.lab.report.section import experiment_section
from kleene.lab.report.style import page_style
from kleene.lab.words import count, duration, listed

__all__ = ["page_of"]

_TITLE = "Shortest paths, measured"
_TRIED = "Tiny graphs, to try the program: nothing here tells how fast anything is."


def page_of(record: Record, experiments: Sequence[Experiment], problems: list[str]) -> str:
    """Return the whole page as text; what went wrong in a declaration is added to the problems."""
    record = record.latest()
    if _tried_only(record):  # documents measured graphs of another size
        experiments = [replace(experiment, published=()) for experiment in experiments]
    machines = machines_of(record)
    founds = {experiment.id: found_in(record, experiment) for experiment in experiments}
    every = [found for some in founds.values() for found in some]
    sections = [experiment_section(e, founds[e.id], record, problems) for e in experiments]
    body = join(
        [
            _header(record),
            tag(
                "main",
                tag("section", tag("h2", "In short"), headline_lists(machines, every, problems)),
                tag("section", tag("h2", "Contents"), contents(experiments, every)),
                _grounds(record, experiments),
                *sections,
                _unknown(record, experiments),
            ),
            _footer(problems),
        ]
    )
    return _document(body)


def _tried_only(record: Record) -> bool:
    """Was the program only tried, on tiny graphs?"""
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
        tag("p", _TRIED) if record.runs and _tried_only(record) else None,
    )


def _grounds(record: Record, experiments: Sequence[Experiment]) -> Html:
    """Return what the numbers stand on: machines, checks, how they were taken."""
    return tag(
        "section",
        tag("h2", "How it was measured"),
        tag(
            "p",
            "Every answer was checked before it was timed. Times are medians after a warm-up; "
            "whiskers and spreads span the middle half of the repeats (all of them where there are "
            "fewer than four), or the 99 % interval where an experiment has one. Dashed lines are "
            "numbers that a document published, measured on its own machine. Charts of one panel "
            "have the same axes on all machines.",
        ),
        checks(record),
        skipped_in_short(record, experiments),
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
        tag("p", "The records hold points of experiments that this version does not know."),
        table("Points of unknown experiments", heads, list(groups.items()), words=heads[1:3]),
        id="about-unknown",
    )  # fmt: skip


def _footer(problems: Sequence[str]) -> Html:
    wrong = (
        tag("details", tag("summary", f"{len(problems)} problems while this page was made"),
            tag("ul", *(tag("li", problem) for problem in problems)))
        if problems
        else None
    )  # fmt: skip
    return tag("footer", wrong, tag("p", "Made by ", tag("code", "kleene lab report"), "."))
