"""``mpiexec -n 4 kleene bfs FILE SOURCE``: every rank runs the command, the first one prints.

Errors that all ranks have are printed once, with the exit code that they have in one process. An
error of one rank alone ends the job. Ranks wait for each other inside MPI, where Python sees no
signals; so a thread waits for them, and ends the process at once. Files that a job leaves
unfinished have other names, and the same command completes them.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from contextlib import ExitStack
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from kleene.cli.exit_codes import exit_code
from kleene.cli.options import Input, Method, Output
from kleene.cli.output import facts, headline, line, number, seconds
from kleene.cli.solve import ResultOptions, SearchEndpoints, check_store
from kleene.clusters.mpi.launch import await_reader, launched_rank, launched_ranks

if TYPE_CHECKING:
    from kleene.clusters.mpi.result import Summary
    from kleene.distributed import Communicator, DistributedGraph, DistributedResult
    from kleene.proofs.paths import Proof

__all__ = ["search_by_ranks"]


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
    ends: SearchEndpoints,
    method: Method,
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
            source = agreed(comm, lambda: _check(graph, ends, result_options))
            options = {"dtype": method.dtype} if problem == "sssp" else {}
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


def _check(graph: Input, ends: SearchEndpoints, result_options: ResultOptions) -> str:
    """Return the source; raise for values of options that ranks do not have."""
    from kleene.errors import RequestError
    from kleene.stores import STORE_SUFFIXES

    sources = [*(ends.sources or ()), *(ends.source or ())]
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

    out, keep = result_options.out, result_options.predecessors is not False
    began = time.perf_counter()
    result = None
    if out is not None and result_options.resume:
        result = find_stored(graph, problem, source, out, predecessors=keep, **options)
    reused = result is not None
    with ExitStack() as opened:
        fill = None
        if result is None:
            if out is not None:
                store = open_store(graph, problem, source, out, predecessors=keep, **options)
                fill = opened.enter_context(store)
            began = time.perf_counter()
            search = {"bfs": distributed.bfs, "sssp": distributed.sssp}[problem]
            result = search(graph, source, predecessors=keep, **options)
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
    graph = result.graph
    farthest = None
    if summary.farthest is not None:
        farthest = {**names, "distance": summary.distance}
    levels = {"levels": summary.levels} if result.problem == "bfs" else {}
    return {
        "command": result.problem,
        "graph": {
            "name": graph.name,
            "vertices": graph.n,
            "arcs": graph.m,
            "directed": graph.directed,
            "weights": None if graph.weights is None else str(graph.weights.dtype),
            "labelled": graph.labels is not None,
        },
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
    if proof is not None:
        line()
        line(f"  {proof}", style="green")


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
