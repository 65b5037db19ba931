"""``kleene lab compare``: what got faster or slower, and whether it is more than noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from kleene.cli.option_groups import with_option_groups
from kleene.cli.options import Output
from kleene.cli.output import headline, line, number, seconds, table

if TYPE_CHECKING:
    from kleene.lab.compare import Change, Comparison

__all__ = ["compare"]


@with_option_groups
def compare(
    *,
    before: Annotated[str, Argument(metavar="A", help="A file of records, from before.")],
    after: Annotated[str, Argument(metavar="B", help="A file of records, from after.")],
    floor: Annotated[
        float, Option("--floor", metavar="PERCENT", help="The least change to tell.")
    ] = 5.0,
    every: Annotated[
        bool, Option("--all", help="Show all points, not only what is more than noise.")
    ] = False,
    output: Output,
) -> None:
    """Say what got faster or slower from A to B, and whether it is more than noise."""
    from kleene.lab.compare import compare as compared
    from kleene.lab.record import read

    found = compared(read(before), read(after), floor / 100)
    document = {"command": "lab compare", "before": before, "after": after} | found.as_dict()
    output.show(document, lambda: _show(found, every))


def _show(found: Comparison, every: bool) -> None:
    for note in found.notes:
        line(note, style="yellow")
    if not found.changes:
        line("the records have no point in common")
        return
    told = [change for change in found.changes if change.told]
    few = sum(change.chance is None for change in found.changes)
    faster = sum(change.verdict == "faster" for change in told)
    headline(
        f"{len(found.changes):,} points in both",
        f": {faster:,} faster, {len(told) - faster:,} slower, "
        f"{len(found.changes) - len(told) - few:,} the same, {few:,} with too few repeats to tell",
    )
    if found.only_before or found.only_after:
        line(f"{found.only_before:,} points are in A only, {found.only_after:,} in B only")
    line()
    columns = ["experiment", "time B / A", "points", "faster", "slower"]
    rows = [
        [one.experiment, f"{one.ratio:.2f}", one.points, one.faster, one.slower]
        for one in found.summaries
    ]
    table(columns, rows, right=columns[1:])
    shown = found.changes if every else told
    if shown:
        line()
        columns = ["point", "A", "B", "time B / A", "repeats", "verdict"]
        table(columns, [_row(change) for change in shown], right=columns[1:5])


def _row(change: Change) -> list[str]:
    parts = (change.experiment, change.panel, change.series, change.device, number(change.x))
    return [
        ", ".join(part for part in parts if part),
        seconds(change.before),
        seconds(change.after),
        f"{change.ratio:.2f}",
        f"{change.repeats[0]}, {change.repeats[1]}",
        change.verdict,
    ]
