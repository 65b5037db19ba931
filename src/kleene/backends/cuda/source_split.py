"""Many sources on several devices: each device fills its rows of one answer.

A thread for each device takes a piece of the sources, runs the method on it, and takes the next.
Pieces become smaller towards the end, so that all devices end at about the same time, but not so
small that a batch of searches is not full. The graph is copied to each device once.

The calling thread waits, and reports progress. The first error stops all devices, at the end of
the batch that they are in, and is raised once they have stopped; so does Ctrl-C. That may come at
any moment of the calling thread, which therefore takes no lock that the threads of the devices do.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from queue import Empty, SimpleQueue
from typing import Any

from kleene.backends.answer import Answer
from kleene.backends.cuda.device_graph import calls_of_a_device
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.runtime.interface import ceil_div
from kleene.backends.cuda.runtime.timing import Share, timed_call
from kleene.backends.cuda.tuning import transfers
from kleene.backends.task import Array, Progress, Task
from kleene.errors import DeviceError, KernelError, MemoryBudgetError
from kleene.system.threads import ThreadPool

__all__ = ["run_split", "split_rows"]


class _Stopped(BaseException):
    """Ends the work of a device after an error elsewhere."""


Work = Callable[[str, slice, Progress], None]


# ---- pieces -------------------------------------------------------------------------------------


class _Pieces:
    """The rows that no device has taken, and how far the others are."""

    def __init__(self, total: int, devices: int, every: bool) -> None:
        self.total, self._devices, self._every = total, devices, every  # those that take pieces
        self._least = min(transfers.SPLIT_LEAST, ceil_div(total, devices))
        self._next = 0
        self._returned: list[slice] = []
        self._done = 0
        self._running: dict[int, float] = {}  # rows of the running pieces, by their first
        self._changed = threading.Condition()  # of the threads of the devices
        self._news: SimpleQueue[None] = SimpleQueue()  # wakes the calling thread
        self._left: list[None] = []  # an entry for each device that takes no more pieces
        self._errors: list[BaseException] = []
        self.stopped = False

    def take(self) -> slice | None:
        """Return the next piece, None if there is none or all shall stop."""
        with self._changed:
            while not self.stopped:
                piece = self._returned.pop() if self._returned else self._cut()
                if piece is not None:
                    self._running[piece.start] = 0.0
                    return piece
                if self._every or not self._running:
                    return None
                self._changed.wait(_WAIT)  # another device may give its piece back
            return None

    def _cut(self) -> slice | None:
        left = self.total - self._next
        size = min(left, max(self._least, ceil_div(left, 2 * self._devices)))
        first, self._next = self._next, self._next + size
        return slice(first, first + size) if size else None

    def give_back(self, piece: slice) -> bool:
        """Leave a piece to the other devices; False if there are none.

        The others are still there: a device waits for pieces as long as one is running.
        """
        with self._changed:
            if self._every or self._devices == 1:
                return False
            del self._running[piece.start]
            self._returned.append(piece)
            self._devices -= 1
            self._changed.notify_all()
            return True

    def report(self, piece: slice, done: int, total: int) -> None:
        """Take note of progress within a piece; ends the work if all shall stop."""
        if self.stopped:
            raise _Stopped
        with self._changed:
            self._running[piece.start] = (piece.stop - piece.start) * done / max(1, total)
        self._news.put(None)

    def finish(self, piece: slice) -> None:
        """Take note of a complete piece."""
        with self._changed:
            del self._running[piece.start]
            self._done += piece.stop - piece.start
            self._changed.notify_all()
        self._news.put(None)

    def stop(self, error: BaseException) -> None:
        """Stop all devices; the first error stays."""
        self._errors.append(error)
        self.stopped = True
        self._news.put(None)

    def leave(self) -> None:
        """Take note that a device takes no more pieces."""
        self._left.append(None)
        self._news.put(None)

    def watch(self, progress: Progress | None, devices: int) -> None:
        """Report progress until all devices are done; raise their first error."""
        reported, alive = 0, True
        while alive:
            with suppress(Empty):
                self._news.get(timeout=_WAIT)
            alive = len(self._left) < devices
            done = int(self._done + sum(self._running.copy().values()))
            if progress is not None and not self.stopped and done > reported:
                progress(done, self.total)
            reported = max(done, reported)
        if self._errors:
            raise self._errors[0]
        assert self._done == self.total, "rows were left out"


_WAIT = 0.1  # seconds; Ctrl-C is noticed between two waits, on every system


def split_rows(
    devices: Sequence[str],
    total: int,
    work: Work,
    progress: Progress | None = None,
    *,
    every: bool = True,
) -> list[Share]:
    """Call ``work(device, rows, report)`` for pieces of all rows, on all devices at once.

    A device that does not open or has too little memory is an error, unless ``every`` is False and
    others can do its work.
    """
    pieces, deriving = _Pieces(total, len(devices), every), threading.RLock()
    shares: dict[str, Share] = {}

    def run(device: str) -> None:
        try:
            with calls_of_a_device(deriving), timed_call() as timer:
                rows = _take_pieces(device, pieces, work)
                shares[device] = timer.share(device, rows)
        except _Stopped:
            pass
        except BaseException as error:
            pieces.stop(error)
        finally:
            pieces.leave()

    with ThreadPool(len(devices)) as pool:
        try:
            for device in devices:
                pool.submit(run, device)
            pieces.watch(progress, len(devices))
        except BaseException as error:
            pieces.stop(error)  # the pool waits for the devices
            raise
    return [shares[device] for device in devices if device in shares]


def _take_pieces(device: str, pieces: _Pieces, work: Work) -> int:
    """Run piece after piece; return the rows that were done."""
    rows = 0
    while (piece := pieces.take()) is not None:

        def report(done: int, total: int, piece: slice = piece) -> None:
            pieces.report(piece, done, total)

        try:
            if rows == 0:
                open_device(device)
            work(device, piece, report)
        except KernelError:
            raise
        except (DeviceError, MemoryBudgetError):
            if not pieces.give_back(piece):
                raise
            break
        pieces.finish(piece)
        rows += piece.stop - piece.start
    return rows


# ---- methods ------------------------------------------------------------------------------------


def run_split(
    run: Callable[[Task], Answer], task: Task, devices: Sequence[str], *, every: bool = True
) -> tuple[Answer, list[Share]]:
    """Run a method that searches from each source, on all devices; return what each did, too."""
    values, predecessors = task.empty_values(), task.empty_predecessors()
    horizons, stopped = task.new_horizons(), []
    threads = max(1, task.threads // len(devices))

    def work(device: str, rows: slice, report: Progress) -> None:
        links = None if predecessors is None else predecessors[rows]
        answer = run(
            replace(
                task,
                sources=task.sources[rows],
                out=values[rows],
                out_predecessors=links,
                device=device,
                threads=threads,
                progress=report,
            )
        )
        _put(answer.whole_values, values[rows])
        if links is not None:
            _put(answer.whole_predecessors, links)
        if answer.horizons is not None:
            horizons[rows] = answer.horizons
            stopped.append(rows)

    shares = split_rows(devices, len(task.sources), work, task.progress, every=every)
    task.report(len(task.sources), len(task.sources))
    return Answer(values, predecessors, horizons if stopped else None), shares


def _put(found: Any, to: Array) -> None:
    """Copy rows, unless the method wrote them where they belong."""
    if found.ctypes.data != to.ctypes.data:
        to[...] = found
