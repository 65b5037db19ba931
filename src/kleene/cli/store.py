"""``kleene store``: look at stores and verify them."""

from __future__ import annotations

import typer

from kleene.cli.exit_codes import EPILOG
from kleene.cli.groups import Command, CommandGroup
from kleene.cli.store_info import info
from kleene.cli.store_verify import verify

__all__ = ["app"]

app = typer.Typer(
    cls=CommandGroup,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Describe and verify results that --out wrote block by block.",
)
app.command("info", cls=Command, epilog=EPILOG)(info)
app.command("verify", cls=Command, epilog=EPILOG)(verify)
