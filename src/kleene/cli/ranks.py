"""``mpiexec -n 4 kleene bfs FILE SOURCE``: every rank runs the command, the first one prints.

Errors that all ranks have are printed once, with the exit code that they have in one process. An
error of one rank alone ends the job. Ranks wait for each other inside MPI, where Python sees no
signals; so a thread waits for them, and ends the process at once. Files that a job leaves
unfinished have other names, and the same command completes them.

All ranks parse the same arguments and find the same mistakes. The first rank prints them and gives
the exit code; the others end with 0, for some MPI libraries kill all ranks as soon as one fails.
Only bfs and sssp work on all ranks together. Another command would run as a whole in each of them.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from contextlib import ExitStack
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from kleene.cli.errors import exit_code
from kleene.cli.groups import Command
from kleene.cli.output import facts, headline, line, number, seconds
from kleene.cli.summaries import graph_fields, show_proof
from kleene.clusters.mpi.launch import await_reader, launched_rank, launched_ranks

if TYPE_CHECKING:
    from kleene.cli.options import Call, Input, Output
    from kleene.cli.solve import ResultOptions
    from kleene.clusters.mpi.result import Summary
    from kleene.distributed import Communicator, DistributedGraph, DistributedResult
    from kleene.proofs.paths import Proof

__all__ = [
    "SEARCHES",
    "SearchCommand",
    "refuse_under_mpiexec",
    "run_app",
    "search_by_ranks",
    "under_mpiexec",
]

#: The commands that ranks run together.
SEARCHES = ("bfs", "sssp")

#: What ranks have, by the names of the parameters; everything else is refused.
_OPTIONS = {
    *("file", "format", "directed", "weighted", "weight", "columns", "separator", "header"),
    *("unlabelled", "json", "quiet", "source", "sources", "out", "resume", "verify"),
    *("predecessors", "dtype"),
}
_VALUES = {"method": ("auto",), "device": ("auto", "cpu")}


# ---- start ---------------------------------------------------------------------------------------


def under_mpiexec() -> bool:
    """Return whether this process is one of several of an MPI job."""
    return launched_ranks() > 1


def run_app(app: Any) -> None:
    """Run the command line; what all ranks would print is printed by the first."""
    if not under_mpiexec() or launched_rank() == 0:
        app(prog_name="kleene")
        return
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - to the end; help, for one
    try:
        code = app(prog_name="kleene", standalone_mode=False)
    except Exception as error:
        if not hasattr(error, "exit_code"):  # those of typer have one, errors of usage
            raise
        code = 0
    raise SystemExit(code)


def refuse_under_mpiexec(command: str | None) -> None:
    """Raise RequestError where a command other than a search is one of several processes."""
    if under_mpiexec() and command is not None and command not in SEARCHES:
        _refuse(
            f"{command} does not work under mpiexec; run kleene in one process for it "
            f"({' and '.join(SEARCHES)} work on all ranks)"
        )


class SearchCommand(Command):
    """A command that works on all ranks; options that ranks do not have are refused."""

    def invoke(self, ctx: Any) -> Any:
        if under_mpiexec():
            for parameter in self.params:
                _check_option(parameter, ctx.params.get(parameter.name or ""), ctx)
        return super().invoke(ctx)


def _check_option(parameter: Any, value: Any, ctx: Any) -> None:
    """Raise RequestError for an option that was given and that ranks do not have."""
    name = parameter.name
    known = _OPTIONS - ({"dtype"} if ctx.info_name == "bfs" else set())
    given = ctx.get_parameter_source(name).name == "COMMANDLINE"
    if given and name not in known and value not in _VALUES.get(name, ()):
        _refuse(
            f"{parameter.opts[0]} does not work under mpiexec; run kleene in one process for it"
        )


def _refuse(message: str) -> NoReturn:
    """Raise RequestError on the first rank; end the others."""
    from kleene.errors import RequestError

    if launched_rank() > 0:
        raise SystemExit(0)
    raise RequestError(message)


# ---- a search ------------------------------------------------------------------------------------


class _Found(NamedTuple):
    """What all ranks know of a search."""

    result: DistributedResult
    proof: Proof | None
    summary: Summary
    names: dict[str, Any]  # of the source and the farthest vertex
    seconds: float
    reused: bool  # from a store that an earlier job finished


def search_by_ranks(
    problem: str,
    graph: Input,
    call: Call,
    result_options: ResultOptions,
    output: Output,
) -> None:
    """Read the graph in parts, search, verify and write as requested; the first rank prints.

    Options that ranks do not have were refused when the command started.
    """
    from kleene.clusters.mpi.agreement import agreed, guarded

    _end_on_signals()
    try:
        comm = _communicator()
        with guarded(comm, f"kleene {problem}"):
            source = agreed(comm, lambda: _check(graph, call, result_options))
            options = {"predecessors": call.given.get("predecessors", True)}
            if problem == "sssp":
                options["dtype"] = call.given.get("dtype")
            found = _search(comm, problem, graph, source, result_options, options)
    except Exception as error:
        if launched_rank() > 0:  # the first rank prints it
            raise SystemExit(exit_code(error) or 1) from None
        raise
    if comm.rank == 0:
        document = _document(found, result_options.out)
        output.show(document, lambda: _page(document, found.proof))


def _communicator() -> Communicator:
    """Return the ranks, which must be those that mpiexec started."""
    from kleene.distributed import MpiCommunicator
    from kleene.errors import RequestError

    comm = MpiCommunicator()
    if comm.size != launched_ranks():
        raise RequestError(
            f"mpiexec started {launched_ranks()} processes, but mpi4py sees {comm.size}: they "
            "belong to different MPI libraries; start Kleene by the mpiexec of mpi4py's"
        )
    return comm


def _check(graph: Input, call: Call, result_options: ResultOptions) -> str:
    """Return the source; raise for values of options that ranks do not have."""
    from kleene.cli.solve import check_store
    from kleene.errors import RequestError
    from kleene.stores import STORE_SUFFIXES

    sources = call.given.get("sources", [])
    if len(sources) != 1:
        raise RequestError(f"under mpiexec a search has one source, and {len(sources)} were given")
    if graph.is_prepared:
        raise RequestError("a prepared graph answers in one process: run kleene without mpiexec")
    out = result_options.out
    if result_options.resume and out is None:
        raise RequestError("--resume continues a file: name it by --out")
    if out is not None and not check_store(out, result_options.resume):
        suffixes = " or ".join(STORE_SUFFIXES)
        raise RequestError(f"under mpiexec results are written as {suffixes}, not {out}")
    return str(sources[0])


def _search(
    comm: Communicator,
    problem: str,
    given: Input,
    text: str,
    result_options: ResultOptions,
    options: dict[str, Any],
) -> _Found:
    """Read, search, verify and write."""
    from kleene import distributed
    from kleene.clusters.mpi.result import summarize

    graph = distributed.read(given.file, given.format, comm=comm, **given.reader_options())
    if given.unlabelled:
        graph.labels = None
    source = _vertex(graph, text)
    result, proof, duration, reused = _solve(graph, problem, source, result_options, options)
    summary = summarize(result)
    names = {
        "source": graph.label(source),
        "target": None if summary.farthest is None else graph.label(summary.farthest),
    }
    return _Found(result, proof, summary, names, duration, reused)


def _solve(
    graph: DistributedGraph,
    problem: str,
    source: int,
    result_options: ResultOptions,
    options: dict[str, Any],
) -> tuple[DistributedResult, Proof | None, float, bool]:
    """Return the result, its proof, seconds, and whether an earlier job finished it.

    The store is opened before the search, so that a name that cannot be used is refused at once.
    """
    from kleene import distributed
    from kleene.clusters.mpi.writing import find_stored, open_store

    out = result_options.out
    began = time.perf_counter()
    result = None
    if out is not None and result_options.resume:
        result = find_stored(graph, problem, source, out, **options)
    reused = result is not None
    with ExitStack() as opened:
        fill = None
        if result is None:
            if out is not None:
                store = open_store(graph, problem, source, out, **options)
                fill = opened.enter_context(store)
            began = time.perf_counter()
            search = {"bfs": distributed.bfs, "sssp": distributed.sssp}[problem]
            result = search(graph, source, **options)
        duration = time.perf_counter() - began
        proof = distributed.verify(result) if result_options.verify else None
        if fill is not None:
            fill(result)
    return result, proof, duration, reused


def _vertex(graph: DistributedGraph, text: str) -> int:
    """Return the vertex that a text names."""
    integral = graph.communicator.gather_all(
        graph.labels is None or graph.labels.dtype.kind in "iu"
    )
    plain = text.removeprefix("-").isdecimal()
    return graph.index(int(text) if all(integral) and plain else text)


# ---- output -------------------------------------------------------------------------------------


def _document(found: _Found, out: str | None) -> dict[str, Any]:
    result, proof, summary, names, duration, reused = found
    graph: Any = result.graph
    farthest = None
    if summary.farthest is not None:
        farthest = {**names, "distance": summary.distance}
    levels = {"levels": summary.levels} if result.problem == "bfs" else {}
    return {
        "command": result.problem,
        "graph": graph_fields(graph),
        "dtype": str(result.distances.dtype),
        "seconds": duration,
        "sources": 1,
        "source": names["source"],
        "reached": summary.reached,
        "of": graph.n,
        "proof": None if proof is None else asdict(proof),
        "mean": summary.mean,
        "farthest": farthest,
        **levels,
        "out": out,
        "reused": reused,
        "mpi": {"ranks": graph.communicator.size, **result.stats._asdict()},
    }


def _page(document: dict[str, Any], proof: Proof | None) -> None:
    from kleene.system.formatting import format_bytes

    graph, mpi, far = document["graph"], document["mpi"], document["farthest"]
    weights = f"{graph['weights']} weights" if graph["weights"] else "unweighted"
    headline(
        graph["name"] or "graph",
        f": {graph['vertices']:,} vertices, {graph['arcs']:,} arcs, {weights}",
    )
    line(
        f"{document['command']} by {mpi['ranks']} ranks, {document['dtype']} values, "
        f"{seconds(document['seconds'])}",
        style="dim",
    )
    line()
    facts(
        {
            "source": document["source"],
            "reached": f"{document['reached']:,} of {document['of']:,} vertices",
            "farthest": far and f"{far['target']}, at {number(far['distance'])}",
            "mean distance": None if document["mean"] is None else number(document["mean"]),
            "sent": f"{mpi['messages']:,} messages, {format_bytes(mpi['bytes'])}, in "
            f"{mpi['rounds']:,} rounds",
            "saved": document["out"],
            "reused": "yes, an earlier job finished it" if document["reused"] else None,
        }
    )
    show_proof(proof)


# ---- signals ------------------------------------------------------------------------------------


def _end_on_signals() -> None:
    """End this process on Ctrl-C, SIGTERM and SIGHUP, wherever it is; the first rank says so.

    Python's own handlers run between two steps of the main thread, which may be in MPI for long.
    But a signal is also written to a socket as it comes, and a thread reads that.
    """
    arrives, sent = socket.socketpair()
    sent.setblocking(False)
    signal.set_wakeup_fd(sent.fileno(), warn_on_full_buffer=False)
    for caught in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(caught) is not signal.SIG_IGN:
            signal.signal(caught, lambda *_: None)

    def wait() -> NoReturn:
        received = arrives.recv(1)[0]
        if launched_rank() == 0:
            what = "interrupted" if received == signal.SIGINT else "terminated"
            os.write(2, f"kleene: {what}\n".encode())  # no lock that the main thread may hold
            await_reader(2)
        sent.close()  # open until now
        os._exit(128 + received)

    threading.Thread(target=wait, name="signals", daemon=True).start()
