"""Option groups that several commands use."""

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
    Option("--predecessors/--no-predecessors", help="Compute predecessors, or distances only."),
]
Threads = Annotated[
    int | None, Option("--threads", metavar="N", help="Threads to use; all cores by default.")
]


@dataclass(frozen=True)
class Input:
    """The input graph."""

    file: Annotated[str, Argument(metavar="GRAPH", help="A graph file, or - for standard input.")]
    format: Annotated[
        str | None, Option("--format", metavar="NAME", help="The file format; detected by default.")
    ] = None
    directed: Annotated[
        bool | None,
        Option("--directed/--undirected", help="Read lines as arcs, or as undirected edges."),
    ] = None
    weighted: Annotated[
        bool | None,
        Option("--weighted/--unweighted", help="Require weights, or ignore them."),
    ] = None

    def read(self, threads: int | None = None) -> Graph:
        """Read the graph, with a progress bar at a terminal."""
        graph, _ = self.read_with_format(threads)
        return graph

    def read_with_format(self, threads: int | None = None) -> tuple[Graph, str]:
        """Read the graph; return it and the name of its format."""
        from kleene import io
        from kleene.system.progress import reporter

        given = {"directed": self.directed, "weighted": self.weighted}
        options: dict[str, Any] = {k: v for k, v in given.items() if v is not None}
        with reporter(True, f"reading {self.file}") as report:
            return io.read_with_format(
                self.file, self.format, threads=threads, progress=report, **options
            )


@dataclass(frozen=True)
class Output:
    """The output of a command."""

    json: Annotated[bool, Option("--json", help="Print the result as JSON.")] = False
    quiet: Annotated[
        bool, Option("--quiet", "-q", help="Print nothing; set only the exit code and write files.")
    ] = False

    def show(self, document: dict[str, Any], page: Callable[[], None]) -> None:
        """Print the document as JSON, or as text by ``page``, or nothing."""
        from kleene.cli.output import print_json

        if self.quiet:
            return
        if self.json:
            print_json(document)
        else:
            page()


@dataclass(frozen=True)
class Method:
    """The method and device."""

    method: Annotated[
        str, Option("--method", metavar="NAME", help="The method; see `kleene methods`.")
    ] = "auto"
    device: Annotated[
        str,
        Option(
            "--device", metavar="NAME", help="The device: auto, cuda, cpu, emulated or reference."
        ),
    ] = "auto"
    dtype: Annotated[
        str | None,
        Option(
            "--dtype",
            metavar="TYPE",
            help="The type of distances: int32, int64, float32 or float64.",
        ),
    ] = None
    threads: Threads = None
    deterministic: Annotated[
        bool, Option("--deterministic", help="Return the same predecessors in every run.")
    ] = False


@contextmanager
def cycle_with_labels(graph: Graph) -> Iterator[None]:
    """Report a negative cycle in the words of the command line."""
    from kleene.errors import NegativeCycleError

    try:
        yield
    except NegativeCycleError as error:
        cycle = [str(v) for v in [*error.cycle, error.cycle[0]]]
        if len(cycle) > 12:
            cycle[10:-1] = [f"... ({len(error.cycle):,} vertices)"]
        error.args = (f"the graph has a negative cycle: {' -> '.join(cycle)}",)
        raise
