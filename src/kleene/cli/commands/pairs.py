"""``kleene path``, ``k-shortest`` and ``matrix``: between two vertices, or two lists of them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from typer import Exit

from kleene.cli.errors import ANSWER_NO
from kleene.cli.options import Call, Input, Output, command
from kleene.cli.output import line, number, table
from kleene.cli.solve import Turns
from kleene.cli.summaries import (
    describe_farthest,
    describe_reached,
    distance_summary,
    note_search,
    present,
    proof_fields,
    show_more,
    show_proof,
)
from kleene.cli.tables import PAGE, check_routes, save_routes, save_table
from kleene.cli.vertices import parse_vertex

if TYPE_CHECKING:
    from kleene import Result
    from kleene.results.route import Route

__all__ = ["k_shortest", "matrix", "path", "steps"]

_WIDTH = 8  # targets on a page


@command("sssp", omit="sources targets pairs reverse limit predecessors on")
def path(
    graph: Input,
    source: str,
    target: str,
    *,
    hops: bool = False,
    turns: Turns,
    out: str | None = None,
    call: Call,
    output: Output,
) -> None:
    """Print one shortest path, step by step.

    Parameters
    ----------
    out : FILE
        Save as GeoJSON, for a map: .geojson or .json; - for a table on standard output.
    """
    import kleene as kl
    from kleene.errors import RequestError

    check_routes(out)
    read, answering = graph.open(call.threads)
    start, end = parse_vertex(read, source), parse_vertex(read, target)
    search = turns.search(read, "sssp")
    if search is None:
        search = partial(kl.bfs, read) if hops else partial(kl.sssp, answering)
    elif hops:
        raise RequestError("--hops counts arcs, and turns take time", advice=["omit one"])
    result = search(start, targets=[end], progress=not output.quiet, **call.given)
    route = result.route(end)
    found = steps(route, hops)
    delays = route.distance - found[-1]["total"] if found and not hops else 0
    if found:
        rows = {name: [step[name] for step in found] for name in found[0]}
        output = save_routes(lambda: route, rows, out, output)
    length = found[-1]["total"] + delays if found else None
    words = {
        "path": f"{start} to {end}",
        "length": number(length),
        "delays": number(delays) if delays else None,
        "arcs": number(len(found) - 1),
        "prepared": None if hops else note_search(answering),
        "saved": out,
    }

    def more() -> None:
        if not found:
            line(f"  no path from {start} to {end}", style="red")
            return
        line()
        columns = ["vertex", "length", "total"]
        table(columns, [list(step.values()) for step in found], quantities=columns[1:])

    present(
        output,
        "path",
        read,
        {
            "source": start,
            "target": end,
            "found": bool(found),
            "arcs": len(found) - 1 if found else None,
            "distance": length,
            "delays": delays,
            "out": out if found else None,
            "path": found,
        },
        words if found else {},
        more,
        ran=result,
    )
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


@command("k_shortest", omit="source target pairs")
def k_shortest(
    graph: Input,
    source: str,
    target: str,
    *,
    out: str | None = None,
    call: Call,
    output: Output,
) -> None:
    """Print the k shortest paths, shortest first; none visits a vertex twice.

    Parameters
    ----------
    k : K
        The number of paths; 3 by default.
    out : FILE
        Save as GeoJSON, for a map: .geojson or .json; - for a table on standard output.
    """
    import kleene as kl

    check_routes(out)
    read = graph.read(call.threads)
    start, end = parse_vertex(read, source), parse_vertex(read, target)
    keywords = {"k": 3, **call.given}
    found = kl.k_shortest(read, start, end, progress=not output.quiet, **keywords)
    paths: list[dict[str, Any]] = [
        {"rank": rank, "distance": distance, "arcs": len(path) - 1, "path": path}
        for rank, (distance, path) in enumerate(
            zip(found.distances.tolist(), found.paths, strict=True)
        )
    ]
    if paths:
        rows = {name: [one[name] for one in paths] for name in paths[0]}
        rows["path"] = rows["path"] if output.json else [" ".join(map(str, p)) for p in found.paths]
        output = save_routes(found.routes, rows, out, output)

    def more() -> None:
        if not paths:
            line(f"  no path from {start} to {end}", style="red")
            return
        columns = ["rank", "distance", "arcs", "path"]
        rows = [[*list(one.values())[:3], " ".join(map(str, one["path"]))] for one in paths]
        table(columns, rows, quantities=columns[:3])
        if len(paths) < keywords["k"]:
            line(f"  there are no more than {len(paths):,}", style="dim")
        if out is not None:
            line(f"  saved  {out}", style="dim")

    fields = {
        "source": start,
        "target": end,
        "found": len(paths),
        "out": out if paths else None,
        "paths": paths,
    }
    present(output, "k-shortest", read, fields, {}, more)
    if not paths:
        raise Exit(ANSWER_NO)


@command("sssp", omit="pairs limit predecessors")
def matrix(
    graph: Input, *, call: Call, out: str | None = None, verify: bool = False, output: Output
) -> None:
    """Compute the distances between two lists of vertices.

    A prepared graph (`kleene prepare`) answers in microseconds a pair; any other is searched from
    each source.

    Parameters
    ----------
    targets : VERTEX
        The targets, like the sources; the sources by default.
    out : FILE
        Save the matrix (.npy), the pairs (.csv, .tsv, .parquet, .json), or the result (.npz); -
        for pairs on standard output.
    """
    import kleene as kl
    from kleene.errors import RequestError
    from kleene.results.files import check_suffix

    if out not in (None, "-"):
        check_suffix(str(out))
    read, answering = graph.open(call.threads)
    given = call.keywords(read)
    if not given.get("sources"):
        raise RequestError(f"matrix needs sources: kleene matrix {graph.file} --sources FILE")
    sources = given["sources"]
    targets = given.setdefault("targets", sources)
    result = call.run(kl.sssp, answering, predecessors=False, progress=not output.quiet, **given)
    proof = result.verify() if verify else None
    output = save_table(result, out, output)
    if output.quiet:
        return
    found = distance_summary(result)
    farthest, mean = found.document["farthest"], found.document["mean"]
    held = {"rows": sources, "columns": targets, "distances": _rows(result)} if out is None else {}

    def more() -> None:
        show_proof(proof)
        if out is None:
            _show_corner(result, sources, targets)

    present(
        output,
        "matrix",
        read,
        {
            "sources": len(result.sources),
            "reached": found.reached,
            "of": result._count,
            "proof": proof_fields(proof),
            "targets": len(targets),
            "mean": mean,
            "farthest": farthest,
            "out": out,
            **held,
        },
        {
            "matrix": f"{_counted(sources, 'source')}, {_counted(targets, 'target')}",
            "prepared": note_search(answering),
            "reached": describe_reached(result, found.reached),
            "farthest": farthest and describe_farthest(farthest),
            "mean distance": None if mean is None else number(mean),
            "saved": out,
        },
        more,
        ran=result,
    )


def _counted(vertices: list[Any], what: str) -> str:
    return f"{len(vertices):,} {what}{'s' if len(vertices) != 1 else ''}"


def _rows(result: Result, rows: int | None = None, columns: int | None = None) -> list[list[Any]]:
    """Return the matrix, or its first rows and columns; None where there is no path."""
    values = result.distances[:rows, :columns]
    reached = result.reached[:rows, :columns].tolist()
    return [
        [value if hit else None for value, hit in zip(*pair, strict=True)]
        for pair in zip(values.tolist(), reached, strict=True)
    ]


def _show_corner(result: Result, sources: list[Any], targets: list[Any]) -> None:
    """Print the first rows and columns as a table, and how many are left out."""
    line()
    names = [str(target) for target in targets[:_WIDTH]]
    corner = _rows(result, PAGE, _WIDTH)
    rows = [[source, *row] for source, row in zip(sources, corner, strict=False)]
    table(["target" if result.reverse else "source", *names], rows, quantities=names)
    left = len(sources) * len(targets) - len(rows) * len(names)
    show_more(left, "--json, or --out matrix.npy")
