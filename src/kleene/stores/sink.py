"""Answers that go to a store: planned once, written block by block, resumed by the same call.

Rows of a block are written while the next block is computed. Methods that close a whole matrix
compute all rows at once. What a store holds follows from the call: whole rows with predecessors,
or with ``targets`` the distances to these, whose paths are searched for when they are asked for.
"""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.engine.call import Call, Part, Sink, Writer
from kleene.engine.pieces import Piece, choose_block_rows, split
from kleene.engine.planned import (
    EXPLAINING,
    Describe,
    Planned,
    planned,
    show,
    show_call,
)
from kleene.engine.work import fills_matrix
from kleene.errors import Code, RequestError, StoreError
from kleene.planning.ask import ARC_BY_ARC, IN_BATCHES, ROUNDS_BEGUN, Ask, Decision
from kleene.planning.cost_model import count_sources
from kleene.planning.device_choice import choose_device, require_device_name
from kleene.planning.dtype_choice import choose_dtype
from kleene.planning.facts import Facts, graph_facts
from kleene.planning.machine import live_machine
from kleene.planning.plan import Plan
from kleene.planning.prepared_cost import cpu_seconds, gpu_seconds
from kleene.planning.rules import choose_method
from kleene.registry import find, methods
from kleene.stores import STORE_SUFFIXES
from kleene.stores.checkpoints import Checkpoints
from kleene.stores.load import plan_reading, stored_answer
from kleene.stores.matrix_files import RoundFiles
from kleene.stores.record import TILES, lists_of_vertices, record_call
from kleene.stores.resumable import find_resumable, refuse_stored_by_ranks
from kleene.stores.store import Receipt, Store, StoreSpec, StoreWriter, ledger_of
from kleene.system.machine import total_memory

__all__ = [
    "BLOCKS",
    "BlockSize",
    "BlockWriter",
    "StoreSink",
    "resumed_ask",
    "store_sink",
    "with_block_rows",
]

Array = NDArray[Any]

#: How much longer than the CPU these take, about; they are for tests and teaching.
_SLOWER = {"emulated": 300.0, "reference": 300.0}


class BlockSize(NamedTuple):
    """How large the blocks are that other processes compute, each on one core."""

    seconds: float
    memory: int  # of which a block may take a small part


#: On a cluster, blocks of a store take half a second, so that a piece has several, and a sixteenth
#: of this memory at most: workers are not asked how much they have.
BLOCKS = BlockSize(seconds=0.5, memory=2**31)


class BlockWriter(Writer):
    """Writes blocks of rows, from any process, to the files of a store."""

    behind = True
    together = True

    def __init__(self, files: StoreWriter, shared: Any = None) -> None:
        self.files = files
        self._shared = shared  # whose file is beside the store, as long as the client lives
        self._buffers: list[Array] = []

    def share(self, pieces: Sequence[Piece], shared: Any) -> Writer:
        """Return a writer that writes as long as the client is there."""
        return BlockWriter(self.files, shared)

    def narrow(self, call: Call, pieces: Sequence[Piece], first: int) -> Call:
        """Return the call for some blocks; predecessors are computed where the store has them."""
        keeps = self.files.spec.predecessors is not None
        if call.ask.what.predecessors != keeps:
            call = call._replace(ask=call.ask.but(predecessors=keeps))
        return Writer.narrow(self, call, pieces, first)

    def memory(self, pieces: Sequence[Piece], call: Call, plan: Plan) -> Array | None:
        """Return memory for one of two blocks: new memory takes longer than to write it."""
        if call.targets is not None or len(pieces) > 1:
            return None
        rows = len(call.sources)
        if len(self._buffers) == 2:
            self._buffers.append(self._buffers.pop(0))
        else:
            self._buffers.append(np.empty((self.files.spec.block_rows, call.graph.n), plan.dtype))
        return self._buffers[-1][:rows]

    def write(self, piece: Piece, part: Part, rows: slice, call: Call) -> Receipt:
        """Write a block."""
        self._require_client()
        answer, targets = part.answer, call.targets
        values = answer.values[rows] if targets is None else answer.at(rows, targets)
        links = None if self.files.spec.predecessors is None else answer.links(rows)
        return self.files.write(piece, values, links)

    def _require_client(self) -> None:
        """Raise if the folder of the store is missing here, or if the client is lost.

        The client may have been killed, and another one may be at work on the same store.
        """
        if self._shared is not None and not os.path.exists(self._shared.path):
            raise RequestError(
                Code("out"),
                f" must be in a folder that every worker sees, but {socket.gethostname()} has no "
                f"{self._shared.path}",
            )


