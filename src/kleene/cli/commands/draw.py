"""``kleene draw``: a picture of a graph, or of a search in it."""

from __future__ import annotations

from typing import Any

from kleene.cli.options import Call, Input, Output, command
from kleene.cli.output import line
from kleene.cli.summaries import graph_fields
from kleene.cli.vertices import parse_vertex

__all__ = ["draw"]


@command("draw", omit="target")
def draw(
    graph: Input,
    source: str | None = None,
    *,
    target: str | None = None,
    out: str,
    hops: bool = False,
    call: Call,
    output: Output,
) -> None:
    """Draw a graph, or the distances from a vertex and a path.

    Parameters
    ----------
    source : SOURCE
        Colour vertices by their distance from this one.
    target : VERTEX
        Highlight the path to this vertex.
    labels : bool
        Name every vertex, or none; small graphs by default.
    arrows : bool
        Show directions, or not; on small graphs by default.
    out : FILE
        The picture: .svg, .png or .pdf.
    """
    import kleene as kl
    from kleene.errors import RequestError

    if source is None and target is not None:
        raise RequestError(f"a path needs a source: kleene draw {graph.file} SOURCE -t {target}")
    read = graph.read()
    what: Any = read
    options = dict(call.given)
    if source is not None:
        what = (kl.bfs if hops else kl.sssp)(read, parse_vertex(read, source))
        options["target"] = None if target is None else parse_vertex(read, target)
    kl.draw(what, out, **options)
    document = {"command": "draw", "graph": graph_fields(read), "out": out}
    output.show(document, lambda: line(out))
