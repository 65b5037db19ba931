"""``kleene convert``: the same graph in another format."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from kleene.cli import completion
from kleene.cli.option_groups import with_option_groups
from kleene.cli.options import Input, Output, Threads
from kleene.cli.output import headline
from kleene.cli.summaries import describe_graph, graph_fields

if TYPE_CHECKING:
    from kleene import Graph

__all__ = ["Destination", "To", "convert", "write_and_show"]

Destination = Annotated[
    str, Argument(metavar="OUT", help="The file to write, or - for standard output (needs --to).")
]
To = Annotated[
    str | None,
    Option(
        "--to",
        metavar="FORMAT",
        help="The output format; by default, by suffix.",
        autocompletion=completion.formats,
    ),
]


@with_option_groups
def convert(
    *, graph: Input, out: Destination, to: To = None, threads: Threads = None, output: Output
) -> None:
    """Write a graph in another format."""
    write_and_show(graph.read(threads), "convert", out, to, threads, output)


def write_and_show(
    graph: Graph, command: str, out: str, to: str | None, threads: int | None, output: Output
) -> None:
    """Write a graph; then describe it, unless it was written to standard output."""
    import kleene as kl
    from kleene.errors import RequestError
    from kleene.system.progress import reporter

    if out == "-" and to is None:
        raise RequestError(f"standard output needs --to with a format: {', '.join(kl.io.FORMATS)}")
    if out == "-" and sys.stdout.isatty() and to in kl.io.FORMATS and not kl.io.FORMATS[to].text:
        raise RequestError(f"{to} is a binary format; redirect the output to a file or pipe")
    with reporter(not output.quiet, f"writing {out}") as report:
        kl.write(graph, out, to, threads=threads, progress=report)
    if out == "-":
        return
    document: dict[str, Any] = {"command": command, "out": out, "graph": graph_fields(graph)}
    output.show(document, lambda: headline(out, f": {graph.name}, {describe_graph(graph)}"))