class StoreSink(Sink):
    """A store, and its ledger."""

    def __init__(self, call: Call, path: Path, spec: StoreSpec) -> None:
        self.call, self.path, self.spec = call, path, spec
        self.folder = path.parent
        self._store: Store | None = None

    @property
    def files(self) -> StoreWriter:
        """The files of the store, once it is open."""
        assert self._store is not None
        return self._store.writer()

    def open(self, call: Call, plan: Plan) -> Sequence[Piece]:
        """Begin the store or resume it; return the blocks that it lacks."""
        own = self.call
        lists = lists_of_vertices(own.graph, own.sources, own.targets)
        self._store = store = Store.open(self.path, self.spec, lists)
        self.writer = BlockWriter(store.writer())
        return store.missing()

    def record(self, piece: Piece, receipt: Receipt) -> None:
        """Enter a block into the ledger."""
        assert self._store is not None
        self._store.record(piece, receipt)

    def finish(self) -> Part:
        """Give the files their names; return the answer that reads from them."""
        assert self._store is not None
        call, paths = self.call, self.call.ask.what.predecessors
        with self._store as store:
            store.finish()
            files = store.writer()
            Checkpoints.discard(files.path)
            return Part(stored_answer(files, call.graph, call.sources, call.targets, paths))

    def abandon(self, error: BaseException) -> None:
        """Keep what is recorded; a store without a block goes."""
        if self._store is not None:
            self._store.leave()


class _Begun(NamedTuple):
    """What earlier calls left of a store, and what it fixes of the calls that resume it."""

    path: Path
    store: Store | None  # blocks, and their ledger
    rounds: dict[str, Any]  # the header of rounds that close the matrix, if they were begun

    @property
    def finished(self) -> bool:
        """Whether there is nothing to compute."""
        return self.store is not None and self.store.finished and not self._has_rounds

    @property
    def _has_rounds(self) -> bool:
        return RoundFiles.folder_of(self.path).exists()

    def _method(self, ask: Ask) -> str | None:
        """Return the method that began, where the call leaves it open."""
        call = self.rounds.get("call", {}) if self.store is None else self.store.spec.call
        same = ask.where.method == "auto" and call.get("problem") == ask.what.problem
        return str(call.get("method")) if same else None

    def ask(self, call: Call) -> Ask:
        """Return the request for what is missing, with what is decided already."""
        ask, method = call.ask, self._method(call.ask)
        if method is not None:
            ask = resumed_ask(ask, method, call.on is not None)
        if ask.where.device == "auto":
            ask = ask.but(device=str(self.rounds.get("device", "auto")))
        if self._has_rounds:
            ask = ask.freeze(ROUNDS_BEGUN)
        if self.store is not None:
            rows, given = self.store.spec.block_rows, self.path.suffix == ".npy"
            return ask.but(block_rows=rows, given=given)
        graph = call.graph.transpose() if call.reverse else call.graph
        return with_block_rows(graph_facts(graph, call.hops), ask, self.path, call.on)

    def plan(self, call: Call, ask: Ask) -> Planned:
        """Return the plan of what is missing; a store that is only read needs no device."""
        if not self.finished:
            made = planned(call, ask)
            if self.rounds and made.plan.rounds is None:
                raise StoreError(
                    f"{RoundFiles.folder_of(self.path)} is of a closure in rounds that is not "
                    "finished: make the same call to resume it, choose another name, or remove "
                    "that directory"
                )
            return made
        assert self.store is not None
        (what, where, *_), method = call.ask, call.ask.where.method
        require_device_name(where.device)
        method = str(self.store.spec.call.get("method")) if method == "auto" else method
        if call.form is not None and call.form._answers(call.ask.but(method=method)):
            dtype = call.form.dtype
        else:
            dtype = choose_dtype(graph_facts(call.graph, call.hops), call.ask)[0]
        return Planned(
            plan_reading(self.path, what.problem, what.semiring, method, str(dtype), where.device)
        )

    def record(self, call: Call, plan: Plan, ask: Ask) -> StoreSpec:
        """Return the record of a call; that of tiles names them, which only a cluster resumes."""
        spec = record_call(call, plan, ask, self._method(call.ask))
        if self.store is None or (call.on is not None and not self.store.finished):
            return spec
        tiles = {name: value for name, value in self.store.spec.call.items() if name in TILES}
        if tiles and not self.store.finished:
            raise StoreError(
                f"{self.path} was begun in tiles on a cluster, and is not finished: give ",
                Code("on="),
                " to resume it, or choose another name",
            )
        return spec._replace(call={**spec.call, **tiles})


