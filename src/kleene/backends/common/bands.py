"""Closures of matrices larger than the memory, in rounds: what engines of all devices share.

The matrix is in files, and a round takes all of it through the vertices of one panel:

1. read the rows of these vertices, the panel, and close them over paths through these vertices;
2. read every other row, a band of rows at a time, relax it through the panel, write it.

After the round of the last vertices the matrix is closed (``native/core/closure/tiled.cpp`` has the
proof, for panels of 96 vertices). A round reads and writes each entry once, and spends one
relaxation a vertex of the panel on it: with a few thousand vertices the files keep up with the
computation, which they overlap with.

A round reads from one set of files (the first round from the graph) and writes to another, so it
can be repeated from any point, and gives the same bits: nothing that it reads has changed. In place
that would not hold for floats: a sum of lengths through a row that is closed already may round to
another number than through the row as it was.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from kleene import _native
from kleene.system.threads import Future, ThreadPool

if TYPE_CHECKING:
    from kleene.backends.common.tiles import Tile

__all__ = [
    "BUFFERS", "RoundEngine", "RoundSplit", "RowSource", "RowTarget", "overlapped", "pieces",
]  # fmt: skip

Item = TypeVar("Item")

#: Bands in memory: one is read, one is relaxed, one is written.
BUFFERS = 3

#: Bytes of a band, at most. Large enough for files and threads (a band of 1,024 rows of 32,768
#: floats takes seconds); small enough to leave the memory to the panel.
_BAND_BYTES = 2**27

#: A band has at most this part of the memory.
_BAND_SHARE = 16

_STEP: int = _native.closure_panel_step


class RoundSplit(NamedTuple):
    """How many vertices a round takes, and how many rows a band has."""

    vertices: int
    band: int
    most: int  # vertices that a round could have

    @classmethod
    def fit(cls, n: int, row: int, memory: int) -> RoundSplit:
        """Return the split for rows of so many bytes, or the smallest if the memory is too small.

        The panel is there twice, as rows and packed for the kernel; and some bands. Rounds are of
        about the same size.

        >>> RoundSplit.fit(32768, 4 * 32768, 4 * 10**9)
        RoundSplit(vertices=10944, band=1024, most=13632)
        """
        row = max(1, row)
        rest = memory // row - 2 * _STEP  # rows beside the smallest panel
        band = min(n, _BAND_BYTES // row, memory // (_BAND_SHARE * row), rest // BUFFERS)
        band = max(1, band)
        most = max(1, (memory - BUFFERS * band * row) // (2 * row * _STEP)) * _STEP
        rounds = -(-n // most)
        return cls(-(-n // (rounds * _STEP)) * _STEP, band, most)

    def memory(self, row: int) -> int:
        """Return the bytes that it takes, for rows of so many bytes."""
        return (2 * self.vertices + BUFFERS * self.band) * row


class RowSource(Protocol):
    """Where the rows of a round come from."""

    def read(self, first: int, rows: Tile) -> None:
        """Read rows, from the first on; on any thread."""


class RowTarget(Protocol):
    """Where the rows of a round go to."""

    def write(self, first: int, rows: Tile) -> None:
        """Write rows; on any thread. They are on the disk, and recorded, when this returns."""


class RoundEngine(Protocol):
    """Runs rounds on some device."""

    @property
    def split(self) -> list[int]:
        """Sizes that the bits of the answer depend on; a resumed computation keeps them."""

    @property
    def vertices(self) -> int:
        """The vertices of a round."""

    def next_round(self, first: int, begun: range | None) -> range:
        """Return the vertices of the next round: those of one that was begun, if it can."""

    def run(
        self,
        vertices: range,
        source: RowSource,
        target: RowTarget,
        missing: list[range],
        report: Callable[[int], None],
    ) -> bool:
        """Take the rows that are missing in the target through a round; False at a cycle.

        ``report`` is called, on this thread, with the number of rows that are left.
        """


def pieces(ranges: Iterable[range], most: int) -> Iterator[range]:
    """Cut ranges into pieces of at most so many.

    >>> list(pieces([range(0, 5), range(7, 8)], 3))
    [range(0, 3), range(3, 5), range(7, 8)]
    """
    for rows in ranges:
        for first in range(rows.start, rows.stop, most):
            yield range(first, min(first + most, rows.stop))


def overlapped(
    items: Iterable[Item],
    buffers: list[Tile],
    read: Callable[[Item, Tile], Any],
    work: Callable[[Item, Tile], Callable[[], Any]],
) -> None:
    """Read, work on and write items in turn, each of the three at the same time.

    ``work`` runs on this thread and returns what is to be done to write its item; then the buffer
    is used again.
    """
    free, left = deque(buffers), iter(items)
    reading: deque[tuple[Item, Tile, Future[Any]]] = deque()
    writing: deque[tuple[Tile, Future[Any]]] = deque()
    with ThreadPool(2) as threads:

        def start_reads() -> None:
            while free:
                try:
                    item = next(left)
                except StopIteration:
                    return
                buffer = free.popleft()
                reading.append((item, buffer, threads.submit(read, item, buffer)))

        start_reads()
        while reading:
            item, buffer, ready = reading.popleft()
            ready.result()
            writing.append((buffer, threads.submit(work(item, buffer))))
            while writing and (writing[0][1].done() or not (free or reading)):
                buffer, written = writing.popleft()
                written.result()
                free.append(buffer)
            start_reads()
        for _, written in writing:
            written.result()
