"""The options that commands share, and what they do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

if TYPE_CHECKING:
    from kleene import Graph

__all__ = ["Input", "Method", "Output", "Predecessors", "Threads", "cycle_with_labels"]

Predecessors = Annotated[
    bool | None,
    Option("--predecessors/--no-predecessors", help="Keep what paths are made of, or do not."),
]
Threads = Annotated[
    int | None, Option("--threads", metavar="N", help="Threads to use; all cores unless given.")
]


@dataclass(frozen=True)
class Input:
    """The graph of a command."""

    file: Annotated[str, Argument(metavar="GRAPH", help="A graph file, or - for standard input.")]
    format: Annotated[
        str | None, Option("--format", metavar="NAME", help="The format, if the file hides it.")
    ] = None
    directed: Annotated[
        bool | None,
        Option("--directed/--undirected", help="Read a line as an arc, or as an edge."),
    ] = None
    weighted: Annotated[
        bool | None,
        Option("--weighted/--unweighted", help="Insist on weights, or leave them out."),
    ] = None

    def read(self, threads: int | None = None) -> Graph:
        """Read the graph; a bar shows how far, at a terminal."""
        graph, _ = self.read_with_format(threads)
        return graph

    def read_with_format(self, threads: int | None = None) -> tuple[Graph, str]:
        """Read the graph; return it and the name of the format it was in."""
        from kleene import io
        from kleene.system.progress import reporter

        asked = {"directed": self.directed, "weighted": self.weighted}
        options: dict[str, Any] = {k: v for k, v in asked.items() if v is not None}
        with reporter(True, f"reading {self.file}") as report:
            return io.read_with_format(
                self.file, self.format, threads=threads, progress=report, **options
            )


@dataclass(frozen=True)
class Output:
    """How a command shows its answer."""

    json: Annotated[bool, Option("--json", help="Print one JSON document.")] = False
    quiet: Annotated[
        bool, Option("--quiet", "-q", help="Print nothing; the exit code and files tell.")
    ] = False

    def show(self, document: dict[str, Any], page: Callable[[], None]) -> None:
        """Print the document as JSON, or the page for people, or nothing."""
        from kleene.cli.output import print_json

        if self.quiet:
            return
        if self.json:
            print_json(document)
        else:
            page()


@dataclass(frozen=True)
class Method:
    """How a problem is to be solved."""

    method: Annotated[str, Option("--method", metavar="NAME", help="See `kleene methods`.")] = (
        "auto"
    )
    device: Annotated[
        str, Option("--device", metavar="NAME", help="auto, cuda, cpu, emulated or reference.")
    ] = "auto"
    dtype: Annotated[
        str | None, Option("--dtype", metavar="TYPE", help="int32, int64, float32 or float64.")
    ] = None
    threads: Threads = None
    deterministic: Annotated[
        bool, Option("--deterministic", help="Choose among best paths by rule, not by chance.")
    ] = False


@contextmanager
def cycle_with_labels(graph: Graph) -> Iterator[None]:
    """Let a negative cycle be told in the names that the file uses."""
    from kleene.cli.vertices import vertex_name
    from kleene.errors import NegativeCycleError

    try:
        yield
    except NegativeCycleError as error:
        circle = [str(vertex_name(graph, v)) for v in [*error.cycle, error.cycle[0]]]
        if len(circle) > 12:
            circle[10:-1] = [f"... ({len(error.cycle):,} vertices)"]
        error.args = (f"the graph has a negative cycle: {' -> '.join(circle)}",)
        raise
