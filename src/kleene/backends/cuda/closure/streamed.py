"""Closures of matrices that stay on the host, such as those larger than the device memory.

The matrix is split into bands of rows. The panel of a round is a run of consecutive bands that is
on the device during the round. A round

1. loads the bands of its panel, one after the other. The rows of a new band are relaxed through the
   vertices of the panel so far, the band is closed in itself, and the panel is relaxed through it:
   now all rows of the panel are closed over all of its vertices;
2. streams every other band through the device and relaxes it through the panel.

This is the order of ``kernels/closure/closure_tiled.cu`` with blocks as large as the panel. A word
copied in and out is used once per vertex of the panel, so a larger panel means fewer copies: with a
few thousand rows the copies take less time than the computation and overlap with it.

Bands are whole rows, so a band brings its own columns of the panel's vertices, as they were before
the round. Copies in, computation and copies out overlap, each on streams of its own; host threads
copy rows between the matrix, which may be in a file, and page-locked staging buffers. Rounds of a
matrix in files are in ``closure/rounds``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from kleene.backends.common.tiles import Tile
from kleene.backends.cuda.closure.kernels import (
    BLOCK,
    ClosureKernels,
    DeviceRows,
    TileLayout,
    TileSet,
)
from kleene.backends.cuda.rows import copy_threads, start_copies, wait_all
from kleene.backends.cuda.runtime.interface import ON_THE_HOST, Device, Event, HostArray, ceil_div
from kleene.backends.cuda.tuning import closure as tuning
from kleene.backends.task import Task
from kleene.errors import MemoryBudgetError
from kleene.system.formatting import format_bytes
from kleene.system.threads import Future, ThreadPool

if TYPE_CHECKING:
    from kleene.backends.cuda.closure.kernels import DeviceRows

__all__ = [
    "BandSplit",
    "HostBands",
    "HostMatrix",
    "HostTransfers",
    "StagingBuffer",
    "StreamedClosure",
    "Visit",
    "close",
    "open_streamed",
]


def close(
    device: Device,
    layout: TileLayout,
    task: Task,
    matrix: HostArray,
    predecessors: HostArray | None,
) -> bool:
    """Close a host matrix in place; False on a negative cycle."""
    return open_streamed(device, layout).run(task, matrix, predecessors)


def open_streamed(device: Device, layout: TileLayout) -> StreamedClosure:
    """Return an engine with bands that suit the device memory."""
    free = device.free_memory()
    memory = free - min(free // 16, 2**26)  # allocations are rounded up
    memory = min(memory, int(tuning.STREAMED_SHARE * layout.bytes))
    while (cut := BandSplit.fit(layout, memory)) is not None:
        try:
            return StreamedClosure(device, layout, cut)
        except MemoryBudgetError:  # another process has allocated some
            memory = memory * 3 // 4
    raise MemoryBudgetError(
        f"a closure of {layout.n:,} vertices does not fit into {device.name} even in pieces: "
        f"{format_bytes(free)} are free there",
        advice=[ON_THE_HOST],
        lead="; ",
    )


# ---- the engine ---------------------------------------------------------------------------------


class StreamedClosure:
    """A panel and some bands on a device, through which a host matrix is streamed."""

    def __init__(self, device: Device, layout: TileLayout, cut: BandSplit) -> None:
        self.device, self.layout, self.cut = device, layout, cut
        self.kernels = ClosureKernels(device, layout)
        self._panel = DeviceRows.empty(device, layout, cut.panel * cut.height, "panel")
        self._buffers = [
            DeviceRows.empty(device, layout, cut.height, "band") for _ in range(cut.buffers)
        ]
        size = cut.panel * cut.height**2
        self._left = [device.empty(size, layout.word, "left") for _ in range(2)]
        # Bands alternate between two streams: one fills the device while the other drains.
        self._work = [device.stream(), device.stream()]
        self._inward, self._outward = device.stream(urgent=True), device.stream(urgent=True)
        self._free: list[Event | None] = [None] * cut.buffers

    def run(self, task: Task, matrix: HostArray, predecessors: HostArray | None) -> bool:
        """Close the matrix; False on a negative cycle, which leaves it unusable."""
        bands = HostMatrix(Tile(matrix, predecessors))
        return self.run_visits(task, bands, list(self.cut.visits()))

    def run_visits(self, task: Task, bands: HostBands, visits: Sequence[Visit]) -> bool:
        """Run the visits of whole rounds; False on a negative cycle."""
        # Even after an error nothing may use memory that is freed then.
        with copy_threads(task.threads) as threads:
            try:
                return self._run(HostTransfers(self, threads, bands, visits, task))
            finally:
                self.device.synchronize()

    def _run(self, transfers: HostTransfers) -> bool:
        found = self.device.pinned(1, np.int32)
        found[0] = 0
        began = self.device.main.record()
        for stream in (*self._work, self._inward, self._outward):
            stream.wait(began)
        passes = count()
        for at, visit in enumerate(transfers.visits):
            buffer = at % self.cut.buffers
            lane = next(passes) % 2 if visit.kind == "pass" else 0
            work = self._work[lane]
            if visit.enters:
                self._wait(self._inward, buffer)
                transfers.load(visit, self._buffers[buffer])
                work.wait(self._inward.record())
            else:
                self._wait(work, buffer)
            if visit.kind == "join":
                self._join(visit, buffer)
                if visit.band + 1 == min(visit.first + self.cut.panel, self.cut.bands):
                    self.device.copy(found, self.kernels.cycle, work)
                    self._work[1].wait(work.record())
            else:
                self._process(visit, buffer, lane)
            transfers.prefetch()
            if visit.leaves:
                self._outward.wait(work.record())
                self._free[buffer] = transfers.store(visit, self._buffers[buffer])
            if found[0]:  # as of the last band copied out
                return False
        transfers.finish()
        if found[0]:
            return False
        transfers.report()
        return True

    def _wait(self, stream: Any, buffer: int) -> None:
        """Make a stream wait until a buffer is free."""
        free = self._free[buffer]
        if free is not None:
            stream.wait(free)

    # ---- computation ----------------------------------------------------------------------------

    def rows_of(self, band: int) -> int:
        """Return the rows of a band, in whole blocks."""
        return min(self.cut.height, self.layout.rows - band * self.cut.height)

    def _join(self, visit: Visit, buffer: int) -> None:
        """Add a band to the panel."""
        cut, rows = self.cut, self.rows_of(visit.band)
        if visit.band == visit.first:  # of a new panel: wait until the old one is unused
            self._work[0].wait(self._work[1].record())
        top = (visit.band - visit.first) * cut.height
        panel, own = self._panel[:top], self._panel[top : top + rows]
        self._copy(own, self._buffers[buffer][:rows], self._work[0])
        self._free[buffer] = self._work[0].record()
        vertex = visit.band * cut.height
        if top:
            self._relax_through(own, panel, visit.first * cut.height, 0)
        self._close(own, vertex)
        if top:
            self._relax_through(panel, own, vertex, 0)

    def _process(self, visit: Visit, buffer: int, lane: int) -> None:
        """Copy a band out of the panel, or relax a passing one through it."""
        cut, rows = self.cut, self.rows_of(visit.band)
        band = self._buffers[buffer][:rows]
        if visit.kind == "leave":
            top = (visit.band - visit.first) * cut.height
            self._copy(band, self._panel[top : top + rows], self._work[lane])
            return
        depth = min(cut.panel * cut.height, self.layout.rows - visit.first * cut.height)
        self._relax_through(band, self._panel[:depth], visit.first * cut.height, lane)

    def _copy(self, to: DeviceRows, source: DeviceRows, stream: Any) -> None:
        self.device.copy(to.words, source.words, stream)
        if to.predecessors is not None and source.predecessors is not None:
            self.device.copy(to.predecessors, source.predecessors, stream)

    def _relax_through(self, rows: DeviceRows, closed: DeviceRows, vertex: int, lane: int) -> None:
        """Relax rows through the vertices of closed rows, the first of which is ``vertex``."""
        high, depth = rows.words.shape[0], closed.words.shape[0]
        left = self._left[lane][: high * depth].reshape(depth, high)
        self.kernels.transpose(rows, vertex, left, self._work[lane])
        tiles = TileSet.without(self.layout.tile_columns, range(0))
        self.kernels.multiply(rows, closed, left, tiles, self._work[lane])

    def _close(self, own: DeviceRows, vertex: int) -> None:
        """Close the rows of some vertices over these vertices."""
        rows = own.words.shape[0]
        left = self._left[0][: BLOCK * rows].reshape(BLOCK, rows)
        self.kernels.transpose(own, vertex, left, self._work[0])
        self.kernels.close_rows(own, vertex, left, 0, left, self._work[0])

    # ---- copies ---------------------------------------------------------------------------------

    def copy_in(self, buffer: DeviceRows, source: Tile) -> None:
        """Copy host rows into a buffer and pad them with no_path."""
        copy = partial(self.device.copy, stream=self._inward)
        self.kernels.to_device(buffer, source, copy, self._inward)

    def copy_out(self, buffer: DeviceRows, to: Tile) -> None:
        """Copy rows to the host."""
        copy = partial(self.device.copy, stream=self._outward)
        self.kernels.to_host(to, buffer, copy, self._outward)

    def copied_in(self) -> Event:
        """Record an event after the copies to the device."""
        event: Event = self._inward.record()
        return event

    def copied_out(self) -> Event:
        """Record an event after the copies to the host."""
        event: Event = self._outward.record()
        return event


# ---- bands of rows, and their order -------------------------------------------------------------
# How a matrix larger than the device memory is split into bands of rows, and their order.
#
# The sizes of bands and panels, and the visits of bands to the device.


class Visit(NamedTuple):
    """A visit of a band to the device: it joins the panel, leaves it, or passes through."""

    kind: str
    band: int
    first: int  # first band of the panel

    @property
    def enters(self) -> bool:
        """Whether it is copied from the host."""
        return self.kind != "leave"

    @property
    def leaves(self) -> bool:
        """Whether it is copied to the host."""
        return self.kind != "join"


class BandSplit(NamedTuple):
    """How a matrix is split into bands."""

    height: int  # rows of a band
    bands: int
    panel: int  # bands of a panel
    buffers: int  # for bands in transit

    @classmethod
    def fit(cls, layout: TileLayout, memory: int) -> BandSplit | None:
        """Return the split for so many bytes of device memory; None if they are too few.

        >>> from numpy import dtype
        >>> kind = dtype("f4")
        >>> layout = TileLayout("KL_MIN_PLUS_LENGTH", kind, kind, 1, 32768, False, False)
        >>> BandSplit.fit(layout, 2**30)
        BandSplit(height=256, bands=128, panel=26, buffers=4)
        """
        item = layout.word.itemsize
        row = layout.words * (item + (4 if layout.paths else 0))
        memory -= BLOCK * BLOCK * item + 2**12
        enough = ceil_div(tuning.BAND_TILES, layout.tile_columns)
        blocks = max(1, min(enough, memory // (16 * BLOCK * row), layout.rows // BLOCK))
        height = blocks * BLOCK
        for buffers, least in ((4, 8), (3, 4), (2, 1)):
            # Each band of the panel also needs two copies of its columns in another band.
            panel = (memory - buffers * height * row) // (height * (row + 2 * height * item))
            if panel >= least:
                bands = ceil_div(layout.rows, height)
                return cls(height, bands, ceil_div(bands, ceil_div(bands, panel)), buffers)
        return None

    def visits(self) -> Iterator[Visit]:
        """Yield all visits in order."""
        for first in range(0, self.bands, self.panel):
            yield from self.round_visits(first)

    def round_visits(self, first: int) -> Iterator[Visit]:
        """Yield the visits of the round whose panel begins with this band."""
        panel = range(first, min(first + self.panel, self.bands))
        yield from (Visit("join", band, first) for band in panel)
        # The next panel passes first, and is back on the host when its round begins. Bands that
        # leave need no computation: they go between bands that do.
        others = [*range(panel.stop, self.bands), *range(first)]
        left = 0
        for passed, band in enumerate(others, 1):
            yield Visit("pass", band, first)
            due = passed * len(panel) // len(others)
            yield from (Visit("leave", band, first) for band in panel[left:due])
            left = due
        yield from (Visit("leave", band, first) for band in panel[left:])


# ---- Copies of bands of rows between a host matrix and the device -------------------------------
# Host threads copy rows between the matrix, or files, and page-locked staging buffers; the device
# copies between those and its own memory, in streams of its own.


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
