"""``kleene methods``: every method there is."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from kleene.cli.bundles import bundled
from kleene.cli.options import Output
from kleene.cli.output import table

__all__ = ["methods"]

_COLUMNS = ("problem", "name", "device", "needs", "origin", "summary")


@bundled
def methods(
    *,
    problem: Annotated[
        str | None, Argument(metavar="[PROBLEM]", help="bfs, sssp, apsp or closure.")
    ] = None,
    device: Annotated[
        str | None, Option("--device", metavar="NAME", help="cuda, cpu, emulated or reference.")
    ] = None,
    output: Output,
) -> None:
    """List every method: its device, needs and origin."""
    import kleene as kl

    rows = kl.methods(problem, device)
    document = {
        "command": "methods",
        "methods": [
            {c: getattr(row, c) for c in _COLUMNS} | {"semirings": list(row.semirings)}
            for row in rows
        ],
    }
    cells = [[getattr(row, column) for column in _COLUMNS] for row in rows]
    output.show(document, lambda: table(_COLUMNS, cells))
