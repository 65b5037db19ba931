"""``kleene lab``: run experiments, report and compare."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from typer import Exit

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
    experiments: list[str] | None = None,
    *,
    suite: str = "all",
    out: str = "kleene-lab.jsonl",
    budget: float | None = None,
    device: str = "auto",
    data: str | None = None,
    quick: bool = False,
    again: bool = False,
    output: Output,
) -> None:
    """Measure experiments, each answer checked before it is timed.

    Every point is written to the record at once; after Ctrl-C the same command resumes. Points that
    do not fit into the time are skipped, and the record says why.

    Parameters
    ----------
    experiments : ID
        See `kleene lab list`; else a suite.
    suite : NAME
        all, documents, ours, peers, prepared, measures, gpu, or gap (KLEENE_GAP=FOLDER: its
        programs).
    out : FILE, --record
        The record to write, or to resume.
    budget : SECONDS
        For all together; by default each has its own.
    device : NAME
        auto, cpu, cuda or emulated.
    data : FOLDER
        Folder of graphs that are files.
    quick : bool
        Tiny sizes, to try the program.
    again : bool
        Measure points again that the record has.
    """
    from kleene.cli.commands.lab_progress import RunProgress
    from kleene_lab.harness.environment import Environment
    from kleene_lab.harness.runner import Runner

    wanted = chosen(_split(experiments), suite)
    environment = Environment(device, quick, data)
    listener = RunProgress(output.json or output.quiet, environment.gpu or "")
    options = {"experiments": [one.id for one in wanted], "budget": budget}
    runner = Runner(environment, out, budget, again, listener, options)
    try:
        with listener:
            summary = runner.measure(wanted)
    except KeyboardInterrupt:
        _say(f"the points so far are in {out}; the same command resumes")
        raise
    output.show(_document(summary, out), lambda: _page(summary, out))
    if summary.failed:
        raise Exit(ANSWER_NO)


def chosen(ids: list[str], suite: str) -> list[Experiment]:
    """Return the requested experiments, in the order of the report."""
    from kleene.errors import RequestError
    from kleene_lab.experiments import EXPERIMENTS

    every = {one.id: one for one in EXPERIMENTS}
    unknown = [name for name in ids if name not in every]
    if unknown:
        raise RequestError(
            f"no experiment is called {unknown[0]!r}", advice=["see `kleene lab list`"]
        )
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
    records: list[str] | None = None,
    *,
    out: str = "kleene-lab.html",
    figures: str | None = None,
    formats: list[str] | None = None,
    output: Output,
) -> None:
    """Write one page about records: charts, tables, findings.

    Parameters
    ----------
    records : RECORDS
        Files of records. Default: kleene-lab.jsonl.
    out : FILE, --output
        Where to write the page.
    figures : DIR
        Write the figures as files, too.
    formats : NAME
        Of the figures: svg, png, pdf. Default: svg.
    """
    from kleene.errors import RequestError
    from kleene_lab.experiments import EXPERIMENTS
    from kleene_lab.harness.record import read
    from kleene_lab.report import write_report

    if formats and figures is None:
        raise RequestError("--formats needs --figures DIR, the folder to write to")
    record = read(*(records or ["kleene-lab.jsonl"]))
    written = write_report(record, EXPERIMENTS, out, figures, tuple(_split(formats) or ("svg",)))
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
    before: str, after: str, *, floor: float = 5.0, every: bool = False, output: Output
) -> None:
    """Report what got faster or slower from A to B, and whether that is more than noise.

    Parameters
    ----------
    before : A
        A file of records, from before.
    after : B
        A file of records, from after.
    floor : PERCENT
        The least change to report.
    every : bool, --all
        Show all points, not only what is more than noise.
    """
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
