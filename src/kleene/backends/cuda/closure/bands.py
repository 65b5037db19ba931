"""The tiled closure over several devices: bands of rows, and copies of closed rows between them.

Each device holds a band of consecutive rows. The columns of a round's vertices are in every band
already, so only its closed rows travel: the device that owns them closes them, and all others copy
them to a panel, in a stream for copies, while the products of the round before still run:

    urgent stream of the owner   next round's tiles | close its rows |
    copies of all others                                             | panel |
    rest, on every device        products of this round ...                  | products of the next

Rounds are those of one device, and so are all sums and their order: results are equal bit for bit.
A round's rows are in one band, since bands end where rounds end.

Each row travels once to every device but its own, (bands - 1) times the matrix in all. With p
devices each computes n^3/p relaxations while n^2 words arrive.

Rows over processes, and closed rows in a pipeline: Kumar and Singh, "Scalability of parallel
algorithms for the all-pairs shortest-path problem", 1991.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from kleene import _native
from kleene.backends.common.tiles import Tile
from kleene.backends.cuda.closure.kernels import (
    BLOCK,
    ClosureKernels,
    DeviceRows,
    TileLayout,
    TileSet,
)
from kleene.backends.cuda.runtime.interface import (
    Array,
    Device,
    Event,
    HostArray,
    Stream,
    ceil_div,
    copy_between,
)
from kleene.backends.cuda.runtime.structs import Struct
from kleene.backends.cuda.runtime.timing import Share
from kleene.backends.cuda.tuning import closure as tuning
from kleene.backends.task import ProductTask, Task
from kleene.errors import MemoryBudgetError
from kleene.system.devices import device_name
from kleene.system.formatting import format_bytes

__all__ = [
    "DeviceBand",
    "copy_in",
    "copy_out",
    "gather",
    "make_bands",
    "note_rows",
    "scatter",
    "share_rows",
    "split_bands",
]

# ---- bands --------------------------------------------------------------------------------------


def make_bands(devices: Sequence[Device], layout: TileLayout) -> list[DeviceBand]:
    """Return the bands of a matrix, one for each device that gets rows.

    Raises a MemoryBudgetError if the devices together have too little memory.
    """
    if len(devices) == 1:
        return [DeviceBand(devices[0], layout, range(layout.rows), shared=False)]
    free = [device.free_memory() for device in devices]
    # Allocations are rounded up.
    rooms = [layout.rows_in(memory - min(memory // 16, 2**26)) for memory in free]
    parts = split_bands([len(vertices) for vertices in layout.rounds()], rooms)
    if parts is None:
        raise MemoryBudgetError(
            f"a closure of {layout.n:,} vertices takes {format_bytes(layout.bytes)}, and "
            f"{format_bytes(sum(free))} are free on {len(devices)} devices"
        )
    chosen = [(device, part) for device, part in zip(devices, parts, strict=True) if part]
    return [DeviceBand(device, layout, part, shared=len(chosen) > 1) for device, part in chosen]


def split_bands(rounds: Sequence[int], rooms: Sequence[int]) -> list[range] | None:
    """Split the rows of rounds of these sizes into bands, of no more rows than there is room for.

    The longest band is as short as possible. None: there is too little room.

    >>> split_bands([128, 256, 512, 512, 512, 512, 512], [2000, 2000])
    [range(0, 1408), range(1408, 2944)]
    >>> split_bands([128, 128, 128], [500, 500, 100, 500])
    [range(0, 128), range(128, 256), range(256, 256), range(256, 384)]
    >>> split_bands([128, 128, 128], [300, 100]) is None
    True
    """
    total = sum(rounds)
    least, most = ceil_div(total, BLOCK * len(rooms)) * BLOCK, min(total, max(rooms))
    for height in range(least, most + 1, BLOCK):
        bands, first, left = [], 0, list(reversed(rounds))
        for room in rooms:
            end = first
            while left and end + left[-1] - first <= min(height, room):
                end += left.pop()
            bands.append(range(first, end))
            first = end
        if not left:
            return bands
    return None


def note_rows(rows: Sequence[tuple[Device, int]]) -> None:
    """Let the timer of the call know how many rows each device has."""
    timer = rows[0][0].timer.current
    if timer is not None:
        timer.shares = [
            Share(device_name(device.kind, device.index), count, {}) for device, count in rows
        ]


# ---- copies between devices ---------------------------------------------------------------------


def share_rows(bands: Sequence[DeviceBand], current: int, vertices: range) -> None:
    """Copy the closed rows of a round from their device to all others."""
    owner = next(band for band in bands if band.owns(vertices))
    closed, ready = owner.closed_rows(current, vertices), owner.urgent.record()
    for band in bands:
        # The products of this round change the rows of the last one: not before they are copied.
        for event in band.copied:
            band.urgent.wait(event)
        band.copied.clear()
    for band in bands:
        copies = band.copies
        if band is owner or copies is None:
            continue
        copies.wait(ready)
        if len(band.done) == 2:  # the products that used this panel
            copies.wait(band.done[0])
        _copy(band.closed_rows(current, vertices), closed, copies)
        copy_between(band.kernels.cycle, owner.kernels.cycle, copies)
        arrived = copies.record()
        band.urgent.wait(arrived)
        owner.copied.append(arrived)


def scatter(bands: Sequence[DeviceBand], device: Device, matrix: Array) -> None:
    """Copy a matrix from a device to the bands, in main streams; padding is no_path."""
    ready = device.main.record()
    for band in bands:
        band.kernels.clear(band.rows.words)
        band.device.main.wait(ready)
        here, there = _shared_part(band, matrix)
        copy_between(here, there, band.device.main)


def gather(bands: Sequence[DeviceBand], device: Device, matrix: Array) -> None:
    """Copy the bands to a matrix on a device, in its main stream."""
    for band in bands:
        device.main.wait(band.device.main.record())
        here, there = _shared_part(band, matrix)
        copy_between(there, here, device.main)


def _shared_part(band: DeviceBand, matrix: Array) -> tuple[Array, Array]:
    """Return the words of a band and of a whole matrix that stand for the same pairs."""
    own = band.matrix_rows
    return band.rows.words[: len(own), : matrix.shape[1]], matrix[own.start : own.stop]


def _copy(to: DeviceRows, source: DeviceRows, stream: Stream) -> None:
    copy_between(to.words, source.words, stream)
    if to.predecessors is not None and source.predecessors is not None:
        copy_between(to.predecessors, source.predecessors, stream)


# ---- a band of rows on one device ---------------------------------------------------------------
# A band of rows of a matrix on one device, and its part in the rounds of the tiled closure.
#
# ``closure/tiled`` has the order of the rounds.
# On one device the band is the whole matrix.


class DeviceBand:
    """Some rows of a matrix on a device.

    The urgent stream computes what the next round starts with; the other one computes the rest.
    """

    def __init__(self, device: Device, layout: TileLayout, vertices: range, shared: bool) -> None:
        """Allocate the rows of some vertices; ``shared`` says that other devices have others."""
        self.device, self.layout, self.vertices = device, layout, vertices
        self.kernels = ClosureKernels(device, layout)
        self.rows = DeviceRows.empty(device, layout, len(vertices), "matrix")
        # Double-buffered: the next round is prepared while this one runs.
        depth = layout.round_blocks * BLOCK
        shape = (depth, len(vertices))
        self._left = [device.empty(shape, layout.word, "left") for _ in range(2)]
        self._spare = device.empty((BLOCK, depth), layout.word, "left of a round's rows")
        self.panels = [
            DeviceRows.empty(device, layout, depth, "panel") for _ in range(2 if shared else 0)
        ]
        # Of the products of even and of odd rounds: those ahead, the rest, all of the last round.
        self._params: dict[tuple[int, str], tuple[Struct, TileSet]] = {}
        self.rest, self.urgent = device.stream(), device.stream(urgent=True)
        self.copies = device.stream(urgent=True) if shared else None  # from other devices
        self.done: deque[Event] = deque(maxlen=2)  # after the products of the last two rounds
        self.copied: list[Event] = []  # after copies of its closed rows to other devices

    # ---- copies ---------------------------------------------------------------------------------

    def upload(self, task: Task, matrix: HostArray, predecessors: HostArray | None) -> None:
        """Copy its rows of a whole matrix and of predecessors to the device."""
        tile = Tile(matrix, predecessors).rows(self.matrix_rows)
        self.kernels.to_device(self.rows, tile, partial(copy_in, self.device, task))

    def download(self, task: Task, matrix: HostArray, predecessors: HostArray | None) -> None:
        """Copy its rows and their predecessors to those of a whole matrix on the host."""
        tile = Tile(matrix, predecessors).rows(self.matrix_rows)
        self.kernels.to_host(tile, self.rows, partial(copy_out, self.device, task))

    @property
    def matrix_rows(self) -> range:
        """Its rows without padding."""
        return range(self.vertices.start, min(self.vertices.stop, self.layout.n))

    def clear_diagonal(self) -> bool:
        """Return whether an entry of the diagonal is negative; set all of them to zero if not."""
        words, first = self.rows.words, self.vertices.start
        count, item = len(self.matrix_rows), words.dtype.itemsize
        strides = (words.strides[0] + item, item)
        diagonal = Array(
            words.address + first * item, (count, 1), words.dtype, strides, words.owner
        )
        if (self.device.download(diagonal) < 0).any():
            return True
        self.device.copy(diagonal, np.zeros((count, 1), words.dtype))
        return False

    # ---- rounds ---------------------------------------------------------------------------------

    def begin(self) -> None:
        """Start after what is in the main stream."""
        self.done.clear()
        began = self.device.main.record()
        for stream in self._streams():
            stream.wait(began)

    def end(self, first: Stream) -> None:
        """Make the main stream wait for all work, and that of the first device."""
        for stream in self._streams():
            event = stream.record()
            for main in (self.device.main, first):
                main.wait(event)

    def _streams(self) -> list[Stream]:
        return [stream for stream in (self.urgent, self.rest, self.copies) if stream is not None]

    def owns(self, vertices: range) -> bool:
        """Return whether the rows of a round are in the band."""
        return vertices.start in self.vertices

    def closed_rows(self, current: int, vertices: range) -> DeviceRows:
        """Return the closed rows of a round: its own, or the copy on this device."""
        if self.owns(vertices):
            first = vertices.start - self.vertices.start
            return self.rows[first : first + len(vertices)]
        return self.panels[current % 2][: len(vertices)]

    def transpose(self, current: int, vertices: range) -> None:
        """Transpose the columns of the vertices of a round."""
        left = self._left[current % 2][: len(vertices)]
        self.kernels.transpose(self.rows, vertices.start, left, self.urgent)

    def close_rows(self, current: int, vertices: range) -> None:
        """Close the band's own rows of a round over its vertices."""
        depth = len(vertices)
        self.kernels.close_rows(
            self.closed_rows(current, vertices),
            vertices.start,
            self._left[current % 2][:depth],
            vertices.start - self.vertices.start,
            self._spare[:, :depth],
            self.urgent,
        )

    def multiply(self, current: int, vertices: range, following: range | None) -> Event:
        """Relax all rows but those of a round through its vertices; return an event after that.

        What the ``following`` round starts with is computed first, in the urgent stream.
        """
        columns, own = self.layout.tile_columns, self._blocks(vertices)
        self.rest.wait(self.urgent.record())
        if self.done:
            self.urgent.wait(self.done[-1])
        if following is None:
            self._launch(current, "all", TileSet.without(columns, own), vertices, self.rest)
        else:
            ahead = self._blocks(following)
            strip = self.layout.tile_range(following.start, following.stop)
            urgent = TileSet.ahead(columns, own, ahead, strip)
            self._launch(current, "ahead", urgent, vertices, self.urgent)
            rest = TileSet.rest(columns, own, ahead, strip)
            self._launch(current, "rest", rest, vertices, self.rest)
            if self.panels:  # both products have used the panel then
                self.rest.wait(self.urgent.record())
        event: Event = self.rest.record()
        self.done.append(event)
        return event

    def _blocks(self, vertices: range) -> range:
        """Return the rows of tiles of some vertices within the band.

        Of vertices elsewhere it is empty and at the nearer end: the rows of two successive rounds
        are next to each other in every band.
        """
        first, high = self.vertices.start, len(self.vertices)
        begin, end = (min(max(v - first, 0), high) for v in (vertices.start, vertices.stop))
        return range(begin // BLOCK, end // BLOCK)

    def _launch(
        self, current: int, part: str, tiles: TileSet, vertices: range, stream: Any
    ) -> None:
        """Launch a product; from one round to the next only few of its parameters change."""
        closed = self.closed_rows(current, vertices)
        if (current % 2, part) in self._params:
            params, before = self._params[current % 2, part]
            changed: dict[str, Any] = {
                name: value
                for name, value, old in zip(TileSet._fields, tiles, before, strict=True)
                if value != old
            }
            if self.layout.paths:
                changed["right_predecessors"] = closed.predecessors
            params.update(right=closed.words, depth=len(vertices), **changed)
        else:
            left = self._left[current % 2][: len(vertices)]
            params = self.kernels.pack_product(self.rows, closed, left, tiles)
        self._params[current % 2, part] = params, tiles
        count = tiles.count(len(self.vertices) // BLOCK)
        self.kernels.launch_product(params, count, stream)


# ---- Copies of whole matrices between host and device, through page-locked staging buffers ------
# A copy from or to pageable memory is several times slower than one of page-locked memory, and uses
# one core. Here the threads of the call copy a stripe of rows to or from a staging buffer while the
# device copies the stripe before.


def copy_in(device: Device, task: Task | ProductTask, to: Array, source: HostArray) -> None:
    """Copy a host matrix to the device, in the main stream."""
    if source.nbytes < tuning.STAGED_LEAST:
        device.copy(to, source)
        return
    with _staged(device, task, "copy_in", source) as stripes:
        for rows in stripes.ranges():
            stripe = stripes.next()
            memory = stripe.view(source[rows])
            _copy_on_host(memory, source[rows], task.threads)
            device.copy(to[rows], memory)
            stripe.copied = device.main.record()


def copy_out(device: Device, task: Task | ProductTask, to: HostArray, source: Array) -> None:
    """Copy a matrix from the device to the host, and wait for it."""
    if to.nbytes < tuning.STAGED_LEAST:
        device.download(source, to)
        return
    with _staged(device, task, "copy_out", to) as stripes:
        for rows in stripes.ranges():
            stripe = stripes.next()
            memory = stripe.view(to[rows])
            device.copy(memory, source[rows])
            stripe.copied, stripe.then = device.main.record(), (to[rows], memory)


def _copy_on_host(to: HostArray, source: HostArray, threads: int) -> None:
    if to.flags.c_contiguous and source.flags.c_contiguous:
        _native.copy_bytes(to, source, threads)
    else:
        to[...] = source


@contextmanager
def _staged(
    device: Device, task: Task | ProductTask, part: str, matrix: HostArray
) -> Iterator[_Stripes]:
    """Time the copies of a host matrix by stripes, and wait for them."""
    with device.timer.span(part, device.main):
        stripes = _Stripes(device, matrix, task.threads)
        try:
            yield stripes
            stripes.finish()
        finally:  # even after an error nothing may use memory that is freed then
            device.main.synchronize()


class _Stripe:
    """A staging buffer and what still uses it."""

    def __init__(self, device: Device, nbytes: int) -> None:
        self._memory = device.pinned(nbytes, np.uint8)
        self.copied: Event | None = None  # after the device's copy
        self.then: tuple[HostArray, HostArray] | None = None  # a copy within the host, after it

    def view(self, like: HostArray) -> HostArray:
        """Return memory for an array like this one."""
        return self._memory[: like.nbytes].view(like.dtype).reshape(like.shape)


class _Stripes:
    """Stripes of rows of a host matrix, and the buffers that they go through in turn."""

    def __init__(self, device: Device, matrix: HostArray, threads: int) -> None:
        row = matrix[:1].nbytes
        self._rows, self._step = len(matrix), max(1, tuning.STRIPE_BYTES // row)
        self._threads = threads
        count = tuning.STAGING_BUFFERS
        self._free = deque(_Stripe(device, self._step * row) for _ in range(count))
        self._used: deque[_Stripe] = deque()

    def ranges(self) -> Iterator[slice]:
        """Yield the rows of each stripe."""
        for top in range(0, self._rows, self._step):
            yield slice(top, min(top + self._step, self._rows))

    def next(self) -> _Stripe:
        """Return a buffer that nothing uses."""
        if not self._free:
            self._drain()
        stripe = self._free.popleft()
        self._used.append(stripe)
        return stripe

    def finish(self) -> None:
        """Wait for all copies."""
        while self._used:
            self._drain()

    def _drain(self) -> None:
        """Wait for the device's oldest copy, and make the copy within the host after it."""
        stripe = self._used.popleft()
        if stripe.copied is not None:
            stripe.copied.synchronize()
        if stripe.then is not None:
            _copy_on_host(*stripe.then, self._threads)
        stripe.copied = stripe.then = None
        self._free.append(stripe)
