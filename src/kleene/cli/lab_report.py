"""``kleene lab report``: one page about records."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from kleene.cli import completion
from kleene.cli.option_groups import with_option_groups
from kleene.cli.options import Output
from kleene.cli.output import line

__all__ = ["report"]


@with_option_groups
def report(
    *,
    records: Annotated[
        list[str] | None,
        Argument(metavar="RECORDS", help="Files of records. Default: kleene-lab.jsonl."),
    ] = None,
    page: Annotated[
        str, Option("--output", "-o", metavar="FILE", help="Where to write the page.")
    ] = "kleene-lab.html",
    figures: Annotated[
        str | None,
        Option("--figures", metavar="DIR", help="Write the figures as files, too."),
    ] = None,
    formats: Annotated[
        list[str] | None,
        Option(
            "--format",
            metavar="NAME",
            help="Of the figures: svg, png, pdf. Default: svg.",
            autocompletion=completion.figure_formats,
        ),
    ] = None,
    output: Output,
) -> None:
    """Write one page about records: charts, tables, findings."""
    from kleene.errors import RequestError
    from kleene_lab.experiments import EXPERIMENTS
    from kleene_lab.harness.record import read
    from kleene_lab.report import write_report

    if formats and figures is None:
        raise RequestError("--format needs --figures DIR, the folder to write to")
    record = read(*(records or ["kleene-lab.jsonl"]))
    written = write_report(record, EXPERIMENTS, page, figures, tuple(formats or ("svg",)))
    document = {
        "command": "lab report",
        "page": str(written.page),
        "figures": [str(figure) for figure in written.figures],
        "points": len(record.points),
        "problems": list(written.problems),
    }

    def show() -> None:
        line(f"{written.page.resolve()}: {len(record.points):,} points")
        if written.figures:
            line(f"{len(written.figures)} figures in {figures}")
        for problem in written.problems:
            line(f"problem: {problem}", style="yellow")

    output.show(document, show)
