"""Results for the documentation: charts and findings as Markdown, the numbers in the report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kleene_lab.harness.experiment import Experiment
from kleene_lab.harness.formatting import listed
from kleene_lab.harness.measurements import Measurements, measurements_in
from kleene_lab.harness.record import Record
from kleene_lab.report.chart_data import styles_of
from kleene_lab.report.html import Html, slug, tag
from kleene_lab.report.section import charts_and_findings
from kleene_lab.report.summary import headline_lists, machines_of

__all__ = ["experiment_sections", "results_page"]

_FRONT = """---
nosearch: true
---
# Lab results
"""


def results_page(
    record: Record,
    experiments: Sequence[Experiment],
    sections: Mapping[str, str],
    report: str,
    problems: list[str],
) -> str:
    """Return a page in Markdown; it needs `chart_style` and `chart_script`.

    Parameters
    ----------
    record, experiments
        What was measured, and the declarations.
    sections : dict
        From `experiment_sections`.
    report : str
        Address of the whole report, relative to this page.
    problems : list of str
        Gets the errors in declarations.
    """
    record = record.latest()
    return "\n\n".join([_FRONT, *_parts(record, experiments, sections, report, problems)])


def experiment_sections(
    record: Record, experiments: Sequence[Experiment], report: str, problems: list[str]
) -> dict[str, str]:
    """Return the question, charts and findings of each measured experiment as HTML, by its id."""
    results, styles = styles_of(record.latest(), experiments)
    return {
        one.id: _section(one, results[one.id], styles, report, problems)
        for one in experiments
        if results[one.id]
    }


def _parts(
    record: Record,
    experiments: Sequence[Experiment],
    sections: Mapping[str, str],
    report: str,
    problems: list[str],
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
    yield "## In short"
    results = [one for each in experiments for one in measurements_in(record, each)]
    yield headline_lists(machines, results, problems)
    for experiment in experiments:
        if experiment.id in sections:
            yield f"## {_plain(experiment.title)}"
            yield sections[experiment.id]


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
