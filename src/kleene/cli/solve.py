"""Common code of bfs, sssp, apsp and closure: read, solve, verify, save, print."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kleene.cli.options import Call, Group, Input, Output
from kleene.cli.summaries import Summary, note_search, result_fields, show_result
from kleene.cli.tables import (
    PAGE,
    is_geojson,
    list_pairs,
    pairs_of_result,
    save_table,
    show_pairs,
    write_geojson,
)
from kleene.cli.vertices import parse_vertex, read_table

if TYPE_CHECKING:
    from kleene import Graph, Result
    from kleene.proofs.paths import Proof

__all__ = ["ResultOptions", "Turns", "check_store", "solve"]


@dataclass(frozen=True, kw_only=True)
class ResultOptions(Group):
    """What to do with the result.

    Parameters
    ----------
    out : FILE
        Save the result (.npz, .npy, .zarr), the pairs (.csv, .tsv, .parquet, .json), or the paths
        (.geojson); - for pairs on standard output.
    resume : bool
        Continue the .zarr or .npy of an earlier run, or reuse it.
    top : N
        List the N nearest targets of each source.
    """

    out: str | None = None
    resume: bool = False
    verify: bool = False
    top: int | None = None


@dataclass(frozen=True, kw_only=True)
class Turns(Group):
    """Turns that are forbidden or take time.

    Parameters
    ----------
    turns : FILE
        A table of turns: from, via, to, and a delay unless they are forbidden.
    u_turns : DELAY
        The delay of u-turns, or `forbidden`.
    missing : WHAT
        Turns that are not in the graph: error or ignore.
    """

    turns: str | None = None
    u_turns: str | None = None
    missing: str = "error"

    def search(self, graph: Graph, problem: str) -> Callable[..., Result] | None:
        """Return the call that solves the problem with turns; None without turns."""
        import kleene as kl

        if self.turns is None and self.u_turns is None:
            return None
        table = None if self.turns is None else _read_turns(graph, self.turns)
        missing: Any = self.missing
        turns = kl.TurnGraph(graph, table, u_turns=_delay(self.u_turns), missing=missing)
        call: Callable[..., Result] = getattr(turns, problem)
        return call


def solve(
    problem: str,
    graph: Input,
    call: Call,
    result_options: ResultOptions,
    output: Output,
    summarize: Callable[[Result], Summary],
    turns: Turns | None = None,
) -> Result:
    """Read the graph, solve the problem, then verify, save and print the result as requested."""
    import kleene as kl
    from kleene.errors import RequestError
    from kleene.results.files import check_suffix

    out = result_options.out
    if result_options.resume and out is None:
        raise RequestError("--resume continues a file: name it by --out")
    stored = out is not None and check_store(out, result_options.resume)
    routes = out is not None and is_geojson(out)
    if out not in (None, "-") and not routes and not stored:
        check_suffix(str(out))
    read, answering = graph.open(call.threads)
    given = call.keywords(read)
    named = "sources" in given or "pairs" in given
    single = problem in ("bfs", "sssp")
    if single and not named:
        raise RequestError(f"{problem} needs a source: kleene {problem} {graph.file} SOURCE")
    if routes and not given.keys() & {"targets", "pairs"}:
        raise RequestError(".geojson saves paths: name their ends by --targets or --pairs")
    if routes and given.get("predecessors") is False:
        raise RequestError(".geojson saves paths: omit --no-predecessors")
    if single and len(given.get("sources", ())) == 1:
        given["source"] = given.pop("sources")[0]
    at_once = "pairs" in given or given.keys() >= {"source", "targets"}  # a list, not a matrix
    streamed = stored and (not at_once or Path(str(out)).suffix == ".zarr")
    if streamed:  # written row by row, so it may be larger than memory
        given["out"] = out
    elif result_options.resume:
        raise RequestError(f"--resume continues a matrix, and {out} holds a list: omit --resume")
    search = None if turns is None else turns.search(read, problem)
    if search is not None and not call.here:
        raise RequestError("turns are searched in this process: omit --on and --workers")
    searched = note_search(answering) if search is None and problem in ("sssp", "apsp") else None
    if search is None:
        search = partial(getattr(kl, problem), read if problem == "bfs" else answering)
    result: Result = call.run(search, progress=not output.quiet, **given)
    proof = result.verify() if result_options.verify else None
    if out is not None and routes:
        write_geojson(_routes(result), out)
    elif out is not None and not streamed:
        output = save_table(result, out, output)
    if not output.quiet:
        _show(result, proof, named, summarize(result), searched, result_options, output)
    return result


def _show(
    result: Result,
    proof: Proof | None,
    named: bool,
    summary: Summary,
    searched: str | None,
    result_options: ResultOptions,
    output: Output,
) -> None:
    """Print summary and pairs: on a page the first few, as JSON all of the sources that are named.

    ``searched`` says why a prepared graph did not answer.
    """
    from kleene.results.pairs import PairsResult

    top, out = result_options.top, result_options.out
    a_list = isinstance(result, PairsResult)
    most: int | None = None
    if top is None and not named:
        most = 0
    elif top is None and (result.targets is None or a_list) and not output.json:
        most = PAGE
    listing = list_pairs(pairs_of_result(result, summary.reached), top, most)
    shared = result_fields(result, summary.reached, proof)
    listed = {"out": out, "listed": len(listing.pairs), "pairs": listing.pairs}

    def page() -> None:
        show_result(result, {**summary.facts, "prepared": searched, "saved": out}, proof)
        near = "target" if result.reverse else "source"
        single = shared["sources"] == 1 and not a_list
        every = shared["of"] if a_list else shared["of"] // max(1, shared["sources"])
        show_pairs(listing, every, near if single else None)

    output.show({**shared, **summary.document, **listed}, page)


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


# ---- turns ---------------------------------------------------------------------------------------


def _delay(text: str | None) -> Any:
    from kleene.errors import RequestError

    if text is None or text == "forbidden":
        return text
    try:
        return float(text)
    except ValueError:
        raise RequestError(f"--u-turns takes a delay or `forbidden`, not {text!r}") from None


def _read_turns(graph: Graph, path: str) -> dict[str, list[Any]]:
    """Return the columns of a table of turns; without a header they are from, via, to, delay."""

    def delay(text: str) -> float | None:
        return float(text) if text else None

    def vertex(text: str) -> Any:
        return parse_vertex(graph, text)

    return read_table(
        path,
        dict.fromkeys(("from", "via", "to"), vertex),
        {"delay": delay, "from_row": int, "to_row": int},
    )
