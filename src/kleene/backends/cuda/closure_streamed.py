"""Closures of matrices that stay on the host, such as those larger than the device memory.

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
copy rows between the matrix, which may be in a file, and page-locked staging buffers. Rounds of a
matrix in files are in ``closure_rounds``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import count
from typing import Any

import numpy as np

from kleene.backends.common.closure_tiles import Tile
from kleene.backends.cuda.closure_bands import BandSplit, Visit
from kleene.backends.cuda.closure_kernels import ClosureKernels, DeviceRows, TileSet
from kleene.backends.cuda.closure_layout import BLOCK, TileLayout
from kleene.backends.cuda.closure_transfers import HostBands, HostMatrix, HostTransfers
from kleene.backends.cuda.row_batches import copy_threads
from kleene.backends.cuda.runtime.interface import ON_THE_HOST, Device, Event, HostArray
from kleene.backends.cuda.tuning import closure as tuning
from kleene.backends.task import Task
from kleene.errors import MemoryBudgetError
from kleene.system.formatting import format_bytes

__all__ = ["StreamedClosure", "close", "open_streamed"]


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
