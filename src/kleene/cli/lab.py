"""``kleene lab``: run experiments, report and compare."""

from __future__ import annotations

import typer

from kleene.cli.exit_codes import EPILOG
from kleene.cli.groups import Command, CommandGroup
from kleene.cli.lab_compare import compare
from kleene.cli.lab_list import list_experiments
from kleene.cli.lab_report import report
from kleene.cli.lab_run import run

__all__ = ["app"]

app = typer.Typer(
    cls=CommandGroup,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Measure this machine, and report the results.",
)
app.command("run", cls=Command, epilog=EPILOG)(run)
app.command("list", cls=Command, epilog=EPILOG)(list_experiments)
app.command("report", cls=Command, epilog=EPILOG)(report)
app.command("compare", cls=Command, epilog=EPILOG)(compare)
