"""Closures of dense matrices larger than the memory: in rounds, through files, and resumed.

``backends/common/bands`` explains the rounds, ``matrix_files`` the files. After the last
round, rows of the closed matrix become blocks of the answer's store by the engine's own steps: as
users see them, predecessors that form trees, a limit applied. A block depends on its rows alone, so
this part, too, resumes where it ended.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from threading import Lock

from kleene.backends.answer import Answer
from kleene.backends.common.bands import BUFFERS, RoundEngine, overlapped
from kleene.backends.common.dense_driver import MatrixForm, engine_form, fill_rows, finish_rows
from kleene.backends.common.johnson import johnson
from kleene.backends.common.native_search import potentials
from kleene.backends.common.tiles import Tile
from kleene.backends.task import Progress, Task
from kleene.engine.call import Call, Part, Sink
from kleene.engine.tiles import closure_task
from kleene.engine.work import Work, with_idle_memory
from kleene.errors import Code, NegativeCycleError, RequestError
from kleene.planning.plan import Plan, with_notes
from kleene.stores.ledger import Entry
from kleene.stores.matrix_files import MatrixFile, RoundFiles
from kleene.stores.sink import StoreSink
from kleene.stores.store import Piece, ledger_of

__all__ = ["RoundsSink", "run_in_rounds"]

_FORMAT, _VERSION = "kleene rounds", 1
_ADOPT = ("split", "block_rows")  # of a computation that was begun with another amount of memory


class RoundsSink(StoreSink):
    """A store whose files are made after the rounds: until then their room is taken."""

    def open(self, call: Call, plan: Plan) -> Sequence[Piece]:
        """Return the blocks that it lacks.

        What the store would raise after the rounds it raises before them: no such directory, no
        room. Rounds that were begun have passed that, and their files may leave no room.
        """
        begun = RoundFiles.kept(RoundFiles.folder_of(self.path))
        if begun and not ledger_of(self.path).exists():
            return self.spec.pieces
        missing = super().open(call, plan)
        if missing and self._store is not None:
            self._store.leave()
            self._store = None
        return missing

    def begin(self, work: Work) -> tuple[Work, int]:
        """Make the files, or go on with them; return what is to be written, and the blocks done."""
        pieces = super().open(work.call, work.plan)
        assert self._store is not None
        return work._replace(pieces=pieces, writer=self.writer), len(self._store.done)


def run_in_rounds(work: Work, sink: Sink, report: Progress | None) -> Plan:
    """Close the matrix of a call's graph, and write its rows: a runner of the engine.

    The sizes of rounds and bands are those of the plan; of what is resumed, those that it has.
    """
    plan = work.plan
    assert isinstance(sink, RoundsSink)
    assert plan.rounds is not None
    folder = RoundFiles.folder_of(sink.path)
    if not work.pieces:
        shutil.rmtree(folder, ignore_errors=True)
        return with_notes(plan, "resumed: the answer was there")
    task = closure_task(work.call, plan, report=report)
    form, n = engine_form("tiled", task), task.graph.n
    if form.method != "tiled":
        raise RequestError(
            f"path lengths may exceed half of what {task.dtype} holds, and rounds add "
            "without a check: ask for ",
            Code("dtype='float64'"),
        )
    open_files = partial(RoundFiles.open, folder, form=form, n=n, paths=task.predecessors)
    header: Entry = {"format": _FORMAT, "version": _VERSION, **sink.spec._asdict()}
    header |= {"device": task.device, "matrix": [form.semiring, str(form.dtype)]}
    kept = RoundFiles.kept(folder).get("split")
    if kept is not None:  # whose it is comes before how large it is
        open_files(header, _ADOPT).close()
    open_rounds = partial(plan._row.load_rounds(), task, form, plan.rounds.split, kept)
    engine: RoundEngine = with_idle_memory(plan, open_rounds)
    with open_files(header | {"split": engine.split}, _ADOPT) as files:
        progress = files.progress
        done, left = progress.finished, -(-(n - progress.eliminated) // engine.vertices)
        files.prepare(done + left)
        closed = None
        if _run_rounds(task, form, engine, files, done + left):
            closed = files.copy_of(progress.finished - 1)
            files.copy_of(progress.finished).remove()  # room for the answer
        else:
            _require_no_cycle(task, files)
        work, blocks = sink.begin(work)
        _write_answer(work, sink, task, form, closed, (done + left) * n)
        files.remove()
    there = [f"{done:,} of {progress.finished:,} rounds"] * bool(done)
    there += [f"{blocks:,} blocks of the answer"] * bool(blocks)
    return with_notes(plan, f"resumed: {' and '.join(there)} were there") if there else plan


# ---- the rounds ---------------------------------------------------------------------------------


class _Arcs:
    """The rows of the matrix of arcs, from the graph."""

    def __init__(self, task: Task, form: MatrixForm) -> None:
        self._task, self._form = replace(task, threads=1), form  # other threads compute

    def read(self, first: int, rows: Tile) -> None:
        """Fill rows, from the first on."""
        fill_rows(self._form, self._task, *rows, first)


def _run_rounds(
    task: Task, form: MatrixForm, engine: RoundEngine, files: RoundFiles, rounds: int
) -> bool:
    """Run the rounds that are not done; False where they show a negative cycle."""
    n, progress = task.graph.n, files.progress

    def report(left: int) -> None:
        task.report((index + 1) * n - left, (rounds + 1) * n)

    while progress.eliminated < n:
        index = progress.finished
        source = _Arcs(task, form) if index == 0 else files.copy_of(index - 1)
        vertices = engine.next_round(progress.eliminated, progress.begun)
        target = files.begin(vertices)
        if not engine.run(vertices, source, target, progress.missing, report):
            return False
    if form.semiring != "min_plus":
        return True
    return bool((files.copy_of(progress.finished - 1).diagonal(form) >= 0).all())


# ---- the answer ---------------------------------------------------------------------------------


def _write_answer(
    work: Work, sink: Sink, task: Task, form: MatrixForm, closed: MatrixFile | None, before: int
) -> None:
    """Write the blocks of the answer, from the closed matrix or by searches.

    Some blocks are read and written while one is completed. Other methods compute for so long that
    one thread can write behind them; here that took twice as long (0.5 GB, on two busy cores: 1.7 s
    instead of 0.9).
    """
    n, lock = task.graph.n, Lock()

    def read(piece: Piece, buffer: Tile) -> None:
        if closed is not None:
            closed.read(piece.first, buffer.top(piece.stop - piece.first))

    def complete(piece: Piece, buffer: Tile) -> Callable[[], None]:
        def rows_of(own: Task) -> Answer:
            if closed is None:
                return johnson(own)
            return finish_rows(form, own, *buffer.top(len(own.sources)))

        call, part = work.complete(piece, rows_of)
        task.report(before + piece.first, before + n)
        return partial(write, piece, call, part)

    def write(piece: Piece, call: Call, part: Part) -> None:
        receipt = work.writer.write(piece, part, slice(None), call)
        with lock:
            sink.record(piece, receipt)

    rows = max(piece.stop - piece.first for piece in work.pieces) if closed else 0
    buffers = [Tile.empty(form, rows, n, task.predecessors) for _ in range(BUFFERS)]
    overlapped(work.pieces, buffers, read, complete)
    task.report(before + n, before + n)


def _require_no_cycle(task: Task, files: RoundFiles) -> None:
    """Raise NegativeCycleError, with nothing left behind, unless a cycle is one of rounding.

    Then rows are searched for: see ``dense_driver``.
    """
    try:
        potentials(replace(task, progress=None))
    except NegativeCycleError:
        files.remove()
        raise
