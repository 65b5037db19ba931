"""Copies of bands of rows between a host matrix and the device.

Host threads copy rows between the matrix, or files, and page-locked staging buffers; the device
copies between those and its own memory, in streams of its own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from kleene.backends.common.closure_tiles import Tile
from kleene.backends.cuda.closure_bands import Visit
from kleene.backends.cuda.row_batches import start_copies, wait_all
from kleene.backends.cuda.runtime.interface import Device, Event
from kleene.backends.cuda.tuning import closure as tuning
from kleene.backends.task import Task
from kleene.system.threads import Future, ThreadPool

if TYPE_CHECKING:
    from kleene.backends.cuda.closure_kernels import DeviceRows
    from kleene.backends.cuda.closure_streamed import StreamedClosure

__all__ = ["HostBands", "HostMatrix", "HostTransfers", "StagingBuffer"]


class HostBands(Protocol):
    """Where bands come from and go to."""

    @property
    def like(self) -> Tile:
        """Rows of the right widths and types."""

    def load(self, threads: ThreadPool, first: int, to: Tile) -> list[Future[None]]:
        """Start to read rows, from the first on."""

    def save(self, threads: ThreadPool, first: int, rows: Tile) -> list[Future[None]]:
        """Start to write rows."""


class HostMatrix:
    """Bands of a matrix in memory, which is closed in place."""

    def __init__(self, like: Tile) -> None:
        self.like = like

    def load(self, threads: ThreadPool, first: int, to: Tile) -> list[Future[None]]:
        """Start to read rows, from the first on."""
        return self._copy(threads, to, self._rows(first, to))

    def save(self, threads: ThreadPool, first: int, rows: Tile) -> list[Future[None]]:
        """Start to write rows."""
        return self._copy(threads, self._rows(first, rows), rows)

    def _rows(self, first: int, like: Tile) -> Tile:
        return self.like.rows(range(first, first + len(like.values)))

    def _copy(self, threads: ThreadPool, to: Tile, source: Tile) -> list[Future[None]]:
        copies = start_copies(threads, to.values, source.values)
        if to.predecessors is not None and source.predecessors is not None:
            copies += start_copies(threads, to.predecessors, source.predecessors)
        return copies


class StagingBuffer:
    """Page-locked memory for a band, and the copies that still use it."""

    def __init__(self, device: Device, rows: int, like: Tile) -> None:
        values, links = like
        self.rows = Tile(
            device.pinned((rows, values.shape[1]), values.dtype),
            None if links is None else device.pinned((rows, links.shape[1]), links.dtype),
        )
        self.copied: Event | None = None
        self.copies: list[Future[None]] = []

    def wait(self) -> None:
        """Wait for all copies that use it."""
        if self.copied is not None:
            self.copied.synchronize()
            self.copied = None
        wait_all(self.copies)


class HostTransfers:
    """Moves bands between the matrix and the device, through staging buffers."""

    def __init__(
        self,
        engine: StreamedClosure,
        copy_threads: ThreadPool,
        bands: HostBands,
        visits: Sequence[Visit],
        task: Task,
    ) -> None:
        device, height, like = engine.device, engine.cut.height, bands.like
        self.visits = visits
        self._engine, self._threads, self._bands, self._task = engine, copy_threads, bands, task
        self._in = [StagingBuffer(device, height, like) for _ in range(tuning.STAGING_BUFFERS)]
        self._out = [StagingBuffer(device, height, like) for _ in range(tuning.STAGING_BUFFERS)]
        self._waiting = deque(visit for visit in self.visits if visit.enters)
        self._staged: deque[StagingBuffer] = deque()
        self._outgoing: deque[tuple[Visit, StagingBuffer, Event]] = deque()
        self._away = dict.fromkeys(range(engine.cut.bands), 0)  # 1 while a band is on the device
        self._pending: dict[int, list[Future[None]]] = {}
        self._total = sum(visit.leaves for visit in self.visits)
        self._done = 0

    def load(self, visit: Visit, buffer: DeviceRows) -> None:
        """Copy a band to the device."""
        while not self._staged:
            if not self._stage():
                self._drain()  # the band is still on its way back
        staging = self._staged.popleft()
        wait_all(staging.copies)
        self._engine.copy_in(buffer, self._part(visit.band, staging))
        staging.copied = self._engine.copied_in()
        self._in.append(staging)

    def prefetch(self) -> None:
        """Stage the next two bands."""
        while len(self._staged) < tuning.STAGING_BUFFERS - 1 and self._stage():
            pass

    def store(self, visit: Visit, buffer: DeviceRows) -> Event:
        """Copy a band from the device; return the event after which its buffer is free."""
        while len(self._outgoing) > tuning.STAGING_BUFFERS - 2:
            self._drain()
        staging = self._out.pop(0)
        staging.wait()
        self._engine.copy_out(buffer, self._part(visit.band, staging))
        copied = self._engine.copied_out()
        self._outgoing.append((visit, staging, copied))
        return copied

    def finish(self) -> None:
        """Wait until all bands are back in the matrix."""
        while self._outgoing:
            self._drain()
        for copies in self._pending.values():
            wait_all(copies)

    def report(self) -> None:
        """Report how many bands are back."""
        self._task.report(self._done, self._total)

    def _stage(self) -> bool:
        """Copy the next band to a staging buffer; False if there is none or it is not back yet."""
        if not self._waiting or self._away[self._waiting[0].band]:
            return False
        band = self._waiting.popleft().band
        self._away[band] = 1
        wait_all(self._pending.pop(band, []))
        staging = self._in.pop(0)
        staging.wait()
        height = self._engine.cut.height
        staging.copies = self._bands.load(self._threads, band * height, self._part(band, staging))
        self._staged.append(staging)
        return True

    def _drain(self) -> None:
        """Wait for the oldest outgoing band and copy it back to the matrix."""
        visit, staging, copied = self._outgoing.popleft()
        copied.synchronize()
        first = visit.band * self._engine.cut.height
        staging.copies = self._bands.save(self._threads, first, self._part(visit.band, staging))
        self._pending[visit.band] = staging.copies
        self._away[visit.band] = 0
        self._out.append(staging)
        self._done += 1
        if self._done < self._total:
            self.report()

    def _part(self, band: int, staging: StagingBuffer) -> Tile:
        """Return the rows of a staging buffer that a band takes: the last may have fewer."""
        height = self._engine.cut.height
        return staging.rows.top(min(height, self._engine.layout.n - band * height))
