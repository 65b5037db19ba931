"""Calls whose answer goes to a store: planned once, computed in pieces, resumed by the same call.

Every piece is a call of its own, for some of the sources, by the method that was chosen for all of
them; its rows are written while the next piece is computed. Methods that close a whole matrix
compute all rows at once. What a store holds follows from the call: whole rows with predecessors,
or with ``targets`` the distances to these, whose paths are searched for when they are asked for.
"""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

from kleene.api.arguments import Call
from kleene.api.closer_look import look_closer
from kleene.api.row_calls import planned_here, run_by_workers
from kleene.api.stored_calls import StoredCall, stored_call, with_tiles
from kleene.api.stored_plans import finished_call, resumed_request
from kleene.backends.task import Progress
from kleene.distributed.empty_stores import find_resumable
from kleene.distributed.mpi.stored import refuse_stored_by_ranks
from kleene.distributed.pieces import Piece, choose_block_rows
from kleene.distributed.round_files import RoundFiles
from kleene.distributed.store import Store, ledger_of
from kleene.distributed.store_writer import refuse_existing
from kleene.errors import Code, RequestError, StoreError
from kleene.graph import Graph
from kleene.planning.ask import Ask
from kleene.planning.cost_model import count_sources
from kleene.planning.device_choice import choose_device
from kleene.planning.dtype_choice import choose_dtype
from kleene.planning.facts import Facts, graph_facts
from kleene.planning.machine import live_machine
from kleene.planning.plan import Plan, plan_call
from kleene.planning.prepared_cost import cpu_seconds, gpu_seconds
from kleene.planning.rules import choose_method
from kleene.registry import find
from kleene.results.result import Result, Timings
from kleene.results.saved import STORE_SUFFIXES
from kleene.system.machine import total_memory
from kleene.system.progress import reporter
from kleene.system.threads import Future, ThreadPool

__all__ = [
    "BlockSize", "by_rows", "plan_stored", "solve_stored", "with_block_rows",
]  # fmt: skip

Array = NDArray[Any]
Solve = Callable[[Call], Result]

#: How much longer than the CPU these take, about; they are for tests and teaching.
_SLOWER = {"emulated": 300.0, "reference": 300.0}


def solve_stored(call: Call, solve: Solve, plain_targets: bool = False) -> Result | None:
    """Answer a call whose ``out`` is a store; None where ``out`` is to be a plain ``.npy`` file.

    That is the answer of one source, one that fits in one block, or that of a method on matrices,
    unless the name has a ledger. With ``targets`` only where ``plain_targets`` says so: where the
    plain file would hold the distances to these alone, as a store does.
    """
    stored = plan_stored(call, plain_targets)
    if stored is None:
        refuse_existing(Path(str(call.out)))
        return None
    if stored.plan.rounds is not None:
        from kleene.api.rounds import solve_in_rounds

        return solve_in_rounds(stored)
    began = time.perf_counter()
    plan, path = stored.plan, stored.path
    with (
        reporter(call.progress, f"{plan.problem} by {plan.method}") as report,
        Store.open(path, stored.spec, stored.vertices) as store,
    ):
        missing = store.missing()
        groups = [[piece] for piece in missing] if by_rows(plan) else [missing] * bool(missing)
        with _recording(store) as submit:
            done = store.spec.shape[0] - sum(piece.stop - piece.first for piece in missing)
            for group in groups:
                progress = _shifted(report, done, store.spec.shape[0], group)
                submit(group, solve(stored.piece_call(group, progress)))
                done += sum(piece.stop - piece.first for piece in group)
        store.finish()
        seconds = time.perf_counter() - began
        return stored.result(store.writer(), Timings(compute=seconds, total=seconds))


class BlockSize(NamedTuple):
    """How large the blocks are that other processes compute, each on one core."""

    seconds: float
    memory: int  # of which a block may take a small part


def plan_stored(
    call: Call, plain_targets: bool = False, blocks: BlockSize | None = None
) -> StoredCall | None:
    """Plan a call that names a store; None where the answer is to be a plain ``.npy`` file.

    With ``blocks`` there is always a store: other processes write it.
    """
    assert isinstance(call.out, (str, Path))
    path = _named(Path(call.out))
    if path.suffix == ".npy" and not _leaves_room(path):
        return None
    found = find_resumable(path)
    refuse_stored_by_ranks(found)
    if call.single and path.suffix == ".npy":
        if found is not None:
            raise StoreError(
                f"{path} is a store of several rows, by its ledger {ledger_of(path).name}: choose "
                "another name, or remove the ledger and its store"
            )
        return None
    if found is not None and found.finished and not RoundFiles.folder_of(path).exists():
        return finished_call(call, found)
    ask = call.ask
    rounds = RoundFiles.kept(RoundFiles.folder_of(path))
    began = rounds.get("call", {}) if found is None else found.spec.call
    begun_by = None
    if ask.where.method == "auto" and began.get("problem") == ask.what.problem:
        begun_by = str(began.get("method"))
        ask = resumed_request(ask, begun_by, on_cluster=blocks is not None)
    if ask.where.device == "auto":
        ask = ask.but(device=str(rounds.get("device", "auto")))
    graph = call.graph.transpose() if call.reverse else call.graph
    ask, plan = _plan_rows(call, graph, ask, path, blocks, found)
    if rounds and plan.rounds is None:
        raise StoreError(
            f"{RoundFiles.folder_of(path)} is of a closure in rounds that is not finished: make "
            "the same call to resume it, choose another name, or remove that directory"
        )
    small = path.suffix == ".npy" and found is None and blocks is None and plan.rounds is None
    plain = small and (call.targets is None or plain_targets)
    if plain and (ask.output.block_rows >= len(call.sources) or not by_rows(plan)):
        return None
    stored = stored_call(call, path, plan, ask, begun_by)
    return stored if found is None or blocks is not None else with_tiles(stored, found)


