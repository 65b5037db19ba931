"""``kleene lab run``: measure experiments into a record."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Exit, Option

from kleene.cli.exit_codes import ANSWER_NO
from kleene.cli.option_groups import with_option_groups
from kleene.cli.options import Output
from kleene.cli.output import line

if TYPE_CHECKING:
    from kleene.lab.experiment import Experiment
    from kleene.lab.runner import Summary

__all__ = ["chosen", "run"]


@with_option_groups
def run(
    *,
    experiments: Annotated[
        list[str] | None, Argument(metavar="[ID]...", help="See `kleene lab list`; else a suite.")
    ] = None,
    suite: Annotated[
        str, Option("--suite", metavar="NAME", help="all, documents, ours, peers or gpu.")
    ] = "all",
    record: Annotated[
        str, Option("--record", metavar="FILE", help="What to write, and to go on with.")
    ] = "kleene-lab.jsonl",
    budget: Annotated[
        float | None,
        Option("--budget", metavar="SECONDS", help="For everything; else each has its own."),
    ] = None,
    device: Annotated[
        str, Option("--device", metavar="NAME", help="auto, cpu, cuda or emulated.")
    ] = "auto",
    data: Annotated[
        str | None, Option("--data", metavar="FOLDER", help="Where graphs that are files lie.")
    ] = None,
    quick: Annotated[bool, Option("--quick", help="Tiny sizes, to try the program.")] = False,
    again: Annotated[
        bool, Option("--again", help="Measure what the record has already, too.")
    ] = False,
    output: Output,
) -> None:
    """Measure experiments, each answer checked before it is timed.

    Every point is written to the record at once; after Ctrl-C the same command goes on from there.
    What does not fit into the time is skipped, and the record tells why.
    """
    from kleene.cli.lab_teller import Teller
    from kleene.lab.runner import Runner
    from kleene.lab.setting import Setting

    wanted = chosen(experiments or [], suite)
    setting = Setting(device, quick, data)
    listener = Teller(silent=output.json or output.quiet)
    asked = {"experiments": [one.id for one in wanted], "budget": budget}
    runner = Runner(setting, record, budget, again, listener, asked)
    try:
        with listener:
            summary = runner.measure(wanted)
    except KeyboardInterrupt:
        _say(f"what was measured is in {record}; the same command goes on from there")
        raise
    output.show(_document(summary, record), lambda: _page(summary, record))
    if summary.failed:
        raise Exit(ANSWER_NO)


def chosen(ids: list[str], suite: str) -> list[Experiment]:
    """Return the experiments that a user asks for, in the order of the report."""
    from kleene.errors import RequestError
    from kleene.lab.experiments import EXPERIMENTS

    every = {one.id: one for one in EXPERIMENTS}
    unknown = [name for name in ids if name not in every]
    if unknown:
        raise RequestError(f"no experiment is called {unknown[0]!r}; see `kleene lab list`")
    suites = {"all"} | {name for one in EXPERIMENTS for name in one.suites}
    if suite not in suites:
        raise RequestError(f"no suite is called {suite!r}; there are {', '.join(sorted(suites))}")
    if ids:
        return [one for one in EXPERIMENTS if one.id in ids]
    return [one for one in EXPERIMENTS if suite == "all" or suite in one.suites]


def _document(summary: Summary, record: str) -> dict[str, Any]:
    return {
        "record": record,
        "measured": summary.measured,
        "kept": summary.kept,
        "skipped": summary.skipped,
        "failed": summary.failed,
        "seconds": {name: round(taken, 1) for name, taken in summary.seconds.items()},
    }


def _page(summary: Summary, record: str) -> None:
    told = [f"{summary.measured:,} points measured"]
    told += [f"{summary.kept:,} were there already"] if summary.kept else []
    told += [f"{summary.skipped:,} skipped"] if summary.skipped else []
    told += [f"{summary.failed:,} FAILED"] if summary.failed else []
    line(f"{', '.join(told)}; all in {record}. Read it: kleene lab report {record}")


def _say(text: str) -> None:
    print(f"kleene: {text}", file=sys.stderr)
