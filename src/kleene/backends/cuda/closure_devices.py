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

from collections.abc import Sequence

from kleene.backends.cuda.closure_device_band import DeviceBand
from kleene.backends.cuda.closure_kernels import DeviceRows
from kleene.backends.cuda.closure_layout import BLOCK, TileLayout
from kleene.backends.cuda.runtime.interface import Array, Device, Stream, ceil_div, copy_between
from kleene.backends.cuda.runtime.timing import Share
from kleene.errors import MemoryBudgetError
from kleene.system.device_names import device_name
from kleene.system.formatting import format_bytes

__all__ = ["gather", "make_bands", "note_rows", "scatter", "share_rows", "split_bands"]


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
