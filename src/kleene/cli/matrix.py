"""``kleene matrix``: the distances between two lists of vertices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from kleene.cli.cluster import Cluster
from kleene.cli.option_groups import with_option_groups
from kleene.cli.options import Input, Method, Output, Reverse
from kleene.cli.output import line, number, table
from kleene.cli.pairs import PAGE
from kleene.cli.prepare import note_search
from kleene.cli.summaries import (
    describe_farthest,
    describe_reached,
    distance_summary,
    result_fields,
    show_result,
)
from kleene.cli.vertex_files import read_vertices
from kleene.cli.vertices import parse_vertices

if TYPE_CHECKING:
    from kleene import Graph, Result

__all__ = ["matrix"]

_WIDTH = 8  # targets on a page


@with_option_groups
def matrix(
    *,
    graph: Input,
    source: Annotated[
        list[str] | None,
        Option(
            "--source",
            "-s",
            metavar="VERTEX",
            help="A source; repeat the option, or separate with commas.",
        ),
    ] = None,
    source_file: Annotated[
        str | None,
        Option("--sources", metavar="FILE", help="A text file with a source on each line."),
    ] = None,
    target: Annotated[
        list[str] | None,
        Option(
            "--target",
            "-t",
            metavar="VERTEX",
            help="A target, like --source; the sources by default.",
        ),
    ] = None,
    target_file: Annotated[
        str | None,
        Option("--targets", metavar="FILE", help="A text file with a target on each line."),
    ] = None,
    reverse: Reverse = False,
    out: Annotated[
        str | None,
        Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Save the matrix (.npy), the pairs (.csv, .tsv, .parquet, .json), or the result "
            "(.npz).",
        ),
    ] = None,
    verify: Annotated[bool, Option("--verify", help="Verify the result.")] = False,
    method: Method,
    cluster: Cluster,
    output: Output,
) -> None:
    """Compute the distances between two lists of vertices.

    A prepared graph (`kleene prepare`) answers in microseconds a pair; any other is searched from
    each source.
    """
    import kleene as kl
    from kleene.errors import RequestError
    from kleene.results.files import check_suffix

    if out is not None:
        check_suffix(out)
    read, answering = graph.open(method.threads)
    sources = _vertices(read, source, source_file)
    if not sources:
        raise RequestError(f"matrix needs sources: kleene matrix {graph.file} --sources FILE")
    targets = _vertices(read, target, target_file) or sources
    with cluster.keywords() as on:
        result = kl.sssp(
            answering,
            sources=sources,
            targets=targets,
            reverse=reverse,
            predecessors=False,
            progress=not output.quiet,
            **method.keywords(),
            **on,
        )
    proof = result.verify() if verify else None
    if out is not None:
        result.save(out)
    if output.quiet:
        return
    found = distance_summary(result)
    farthest, mean = found.document["farthest"], found.document["mean"]
    document: dict[str, Any] = {
        **result_fields(result, found.reached, proof),
        "command": "matrix",
        "targets": len(targets),
        "mean": mean,
        "farthest": farthest,
        "out": out,
    }
    if out is None:
        document |= {"rows": sources, "columns": targets, "distances": _rows(result)}

    def page() -> None:
        summary = {
            "matrix": f"{_counted(sources, 'source')}, {_counted(targets, 'target')}",
            "prepared": note_search(answering),
            "reached": describe_reached(result, found.reached),
            "farthest": farthest and describe_farthest(farthest),
            "mean distance": None if mean is None else number(mean),
            "saved": out,
        }
        show_result(result, summary, proof)
        if out is None:
            _show_corner(result, sources, targets)

    output.show(document, page)


def _counted(vertices: list[Any], what: str) -> str:
    return f"{len(vertices):,} {what}{'s' if len(vertices) != 1 else ''}"


def _vertices(graph: Graph, given: list[str] | None, file: str | None) -> list[Any]:
    """Return the vertices that are named by options, then those of a file."""
    found = parse_vertices(graph, given) or []
    return found + (read_vertices(graph, file) if file is not None else [])


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
    if left:
        line(f"  and {left:,} more: --json, or --out matrix.npy", style="dim")
