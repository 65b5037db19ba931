"""mkdocs hooks: pages of lab results from the records in benchmarks; our cached properties."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import griffe
from mkdocs.structure.files import File, Files

RECORDS = Path(__file__).parent.parent / "benchmarks"

# Document what it decorates as attributes, like functools' own.
griffe.stdlib_decorators["kleene.system.cached_property.cached_property"] = {"cached", "property"}


def on_files(files: Files, config: Any) -> Files:
    """Add the page with charts, its script, and the whole report."""
    from kleene.lab.experiments import EXPERIMENTS
    from kleene.lab.record import read
    from kleene.lab.report.docs import results_page
    from kleene.lab.report.page import page_of
    from kleene.lab.report.render import chart_script

    record = read(*sorted(RECORDS.glob("*.jsonl")))
    problems: list[str] = []
    dark = "[data-md-color-scheme=slate]"
    pages = {
        "lab-results.md": results_page(
            record, EXPERIMENTS, "lab-report.html", "lab-charts.js", dark, problems
        ),
        "lab-report.html": page_of(record, EXPERIMENTS, problems),
        "lab-charts.js": chart_script(),
    }
    if problems:
        raise ValueError("; ".join(problems))
    for name, content in pages.items():
        files.append(File.generated(config, name, content=content))
    return files
