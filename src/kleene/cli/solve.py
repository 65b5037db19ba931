"""Common code of the four problem commands: read, solve, verify, save, print."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from kleene.cli.options import Input, Method, Output, Predecessors, cycle_with_labels
from kleene.cli.summaries import pairs, result_fields, show_pairs, show_result
from kleene.cli.vertices import parse_vertices

if TYPE_CHECKING:
    from kleene import Result
    from kleene.results.verify import Proof

__all__ = ["Endpoints", "Limit", "ResultOptions", "Solution", "Sources", "solve"]

Sources = Annotated[
    list[str] | None,
    Option(
        "--source",
        "-s",
        metavar="VERTEX",
        help="A source; repeat the option, or separate with commas.",
    ),
]
Limit = Annotated[
    float | None, Option("--limit", metavar="LENGTH", help="Stop the search at this distance.")
]


@dataclass(frozen=True)
class Endpoints:
    """Sources and targets."""

    source: Sources = None
    target: Annotated[
        list[str] | None,
        Option(
            "--target",
            "-t",
            metavar="VERTEX",
            help="A target, like --source; all vertices by default.",
        ),
    ] = None


@dataclass(frozen=True)
class ResultOptions:
    """What to do with the result."""

    out: Annotated[
        str | None,
        Option("--out", "-o", metavar="FILE", help="Save the result as .npz, .npy, .csv or .tsv."),
    ] = None
    verify: Annotated[bool, Option("--verify", help="Verify the result.")] = False
    predecessors: Predecessors = None
    top: Annotated[
        int | None, Option("--top", metavar="N", min=0, help="The number of pairs to print.")
    ] = None


@dataclass(frozen=True)
class Solution:
    """A result, its proof if verified, and how to print them."""

    result: Result
    proof: Proof | None
    result_options: ResultOptions
    output: Output

    def show(self, document: dict[str, Any], summary: dict[str, Any], top: int) -> None:
        """Print summary and pairs; ``top`` is the default number of pairs."""
        result, result_options = self.result, self.result_options
        rows = pairs(result, top if result_options.top is None else result_options.top)
        shared = result_fields(result, self.proof)
        saved = {"out": result_options.out, "pairs": rows}

        def page() -> None:
            show_result(result, {**summary, "saved": result_options.out}, self.proof)
            show_pairs(rows, shared["of"], shared["sources"] == 1)

        self.output.show({**shared, **document, **saved}, page)


def solve(
    problem: str,
    graph: Input,
    ends: Endpoints,
    method: Method,
    result_options: ResultOptions,
    output: Output,
    **keywords: Any,
) -> Solution:
    """Read the graph, solve the problem, then verify and save the result as requested."""
    import kleene as kl
    from kleene.errors import RequestError
    from kleene.results.files import check_suffix

    if result_options.out is not None:
        check_suffix(result_options.out)
    read = graph.read(method.threads)
    sources, targets = parse_vertices(read, ends.source), parse_vertices(read, ends.target)
    if problem in ("bfs", "sssp") and sources is None:
        raise RequestError(
            f"{problem} needs a source: kleene {problem} {graph.file} --source VERTEX"
        )
    if sources is not None:
        keywords |= {"source": sources[0]} if _single(problem, sources) else {"sources": sources}
    streamed = (
        result_options.out is not None
        and Path(result_options.out).suffix == ".npy"
        and targets is None
    )
    if streamed:  # written row by row, so it may be larger than memory
        keywords["out"] = result_options.out
    if result_options.predecessors is not None:
        keywords["predecessors"] = result_options.predecessors
    function = getattr(kl, problem)
    with cycle_with_labels(read):
        result: Result = function(
            read, targets=targets, progress=not output.quiet, **asdict(method), **keywords
        )
    proof = result.verify() if result_options.verify else None
    if result_options.out is not None and not streamed:
        result.save(result_options.out)
    return Solution(result, proof, result_options, output)


def _single(problem: str, sources: list[Any]) -> bool:
    return problem in ("bfs", "sssp") and len(sources) == 1
