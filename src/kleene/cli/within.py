"""``kleene within``: what lies within a limit of some sources, or nearest to them."""

from __future__ import annotations

from typing import Annotated, Any

from typer import Option

from kleene.cli.option_groups import with_option_groups
from kleene.cli.options import Hops, Input, Limit, Output, Predecessors, Reverse, Threads
from kleene.cli.output import facts, number
from kleene.cli.pairs import PAGE, list_pairs, pairs_of_reach, show_pairs
from kleene.cli.prepare import note_search
from kleene.cli.solve import SourceVertices
from kleene.cli.summaries import graph_fields, plan_fields, show_graph
from kleene.cli.tables import TableFile, check_table

__all__ = ["within"]


@with_option_groups
def within(
    *,
    graph: Input,
    ends: SourceVertices,
    limit: Limit = None,
    k: Annotated[
        int | None,
        Option("--k", "-k", metavar="K", min=1, help="Stop at the K nearest vertices."),
    ] = None,
    hops: Hops = False,
    reverse: Reverse = False,
    predecessors: Predecessors = None,
    top: Annotated[
        int | None,
        Option("--top", metavar="N", min=0, help="List the N nearest vertices of each source."),
    ] = None,
    out: TableFile = None,
    threads: Threads = None,
    output: Output,
) -> None:
    """Find what each source reaches within a limit, or its nearest vertices.

    Memory is needed for what is reached only, so that there may be many sources; without any, all
    vertices are sources.
    """
    import kleene as kl
    from kleene.errors import RequestError

    check_table(out)
    if limit is None and k is None:
        raise RequestError("within needs --limit LENGTH, or --k K")
    read, answering = graph.open(threads)
    sources = ends.given_sources(read)
    reach = kl.within(
        answering,
        sources,
        limit,
        k=k,
        hops=hops,
        reverse=reverse,
        predecessors=predecessors is not False,
        threads=threads,
        progress=not output.quiet,
    )
    if out is not None:
        reach.save(out)
    most: int | None = None
    if top is None:
        most = 0 if sources is None else None if output.json else PAGE
    listing = list_pairs(pairs_of_reach(reach), top, most)
    count, reached = len(reach.sources), int(reach.distances.nnz)
    document: dict[str, Any] = {
        "command": "within",
        "graph": graph_fields(read),
        "plan": plan_fields(reach.plan),
        "seconds": reach.stats.total,
        "limit": limit,
        "k": k,
        "sources": count,
        "reached": reached,
        "out": out,
        "listed": len(listing.pairs),
        "pairs": listing.pairs,
    }

    def page() -> None:
        show_graph(read, reach.plan, reach.stats.total)
        single, near = count == 1, "target" if reverse else "source"
        facts(
            {
                near: reach.sources.tolist()[0] if single else None,
                "sources": None if single else f"{count:,}",
                "limit": None if limit is None else number(limit),
                "nearest": None if k is None else f"{k:,}",
                "reached": f"{reached:,}, the source included" if single else f"{reached:,} pairs",
                "prepared": None if hops else note_search(answering),
                "saved": out,
            }
        )
        show_pairs(listing, read.n, near if single else None)

    output.show(document, page)
