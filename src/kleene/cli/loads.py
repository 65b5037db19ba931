"""``kleene loads``: how much traffic goes along each arc."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from typer import Argument, Option

from kleene.cli.option_groups import with_option_groups
from kleene.cli.options import Hops, Input, Limit, Output, Threads
from kleene.cli.output import facts, line, number, table
from kleene.cli.pairs import PAGE
from kleene.cli.summaries import graph_fields, plan_fields, show_graph
from kleene.cli.tables import TableFile, check_table
from kleene.cli.vertex_files import read_demand

__all__ = ["loads"]


@with_option_groups
def loads(
    *,
    graph: Input,
    demand: Annotated[
        str,
        Argument(
            metavar="DEMAND",
            help="A text table of origin, destination and volume; without volumes, a trip a line.",
        ),
    ],
    split: Annotated[
        bool, Option("--split", help="Split volumes equally over all shortest paths.")
    ] = False,
    hops: Hops = False,
    limit: Limit = None,
    top: Annotated[
        int, Option("--top", metavar="N", min=0, help="List the N arcs that carry most.")
    ] = PAGE,
    verify: Annotated[bool, Option("--verify", help="Verify the result.")] = False,
    out: TableFile = None,
    threads: Threads = None,
    output: Output,
) -> None:
    """Put the trips of a demand on their shortest paths.

    The answer is the flow along each arc. A prepared graph (`kleene prepare`) needs microseconds
    for a trip; any other is searched from each origin.
    """
    import kleene as kl

    check_table(out)
    read, answering = graph.open(threads)
    found = kl.loads(
        answering,
        read_demand(read, demand),
        split=split,
        hops=hops,
        limit=limit,
        threads=threads,
        progress=not output.quiet,
    )
    proof = found.verify() if verify else None
    if out is not None:
        found.save(out)
    lost, rows = found.unassigned, found.top(top)
    document: dict[str, Any] = {
        "command": "loads",
        "graph": graph_fields(read),
        "plan": plan_fields(found.plan),
        "seconds": found.stats.total,
        "volume": found.volume,
        "total_cost": found.total_cost,
        "unassigned": {"trips": len(lost), "volume": lost.total},
        "proof": None if proof is None else asdict(proof),
        "out": out,
        "arcs": [dict(zip(("source", "target", "flow"), row, strict=True)) for row in rows],
    }

    def page() -> None:
        show_graph(read, found.plan, found.stats.total)
        count = f"{len(lost):,} trip{'s' * (len(lost) != 1)}"
        without = f"{number(lost.total)}, in {count}" if len(lost) else None
        facts(
            {
                "volume": number(found.volume),
                "without a path": without,
                "total cost": number(found.total_cost),
                "saved": out,
            }
        )
        if proof is not None:
            line()
            line(f"  {proof}", style="green")
        if rows:
            line()
            table(["source", "target", "flow"], [list(row) for row in rows], quantities=["flow"])

    output.show(document, page)
