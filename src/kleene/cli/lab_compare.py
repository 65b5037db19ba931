"""``kleene lab compare``: what got faster or slower, beyond noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from kleene.cli.option_groups import with_option_groups
from kleene.cli.options import Output
from kleene.cli.output import headline, line, number, seconds, table

if TYPE_CHECKING:
    from kleene_lab.report.compare import Change, Comparison

__all__ = ["compare"]


@with_option_groups
def compare(
    *,
    before: Annotated[str, Argument(metavar="A", help="A file of records, from before.")],
    after: Annotated[str, Argument(metavar="B", help="A file of records, from after.")],
    floor: Annotated[
        float, Option("--floor", metavar="PERCENT", help="The least change to report.")
    ] = 5.0,
    every: Annotated[
        bool, Option("--all", help="Show all points, not only what is more than noise.")
    ] = False,
    output: Output,
) -> None:
    """Report what got faster or slower from A to B, and whether that is more than noise."""
    from kleene_lab.harness.record import read
    from kleene_lab.report.compare import compare as compared

    comparison = compared(read(before), read(after), floor / 100)
    document = {"command": "lab compare", "before": before, "after": after} | comparison.as_dict()
    output.show(document, lambda: _show(comparison, every))


def _show(comparison: Comparison, every: bool) -> None:
    for note in comparison.notes:
        line(note, style="yellow")
    if not comparison.changes:
        line("the records have no point in common")
        return
    significant = [change for change in comparison.changes if change.significant]
    few = sum(change.chance is None for change in comparison.changes)
    faster = sum(change.verdict == "faster" for change in significant)
    headline(
        f"{len(comparison.changes):,} points in both",
        f": {faster:,} faster, {len(significant) - faster:,} slower, "
        f"{len(comparison.changes) - len(significant) - few:,} the same, "
        f"{few:,} with too few repeats to tell",
    )
    if comparison.only_before or comparison.only_after:
        line(
            f"{comparison.only_before:,} points are in A only, {comparison.only_after:,} in B only"
        )
    line()
    columns = ["experiment", "time B / A", "points", "faster", "slower"]
    rows = [
        [one.experiment, f"{one.ratio:.2f}", one.points, one.faster, one.slower]
        for one in comparison.summaries
    ]
    table(columns, rows, quantities=columns[1:])
    shown = comparison.changes if every else significant
    if shown:
        line()
        columns = ["point", "A", "B", "time B / A", "repeats", "verdict"]
        table(columns, [_row(change) for change in shown], quantities=columns[1:5])


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
