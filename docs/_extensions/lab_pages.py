"""Pages about the records in ``benchmarks``, made while the documentation is built.

- The page ``lab-results`` is written anew: every experiment with charts and findings.
- ``lab-report.html`` is the whole report, and ``lab-charts.js`` the script of all charts.
- A directive ``lab-charts`` shows one experiment on any page.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from kleene.lab.experiments import EXPERIMENTS
from kleene.lab.record import Record, read
from kleene.lab.report.docs import experiment_charts, results_page
from kleene.lab.report.page import page_of
from kleene.lab.report.render import chart_script
from kleene.lab.report.style import chart_style

RECORDS = sorted((Path(__file__).parents[2] / "benchmarks").glob("*.jsonl"))
REPORT, SCRIPT, STYLE = "lab-report.html", "lab-charts.js", "lab-charts.css"
DARK = "html[data-theme=dark]"


@cache
def record() -> Record:
    """Return all points of all records."""
    return read(*RECORDS)


def write_results(app: Sphinx, page: str, source: list[str]) -> None:
    """Put the results in place of the text of their page."""
    if page == "lab-results":
        problems: list[str] = []
        source[0] = results_page(record(), EXPERIMENTS, REPORT, problems)
        refuse(problems)


def refuse(problems: list[str]) -> None:
    """Stop the build for errors in the declarations of experiments."""
    if problems:
        raise ValueError("; ".join(problems))


class LabCharts(SphinxDirective):
    """The charts and findings of experiments, named by their ids, on one machine or all."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar = {"machine": str}

    def run(self) -> list[nodes.Node]:
        """Return one block of HTML."""
        for path in RECORDS:
            self.env.note_dependency(str(path))
        chosen = [self._experiment(id) for id in self.arguments[0].split()]
        problems: list[str] = []
        machine = self.options.get("machine", "")
        html = experiment_charts(record(), chosen, f"{REPORT}", machine, problems)
        refuse(problems)
        return [nodes.raw("", html, format="html")]

    def _experiment(self, id: str) -> Any:
        for experiment in EXPERIMENTS:
            if experiment.id == id:
                return experiment
        raise self.error(f"no experiment {id!r}")


def add_files(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Load style and script of charts where there are charts."""
    if page in ("lab-results", "benchmarks"):
        app.add_css_file(STYLE)
        app.add_js_file(SCRIPT, loading_method="defer")


def write_files(app: Sphinx, error: Exception | None) -> None:
    """Write the report, the script and the style into the site."""
    if error is not None or app.builder.format != "html":
        return
    problems: list[str] = []
    static = app.outdir / "_static"
    (app.outdir / REPORT).write_text(page_of(record(), EXPERIMENTS, problems), "utf-8")
    (static / SCRIPT).write_text(chart_script(), "utf-8")
    (static / STYLE).write_text(chart_style(DARK), "utf-8")
    refuse(problems)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register all of it."""
    app.add_directive("lab-charts", LabCharts)
    app.connect("source-read", write_results)
    app.connect("html-page-context", add_files)
    app.connect("build-finished", write_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
