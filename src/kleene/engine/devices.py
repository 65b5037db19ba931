"""Many sources on several devices: each device fills its rows of one answer.

A thread for each device takes a piece of the sources, runs the method on it, and takes the next.
Pieces become smaller towards the end, so that all devices end at about the same time, but not so
small that a batch of searches is not full (``pieces.shrinking``). The graph is copied to each
device once.

The calling thread waits, and reports progress. The first error stops all devices, at the end of
the batch that they are in, and is raised once they have stopped; so does Ctrl-C. That may come at
any moment of the calling thread, which therefore takes no lock that the threads of the devices do.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from kleene.backends.answer import Answer
from kleene.backends.devices import calls_of, meter, open_device
from kleene.backends.task import Array, Progress, Task
from kleene.engine.pieces import Piece, shrinking
from kleene.errors import DeviceError, KernelError, MemoryBudgetError
from kleene.system.threads import ThreadPool

if TYPE_CHECKING:
    from kleene.backends.cuda.runtime.timing import Share
    from kleene.engine.call import Sink
    from kleene.engine.work import Work
    from kleene.planning.plan import Plan

__all__ = ["on_devices", "run_split", "share_pieces"]


class _Stopped(BaseException):
    """Ends the work of a device after an error elsewhere."""


#: Computes a piece on a device.
Step = Callable[[str, Piece, Progress], None]


# ---- pieces -------------------------------------------------------------------------------------


class _Pieces:
    """The pieces that no device has taken, and how far the others are."""

    def __init__(self, pieces: Sequence[Piece], devices: int, every: bool) -> None:
        self.total = sum(piece.stop - piece.first for piece in pieces)
        self._devices, self._every = devices, every  # those that take pieces
        self._pieces = deque(pieces)
        self._done = 0
        self._running: dict[int, float] = {}  # rows of the running pieces, by their first
        self._changed = threading.Condition()  # of the threads of the devices
        # Wakes the calling thread; True: a device takes no more pieces.
        self._news: SimpleQueue[bool] = SimpleQueue()
        self._errors: list[BaseException] = []

    @property
    def stopped(self) -> bool:
        """Whether all shall stop."""
        return bool(self._errors)

    def take(self) -> Piece | None:
        """Return the next piece, None if there is none or all shall stop."""
        with self._changed:
            while not self.stopped:
                if self._pieces:
                    piece = self._pieces.popleft()
                    self._running[piece.first] = 0.0
                    return piece
                if self._every or not self._running:
                    return None
                self._changed.wait(_WAIT)  # another device may give its piece back
            return None

    def give_back(self, piece: Piece) -> bool:
        """Leave a piece to the other devices; False if there are none.

        The others are still there: a device waits for pieces as long as one is running.
        """
        with self._changed:
            if self._every or self._devices == 1:
                return False
            del self._running[piece.first]
            self._pieces.appendleft(piece)
            self._devices -= 1
            self._changed.notify_all()
            return True

    def report(self, piece: Piece, done: int, total: int) -> None:
        """Take note of progress within a piece; ends the work if all shall stop."""
        if self.stopped:
            raise _Stopped
        with self._changed:
            self._running[piece.first] = (piece.stop - piece.first) * done / max(1, total)
        self._news.put(False)

    def finish(self, piece: Piece) -> None:
        """Take note of a complete piece."""
        with self._changed:
            del self._running[piece.first]
            self._done += piece.stop - piece.first
            self._changed.notify_all()
        self._news.put(False)

    def stop(self, error: BaseException) -> None:
        """Stop all devices; the first error stays."""
        self._errors.append(error)
        self._news.put(False)

    def leave(self) -> None:
        """Take note that a device takes no more pieces."""
        self._news.put(True)

    def watch(self, progress: Progress | None, devices: int) -> None:
        """Report progress until all devices are done; raise their first error."""
        reported = left = 0
        while left < devices:
            with suppress(Empty):
                left += self._news.get(timeout=_WAIT)
            done = int(self._done + sum(self._running.copy().values()))
            if progress is not None and not self.stopped and done > reported:
                progress(done, self.total)
            reported = max(done, reported)
        if self._errors:
            raise self._errors[0]
        assert self._done == self.total, "rows were left out"


_WAIT = 0.1  # seconds; Ctrl-C is noticed between two waits, on every system


def share_pieces(
    devices: Sequence[str],
    pieces: Sequence[Piece],
    step: Step,
    progress: Progress | None = None,
    *,
    every: bool = True,
) -> list[Share]:
    """Call ``step(device, piece, report)`` for all pieces, on all devices at once.

    A device that does not open or has too little memory is an error, unless ``every`` is False and
    others can do its work. Return what each did, which the timer of the call learns, too.
    """
    left, deriving = _Pieces(pieces, len(devices), every), threading.RLock()
    found: dict[str, Share] = {}

    def run(device: str) -> None:
        try:
            with calls_of(deriving) as timer:
                rows = _take_pieces(device, left, step)
                found[device] = timer.share(device, rows)
        except _Stopped:
            pass
        except BaseException as error:
            left.stop(error)
        finally:
            left.leave()

    with ThreadPool(len(devices)) as pool:
        try:
            for device in devices:
                pool.submit(run, device)
            left.watch(progress, len(devices))
        except BaseException as error:
            left.stop(error)  # the pool waits for the devices
            raise
    shares = [found[device] for device in devices if device in found]
    with meter() as timer:
        timer.add_shares(shares)
    return shares


def _take_pieces(device: str, pieces: _Pieces, step: Step) -> int:
    """Run piece after piece; return the rows that were done."""
    rows = 0
    while (piece := pieces.take()) is not None:

        def report(done: int, total: int, piece: Piece = piece) -> None:
            pieces.report(piece, done, total)

        try:
            if rows == 0:
                open_device(device)
            step(device, piece, report)
        except KernelError:
            raise
        except (DeviceError, MemoryBudgetError):
            if not pieces.give_back(piece):
                raise
            break
        pieces.finish(piece)
        rows += piece.stop - piece.first
    return rows


# ---- pieces that are a device's own -------------------------------------------------------------


def on_devices(work: Work, sink: Sink, report: Progress | None) -> Plan:
    """Let each device of the plan compute a piece at a time: a runner of the engine."""
    recording = threading.Lock()  # of the threads of the devices

    def one(device: str, piece: Piece, told: Progress) -> None:
        receipt = work.alone(piece, device, told)
        with recording:
            sink.record(piece, receipt)

    every = bool(work.call.ask.where.devices)
    share_pieces(work.plan.devices, work.pieces, one, report, every=every)
    return work.plan


# ---- rows of one piece --------------------------------------------------------------------------


def run_split(
    run: Callable[[Task], Answer], devices: Sequence[str], every: bool, task: Task
) -> Answer:
    """Run a method that searches from each source, on all devices."""
    values, predecessors = task.empty_values(), task.empty_predecessors()
    horizons, stopped = task.new_horizons(), []
    threads = max(1, task.threads // len(devices))

    def step(device: str, piece: Piece, report: Progress) -> None:
        rows = slice(piece.first, piece.stop)
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

    total = len(task.sources)
    share_pieces(devices, shrinking(total, len(devices)), step, task.progress, every=every)
    task.report(total, total)
    return Answer(values, predecessors, horizons if stopped else None)


def _put(found: Any, to: Array) -> None:
    """Copy rows, unless the method wrote them where they belong."""
    if found.ctypes.data != to.ctypes.data:
        to[...] = found
