"""``kleene draw``: a picture of a graph, or of a search in it."""

from __future__ import annotations

from typing import Annotated, Any

from typer import Argument, Option

from kleene.cli.option_groups import with_option_groups
from kleene.cli.options import Hops, Input, Output
from kleene.cli.output import line
from kleene.cli.summaries import graph_fields
from kleene.cli.vertices import parse_vertex

__all__ = ["draw"]


@with_option_groups
def draw(
    *,
    graph: Input,
    source: Annotated[
        str | None,
        Argument(metavar="SOURCE", help="Colour vertices by their distance from this one."),
    ] = None,
    target: Annotated[
        str | None,
        Option("--target", "-t", metavar="VERTEX", help="Highlight the path to this vertex."),
    ] = None,
    out: Annotated[
        str,
        Option("--out", "-o", metavar="FILE", help="The picture: .svg, .png or .pdf."),
    ],
    hops: Hops = False,
    labels: Annotated[
        bool | None,
        Option("--labels/--no-labels", help="Name every vertex, or none; small graphs by default."),
    ] = None,
    arrows: Annotated[
        bool | None,
        Option("--arrows/--no-arrows", help="Show directions, or not; on small graphs by default."),
    ] = None,
    title: Annotated[str | None, Option("--title", metavar="TEXT", help="A title.")] = None,
    unit: Annotated[
        str | None, Option("--unit", metavar="TEXT", help="The unit of the distances, such as m.")
    ] = None,
    output: Output,
) -> None:
    """Draw a graph, or the distances from a vertex and a path."""
    import kleene as kl
    from kleene.errors import RequestError

    if source is None and target is not None:
        raise RequestError(f"a path needs a source: kleene draw {graph.file} SOURCE -t {target}")
    read = graph.read()
    what: Any = read
    options: dict[str, Any] = {"title": title, "labels": labels, "arrows": arrows}
    if source is not None:
        what = (kl.bfs if hops else kl.sssp)(read, parse_vertex(read, source))
        options |= {"unit": unit, "target": None if target is None else parse_vertex(read, target)}
    kl.draw(what, out, **options)
    document = {"command": "draw", "graph": graph_fields(read), "out": out}
    output.show(document, lambda: line(out))
