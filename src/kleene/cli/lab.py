"""``kleene lab``: experiments, and what comes of them."""

from __future__ import annotations

import typer

from kleene.cli.exit_codes import EPILOG
from kleene.cli.lab_compare import compare
from kleene.cli.lab_list import list_experiments
from kleene.cli.lab_report import report
from kleene.cli.lab_run import run

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Measure everything here, and read about it.")
app.command("run", epilog=EPILOG)(run)
app.command("list", epilog=EPILOG)(list_experiments)
app.command("report", epilog=EPILOG)(report)
app.command("compare", epilog=EPILOG)(compare)
