"""``kleene k-shortest``: the k shortest paths between two vertices."""

from __future__ import annotations

from typing import Annotated, Any

from typer import Exit, Option

from kleene.cli.exit_codes import ANSWER_NO
from kleene.cli.geojson import GeoJson, check_geojson, write_geojson
from kleene.cli.option_groups import with_option_groups
from kleene.cli.options import Input, Output, Threads
from kleene.cli.output import line, table
from kleene.cli.path import Source, Target
from kleene.cli.summaries import graph_fields, show_graph
from kleene.cli.vertices import parse_vertex

__all__ = ["k_shortest"]


@with_option_groups
def k_shortest(
    *,
    graph: Input,
    source: Source,
    target: Target,
    k: Annotated[int, Option("--k", "-k", metavar="K", min=1, help="The number of paths.")] = 3,
    out: GeoJson = None,
    threads: Threads = None,
    output: Output,
) -> None:
    """Print the k shortest paths, shortest first; none visits a vertex twice."""
    import kleene as kl

    check_geojson(out)
    read = graph.read(threads)
    start, end = parse_vertex(read, source), parse_vertex(read, target)
    found = kl.k_shortest(read, start, end, k, threads=threads, progress=not output.quiet)
    paths: list[dict[str, Any]] = [
        {"rank": rank, "distance": distance, "arcs": len(path) - 1, "path": path}
        for rank, (distance, path) in enumerate(
            zip(found.distances.tolist(), found.paths, strict=True)
        )
    ]
    if out is not None and paths:
        write_geojson(found.routes().to_geojson(), out)
    document = {
        "command": "k-shortest",
        "graph": graph_fields(read),
        "source": start,
        "target": end,
        "found": len(paths),
        "out": out if paths else None,
        "paths": paths,
    }

    def page() -> None:
        show_graph(read)
        if not paths:
            line(f"  no path from {start} to {end}", style="red")
            return
        columns = ["rank", "distance", "arcs", "path"]
        rows = [[*list(one.values())[:3], " ".join(map(str, one["path"]))] for one in paths]
        table(columns, rows, quantities=columns[:3])
        if len(paths) < k:
            line(f"  there are no more than {len(paths):,}", style="dim")
        if out is not None:
            line(f"  saved  {out}", style="dim")

    output.show(document, page)
    if not paths:
        raise Exit(ANSWER_NO)
