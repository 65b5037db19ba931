"""``kleene prepare``: eliminate the vertices of a graph once, for many questions later."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from kleene.cli import completion
from kleene.cli.option_groups import with_option_groups
from kleene.cli.options import Dtype, Input, Output, Threads
from kleene.cli.output import facts, number, seconds
from kleene.cli.summaries import graph_fields, show_graph

if TYPE_CHECKING:
    from kleene import Graph, PreparedGraph

__all__ = ["describe_prepared", "note_search", "prepare", "prepared_fields"]


@with_option_groups
def prepare(
    *,
    graph: Input,
    out: Annotated[
        str, Option("--out", "-o", metavar="FILE", help="Where to write the prepared graph: .kp.")
    ],
    semiring: Annotated[
        str,
        Option(
            "--semiring",
            metavar="NAME",
            help="What is prepared for: min_plus (shortest paths), boolean, max_min or max_times.",
            autocompletion=completion.semirings,
        ),
    ] = "min_plus",
    dtype: Dtype = None,
    threads: Threads = None,
    output: Output,
) -> None:
    """Prepare a graph: eliminate its vertices once, answer in microseconds later.

    This pays on sparse graphs with small separators: roads, pipes, grids, meshes. What it would
    take is printed by `kleene explain GRAPH prepare`. The other commands take the .kp in place of
    the graph.
    """
    import kleene as kl
    from kleene.system.formatting import format_bytes

    _check_name(out)
    read = graph.read(threads)
    prepared = kl.prepare(
        read, semiring=semiring, dtype=dtype, threads=threads, progress=not output.quiet
    )
    prepared.save(out)
    document: dict[str, Any] = {
        "command": "prepare",
        "graph": graph_fields(read),
        **prepared_fields(prepared),
        "seconds": prepared._steps._asdict(),
        "out": out,
        "file_bytes": Path(out).stat().st_size,
    }

    def page() -> None:
        show_graph(read)
        took = {name: time for name, time in document["seconds"].items() if time is not None}
        facts(
            {
                **describe_prepared(document),
                "time": ", ".join(f"{name} {seconds(time)}" for name, time in took.items()),
                "saved": f"{out}, {format_bytes(document['file_bytes'])}",
            }
        )

    output.show(document, page)


def _check_name(out: str) -> None:
    """Raise for a name that a prepared graph cannot be written to, before any work is done."""
    from kleene.errors import RequestError
    from kleene.prepared.files import SUFFIX

    if not out.lower().endswith(SUFFIX):
        raise RequestError(f"{out}: a prepared graph is saved as {SUFFIX}")
    if not Path(out).parent.is_dir():
        raise RequestError(f"there is no directory {Path(out).parent}; make it first")


def prepared_fields(prepared: PreparedGraph) -> dict[str, Any]:
    """Return what a prepared graph has, for JSON."""
    return {
        "semiring": prepared.semiring,
        "dtype": str(prepared.dtype),
        **prepared._elimination.fill._asdict(),
        "bytes": prepared.nbytes,
    }


def describe_prepared(fields: dict[str, Any]) -> dict[str, str]:
    """Return the same in words."""
    counts = (
        f"{number(fields[name])} {name if fields[name] != 1 else name[:-1]}"
        for name in ("pairs", "triangles")
    )
    return {
        "prepared for": f"{fields['semiring']}, {fields['dtype']} values",
        "joined": f"{', '.join(counts)}, in a tree {number(fields['depth'])} deep",
    }


def note_search(answering: Graph | PreparedGraph) -> str | None:
    """Return why a prepared graph does not answer for lengths; None where it does."""
    from kleene import PreparedGraph

    if not isinstance(answering, PreparedGraph) or answering.semiring == "min_plus":
        return None
    return f"for {answering.semiring}, not for lengths: the graph was searched"
