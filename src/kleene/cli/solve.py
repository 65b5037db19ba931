"""Common code of the four problem commands: read, solve, verify, save, print."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from kleene.cli.cluster import Cluster
from kleene.cli.geojson import is_geojson, write_geojson
from kleene.cli.options import Input, Method, Output, Predecessors, Reverse
from kleene.cli.pairs import PAGE, list_pairs, pairs_of_result, show_pairs
from kleene.cli.prepare import note_search
from kleene.cli.summaries import Summary, result_fields, show_result
from kleene.cli.turns import Turns
from kleene.cli.vertex_files import read_pairs
from kleene.cli.vertices import parse_vertices

if TYPE_CHECKING:
    from kleene import Graph, Result
    from kleene.proofs.paths import Proof

__all__ = [
    "Endpoints",
    "ResultOptions",
    "SearchEndpoints",
    "Solution",
    "SourceVertices",
    "check_store",
    "solve",
]


@dataclass(frozen=True)
class SourceVertices:
    """Sources, as arguments or by option."""

    sources: Annotated[
        list[str] | None,
        Argument(metavar="SOURCE", help="The sources; or give them by --source."),
    ] = None
    source: Annotated[
        list[str] | None,
        Option(
            "--source",
            "-s",
            metavar="VERTEX",
            help="A source; repeat the option, or separate with commas.",
        ),
    ] = None

    def given_sources(self, graph: Graph) -> list[Any] | None:
        """Return the sources in the order in which they were given, None for all vertices."""
        return parse_vertices(graph, [*(self.sources or ()), *(self.source or ())])


@dataclass(frozen=True)
class Endpoints(SourceVertices):
    """Sources and targets."""

    target: Annotated[
        list[str] | None,
        Option(
            "--target",
            "-t",
            metavar="VERTEX",
            help="A target, like --source; all vertices by default.",
        ),
    ] = None

    def keywords(self, graph: Graph) -> dict[str, Any]:
        """Return the keywords of the call."""
        found = {
            "sources": self.given_sources(graph),
            "targets": parse_vertices(graph, self.target),
        }
        return {name: value for name, value in found.items() if value is not None}


@dataclass(frozen=True)
class SearchEndpoints(Endpoints):
    """Sources and targets, or pairs of them, in either direction."""

    pairs: Annotated[
        str | None,
        Option("--pairs", metavar="FILE", help="A table of origins and destinations, two columns."),
    ] = None
    reverse: Reverse = False

    def keywords(self, graph: Graph) -> dict[str, Any]:
        """Return the keywords of the call."""
        from kleene.errors import RequestError

        found = super().keywords(graph)
        if self.pairs is not None:
            if found:
                raise RequestError("--pairs gives both ends; omit sources and targets")
            found["pairs"] = read_pairs(graph, self.pairs)
        if self.reverse:
            found["reverse"] = True
        return found


@dataclass(frozen=True)
class ResultOptions:
    """What to do with the result."""

    out: Annotated[
        str | None,
        Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Save the result (.npz, .npy, .zarr), the pairs (.csv, .tsv, .parquet, .json), or "
            "the paths (.geojson).",
        ),
    ] = None
    resume: Annotated[
        bool, Option("--resume", help="Continue the .zarr or .npy of an earlier run, or reuse it.")
    ] = False
    verify: Annotated[bool, Option("--verify", help="Verify the result.")] = False
    predecessors: Predecessors = None
    top: Annotated[
        int | None,
        Option("--top", metavar="N", min=0, help="List the N nearest targets of each source."),
    ] = None


@dataclass(frozen=True)
class Solution:
    """A result, its proof if verified, and how to print them."""

    result: Result
    proof: Proof | None
    named: bool  # sources or pairs were given, so that the pairs are listed
    result_options: ResultOptions
    output: Output
    searched: str | None = None  # why a prepared graph did not answer

    def show(self, summarize: Callable[[Result], Summary]) -> None:
        """Print summary and pairs: on a page the first few, as JSON all of the named sources.

        With --quiet no value is read.
        """
        from kleene.results.pairs import PairsResult

        if self.output.quiet:
            return
        result, top = self.result, self.result_options.top
        summary = summarize(result)
        a_list = isinstance(result, PairsResult)
        most: int | None = None
        if top is None and not self.named:
            most = 0
        elif top is None and (result.targets is None or a_list) and not self.output.json:
            most = PAGE
        listing = list_pairs(pairs_of_result(result, summary.reached), top, most)
        shared = result_fields(result, summary.reached, self.proof)
        listed = {"out": self.result_options.out, "listed": len(listing.pairs)}

        def page() -> None:
            facts = {"prepared": self.searched, "saved": self.result_options.out}
            show_result(result, {**summary.facts, **facts}, self.proof)
            near = "target" if result.reverse else "source"
            single = shared["sources"] == 1 and not a_list
            every = shared["of"] if a_list else shared["of"] // max(1, shared["sources"])
            show_pairs(listing, every, near if single else None)

        self.output.show({**shared, **summary.document, **listed, "pairs": listing.pairs}, page)


def solve(
    problem: str,
    graph: Input,
    ends: Endpoints,
    method: Method,
    result_options: ResultOptions,
    output: Output,
    turns: Turns | None = None,
    cluster: Cluster | None = None,
    **keywords: Any,
) -> Solution:
    """Read the graph, solve the problem, then verify and save the result as requested."""
    import kleene as kl
    from kleene.errors import RequestError
    from kleene.results.files import check_suffix

    out = result_options.out
    if result_options.resume and out is None:
        raise RequestError("--resume continues a file: name it by --out")
    stored = out is not None and check_store(out, result_options.resume)
    if out is not None and not is_geojson(out) and not stored:
        check_suffix(out)
    read, answering = graph.open(method.threads)
    given = ends.keywords(read)
    named = "sources" in given or "pairs" in given
    single = problem in ("bfs", "sssp")
    if single and not named:
        raise RequestError(f"{problem} needs a source: kleene {problem} {graph.file} SOURCE")
    if out is not None and is_geojson(out):
        if not given.keys() & {"targets", "pairs"}:
            raise RequestError(".geojson saves paths: name their ends by --target or --pairs")
        if result_options.predecessors is False:
            raise RequestError(".geojson saves paths: omit --no-predecessors")
    if single and len(given.get("sources", ())) == 1:
        given["source"] = given.pop("sources")[0]
    at_once = "pairs" in given or given.keys() >= {"source", "targets"}  # a list, not a matrix
    streamed = stored and (not at_once or Path(str(out)).suffix == ".zarr")
    if streamed:  # written row by row, so it may be larger than memory
        keywords["out"] = out
    elif result_options.resume:
        raise RequestError(f"--resume continues a matrix, and {out} holds a list: omit --resume")
    if result_options.predecessors is not None:
        keywords["predecessors"] = result_options.predecessors
    search = None if turns is None else turns.search(read, problem)
    if search is not None and cluster != Cluster():
        raise RequestError("turns are searched in this process: omit --on and --workers")
    searched = note_search(answering) if search is None and problem in ("sssp", "apsp") else None
    if search is None:
        search = partial(getattr(kl, problem), read if problem == "bfs" else answering)
    with (cluster or Cluster()).keywords() as on:
        result = search(progress=not output.quiet, **method.keywords(), **given, **keywords, **on)
    proof = result.verify() if result_options.verify else None
    if out is not None and is_geojson(out):
        write_geojson(_routes(result), out)
    elif out is not None and not streamed:
        result.save(out)
    return Solution(result, proof, named, result_options, output, searched)


def check_store(out: str, resume: bool) -> bool:
    """Return whether a file is written in blocks; refuse one of an earlier run without resume."""
    from kleene.errors import RequestError, StoreError
    from kleene.stores import STORE_SUFFIXES
    from kleene.stores.ledger import Ledger
    from kleene.stores.matrix_files import RoundFiles
    from kleene.stores.resumable import is_empty
    from kleene.stores.store import Store, ledger_of

    stored = Path(out).suffix in STORE_SUFFIXES
    if resume and not stored:
        raise RequestError(f"--resume is for .zarr and .npy, and --out is {out}")
    if not stored or resume:
        return stored
    if Ledger.read(ledger_of(out)) is not None and not is_empty(Store.look(out)):
        raise StoreError(
            f"{out} is of an earlier run, by its ledger {ledger_of(out)}: add --resume to continue "
            "or reuse it, choose another name, or remove the ledger and all files of the store"
        )
    rounds = RoundFiles.folder_of(Path(out))
    if rounds.exists():
        raise StoreError(
            f"{out} was begun by an earlier run, which left {rounds}: add --resume to continue it, "
            "choose another name, or remove that directory"
        )
    return stored


def _routes(result: Result) -> dict[str, Any]:
    """Return the paths to the targets, or of the pairs, as GeoJSON; those that there are."""
    from kleene.results.pairs import PairsResult

    if isinstance(result, PairsResult):
        found = [result.routes()]
    else:
        found = [result.routes(source=source) for source in result.sources.tolist()]
    features = [route.to_geojson() for routes in found for route in routes if len(route)]
    return {"type": "FeatureCollection", "features": features}
