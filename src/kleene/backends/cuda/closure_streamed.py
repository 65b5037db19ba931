"""Closures of matrices larger than the device memory, which stay on the host.

The matrix is split into bands of rows. The panel of a round is a run of consecutive bands that is
on the device during the round. A round

1. loads the bands of its panel, one after the other. The rows of a new band are relaxed through the
   vertices of the panel so far, the band is closed in itself, and the panel is relaxed through it:
   now all rows of the panel are closed over all of its vertices;
2. streams every other band through the device and relaxes it through the panel.

This is the order of ``kernels/closure_tiled.cu`` with blocks as large as the panel. A word copied
in and out is used once per vertex of the panel, so a larger panel means fewer copies: with a few
thousand rows the copies take less time than the computation and overlap with it.

Bands are whole rows, so a band brings its own columns of the panel's vertices, as they were before
the round. Copies in, computation and copies out overlap, each on streams of its own; host threads
copy rows between the matrix, which may be in a file, and page-locked staging buffers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from kleene.backends.cuda.closure_tiled import _BLOCK, _THREADS, Kernels, TileLayout
from kleene.backends.cuda.row_batches import copy_threads, start_copies, wait_all
from kleene.backends.cuda.runtime.device import Array, Device, Event, HostArray, ceil_div
from kleene.backends.task import Task
from kleene.errors import MemoryBudgetError
from kleene.system.formatting import format_bytes
from kleene.system.threads import ThreadPool

__all__ = ["BandSplit", "StreamedClosure", "close"]

_TILES = 512  # per band: enough for all multiprocessors, since two bands are processed at once
_SLOTS = 3  # staging buffers per direction: one filled, one copied, one between


def close(
    device: Device,
    layout: TileLayout,
    task: Task,
    matrix: HostArray,
    predecessors: HostArray | None,
) -> bool:
    """Close a host matrix in place; False on a negative cycle."""
    free = device.free_memory()
    memory = free - min(free // 16, 2**26)  # allocations are rounded up
    while (cut := BandSplit.fit(layout, memory)) is not None:
        try:
            engine = StreamedClosure(device, layout, cut)
        except MemoryBudgetError:  # another process has allocated some
            memory = memory * 3 // 4
            continue
        return engine.run(task, matrix, predecessors)
    raise MemoryBudgetError(
        f"a closure of {layout.n:,} vertices does not fit into {device.name} even in pieces: "
        f"{format_bytes(free)} are free there; device='cpu' uses the memory of the host"
    )


# ---- order of the bands -------------------------------------------------------------------------


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

        >>> kind = np.dtype("f4")
        >>> layout = TileLayout("KL_MIN_PLUS_LENGTH", kind, kind, 1, 32768, False, False)
        >>> BandSplit.fit(layout, 2**30)
        BandSplit(height=256, bands=128, panel=26, buffers=4)
        """
        item = layout.word.itemsize
        row = layout.words * (item + (4 if layout.paths else 0))
        memory -= _BLOCK * _BLOCK * item + 2**12
        enough = ceil_div(_TILES, layout.words // layout.tile_words)
        blocks = max(1, min(enough, memory // (16 * _BLOCK * row), layout.rows // _BLOCK))
        height = blocks * _BLOCK
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
            panel = range(first, min(first + self.panel, self.bands))
            yield from (Visit("join", band, first) for band in panel)
            # The next panel passes first, and is back on the host when its round begins. Bands
            # that leave need no computation: they go between bands that do.
            others = [*range(panel.stop, self.bands), *range(first)]
            left = 0
            for passed, band in enumerate(others, 1):
                yield Visit("pass", band, first)
                due = passed * len(panel) // len(others)
                yield from (Visit("leave", band, first) for band in panel[left:due])
                left = due
            yield from (Visit("leave", band, first) for band in panel[left:])


# ---- the engine ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class DeviceRows:
    """Rows on the device, with optional predecessors."""

    words: Array
    predecessors: Array | None

    def __getitem__(self, key: slice) -> DeviceRows:
        """Return a slice of the rows."""
        return DeviceRows(
            self.words[key], None if self.predecessors is None else self.predecessors[key]
        )


@dataclass(frozen=True)
class HostRows:
    """Rows on the host."""

    matrix: HostArray
    predecessors: HostArray | None

    def __getitem__(self, key: slice) -> HostRows:
        """Return a slice of the rows."""
        return HostRows(
            self.matrix[key], None if self.predecessors is None else self.predecessors[key]
        )


class StagingBuffer:
    """Page-locked memory for a band, and the copies that still use it."""

    def __init__(self, device: Device, rows: int, like: HostRows) -> None:
        matrix, predecessors = like.matrix, like.predecessors
        self.rows = HostRows(
            device.pinned((rows, matrix.shape[1]), matrix.dtype),
            None
            if predecessors is None
            else device.pinned((rows, predecessors.shape[1]), predecessors.dtype),
        )
        self.copied: Event | None = None
        self.copies: list[Future[None]] = []

    def wait(self) -> None:
        """Wait for all copies that use it."""
        if self.copied is not None:
            self.copied.synchronize()
            self.copied = None
        wait_all(self.copies)


class StreamedClosure:
    """A panel and some bands on a device, through which a host matrix is streamed."""

    def __init__(self, device: Device, layout: TileLayout, cut: BandSplit) -> None:
        self.device, self.layout, self.cut = device, layout, cut
        self.kernels = Kernels.of(device, layout)
        self._panel = self._rows(cut.panel * cut.height, "panel")
        self._buffers = [self._rows(cut.height, "band") for _ in range(cut.buffers)]
        size = cut.panel * cut.height**2
        self._left = [device.empty(size, layout.word, "left") for _ in range(2)]
        self._diagonal = device.empty((_BLOCK, _BLOCK), layout.word, "diagonal")
        self._cycle = device.zeros(1, np.int32, "cycle")
        # Bands alternate between two streams: one fills the device while the other drains.
        self._work = [device.stream(), device.stream()]
        self._inward, self._outward = device.stream(urgent=True), device.stream(urgent=True)
        self._free: list[Event | None] = [None] * cut.buffers

    def _rows(self, rows: int, name: str) -> DeviceRows:
        shape, layout = (rows, self.layout.words), self.layout
        words = self.device.empty(shape, layout.word, name)
        predecessors = (
            self.device.empty(shape, np.int32, f"{name} predecessors") if layout.paths else None
        )
        return DeviceRows(words, predecessors)

    def run(self, task: Task, matrix: HostArray, predecessors: HostArray | None) -> bool:
        """Close the matrix; False on a negative cycle, which leaves it unusable."""
        # Even after an error nothing may use memory that is freed then.
        with copy_threads(task) as threads:
            try:
                return self._run(HostTransfers(self, threads, HostRows(matrix, predecessors), task))
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
                    self.device.copy(found, self._cycle, work)
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
        self._transpose(rows, vertex, left, lane)
        self._multiply(rows, closed, left, lane)

    def _transpose(self, rows: DeviceRows, vertex: int, left: Array, lane: int) -> None:
        """Transpose columns of some rows into ``left``."""
        depth, high = left.shape
        self.kernels.columns.launch(
            (high // 32, depth // 32),
            (32, 8),
            (rows.words, rows.words.pitch, vertex, left, left.pitch),
            stream=self._work[lane],
        )

    def _multiply(
        self, rows: DeviceRows, closed: DeviceRows, left: Array, lane: int, skip: int | None = None
    ) -> None:
        """Launch the product for all blocks of rows, or all but ``skip``."""
        layout = self.layout
        blocks = rows.words.shape[0] // _BLOCK - (0 if skip is None else 1)
        columns = layout.words // layout.tile_words
        if blocks == 0:
            return
        self.kernels.product.launch(
            (blocks * columns,),
            (_THREADS,),
            (
                rows.words, rows.predecessors, rows.words.pitch, left, left.pitch, closed.words,
                closed.predecessors, closed.words.pitch, left.shape[0], 0, columns,
                -1 if skip is None else skip, 0, 0, self._cycle,
            ),
            shared=layout.shared,
            stream=self._work[lane],
        )  # fmt: skip

    def _close(self, own: DeviceRows, vertex: int) -> None:
        """Close the rows of some vertices over these vertices, block by block."""
        kernels, stream, rows = self.kernels, self._work[0], own.words.shape[0]
        left = self._left[0][: _BLOCK * rows].reshape(_BLOCK, rows)
        for block in range(rows // _BLOCK):
            first = block * _BLOCK
            part = own[first : first + _BLOCK]
            self._transpose(own, vertex + first, left, 0)
            kernels.diagonal.launch(
                (1,),
                (_THREADS,),
                (left, left.pitch, first, self._diagonal, self._cycle),
                stream=stream,
            )
            if kernels.strips is None:
                self._multiply(part, part, self._diagonal, 0)
            else:
                kernels.strips.launch(
                    (self.layout.words // self.layout.tile_words,),
                    (_THREADS,),
                    (
                        part.words, part.predecessors, part.words.pitch, 0, vertex + first,
                        self._diagonal, self._cycle,
                    ),
                    stream=stream,
                )  # fmt: skip
            self._multiply(own, part, left, 0, skip=block)

    # ---- copies ---------------------------------------------------------------------------------

    def copy_in(self, buffer: DeviceRows, source: HostRows) -> None:
        """Copy host rows into a buffer and pad them with no_path."""
        device, stream = self.device, self._inward
        view = self._host_view(buffer, source)
        if self.layout.reordered:
            device.fill(buffer.words, 0xFF, stream)  # below all numbers after reordering
        elif view.nbytes < buffer.words.nbytes:
            self._launch_over(self.kernels.clear, buffer, stream)
        device.copy(view, source.matrix, stream)
        if self.layout.reordered:
            self._launch_over(self.kernels.reorder, buffer, stream)
        if buffer.predecessors is not None and source.predecessors is not None:
            device.fill(buffer.predecessors, 0xFF, stream)
            device.copy(
                buffer.predecessors[: len(source.predecessors), : self.layout.n],
                source.predecessors,
                stream,
            )

    def copy_out(self, buffer: DeviceRows, to: HostRows) -> None:
        """Copy rows to the host."""
        device, stream = self.device, self._outward
        if self.layout.reordered:
            self._launch_over(self.kernels.reorder, buffer, stream)
        device.copy(to.matrix, self._host_view(buffer, to), stream)
        if buffer.predecessors is not None and to.predecessors is not None:
            device.copy(
                to.predecessors,
                buffer.predecessors[: len(to.predecessors), : self.layout.n],
                stream,
            )

    def copied_in(self) -> Event:
        """Record an event after the copies to the device."""
        event: Event = self._inward.record()
        return event

    def copied_out(self) -> Event:
        """Record an event after the copies to the host."""
        event: Event = self._outward.record()
        return event

    def _host_view(self, buffer: DeviceRows, host: HostRows) -> Array:
        """Return the words of host rows in a buffer, without padding and in their type."""
        flat = buffer.words.view(host.matrix.dtype)
        words = flat.reshape(self.cut.height, flat.size // self.cut.height)
        return words[: host.matrix.shape[0], : host.matrix.shape[1]]

    def _launch_over(self, kernel: Any, buffer: DeviceRows, stream: Any) -> None:
        blocks = min(ceil_div(buffer.words.size, _THREADS), 8 * self.device.multiprocessors)
        kernel.launch((blocks,), (_THREADS,), (buffer.words, buffer.words.size), stream=stream)


# ---- host side ----------------------------------------------------------------------------------


class HostTransfers:
    """Moves bands between the matrix and the device, through staging buffers."""

    def __init__(
        self, engine: StreamedClosure, copy_threads: ThreadPool, rows: HostRows, task: Task
    ) -> None:
        device, height = engine.device, engine.cut.height
        self.visits = list(engine.cut.visits())
        self._engine, self._threads, self._rows, self._task = engine, copy_threads, rows, task
        self._in = [StagingBuffer(device, height, rows) for _ in range(_SLOTS)]
        self._out = [StagingBuffer(device, height, rows) for _ in range(_SLOTS)]
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
        self._engine.copy_in(buffer, staging.rows[: len(self._part(visit.band).matrix)])
        staging.copied = self._engine.copied_in()
        self._in.append(staging)

    def prefetch(self) -> None:
        """Stage the next two bands."""
        while len(self._staged) < _SLOTS - 1 and self._stage():
            pass

    def store(self, visit: Visit, buffer: DeviceRows) -> Event:
        """Copy a band from the device; return the event after which its buffer is free."""
        while len(self._outgoing) > _SLOTS - 2:
            self._drain()
        staging = self._out.pop(0)
        staging.wait()
        self._engine.copy_out(buffer, staging.rows[: len(self._part(visit.band).matrix)])
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
        part = self._part(band)
        self._start_copies(staging, staging.rows[: len(part.matrix)], part)
        self._staged.append(staging)
        return True

    def _drain(self) -> None:
        """Wait for the oldest outgoing band and copy it back to the matrix."""
        visit, staging, copied = self._outgoing.popleft()
        copied.synchronize()
        part = self._part(visit.band)
        self._start_copies(staging, part, staging.rows[: len(part.matrix)])
        self._pending[visit.band] = staging.copies
        self._away[visit.band] = 0
        self._out.append(staging)
        self._done += 1
        if self._done < self._total:
            self.report()

    def _part(self, band: int) -> HostRows:
        height = self._engine.cut.height
        return self._rows[band * height : (band + 1) * height]

    def _start_copies(self, staging: StagingBuffer, to: HostRows, source: HostRows) -> None:
        """Start copies by the host threads."""
        staging.copies = start_copies(self._threads, to.matrix, source.matrix)
        if to.predecessors is not None and source.predecessors is not None:
            staging.copies += start_copies(self._threads, to.predecessors, source.predecessors)
