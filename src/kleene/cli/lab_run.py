"""``kleene lab run``: measure experiments into a record."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Exit, Option

from kleene.cli import completion
from kleene.cli.exit_codes import ANSWER_NO
from kleene.cli.option_groups import with_option_groups
from kleene.cli.options import Output
from kleene.cli.output import line

if TYPE_CHECKING:
    from kleene_lab.harness.experiment import Experiment
    from kleene_lab.harness.runner import Summary

__all__ = ["chosen", "run"]


@with_option_groups
def run(
    *,
    experiments: Annotated[
        list[str] | None,
        Argument(
            metavar="ID",
            help="See `kleene lab list`; else a suite.",
            autocompletion=completion.experiments,
        ),
    ] = None,
    suite: Annotated[
        str,
        Option(
            "--suite",
            metavar="NAME",
            help="all, documents, ours, peers, prepared, measures, gpu, or gap "
            "(KLEENE_GAP=FOLDER: its programs).",
            autocompletion=completion.suites,
        ),
    ] = "all",
    record: Annotated[
        str, Option("--record", metavar="FILE", help="The file to write, or to resume.")
    ] = "kleene-lab.jsonl",
    budget: Annotated[
        float | None,
        Option(
            "--budget", metavar="SECONDS", help="For all together; by default each has its own."
        ),
    ] = None,
    device: Annotated[
        str,
        Option(
            "--device",
            metavar="NAME",
            help="auto, cpu, cuda or emulated.",
            autocompletion=completion.devices,
        ),
    ] = "auto",
    data: Annotated[
        str | None, Option("--data", metavar="FOLDER", help="Folder of graphs that are files.")
    ] = None,
    quick: Annotated[bool, Option("--quick", help="Tiny sizes, to try the program.")] = False,
    again: Annotated[
        bool, Option("--again", help="Measure points again that the record has.")
    ] = False,
    output: Output,
) -> None:
    """Measure experiments, each answer checked before it is timed.

    Every point is written to the record at once; after Ctrl-C the same command resumes. Points that
    do not fit into the time are skipped, and the record says why.
    """
    from kleene.cli.lab_progress import RunProgress
    from kleene_lab.harness.environment import Environment
    from kleene_lab.harness.runner import Runner

    wanted = chosen(experiments or [], suite)
    environment = Environment(device, quick, data)
    listener = RunProgress(output.json or output.quiet, environment.gpu or "")
    options = {"experiments": [one.id for one in wanted], "budget": budget}
    runner = Runner(environment, record, budget, again, listener, options)
    try:
        with listener:
            summary = runner.measure(wanted)
    except KeyboardInterrupt:
        _say(f"the points so far are in {record}; the same command resumes")
        raise
    output.show(_document(summary, record), lambda: _page(summary, record))
    if summary.failed:
        raise Exit(ANSWER_NO)


def chosen(ids: list[str], suite: str) -> list[Experiment]:
    """Return the requested experiments, in the order of the report."""
    from kleene.errors import RequestError
    from kleene_lab.experiments import EXPERIMENTS

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
    counts = [f"{summary.measured:,} points measured"]
    counts += [f"{summary.kept:,} already in the record"] if summary.kept else []
    counts += [f"{summary.skipped:,} skipped"] if summary.skipped else []
    counts += [f"{summary.failed:,} FAILED"] if summary.failed else []
    line(f"{', '.join(counts)}; all in {record}. Read it: kleene lab report {record}")


def _say(text: str) -> None:
    print(f"kleene: {text}", file=sys.stderr)
