"""Results for the documentation: charts and findings as Markdown, the numbers in the report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kleene.lab.experiment import Experiment
from kleene.lab.formatting import listed
from kleene.lab.measurements import Measurements
from kleene.lab.record import Record
from kleene.lab.report.chart_data import styles_of
from kleene.lab.report.html import slug
from kleene.lab.report.section import charts_and_findings
from kleene.lab.report.summary import headline_lists, machines_of
from kleene.system.html import Html, join, tag

__all__ = ["experiment_charts", "results_page"]

_FRONT = """---
nosearch: true
---
# Lab results
"""


def results_page(
    record: Record, experiments: Sequence[Experiment], report: str, problems: list[str]
) -> str:
    """Return a page in Markdown; it needs `chart_style` and `chart_script`.

    Parameters
    ----------
    record, experiments
        What was measured, and the declarations.
    report : str
        Address of the whole report, relative to this page.
    problems : list of str
        Gets the errors in declarations.
    """
    return "\n\n".join([_FRONT, *_parts(record.latest(), experiments, report, problems)])


def experiment_charts(
    record: Record,
    experiments: Sequence[Experiment],
    report: str,
    machine: str,
    problems: list[str],
) -> str:
    """Return charts and findings of some experiments as HTML, on machines with a name like this."""
    results, styles = styles_of(record.latest(), experiments)
    return join(
        _section(experiment, chosen, styles, report, problems)
        for experiment in experiments
        if (chosen := [one for one in results[experiment.id] if machine in one.run.place])
    )


def _parts(
    record: Record, experiments: Sequence[Experiment], report: str, problems: list[str]
) -> Iterator[str]:
    machines = machines_of(record)
    if not machines:
        yield "There are no records of the lab in this tree; [run it](lab.md)."
        return
    where = listed(run.place for run in machines)
    whole = tag("a", "the whole report", href=report)
    yield (
        f"Measured on {_plain(where)}. This page is made from the records in the repository; "
        f"{whole} has every number, what was skipped and why, and the "
        "machines. [How to run it yourself](lab.md)."
    )
    results, styles = styles_of(record, experiments)
    yield "## In short"
    yield headline_lists(machines, [one for some in results.values() for one in some], problems)
    for experiment in experiments:
        measurements = results[experiment.id]
        if measurements:
            yield f"## {_plain(experiment.title)}"
            yield _section(experiment, measurements, styles, report, problems)


def _section(
    experiment: Experiment,
    measurements: Sequence[Measurements],
    styles: Mapping[str, int],
    report: str,
    problems: list[str],
) -> Html:
    """Return the question, charts and findings of an experiment, without its title."""
    name = slug(experiment.id)
    numbers = tag("a", "All numbers", href=f"{report}#{name}")
    repeat = tag("code", f"kleene lab run {experiment.id}")
    return tag(
        "div",
        tag("p", tag("em", experiment.question), " ", numbers, "; measured by ", repeat, "."),
        *charts_and_findings(experiment, measurements, styles, problems),
        class_="experiment",
        id=name,
    )


def _plain(text: str) -> str:
    """Return text in which Markdown finds no markup."""
    return "".join(f"\\{letter}" if letter in "\\`*_[]<>#" else letter for letter in text)
