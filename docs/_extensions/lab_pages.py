"""Pages about the records in ``benchmarks``, made while the documentation is built.

- The page ``lab-results`` is written anew: every experiment with charts and findings.
- ``lab-report.html`` is the whole report, and ``lab-charts.js`` the script of all charts.
- A directive ``lab-charts`` shows one experiment on any page.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from kleene_lab.experiments import EXPERIMENTS
from kleene_lab.harness.record import read
from kleene_lab.report.docs import experiment_sections, results_page
from kleene_lab.report.page import page_of
from kleene_lab.report.palette import chart_style
from kleene_lab.report.render import chart_script

RECORDS = sorted((Path(__file__).parents[2] / "benchmarks").glob("*.jsonl"))
REPORT, SCRIPT, STYLE = "lab-report.html", "lab-charts.js", "lab-charts.css"
DARK = "html[data-theme=dark]"


class Pages(NamedTuple):
    """What is made of the records: HTML by experiment, the page of results, the report."""

    sections: dict[str, str]
    results: str
    report: str


@cache
def pages() -> Pages:
    """Return all pages. Called before pages are read by several processes, which then have them."""
    record, problems = read(*RECORDS), []
    sections = experiment_sections(record, EXPERIMENTS, REPORT, problems)
    results = results_page(record, EXPERIMENTS, sections, REPORT, problems)
    made = Pages(sections, results, page_of(record, EXPERIMENTS, problems))
    if problems:
        raise ValueError("; ".join(problems))
    return made


def make_pages(app: Sphinx) -> None:
    """Make all pages in the first process."""
    pages()


def write_results(app: Sphinx, page: str, source: list[str]) -> None:
    """Put the results in place of the text of their page."""
    if page == "lab-results":
        source[0] = pages().results


class LabCharts(SphinxDirective):
    """The question, charts and findings of an experiment, named by its id."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return one block of HTML."""
        for path in RECORDS:
            self.env.note_dependency(str(path))
        [id] = self.arguments
        if id not in pages().sections:
            raise self.error(f"there are no measurements of an experiment {id!r}")
        return [nodes.raw("", pages().sections[id], format="html")]


def add_files(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Load style and script of charts where there are charts."""
    if page in ("lab-results", "benchmarks"):
        app.add_css_file(STYLE)
        app.add_js_file(SCRIPT, loading_method="defer")


def write_files(app: Sphinx, error: Exception | None) -> None:
    """Write the report, the script and the style into the site."""
    if error is not None or app.builder.format != "html":
        return
    static = app.outdir / "_static"
    (app.outdir / REPORT).write_text(pages().report, "utf-8")
    (static / SCRIPT).write_text(chart_script(), "utf-8")
    (static / STYLE).write_text(chart_style(DARK), "utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register all of it."""
    app.add_directive("lab-charts", LabCharts)
    app.connect("builder-inited", make_pages)
    app.connect("source-read", write_results)
    app.connect("html-page-context", add_files)
    app.connect("build-finished", write_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
