"""mkdocs hook: generate the pages of lab results from the records in benchmarks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

RECORDS = Path(__file__).parent.parent / "benchmarks"


def on_files(files: Files, config: Any) -> Files:
    """Add the page with charts and the full report."""
    from kleene.lab.experiments import EXPERIMENTS
    from kleene.lab.record import read
    from kleene.lab.report.docs import results_page
    from kleene.lab.report.page import page_of

    record = read(*sorted(RECORDS.glob("*.jsonl")))
    problems: list[str] = []
    pages = {
        "lab-results.md": results_page(
            record, EXPERIMENTS, "lab-report.html", "[data-md-color-scheme=slate]", problems
        ),
        "lab-report.html": page_of(record, EXPERIMENTS, problems),
    }
    if problems:
        raise ValueError("; ".join(problems))
    for name, content in pages.items():
        files.append(File.generated(config, name, content=content))
    return files