def store_sink(call: Call, describe: Describe | None = None) -> tuple[StoreSink, Planned] | None:
    """Return the store of a call and its plan; None where ``out`` is to be a plain ``.npy`` file.

    That is the answer of one source, one that fits in one block, or that of a method on matrices,
    unless the name has a ledger. With ``targets`` only where the plain file would hold the
    distances to these alone, as a store does. On a cluster there is always a store: workers write
    it. ``describe`` says of a call that is explained how its pieces would run.
    """
    path = Path(str(call.out))
    if path.suffix not in STORE_SUFFIXES:
        raise RequestError(
            Code("out"), f" must name an .npy file or a .zarr directory, not {str(path)!r}"
        )
    if path.suffix == ".npy" and not _leaves_room(path):
        return None
    found = find_resumable(path, keep=EXPLAINING.on)
    refuse_stored_by_ranks(found)
    if call.single and path.suffix == ".npy":
        if found is not None:
            raise StoreError(
                f"{path} is a store of several rows, by its ledger {ledger_of(path).name}: choose "
                "another name, or remove the ledger and its store"
            )
        return None
    begun = _Begun(path, found, RoundFiles.kept(RoundFiles.folder_of(path)))
    ask = begun.ask(call)
    made = begun.plan(call, ask)
    if found is None and _fits_plain_file(call, ask, made.plan):
        return None
    if EXPLAINING.on and found is None:  # a record takes a pass over the arcs
        show_call(call, made, describe, split(call.rows, ask.output.block_rows))
    spec = begun.record(call, made.plan, ask)
    if EXPLAINING.on and found is not None:
        found.require_same(spec)
        if begun.finished:
            show(made.plan)
        show_call(call, made, describe, found.missing())
    return StoreSink(call, path, spec), made


def _fits_plain_file(call: Call, ask: Ask, plan: Plan) -> bool:
    """Return whether an answer without a ledger needs none."""
    if Path(str(call.out)).suffix != ".npy" or call.on is not None or plan.rounds is not None:
        return False
    if call.targets is not None and not call.by_form:
        return False
    return ask.output.block_rows >= len(call.sources) or fills_matrix(plan)


def resumed_ask(ask: Ask, begun_by: str, on_cluster: bool) -> Ask:
    """Return the request for the rows that a store lacks, which the method ``begun_by`` began.

    They are computed by the same method: another one might round floats otherwise. Searches add
    floats in the same order; a device without the search that began takes one of its own.
    """
    problem, names = ask.what.problem, [ask.where.device]
    if ask.where.device == "auto":
        own = [device for device in live_machine().devices if device != "emulated"]
        names = ["cpu"] if on_cluster else own
    there = any(find(problem, begun_by, device) for device in names)
    searches = any(row.order == "arc by arc" for row in methods(problem) if row.name == begun_by)
    if there or not searches:
        why = f"{begun_by}: the store was begun by it"
        return ask.but(method=begun_by).freeze(Decision("method", begun_by, why))
    return ask.freeze(IN_BATCHES, ARC_BY_ARC)


def with_block_rows(facts: Facts, ask: Ask, path: Path, on: Any = None) -> Ask:
    """Return a request with the number of rows that a block of its store should have."""
    sized = ask if on is None else ask.for_workers()
    machine = live_machine()
    threads = 1 if on is not None else ask.where.threads or machine.cores
    device = choose_device(facts, sized, machine)[0].partition(":")[0]
    if device == "cuda":
        method = choose_method(facts, sized.but(threads=threads), device)[0]
        seconds = gpu_seconds(facts, sized, method.name, threads)
    else:
        seconds = cpu_seconds(facts, sized, threads) * _SLOWER.get(device, 1.0)
    item = choose_dtype(facts, ask)[0].itemsize
    row_bytes = facts.n * (item + (4 if ask.what.predecessors else 0))  # computed whole
    target, memory = (None, _usual_memory()) if on is None else BLOCKS
    rows = count_sources(facts, ask)
    block_rows = choose_block_rows(rows, row_bytes, seconds, memory, target)
    return ask.but(block_rows=block_rows, given=path.suffix == ".npy")


def _usual_memory() -> int:
    """Return the bytes of this machine, for the same blocks every time; fewer if few are free."""
    total, free = total_memory(), live_machine().free_memory()
    return total if free is None or 4 * free >= total else free


def _leaves_room(path: Path) -> bool:
    """Return whether the files beside a store have names that are not too long."""
    try:
        path.with_name(f"{path.stem}.predecessors.npy.partial").lstat()
    except OSError as error:
        return error.errno != errno.ENAMETOOLONG
    return True
