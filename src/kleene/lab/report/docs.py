"""Results for the documentation: charts and lessons as Markdown, the numbers in the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kleene.lab.experiment import Experiment
from kleene.lab.found import found_in
from kleene.lab.record import Record
from kleene.lab.report.html import Html, slug, tag
from kleene.lab.report.opening import headline_lists, machines_of
from kleene.lab.report.section import charts_and_lessons
from kleene.lab.report.style import chart_style
from kleene.lab.words import listed

__all__ = ["results_page"]

_FRONT = """---
search:
  exclude: true
---
# Lab results
"""


def results_page(
    record: Record, experiments: Sequence[Experiment], report: str, dark: str, problems: list[str]
) -> str:
    """Return a page in Markdown.

    Parameters
    ----------
    record, experiments
        What was measured, and what it is about.
    report : str
        Where the whole report is, seen from this page.
    dark : str
        The CSS selector that holds when the pages are dark.
    problems : list of str
        Gets what went wrong in declarations.
    """
    return "\n\n".join([_FRONT, *_parts(record.latest(), experiments, report, dark, problems)])


def _parts(
    record: Record, experiments: Sequence[Experiment], report: str, dark: str, problems: list[str]
) -> Iterator[str]:
    machines = machines_of(record)
    if not machines:
        yield "There are no records of the lab in this tree; [run it](lab.md)."
        return
    where = listed(run.place for run in machines)
    yield (
        f"Measured on {_plain(where)}. This page is made from the records in the repository; "
        f"[the whole report]({report}) has every number, what was left out and why, and the "
        "machines. [How to run it yourself](lab.md)."
    )
    yield f"<style>{chart_style(dark)}</style>"
    founds = {experiment.id: found_in(record, experiment) for experiment in experiments}
    every = [found for some in founds.values() for found in some]
    yield "## In short"
    yield headline_lists(machines, every, problems)
    for experiment in experiments:
        if founds[experiment.id]:
            yield f"## {_plain(experiment.title)}"
            yield tag(
                "div",
                tag("p", tag("em", experiment.question), " ", _numbers(experiment, report)),
                *charts_and_lessons(experiment, founds[experiment.id], problems),
                class_="experiment",
                id=slug(experiment.id),
            )


def _numbers(experiment: Experiment, report: str) -> Html:
    return tag("a", "All numbers", href=f"{report}#{slug(experiment.id)}")


def _plain(words: str) -> str:
    """Return words that Markdown takes for nothing but words."""
    return "".join(f"\\{letter}" if letter in "\\`*_[]<>#" else letter for letter in words)
