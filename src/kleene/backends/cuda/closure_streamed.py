"""Closures of matrices that the memory of a device does not hold: they stay on the host.

The matrix is cut into bands of rows. Some bands in a row are the panel of a round, which is on the
device while the round lasts. A round

1. takes in the bands of its panel one after the other. A band that joins goes through those that
   are there (its rows may take paths through their vertices), is closed in itself, and those that
   are there go through it: then the rows of all of them are closed over all of their vertices;
2. lets every other band pass: it goes through the panel, and out again.

This is the order of ``kernels/dense_tiled.cu`` with blocks as large as the panel. A word that
comes and goes is used once for each vertex of the panel. So the larger the panel, the less there
is to copy: with a few thousand rows copies take less time than the work, and hide behind it.

Whole rows come, so a band brings its own columns of the panel's vertices, as they were before the
round. Three things go on at once: bands are brought in, are worked on, are taken out, each on
streams of its own; and threads of the host carry rows between the matrix, which may be in a file,
and memory that the device can reach by itself.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from kleene.backends.cuda.closure_tiled import _BLOCK, _THREADS, Kernels, Layout
from kleene.backends.cuda.row_batches import carriers, carry, finish
from kleene.backends.cuda.runtime.device import Array, Device, Event, HostArray, ceil_div
from kleene.backends.task import Task
from kleene.errors import MemoryBudgetError
from kleene.system.formatting import format_bytes

__all__ = ["Cut", "Streamer", "close"]

_TILES = 512  # in a band: enough for all multiprocessors, since two bands pass at once
_SLOTS = 3  # bands of host memory for each direction: filled, copied, and one between


def close(
    device: Device,
    layout: Layout,
    task: Task,
    matrix: HostArray,
    last: HostArray | None,
) -> bool:
    """Close a host's matrix in place; False if there is a negative cycle."""
    free = device.free_memory()
    memory = free - min(free // 16, 2**26)  # devices round up what one takes
    while (cut := Cut.fit(layout, memory)) is not None:
        try:
            streamer = Streamer(device, layout, cut)
        except MemoryBudgetError:  # somebody else has taken some
            memory = memory * 3 // 4
            continue
        return streamer.run(task, matrix, last)
    raise MemoryBudgetError(
        f"a closure of {layout.n:,} vertices does not fit into {device.name} even in pieces: "
        f"{format_bytes(free)} are free there; device='cpu' uses the memory of the host"
    )


# ---- what comes when ----------------------------------------------------------------------------


class Visit(NamedTuple):
    """A band on the device: it joins the panel, leaves it, or passes by."""

    kind: str
    band: int
    first: int  # band of the panel

    @property
    def comes(self) -> bool:
        """Is it brought from the host?"""
        return self.kind != "leave"

    @property
    def goes(self) -> bool:
        """Is it taken to the host?"""
        return self.kind != "join"


class Cut(NamedTuple):
    """How a matrix is cut into bands."""

    height: int  # rows of a band
    bands: int
    panel: int  # bands of a panel
    buffers: int  # for bands that come and go

    @classmethod
    def fit(cls, layout: Layout, memory: int) -> Cut | None:
        """Choose for a device with so many bytes; None if they are too few.

        >>> layout = Layout("KL_MIN_PLUS_LENGTH", np.dtype("f4"), np.dtype("f4"), 1, 32768, False,
        ...                 False)
        >>> Cut.fit(layout, 2**30)
        Cut(height=256, bands=128, panel=26, buffers=4)
        """
        item = layout.word.itemsize
        row = layout.words * (item + (4 if layout.paths else 0))
        memory -= _BLOCK * _BLOCK * item + 2**12
        enough = ceil_div(_TILES, layout.words // layout.tile_words)
        blocks = max(1, min(enough, memory // (16 * _BLOCK * row), layout.rows // _BLOCK))
        height = blocks * _BLOCK
        for buffers, least in ((4, 8), (3, 4), (2, 1)):
            # Of a band in the panel there are also its columns in other bands, twice.
            panel = (memory - buffers * height * row) // (height * (row + 2 * height * item))
            if panel >= least:
                bands = ceil_div(layout.rows, height)
                return cls(height, bands, ceil_div(bands, ceil_div(bands, panel)), buffers)
        return None

    def visits(self) -> Iterator[Visit]:
        """List who comes and goes, in order."""
        for first in range(0, self.bands, self.panel):
            panel = range(first, min(first + self.panel, self.bands))
            yield from (Visit("join", band, first) for band in panel)
            # Those who join next pass first, and are back on the host when their time comes. Those
            # who leave have nothing to do here: they go between those who have.
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
class Rows:
    """Rows on the device, with predecessors if those are wanted."""

    words: Array
    last: Array | None

    def __getitem__(self, key: slice) -> Rows:
        """Cut out some of the rows."""
        return Rows(self.words[key], None if self.last is None else self.last[key])


@dataclass(frozen=True)
class HostRows:
    """Rows on the host."""

    matrix: HostArray
    last: HostArray | None

    def __getitem__(self, key: slice) -> HostRows:
        """Cut out some of the rows."""
        return HostRows(self.matrix[key], None if self.last is None else self.last[key])


class Slot:
    """Host memory for a band, and who still uses it."""

    def __init__(self, device: Device, rows: int, like: HostRows) -> None:
        matrix, last = like.matrix, like.last
        self.rows = HostRows(
            device.pinned((rows, matrix.shape[1]), matrix.dtype),
            None if last is None else device.pinned((rows, last.shape[1]), last.dtype),
        )
        self.copied: Event | None = None
        self.carried: list[Future[None]] = []

    def wait(self) -> None:
        """Wait until nobody uses it."""
        if self.copied is not None:
            self.copied.synchronize()
            self.copied = None
        finish(self.carried)


class Streamer:
    """A panel and some bands on a device, and the engine that takes a matrix through it."""

    def __init__(self, device: Device, layout: Layout, cut: Cut) -> None:
        self.device, self.layout, self.cut = device, layout, cut
        self.kernels = Kernels.of(device, layout)
        self._panel = self._rows(cut.panel * cut.height, "panel")
        self._buffers = [self._rows(cut.height, "band") for _ in range(cut.buffers)]
        size = cut.panel * cut.height**2
        self._left = [device.empty(size, layout.word, "left") for _ in range(2)]
        self._diagonal = device.empty((_BLOCK, _BLOCK), layout.word, "diagonal")
        self._cycle = device.zeros(1, np.int32, "cycle")
        # Bands pass on two streams by turns: one fills the device while the other comes to an end.
        self._work = [device.stream(), device.stream()]
        self._inward, self._outward = device.stream(urgent=True), device.stream(urgent=True)
        self._free: list[Event | None] = [None] * cut.buffers

    def _rows(self, rows: int, name: str) -> Rows:
        shape, layout = (rows, self.layout.words), self.layout
        words = self.device.empty(shape, layout.word, name)
        last = self.device.empty(shape, np.int32, f"{name}_last") if layout.paths else None
        return Rows(words, last)

    def run(self, task: Task, matrix: HostArray, last: HostArray | None) -> bool:
        """Close the matrix; False if there is a negative cycle, which spoils it."""
        # Whatever happens, in the end nobody uses memory any more that may go then.
        with carriers(task) as threads:
            try:
                return self._run(Traffic(self, threads, HostRows(matrix, last), task))
            finally:
                self.device.synchronize()

    def _run(self, traffic: Traffic) -> bool:
        found = self.device.pinned(1, np.int32)
        found[0] = 0
        begun = self.device.main.record()
        for stream in (*self._work, self._inward, self._outward):
            stream.wait(begun)
        passes = count()
        for at, visit in enumerate(traffic.visits):
            buffer = at % self.cut.buffers
            lane = next(passes) % 2 if visit.kind == "pass" else 0
            work = self._work[lane]
            if visit.comes:
                self._wait(self._inward, buffer)
                traffic.bring(visit, self._buffers[buffer])
                work.wait(self._inward.record())
            else:
                self._wait(work, buffer)
            if visit.kind == "join":
                self._join(visit, buffer)
                if visit.band + 1 == min(visit.first + self.cut.panel, self.cut.bands):
                    self.device.copy(found, self._cycle, work)
                    self._work[1].wait(work.record())
            else:
                self._serve(visit, buffer, lane)
            traffic.look_ahead()
            if visit.goes:
                self._outward.wait(work.record())
                self._free[buffer] = traffic.take(visit, self._buffers[buffer])
            if found[0]:  # as it was when the last band that has been taken out left
                return False
        traffic.finish()
        if found[0]:
            return False
        traffic.report()
        return True

    def _wait(self, stream: Any, buffer: int) -> None:
        """Let a stream begin when a buffer is free."""
        free = self._free[buffer]
        if free is not None:
            stream.wait(free)

    # ---- work -----------------------------------------------------------------------------------

    def rows_of(self, band: int) -> int:
        """How many rows a band has, in whole blocks."""
        return min(self.cut.height, self.layout.rows - band * self.cut.height)

    def _join(self, visit: Visit, buffer: int) -> None:
        """Let a band become one of the panel."""
        cut, rows = self.cut, self.rows_of(visit.band)
        if visit.band == visit.first:  # of a new panel: nobody uses the old one any more
            self._work[0].wait(self._work[1].record())
        top = (visit.band - visit.first) * cut.height
        there, own = self._panel[:top], self._panel[top : top + rows]
        self._copy(own, self._buffers[buffer][:rows], self._work[0])
        self._free[buffer] = self._work[0].record()
        vertex = visit.band * cut.height
        if top:
            self._go_through(own, there, visit.first * cut.height, 0)
        self._close(own, vertex)
        if top:
            self._go_through(there, own, vertex, 0)

    def _serve(self, visit: Visit, buffer: int, lane: int) -> None:
        """Let a band leave or pass."""
        cut, rows = self.cut, self.rows_of(visit.band)
        band = self._buffers[buffer][:rows]
        if visit.kind == "leave":
            top = (visit.band - visit.first) * cut.height
            self._copy(band, self._panel[top : top + rows], self._work[lane])
            return
        depth = min(cut.panel * cut.height, self.layout.rows - visit.first * cut.height)
        self._go_through(band, self._panel[:depth], visit.first * cut.height, lane)

    def _copy(self, to: Rows, source: Rows, stream: Any) -> None:
        self.device.copy(to.words, source.words, stream)
        if to.last is not None and source.last is not None:
            self.device.copy(to.last, source.last, stream)

    def _go_through(self, rows: Rows, closed: Rows, vertex: int, lane: int) -> None:
        """Let rows take paths through the vertices, from one on, that other, closed rows are of."""
        high, depth = rows.words.shape[0], closed.words.shape[0]
        left = self._left[lane][: high * depth].reshape(depth, high)
        self._turn(rows, vertex, left, lane)
        self._multiply(rows, closed, left, lane)

    def _turn(self, rows: Rows, vertex: int, left: Array, lane: int) -> None:
        """Turn columns of some rows into ``left``."""
        depth, high = left.shape
        self.kernels.columns.launch(
            (high // 32, depth // 32),
            (32, 8),
            (rows.words, rows.words.pitch, vertex, left, left.pitch),
            stream=self._work[lane],
        )

    def _multiply(
        self, rows: Rows, closed: Rows, left: Array, lane: int, skip: int | None = None
    ) -> None:
        """Launch the product, for all blocks of rows or all but one."""
        layout = self.layout
        blocks = rows.words.shape[0] // _BLOCK - (0 if skip is None else 1)
        columns = layout.words // layout.tile_words
        if blocks == 0:
            return
        self.kernels.product.launch(
            (blocks * columns,),
            (_THREADS,),
            (
                rows.words, rows.last, rows.words.pitch, left, left.pitch, closed.words,
                closed.last, closed.words.pitch, left.shape[0], 0, columns,
                -1 if skip is None else skip, 0, 0, self._cycle,
            ),
            shared=layout.shared,
            stream=self._work[lane],
        )  # fmt: skip

    def _close(self, own: Rows, vertex: int) -> None:
        """Close the rows of some vertices over these, block by block."""
        kernels, stream, rows = self.kernels, self._work[0], own.words.shape[0]
        left = self._left[0][: _BLOCK * rows].reshape(_BLOCK, rows)
        for block in range(rows // _BLOCK):
            first = block * _BLOCK
            part = own[first : first + _BLOCK]
            self._turn(own, vertex + first, left, 0)
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
                        part.words, part.last, part.words.pitch, 0, vertex + first, self._diagonal,
                        self._cycle,
                    ),
                    stream=stream,
                )  # fmt: skip
            self._multiply(own, part, left, 0, skip=block)

    # ---- between host and device ----------------------------------------------------------------

    def copy_in(self, buffer: Rows, source: HostRows) -> None:
        """Put rows of the host into a buffer, and "no path" around them."""
        device, stream = self.device, self._inward
        seen = self._seen(buffer, source)
        if self.layout.reordered:
            device.fill(buffer.words, 0xFF, stream)  # comes before all numbers, reordered
        elif seen.nbytes < buffer.words.nbytes:
            self._everywhere(self.kernels.clear, buffer, stream)
        device.copy(seen, source.matrix, stream)
        if self.layout.reordered:
            self._everywhere(self.kernels.reorder, buffer, stream)
        if buffer.last is not None and source.last is not None:
            device.fill(buffer.last, 0xFF, stream)
            device.copy(buffer.last[: len(source.last), : self.layout.n], source.last, stream)

    def copy_out(self, buffer: Rows, to: HostRows) -> None:
        """Bring rows to the host."""
        device, stream = self.device, self._outward
        if self.layout.reordered:
            self._everywhere(self.kernels.reorder, buffer, stream)
        device.copy(to.matrix, self._seen(buffer, to), stream)
        if buffer.last is not None and to.last is not None:
            device.copy(to.last, buffer.last[: len(to.last), : self.layout.n], stream)

    def copied_in(self) -> Event:
        """Return the event after all that has been put in for copying to the device."""
        event: Event = self._inward.record()
        return event

    def copied_out(self) -> Event:
        """Return the same for copying to the host."""
        event: Event = self._outward.record()
        return event

    def _seen(self, buffer: Rows, host: HostRows) -> Array:
        """Return the words that rows of the host stand for, in their type."""
        flat = buffer.words.view(host.matrix.dtype)
        words = flat.reshape(self.cut.height, flat.size // self.cut.height)
        return words[: host.matrix.shape[0], : host.matrix.shape[1]]

    def _everywhere(self, kernel: Any, buffer: Rows, stream: Any) -> None:
        blocks = min(ceil_div(buffer.words.size, _THREADS), 8 * self.device.multiprocessors)
        kernel.launch((blocks,), (_THREADS,), (buffer.words, buffer.words.size), stream=stream)


# ---- the host's part ----------------------------------------------------------------------------


class Traffic:
    """Bands on their way between the matrix and the device."""

    def __init__(
        self, streamer: Streamer, carriers: ThreadPoolExecutor, rows: HostRows, task: Task
    ) -> None:
        device, height = streamer.device, streamer.cut.height
        self.visits = list(streamer.cut.visits())
        self._streamer, self._carriers, self._rows, self._task = streamer, carriers, rows, task
        self._in = [Slot(device, height, rows) for _ in range(_SLOTS)]
        self._out = [Slot(device, height, rows) for _ in range(_SLOTS)]
        self._waiting = deque(visit for visit in self.visits if visit.comes)
        self._fetched: deque[Slot] = deque()
        self._leaving: deque[tuple[Visit, Slot, Event]] = deque()
        self._away = dict.fromkeys(range(streamer.cut.bands), 0)  # visits that are not back yet
        self._put_back: dict[int, list[Future[None]]] = {}
        self._total = sum(visit.goes for visit in self.visits)
        self._done = 0

    def bring(self, visit: Visit, buffer: Rows) -> None:
        """Let a band be copied to the device."""
        while not self._fetched:
            if not self._fetch():
                self._put_away()  # what is wanted is still on its way back
        slot = self._fetched.popleft()
        finish(slot.carried)
        self._streamer.copy_in(buffer, slot.rows[: len(self._part(visit.band).matrix)])
        slot.copied = self._streamer.copied_in()
        self._in.append(slot)

    def look_ahead(self) -> None:
        """Let the next two bands be fetched."""
        while len(self._fetched) < _SLOTS - 1 and self._fetch():
            pass

    def take(self, visit: Visit, buffer: Rows) -> Event:
        """Let a band be copied from the device; returns when it will have left its buffer."""
        while len(self._leaving) > _SLOTS - 2:
            self._put_away()
        slot = self._out.pop(0)
        slot.wait()
        self._streamer.copy_out(buffer, slot.rows[: len(self._part(visit.band).matrix)])
        copied = self._streamer.copied_out()
        self._leaving.append((visit, slot, copied))
        return copied

    def finish(self) -> None:
        """Wait until all is back in the matrix."""
        while self._leaving:
            self._put_away()
        for carried in self._put_back.values():
            finish(carried)

    def report(self) -> None:
        """Tell how many bands are back, of all that will be."""
        self._task.report(self._done, self._total)

    def _fetch(self) -> bool:
        """Let the next band be carried to a slot; False if there is none, or it is not back."""
        if not self._waiting or self._away[self._waiting[0].band]:
            return False
        band = self._waiting.popleft().band
        self._away[band] = 1
        finish(self._put_back.pop(band, []))
        slot = self._in.pop(0)
        slot.wait()
        part = self._part(band)
        self._carry(slot, slot.rows[: len(part.matrix)], part)
        self._fetched.append(slot)
        return True

    def _put_away(self) -> None:
        """Wait for the band that left first, and let it be carried back to the matrix."""
        visit, slot, copied = self._leaving.popleft()
        copied.synchronize()
        part = self._part(visit.band)
        self._carry(slot, part, slot.rows[: len(part.matrix)])
        self._put_back[visit.band] = slot.carried
        self._away[visit.band] = 0
        self._out.append(slot)
        self._done += 1
        if self._done < self._total:
            self.report()

    def _part(self, band: int) -> HostRows:
        height = self._streamer.cut.height
        return self._rows[band * height : (band + 1) * height]

    def _carry(self, slot: Slot, to: HostRows, source: HostRows) -> None:
        """Let the carriers copy, each some rows."""
        slot.carried = carry(self._carriers, to.matrix, source.matrix)
        if to.last is not None and source.last is not None:
            slot.carried += carry(self._carriers, to.last, source.last)
