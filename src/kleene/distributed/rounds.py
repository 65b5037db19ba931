"""Closures of dense matrices larger than the memory: in rounds, through files, and resumed.

``backends/common/dense_rounds`` explains the rounds, ``round_files`` the files. After the last
round, blocks of rows of the closed matrix become blocks of the answer's store: values as users see
them, predecessors that form trees, a limit applied. A block depends on its rows alone, so this part
too goes on where it ended.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kleene.backends.answer import Answer
from kleene.backends.common.closure_tiles import Tile
from kleene.backends.common.dense_driver import MatrixForm, engine_form, fill_rows, finish_rows
from kleene.backends.common.dense_rounds import BUFFERS, RoundEngine, RoundSplit, overlapped
from kleene.backends.common.johnson import johnson
from kleene.backends.common.native_sssp import potentials
from kleene.backends.task import Task
from kleene.distributed.ledger import Entry
from kleene.distributed.round_files import MatrixFile, RoundFiles
from kleene.distributed.store import Piece, Store, StoreSpec, ledger_of
from kleene.errors import Code, NegativeCycleError, RequestError

__all__ = ["OpenRounds", "RoundCounts", "close_in_rounds"]

Array = NDArray[Any]

#: Returns the engine of a device: for a task, a form of the matrix, a split, and what was kept.
OpenRounds = Callable[[Task, MatrixForm, RoundSplit, "list[int] | None"], RoundEngine]

_FORMAT, _VERSION = "kleene rounds", 1
_ADOPT = ("split", "block_rows")  # of a computation that was begun with another amount of memory


@dataclass(frozen=True)
class RoundCounts:
    """What was there already when a call began."""

    rounds: int
    done: int  # rounds
    blocks_done: int = 0  # of the answer


def close_in_rounds(
    task: Task,
    open_rounds: OpenRounds,
    split: RoundSplit,
    path: Path,
    spec: StoreSpec,
    vertices: dict[str, Array],
    finish: Callable[[Task, Answer], Answer],
) -> RoundCounts:
    """Close the matrix of the task's graph, and write the answer to a store.

    Parameters
    ----------
    task : Task
        All vertices are its sources.
    open_rounds : function
        Returns the engine.
    split : RoundSplit
        How large rounds and bands are; those of a computation that is resumed hold.
    path, spec, vertices : Path, StoreSpec, dict
        The store.
    finish : function
        Completes rows of the answer, for a task whose sources they belong to.
    """
    form = engine_form("tiled", task)
    if form.method != "tiled":
        raise RequestError(
            f"path lengths may exceed half of what {task.dtype} holds, and rounds add "
            "without a check: ask for ",
            Code("dtype='float64'"),
        )
    folder = RoundFiles.folder_of(path)
    open_files = partial(
        RoundFiles.open, folder, form=form, n=task.graph.n, paths=task.predecessors
    )
    header: Entry = {"format": _FORMAT, "version": _VERSION, **spec._asdict()}
    header |= {"device": task.device, "matrix": [form.semiring, str(form.dtype)]}
    kept = RoundFiles.kept(folder).get("split")
    if kept is not None:  # whose it is comes before how large it is
        open_files(header, _ADOPT).close()
    open_store = partial(Store.open, path, spec, vertices)
    if ledger_of(path).exists():
        with open_store() as store:
            if not store.missing():
                store.finish()
                shutil.rmtree(folder, ignore_errors=True)
                return RoundCounts(0, 0, len(store.done))
    elif kept is None:
        _try_store(open_store)
    engine = open_rounds(task, form, split, kept)
    with open_files(header | {"split": engine.split}, _ADOPT) as files:
        progress = files.progress
        done, left = progress.finished, -(-(task.graph.n - progress.eliminated) // engine.vertices)
        rounds = done + left
        files.prepare(rounds)
        rows: _Rows
        if _run_rounds(task, form, engine, files, rounds):
            rows = _ClosedRows(task, form, files.copy_of(progress.finished - 1))
            files.copy_of(progress.finished).remove()  # room for the answer
        else:
            rows = _searched_rows(task, files)
        with open_store() as store:
            blocks = len(store.done)
            _write_answer(task, rows, store, finish, rounds * task.graph.n)
        files.remove()
    return RoundCounts(progress.finished, done, blocks)


class _Unused(Exception):
    """Leaves a store without anything in it."""


def _try_store(open_store: Callable[[], Store]) -> None:
    """Raise before the rounds what the store would raise after them: no such directory, no room.

    A store that nothing was written to leaves no files.
    """
    with suppress(_Unused), open_store():
        raise _Unused


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
        task.report((index + 1) * n - left, (rounds + 1) * n)  # the answer counts as a round

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


class _Rows(Protocol):
    """Where rows of the answer come from."""

    def read(self, piece: Piece, buffer: Tile) -> None:
        """Read what a block needs."""

    def answer(self, own: Task, piece: Piece, buffer: Tile) -> Answer:
        """Return a block of the answer, for a task with its sources."""

    def buffer(self, rows: int) -> Tile:
        """Return memory for so many rows."""


class _ClosedRows:
    """Rows of the closed matrix."""

    def __init__(self, task: Task, form: MatrixForm, file: MatrixFile) -> None:
        self._form, self._file = form, file
        self._n, self._paths = task.graph.n, task.predecessors

    def read(self, piece: Piece, buffer: Tile) -> None:
        self._file.read(piece.first, buffer.top(piece.stop - piece.first))

    def answer(self, own: Task, piece: Piece, buffer: Tile) -> Answer:
        found = finish_rows(self._form, own, *buffer.top(piece.stop - piece.first))
        assert found is not None  # the diagonal was looked at
        return found

    def buffer(self, rows: int) -> Tile:
        return Tile.empty(self._form, rows, self._n, self._paths)


class _SearchedRows:
    """Rows by searches, where cycles are negative by rounding only: see ``dense_driver``."""

    def read(self, piece: Piece, buffer: Tile) -> None:
        pass

    def answer(self, own: Task, piece: Piece, buffer: Tile) -> Answer:
        return johnson(own)

    def buffer(self, rows: int) -> Tile:
        return Tile(np.empty((0, 0)), None)


def _searched_rows(task: Task, files: RoundFiles) -> _SearchedRows:
    """Raise NegativeCycleError if there is such a cycle, with nothing left behind."""
    try:
        potentials(replace(task, progress=None))
    except NegativeCycleError:
        files.remove()
        raise
    return _SearchedRows()


def _write_answer(
    task: Task,
    rows: _Rows,
    store: Store,
    finish: Callable[[Task, Answer], Answer],
    before: int,
) -> None:
    """Write the blocks that are missing in the store, and finish it."""
    n, writer, lock = task.graph.n, store.writer(), Lock()

    def write(piece: Piece, answer: Answer) -> None:
        receipt = writer.write(piece, answer.values, answer.predecessors)
        with lock:
            store.record(piece, receipt)

    def complete(piece: Piece, buffer: Tile) -> Callable[[], Any]:
        sources = task.sources[piece.first : piece.stop]
        own = replace(task, sources=sources, out=None, progress=None)
        answer = finish(own, rows.answer(own, piece, buffer))
        task.report(before + piece.first, before + n)
        return partial(write, piece, answer)

    buffers = [rows.buffer(min(store.spec.block_rows, n)) for _ in range(BUFFERS)]
    overlapped(store.missing(), buffers, rows.read, complete)
    store.finish()
    task.report(before + n, before + n)
