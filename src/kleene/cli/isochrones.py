"""``kleene isochrones``: the part of a network within some limits of a vertex, for a map."""

from __future__ import annotations

from typing import Annotated, Any

from typer import Argument, Option

from kleene.cli.geojson import GeoJson, check_geojson, write_geojson
from kleene.cli.option_groups import with_option_groups
from kleene.cli.options import Hops, Input, Output
from kleene.cli.output import facts, line, table
from kleene.cli.summaries import graph_fields, show_graph
from kleene.cli.vertices import parse_vertex

__all__ = ["isochrones"]


@with_option_groups
def isochrones(
    *,
    graph: Input,
    source: Annotated[str, Argument(metavar="SOURCE", help="Where to start.")],
    limit: Annotated[
        list[float],
        Option("--limit", metavar="LENGTH", help="A limit; repeat the option for several."),
    ],
    hops: Hops = False,
    reverse: Annotated[
        bool, Option("--reverse", help="From where one reaches the source, instead.")
    ] = False,
    longest: Annotated[
        float | None,
        Option(
            "--longest",
            metavar="SIDE",
            help="The longest side of triangles that make areas, in units of the positions.",
        ),
    ] = None,
    out: GeoJson = None,
    output: Output,
) -> None:
    """Find what lies within some limits of a vertex: areas and streets for a map.

    Vertices need coordinates: those of the file, or --positions.
    """
    import kleene as kl

    check_geojson(out)
    read = graph.read()
    start = parse_vertex(read, source)
    found = kl.isochrones(read, start, limit, hops=hops, reverse=reverse, longest=longest)
    if out is not None:
        write_geojson(found.to_geojson(), out)
    zones: list[dict[str, Any]] = [
        {"limit": bound, "vertices": len(found.vertices(bound))} for bound in found.limits
    ]
    document = {
        "command": "isochrones",
        "graph": graph_fields(read),
        "source": start,
        "limits": zones,
        "out": out,
    }

    def page() -> None:
        show_graph(read)
        facts({"target" if reverse else "source": start, "saved": out})
        line()
        columns = ["limit", "vertices"]
        table(columns, [list(zone.values()) for zone in zones], quantities=columns)

    output.show(document, page)
