"""``kleene path``: one shortest path, step by step."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Exit

from kleene.cli.exit_codes import ANSWER_NO
from kleene.cli.geojson import GeoJson, check_geojson, write_geojson
from kleene.cli.option_groups import with_option_groups
from kleene.cli.options import Hops, Input, Method, Output
from kleene.cli.output import facts, line, number, table
from kleene.cli.prepare import note_search
from kleene.cli.summaries import graph_fields, plan_fields, show_graph
from kleene.cli.turns import Turns
from kleene.cli.vertices import parse_vertex

if TYPE_CHECKING:
    from kleene.results.route import Route

__all__ = ["Source", "Target", "path", "show_steps", "steps"]

Source = Annotated[str, Argument(metavar="SOURCE", help="The first vertex of the path.")]
Target = Annotated[str, Argument(metavar="TARGET", help="The last vertex of the path.")]


@with_option_groups
def path(
    *,
    graph: Input,
    source: Source,
    target: Target,
    hops: Hops = False,
    turns: Turns,
    out: GeoJson = None,
    method: Method,
    output: Output,
) -> None:
    """Print one shortest path, step by step."""
    import kleene as kl
    from kleene.errors import RequestError

    check_geojson(out)
    read, answering = graph.open(method.threads)
    start, end = parse_vertex(read, source), parse_vertex(read, target)
    search = turns.search(read, "sssp")
    if search is None:
        search = partial(kl.bfs, read) if hops else partial(kl.sssp, answering)
    elif hops:
        raise RequestError("--hops counts arcs, and turns take time; omit one")
    result = search(start, targets=[end], progress=not output.quiet, **method.keywords())
    route = result.route(end)
    found = steps(route, hops)
    delays = route.distance - found[-1]["total"] if found and not hops else 0
    if out is not None and found:
        write_geojson(route.to_geojson(), out)
    document = {
        "command": "path",
        "graph": graph_fields(read),
        "plan": plan_fields(result.plan),
        "seconds": result.stats.total,
        "source": start,
        "target": end,
        "found": bool(found),
        "arcs": len(found) - 1 if found else None,
        "distance": found[-1]["total"] + delays if found else None,
        "delays": delays,
        "out": out if found else None,
        "path": found,
    }

    def page() -> None:
        show_graph(read, result.plan, result.stats.total)
        if not found:
            line(f"  no path from {start} to {end}", style="red")
            return
        facts(
            {
                "path": f"{start} to {end}",
                "length": number(document["distance"]),
                "delays": number(delays) if delays else None,
                "arcs": number(len(found) - 1),
                "prepared": None if hops else note_search(answering),
                "saved": out,
            }
        )
        line()
        show_steps(found)

    output.show(document, page)
    if not found:
        raise Exit(ANSWER_NO)


def steps(route: Route, hops: bool = False) -> list[dict[str, Any]]:
    """Return for each vertex of a route its label, the length of the arc to it, and the total."""
    vertices = route.vertices
    lengths = [1] * len(route.arcs) if hops else route.weights.tolist()
    total: Any = 0
    rows: list[dict[str, Any]] = []
    for vertex, length in zip(vertices, [None, *lengths], strict=False):
        total += length or 0
        rows.append({"vertex": vertex, "length": length, "total": total})
    return rows


def show_steps(found: list[dict[str, Any]]) -> None:
    """Print the steps of a path as a table."""
    columns = ["vertex", "length", "total"]
    table(columns, [list(step.values()) for step in found], quantities=columns[1:])
