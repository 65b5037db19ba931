"""``kleene lab``: run experiments, report and compare."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Exit, Option

from kleene.cli import completion
from kleene.cli.errors import ANSWER_NO
from kleene.cli.groups import CommandGroup
from kleene.cli.options import Output, command
from kleene.cli.output import headline, line, number, seconds, table

if TYPE_CHECKING:
    from kleene_lab.harness.experiment import Experiment
    from kleene_lab.harness.runner import Summary
    from kleene_lab.report.compare import Change, Comparison

__all__ = ["chosen", "lab"]


# ---- run -----------------------------------------------------------------------------------------


@command()
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
        str,
        Option("--out", "-o", "--record", metavar="FILE", help="Written, or resumed."),
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
    from kleene.cli.commands.lab_progress import RunProgress
    from kleene_lab.harness.environment import Environment
    from kleene_lab.harness.runner import Runner

    wanted = chosen(_split(experiments), suite)
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


# ---- list ----------------------------------------------------------------------------------------


@command()
def list_experiments(*, output: Output) -> None:
    """List all experiments."""
    from kleene_lab.experiments import EXPERIMENTS

    rows = [
        {
            "id": one.id,
            "question": one.question,
            "suites": list(one.suites),
            "document": None if one.document is None else one.document.authors,
            "seconds": one.budget,
        }
        for one in EXPERIMENTS
    ]
    shown = [(one.id, ", ".join(one.suites), one.question) for one in EXPERIMENTS]
    output.show({"experiments": rows}, lambda: table(("id", "suites", "question"), shown))


# ---- report --------------------------------------------------------------------------------------


@command()
def report(
    *,
    records: Annotated[
        list[str] | None,
        Argument(metavar="RECORDS", help="Files of records. Default: kleene-lab.jsonl."),
    ] = None,
    page: Annotated[
        str, Option("--out", "-o", "--output", metavar="FILE", help="Where to write the page.")
    ] = "kleene-lab.html",
    figures: Annotated[
        str | None,
        Option("--figures", metavar="DIR", help="Write the figures as files, too."),
    ] = None,
    formats: Annotated[
        list[str] | None,
        Option(
            "--format",
            metavar="NAME",
            help="Of the figures: svg, png, pdf. Default: svg.",
            autocompletion=completion.figure_formats,
        ),
    ] = None,
    output: Output,
) -> None:
    """Write one page about records: charts, tables, findings."""
    from kleene.errors import RequestError
    from kleene_lab.experiments import EXPERIMENTS
    from kleene_lab.harness.record import read
    from kleene_lab.report import write_report

    if formats and figures is None:
        raise RequestError("--format needs --figures DIR, the folder to write to")
    record = read(*(records or ["kleene-lab.jsonl"]))
    written = write_report(record, EXPERIMENTS, page, figures, tuple(_split(formats) or ("svg",)))
    document = {
        "command": "lab report",
        "page": str(written.page),
        "figures": [str(figure) for figure in written.figures],
        "points": len(record.points),
        "problems": list(written.problems),
    }

    def show() -> None:
        line(f"{written.page.resolve()}: {len(record.points):,} points")
        if written.figures:
            line(f"{len(written.figures)} figures in {figures}")
        for problem in written.problems:
            line(f"problem: {problem}", style="yellow")

    output.show(document, show)


def _split(given: list[str] | None) -> list[str]:
    """Return the words of a list, which come with commas or one by one."""
    return [word.strip() for text in given or () for word in text.split(",")]


# ---- compare -------------------------------------------------------------------------------------


@command()
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


lab = CommandGroup(
    name="lab",
    help="Measure this machine, and report the results.",
    functions=lambda: {
        "Commands": {"run": run, "list": list_experiments, "report": report, "compare": compare}
    },
)
