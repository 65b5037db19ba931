"""``kleene explain``: what would run, why, and how much memory it needs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from typer import Argument, Option

from kleene.cli.option_groups import with_option_groups
from kleene.cli.options import Input, Method, Output, Predecessors
from kleene.cli.output import line
from kleene.cli.solve import Limit, Sources
from kleene.cli.summaries import graph_fields, plan_fields
from kleene.cli.vertices import parse_vertices

__all__ = ["explain"]


@with_option_groups
def explain(
    *,
    graph: Input,
    problem: Annotated[str, Argument(metavar="PROBLEM", help="bfs, sssp, apsp or closure.")],
    source: Sources = None,
    limit: Limit = None,
    semiring: Annotated[
        str | None, Option("--semiring", metavar="NAME", help="The semiring, for closure.")
    ] = None,
    predecessors: Predecessors = None,
    method: Method,
    output: Output,
) -> None:
    """Explain which method would run, why, and how much memory it needs."""
    import kleene as kl

    read = graph.read(method.threads)
    plan = kl.explain(
        read,
        problem,
        semiring=semiring,
        sources=parse_vertices(read, source),
        limit=limit,
        predecessors=predecessors,
        **asdict(method),
    )
    document = {"command": "explain", "graph": graph_fields(read), "plan": plan_fields(plan)}
    output.show(document, lambda: line(str(plan)))
