"""Results for the documentation: charts and findings as Markdown, the numbers in the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kleene.lab.experiment import Experiment
from kleene.lab.formatting import listed
from kleene.lab.record import Record
from kleene.lab.report.chart_data import styles_of
from kleene.lab.report.html import slug
from kleene.lab.report.section import charts_and_findings
from kleene.lab.report.style import chart_style
from kleene.lab.report.summary import headline_lists, machines_of
from kleene.system.html import tag

__all__ = ["results_page"]

_FRONT = """---
search:
  exclude: true
---
# Lab results
"""


def results_page(
    record: Record,
    experiments: Sequence[Experiment],
    report: str,
    script: str,
    dark: str,
    problems: list[str],
) -> str:
    """Return a page in Markdown.

    Parameters
    ----------
    record, experiments
        What was measured, and the declarations.
    report, script : str
        Addresses of the whole report and of `chart_script`, relative to this page.
    dark : str
        The CSS selector that holds when the pages are dark.
    problems : list of str
        Gets the errors in declarations.
    """
    parts = _parts(record.latest(), experiments, report, problems)
    style = f"<style>{chart_style(dark)}</style>"
    load = tag("script", src=script)
    return "\n\n".join([_FRONT, style, *parts, load])


def _parts(
    record: Record, experiments: Sequence[Experiment], report: str, problems: list[str]
) -> Iterator[str]:
    machines = machines_of(record)
    if not machines:
        yield "There are no records of the lab in this tree; [run it](lab.md)."
        return
    where = listed(run.place for run in machines)
    yield (
        f"Measured on {_plain(where)}. This page is made from the records in the repository; "
        f"[the whole report]({report}) has every number, what was skipped and why, and the "
        "machines. [How to run it yourself](lab.md)."
    )
    results, styles = styles_of(record, experiments)
    yield "## In short"
    yield headline_lists(machines, [one for some in results.values() for one in some], problems)
    for experiment in experiments:
        measurements = results[experiment.id]
        if measurements:
            name = slug(experiment.id)
            numbers = tag("a", "All numbers", href=f"{report}#{name}")
            yield f"## {_plain(experiment.title)}"
            yield tag(
                "div",
                tag("p", tag("em", experiment.question), " ", numbers),
                *charts_and_findings(experiment, measurements, styles, problems),
                class_="experiment",
                id=name,
            )


def _plain(text: str) -> str:
    """Return text in which Markdown finds no markup."""
    return "".join(f"\\{letter}" if letter in "\\`*_[]<>#" else letter for letter in text)
