"""``kleene path``: one shortest path, step by step."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Exit, Option

from kleene.cli.exit_codes import ANSWER_NO
from kleene.cli.option_groups import with_option_groups
from kleene.cli.options import Input, Method, Output, cycle_with_labels
from kleene.cli.output import facts, headline, line, number, seconds, table
from kleene.cli.summaries import describe_graph, describe_plan, graph_fields, plan_fields
from kleene.cli.vertices import parse_vertex, vertex_name

if TYPE_CHECKING:
    from kleene import Graph

__all__ = ["path", "steps"]


@with_option_groups
def path(
    *,
    graph: Input,
    source: Annotated[str, Argument(metavar="SOURCE", help="The first vertex of the path.")],
    target: Annotated[str, Argument(metavar="TARGET", help="The last vertex of the path.")],
    hops: Annotated[bool, Option("--hops", help="Count arcs instead of weights.")] = False,
    method: Method,
    output: Output,
) -> None:
    """Print one shortest path, step by step."""
    import kleene as kl

    read = graph.read(method.threads)
    start, end = parse_vertex(read, source), parse_vertex(read, target)
    solve = kl.bfs if hops else kl.sssp
    with cycle_with_labels(read):
        result = solve(read, start, targets=[end], progress=not output.quiet, **asdict(method))
    route = steps(read, read.index(result.path(end)).tolist(), hops)
    document = {
        "command": "path",
        "graph": graph_fields(read),
        "plan": plan_fields(result.plan),
        "seconds": result.stats.total,
        "source": start,
        "target": end,
        "found": bool(route),
        "arcs": len(route) - 1 if route else None,
        "distance": route[-1]["total"] if route else None,
        "path": route,
    }

    def page() -> None:
        headline(read.name or "graph", f": {describe_graph(read)}")
        line(f"{describe_plan(result.plan)}, {seconds(result.stats.total)}", style="dim")
        line()
        if not route:
            line(f"  no path from {document['source']} to {document['target']}", style="red")
            return
        ends = f"{document['source']} to {document['target']}"
        facts(
            {"path": ends, "length": number(document["distance"]), "arcs": number(len(route) - 1)}
        )
        line()
        table(["vertex", "length", "total"], [list(step.values()) for step in route], right=_RIGHT)

    output.show(document, page)
    if not route:
        raise Exit(ANSWER_NO)


_RIGHT = ("length", "total")


def steps(graph: Graph, route: list[int], hops: bool = False) -> list[dict[str, Any]]:
    """Return for each vertex of a path its name, the length of the arc to it, and the total."""
    import numpy as np

    total: Any = 0
    rows: list[dict[str, Any]] = []
    for previous, vertex in zip([None, *route], route, strict=False):
        length: Any = None
        if previous is not None:
            arcs = slice(graph.offsets[previous], graph.offsets[previous + 1])
            at = arcs.start + int(np.searchsorted(graph.neighbors[arcs], vertex))
            length = 1 if hops or graph.weights is None else graph.weights[at].item()
            total += length
        rows.append({"vertex": vertex_name(graph, vertex), "length": length, "total": total})
    return rows
