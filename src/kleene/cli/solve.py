"""What the four problem commands have in common: read, solve, prove, save, show."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from kleene.cli.options import Input, Method, Output, Predecessors, cycle_with_labels
from kleene.cli.save import check_suffix, save
from kleene.cli.summaries import pairs, result_fields, show_pairs, show_result
from kleene.cli.vertices import parse_vertices

if TYPE_CHECKING:
    from kleene import Result
    from kleene.results.verify import Proof

__all__ = ["Endpoints", "Limit", "ResultOptions", "Solution", "Sources", "solve"]

Sources = Annotated[
    list[str] | None,
    Option("--source", "-s", metavar="VERTEX", help="A source; repeat, or separate with commas."),
]
Limit = Annotated[
    float | None, Option("--limit", metavar="LENGTH", help="Look no farther than this.")
]


@dataclass(frozen=True)
class Endpoints:
    """Where paths begin and end."""

    source: Sources = None
    target: Annotated[
        list[str] | None,
        Option("--target", "-t", metavar="VERTEX", help="A vertex of interest; as --source."),
    ] = None


@dataclass(frozen=True)
class ResultOptions:
    """What is to be done with an answer."""

    out: Annotated[
        str | None,
        Option("--out", "-o", metavar="FILE", help="Save the result: .npz, .npy, .csv or .tsv."),
    ] = None
    verify: Annotated[bool, Option("--verify", help="Prove the answer right.")] = False
    predecessors: Predecessors = None
    top: Annotated[
        int | None, Option("--top", metavar="N", min=0, help="How many pairs to list.")
    ] = None


@dataclass(frozen=True)
class Solution:
    """A result, its proof if one was wanted, and how to show them."""

    result: Result
    proof: Proof | None
    wanted: ResultOptions
    output: Output

    def show(self, document: dict[str, Any], summary: dict[str, Any], top: int) -> None:
        """Print summary and pairs; ``top`` is how many pairs when the user does not say."""
        result, wanted = self.result, self.wanted
        rows = pairs(result, top if wanted.top is None else wanted.top)
        shared = result_fields(result, self.proof)
        saved = {"out": wanted.out, "pairs": rows}

        def page() -> None:
            show_result(result, {**summary, "saved": wanted.out}, self.proof)
            show_pairs(rows, shared["of"], shared["sources"] == 1)

        self.output.show({**shared, **document, **saved}, page)


def solve(
    problem: str,
    graph: Input,
    ends: Endpoints,
    method: Method,
    wanted: ResultOptions,
    output: Output,
    **keywords: Any,
) -> Solution:
    """Read the graph, solve the problem on it, then prove and save as wanted."""
    import kleene as kl
    from kleene.errors import RequestError

    check_suffix(wanted.out)
    read = graph.read(method.threads)
    sources, targets = parse_vertices(read, ends.source), parse_vertices(read, ends.target)
    if problem in ("bfs", "sssp") and sources is None:
        raise RequestError(f"{problem} needs a source: kleene {problem} {graph.file} --source ...")
    if sources is not None:
        keywords |= {"source": sources[0]} if _single(problem, sources) else {"sources": sources}
    mapped = wanted.out is not None and Path(wanted.out).suffix == ".npy" and targets is None
    if mapped:  # written while it is made, so that it may be larger than memory
        keywords["out"] = wanted.out
    if wanted.predecessors is not None:
        keywords["predecessors"] = wanted.predecessors
    function = getattr(kl, problem)
    with cycle_with_labels(read):
        result: Result = function(
            read, targets=targets, progress=not output.quiet, **asdict(method), **keywords
        )
    proof = result.verify() if wanted.verify else None
    if wanted.out is not None and not mapped:
        save(result, wanted.out)
    return Solution(result, proof, wanted, output)


def _single(problem: str, sources: list[int]) -> bool:
    return problem in ("bfs", "sssp") and len(sources) == 1
