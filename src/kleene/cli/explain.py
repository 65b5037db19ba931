"""``kleene explain``: what would run, why, and how much memory it needs."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from kleene.cli import completion
from kleene.cli.cluster import Cluster
from kleene.cli.option_groups import with_option_groups
from kleene.cli.options import Input, Limit, Method, Output, Predecessors
from kleene.cli.output import line
from kleene.cli.solve import SourceVertices
from kleene.cli.summaries import graph_fields, plan_fields

__all__ = ["explain"]


@with_option_groups
def explain(
    *,
    graph: Input,
    problem: Annotated[
        str,
        Argument(
            metavar="PROBLEM",
            help="bfs, sssp, apsp, closure or prepare.",
            autocompletion=completion.problems,
        ),
    ],
    ends: SourceVertices,
    limit: Limit = None,
    semiring: Annotated[
        str | None,
        Option(
            "--semiring",
            metavar="NAME",
            help="The semiring: for closure boolean by default, or what a .kp is prepared for; for "
            "prepare min_plus.",
            autocompletion=completion.semirings,
        ),
    ] = None,
    predecessors: Predecessors = None,
    method: Method,
    cluster: Cluster,
    output: Output,
) -> None:
    """Explain which method would run, why, and how much memory it needs."""
    import kleene as kl

    read, answering = graph.open(method.threads)
    with cluster.keywords() as on:
        plan = kl.explain(
            read if problem == "bfs" else answering,
            problem,
            semiring=semiring,
            sources=ends.given_sources(read),
            limit=limit,
            predecessors=predecessors,
            **method.keywords(),
            **on,
        )
    document = {"command": "explain", "graph": graph_fields(read), "plan": plan_fields(plan)}
    output.show(document, lambda: line(str(plan)))
