"""``kleene lab``: experiments, records of them, and reports."""

from __future__ import annotations

import typer

from kleene.cli.exits import EPILOG
from kleene.cli.lab_compare import compare
from kleene.cli.lab_report import report

__all__ = ["lab"]

lab = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Measure, report what was measured, and compare records.",
)
lab.command(epilog=EPILOG)(report)
lab.command(epilog=EPILOG)(compare)
