"""``kleene methods``: the list of methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from kleene.cli import completion
from kleene.cli.option_groups import with_option_groups
from kleene.cli.options import Output
from kleene.cli.output import headline, line

if TYPE_CHECKING:
    from kleene.registry import Methods

__all__ = ["methods"]

_COLUMNS = ("problem", "name", "device", "needs", "origin", "summary")


@with_option_groups
def methods(
    *,
    problem: Annotated[
        str | None,
        Argument(
            metavar="PROBLEM",
            help="The problem: bfs, sssp, apsp or closure.",
            autocompletion=completion.problems,
        ),
    ] = None,
    device: Annotated[
        str | None,
        Option(
            "--device",
            metavar="NAME",
            help="The device: cuda, cpu, emulated or reference.",
            autocompletion=completion.devices,
        ),
    ] = None,
    output: Output,
) -> None:
    """List the methods with device, requirements and origin."""
    import kleene as kl

    rows = kl.methods(problem, device)
    document = {
        "command": "methods",
        "methods": [
            {c: getattr(row, c) for c in _COLUMNS}
            | {"semirings": list(row.semirings), "options": list(row.options)}
            for row in rows
        ],
    }
    output.show(document, lambda: _show(rows))


def _show(rows: Methods) -> None:
    """Print two lines for each method, under its problem."""
    from kleene.registry import PROBLEMS

    if not rows:
        line("no methods")
        return
    width = {c: max(len(getattr(row, c)) for row in rows) for c in ("name", "device", "needs")}
    for problem, description in PROBLEMS.items():
        own = [row for row in rows if row.problem == problem]
        if own:
            headline(problem, f": {description}")
        for row in own:
            cells = [getattr(row, column).ljust(width[column]) for column in width]
            line("  " + "  ".join([*cells, row.origin]))
            line(f"      {row.summary}", style="dim")
