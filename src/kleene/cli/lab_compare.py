"""``kleene lab compare``: what got faster or slower, and whether it is more than noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from kleene.cli.bundles import bundled
from kleene.cli.options import Output
from kleene.cli.output import headline, line, number, seconds, table

if TYPE_CHECKING:
    from kleene.lab.compare import Change, Comparison

__all__ = ["compare"]


@bundled
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

    results = compared(read(before), read(after), floor / 100)
    document = {"command": "lab compare", "before": before, "after": after} | results.as_dict()
    output.show(document, lambda: _show(results, every))


def _show(results: Comparison, every: bool) -> None:
    for note in results.notes:
        line(note, style="yellow")
    if not results.changes:
        line("the records have no point in common")
        return
    texts = [change for change in results.changes if change.texts]
    few = sum(change.chance is None for change in results.changes)
    faster = sum(change.verdict == "faster" for change in texts)
    headline(
        f"{len(results.changes):,} points in both",
        f": {faster:,} faster, {len(texts) - faster:,} slower, "
        f"{len(results.changes) - len(texts) - few:,} the same, {few:,} with too few repeats to tell",
    )
    if results.only_before or results.only_after:
        line(f"{results.only_before:,} points are in A only, {results.only_after:,} in B only")
    line()
    columns = ["experiment", "time B / A", "points", "faster", "slower"]
    rows = [
        [one.experiment, f"{one.ratio:.2f}", one.points, one.faster, one.slower]
        for one in results.summaries
    ]
    table(columns, rows, right=columns[1:])
    shown = results.changes if every else texts
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
