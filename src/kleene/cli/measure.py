"""``kleene measure``: betweenness, closeness, diameter and other sums over shortest paths."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from kleene.cli import completion
from kleene.cli.measure_answers import MeasureAnswer, describe_answer
from kleene.cli.measure_names import MeasureRow, find_measure
from kleene.cli.measure_proofs import prove
from kleene.cli.option_groups import with_option_groups
from kleene.cli.options import Device, Hops, Input, Limit, Output, Reverse, Threads
from kleene.cli.output import facts, line, number, table
from kleene.cli.solve import Endpoints
from kleene.cli.summaries import graph_fields, plan_fields, show_graph
from kleene.cli.tables import TableFile, check_table

if TYPE_CHECKING:
    from kleene import Graph

__all__ = ["measure"]

_KIND, _SAMPLING, _WORK = "What counts", "Sampling", "How to compute"


@dataclass(frozen=True)
class Counting:
    """Which paths count, and how."""

    hops: Hops = False
    reverse: Reverse = False
    limit: Limit = None
    edges: Annotated[
        bool, Option("--edges", help="The edges instead of the vertices.", rich_help_panel=_KIND)
    ] = False
    endpoints: Annotated[
        bool, Option("--endpoints", help="Count a path for its two ends.", rich_help_panel=_KIND)
    ] = False
    normalized: Annotated[
        bool | None,
        Option(
            "--normalized/--raw",
            help="Parts of all pairs, or numbers of pairs.",
            rich_help_panel=_KIND,
        ),
    ] = None
    exact: Annotated[
        bool,
        Option("--exact", help="Count paths in whole numbers of any size.", rich_help_panel=_KIND),
    ] = False
    unreachable: Annotated[
        str | None,
        Option(
            "--unreachable",
            metavar="WHAT",
            help="Of a graph in which some reach not all: error, or ignore those.",
            autocompletion=completion.unreachable,
            rich_help_panel=_KIND,
        ),
    ] = None
    bins: Annotated[
        int | None,
        Option(
            "--bins",
            metavar="N",
            min=1,
            help="Bins of a histogram.",
            rich_help_panel=_KIND,
        ),
    ] = None


@dataclass(frozen=True)
class Sampling:
    """Estimates."""

    samples: Annotated[
        int | None,
        Option(
            "--sample",
            metavar="N",
            min=1,
            help="Estimate from N random sources.",
            rich_help_panel=_SAMPLING,
        ),
    ] = None
    error: Annotated[
        float | None,
        Option(
            "--error",
            metavar="E",
            help="Sample until all are within E.",
            rich_help_panel=_SAMPLING,
        ),
    ] = None
    confidence: Annotated[
        float | None,
        Option(
            "--confidence",
            metavar="P",
            help="The probability of --error.",
            rich_help_panel=_SAMPLING,
        ),
    ] = None
    seed: Annotated[
        int | None,
        Option("--seed", metavar="N", help="The random seed.", rich_help_panel=_SAMPLING),
    ] = None


@dataclass(frozen=True)
class Engine:
    """The method, device and threads."""

    method: Annotated[
        str,
        Option(
            "--method",
            metavar="NAME",
            help="The method; see `kleene methods`.",
            autocompletion=completion.methods,
            rich_help_panel=_WORK,
        ),
    ] = "auto"
    device: Device = "auto"
    threads: Threads = None


@with_option_groups
def measure(
    *,
    name: Annotated[
        str,
        Argument(
            metavar="MEASURE",
            help="betweenness, closeness, harmonic, eccentricity, diameter, radius, center, "
            "periphery, histogram, efficiency, wiener or path-counts.",
            autocompletion=completion.measures,
        ),
    ],
    graph: Input,
    ends: Endpoints,
    counting: Counting,
    sampling: Sampling,
    top: Annotated[
        int | None,
        Option(
            "--top",
            metavar="N",
            min=0,
            help="List N rows, the largest numbers first; bins, and vertices without numbers, in "
            "order.",
        ),
    ] = None,
    out: TableFile = None,
    verify: Annotated[
        bool, Option("--verify", help="Check a sample of the sources by a plain method.")
    ] = False,
    engine: Engine,
    output: Output,
) -> None:
    """Measure a graph by its shortest paths, such as betweenness or diameter."""
    row = find_measure(name)
    _check_answer(name, row, out, top)
    read, prepared = graph.open(engine.threads)
    given = {**asdict(counting), **asdict(sampling), **asdict(engine)}
    keywords = _keywords(name, row, read, ends, given)
    if "progress" in row.keywords:
        keywords["progress"] = not output.quiet
    measured = prepared if row.prepared else read
    found = row.function(measured, **keywords)
    answer = describe_answer(name, read, found, counting.edges)
    proof = None
    if verify and row.follows_from:
        proof = prove(name, found, find_measure(row.follows_from).function(measured, **keywords))
    elif verify:
        proof = found.verify()
    if out is not None:
        answer.save(out)
    rows = answer.listed(None if output.json and top is None else 20 if top is None else top)
    document: dict[str, Any] = {
        "command": "measure",
        "measure": name,
        "graph": graph_fields(read),
        "plan": None if answer.plan is None else plan_fields(answer.plan),
        "seconds": answer.seconds,
        "value": answer.value,
        **answer.estimate,
        "of": answer.count,
        "proof": None if proof is None else asdict(proof),
        "out": out,
        "listed": len(rows),
        "rows": rows,
    }

    def page() -> None:
        show_graph(read, answer.plan, answer.seconds or 0.0)
        value = None if answer.value is None else number(answer.value)
        summary = {name: value, answer.what: answer.summary, "error": answer.accuracy}
        facts({**summary, "saved": out})
        _show_rows(answer, rows)
        if proof is not None:
            line()
            line(f"  {proof}", style="green")

    output.show(document, page)


def _show_rows(answer: MeasureAnswer, rows: list[dict[str, Any]]) -> None:
    """Print rows of the table, and say how many more there are."""
    if not rows:
        return
    line()
    columns = list(rows[0])
    quantities = [column for column in columns if column not in answer.vertices]
    table(columns, [list(each.values()) for each in rows], quantities=quantities)
    if answer.count > len(rows):
        more = f"--top {answer.count}, or --out table.csv"
        line(f"  and {answer.count - len(rows):,} more: {more}", style="dim")


def _check_answer(name: str, row: MeasureRow, out: str | None, top: int | None) -> None:
    """Raise for what the answer of a measure does not have, before any work is done."""
    from kleene.errors import RequestError

    check_table(out)
    if not row.table and (out is not None or top is not None):
        option = "--top" if out is None else "--out"
        raise RequestError(f"{name} is one number: there is no table for {option}")


def _keywords(
    name: str, row: MeasureRow, graph: Graph, ends: Endpoints, options: dict[str, Any]
) -> dict[str, Any]:
    """Return the keywords of a call; raise for an option that the measure does not have."""
    from kleene.errors import Code, RequestError, Text

    flags = {"hops", "reverse", "edges", "endpoints", "exact"}
    given = {
        key: value
        for key, value in options.items()
        if value is not None and value != "auto" and (value or key not in flags)
    }
    given |= ends.keywords(graph)
    if "source" in row.keywords:
        sources = given.pop("sources", [])
        if len(sources) != 1:
            raise RequestError(f"{name} needs one source: kleene measure {name} GRAPH SOURCE")
        given["source"] = sources[0]
    refused = [
        Code(f"{key}={value if isinstance(value, bool) else ''}")  # --raw is normalized=False
        for key, value in sorted(given.items())
        if key not in row.keywords
    ]
    if refused:
        raise RequestError(f"{name} has no ", Text.joined(" and no ", refused))
    return given