def _plan_rows(
    call: Call,
    graph: Graph,
    ask: Ask,
    path: Path,
    blocks: BlockSize | None,
    found: Store | None,
) -> tuple[Ask, Plan]:
    """Return the request with the size of its blocks, and the plan of all rows."""
    asked = ask
    if blocks is not None:
        ask = planned_here(ask)
    hops = ask.what.problem == "bfs"
    ask = with_block_rows(graph_facts(graph, hops), ask, path, blocks)
    if found is not None:
        ask = ask.but(block_rows=found.spec.block_rows)
    plan = _plan(call, graph, ask)
    if blocks is not None:
        plan = run_by_workers(plan, asked, graph_facts(graph, hops))
    return ask, plan


def with_block_rows(facts: Facts, ask: Ask, path: Path, blocks: BlockSize | None = None) -> Ask:
    """Return a request with the number of rows that a block of its store should have."""
    _named(path)
    machine = live_machine()
    threads = 1 if blocks is not None else ask.where.threads or machine.cores
    device = choose_device(facts, ask, machine)[0].partition(":")[0]
    if device == "cuda":
        method = choose_method(facts, ask.but(threads=threads), device)[0]
        seconds = gpu_seconds(facts, ask, method.name, threads)
    else:
        seconds = cpu_seconds(facts, ask, threads) * _SLOWER.get(device, 1.0)
    item = choose_dtype(facts, ask)[0].itemsize
    row_bytes = facts.n * (item + (4 if ask.what.predecessors else 0))  # computed whole
    rows = count_sources(facts, ask)
    target, memory = (None, _usual_memory()) if blocks is None else blocks
    block_rows = choose_block_rows(rows, row_bytes, seconds, memory, target)
    begun = RoundFiles.folder_of(path).exists()
    return ask.but(block_rows=block_rows, given=path.suffix == ".npy", rounds_begun=begun)


def _usual_memory() -> int:
    """Return the bytes of this machine, for the same blocks every time; fewer if few are free."""
    total, free = total_memory(), live_machine().free_memory()
    return total if free is None or 4 * free >= total else free


def _named(path: Path) -> Path:
    if path.suffix not in STORE_SUFFIXES:
        raise RequestError(
            Code("out"), f" must name an .npy file or a .zarr directory, not {str(path)!r}"
        )
    return path


def _leaves_room(path: Path) -> bool:
    """Return whether the files beside a store have names that are not too long."""
    try:
        path.with_name(f"{path.stem}.predecessors.npy.partial").lstat()
    except OSError as error:
        return error.errno != errno.ENAMETOOLONG
    return True


def by_rows(plan: Plan) -> bool:
    """Return whether the rows of a piece cost less than all rows."""
    method = find(plan.problem, plan.method, plan.device)
    return method is None or method.cuts != "never"  # a prepared graph answers by itself


def _plan(call: Call, graph: Graph, ask: Ask) -> Plan:
    """Plan all rows; a prepared graph is its own plan."""
    if call.prepared is not None:
        from kleene.api.prepared_calls import has_answer, plan_prepared

        if has_answer(call.prepared, ask):
            return plan_prepared(call.prepared, ask, ask.output.block_rows * graph.n)
    plan = plan_call(graph_facts(graph, ask.what.problem == "bfs"), ask)
    return look_closer(graph, ask, plan)


def _shifted(
    report: Progress | None, done: int, total: int, group: Sequence[Piece]
) -> Progress | None:
    """Return a function for the progress of some pieces that reports that of all rows."""
    if report is None:
        return None
    rows = sum(piece.stop - piece.first for piece in group)
    return lambda part, of: report(done + rows * part // max(1, of), total)


@contextmanager
def _recording(store: Store) -> Iterator[Callable[[Sequence[Piece], Result], None]]:
    """Yield a function that writes rows and records them in the background.

    What was handed in is written and recorded even when the work on the next rows fails. Meanwhile
    the ledger belongs to the thread that writes, which Ctrl-C does not interrupt.
    """
    writer = store.writer()

    def write(group: Sequence[Piece], result: Result) -> None:
        row = 0
        for piece in group:
            rows = slice(row, row + piece.stop - piece.first)
            values = result.distances[rows]
            links = None if store.spec.predecessors is None else result._answer.links(rows)
            store.record(piece, writer.write(piece, values, links))
            row = rows.stop

    with ThreadPool(1) as thread:
        last: Future[None] | None = None

        def submit(group: Sequence[Piece], result: Result) -> None:
            nonlocal last
            if last is not None:
                last.result()  # no more than two blocks are in memory
            last = thread.submit(write, group, result)

        yield submit
        if last is not None:
            last.result()
