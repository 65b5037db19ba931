"""Blocked Floyd-Warshall on a GPU: the versions of the literature, from simple to elaborate.

Each round t has three phases: the diagonal block (t, t), the blocks in its row and column, the rest
(Venkataraman, Sahni and Mukhopadhyaya 2003). Versions 1.0 to 4.1 are those of Zuccato and Lena
(2022), for any number of vertices and any block size; ``blocked_multi`` is that of Padamata and
Raveendran (2013). The kernels are in ``kernels/apsp_blocked_*.cu``; version 4.2 is in
``apsp_blocked_relaunched.py``.

Each takes a task, and ``block``, the side of a block; ``blocked_multi`` also takes ``across`` and
``down``, the elements per thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import partial
from math import lcm
from typing import Any

import numpy as np

from kleene.backends.answer import Answer
from kleene.backends.common.dense_driver import close_matrix, plain_form
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.runtime.interface import (
    Device,
    HostArray,
    Kernel,
    ceil_div,
    ctype,
    require_memory,
)
from kleene.backends.cuda.runtime.structs import struct_type
from kleene.backends.cuda.tuning import apsp as tuning
from kleene.backends.task import Task
from kleene.errors import RequestError
from kleene.system.cached_property import cached_property
from kleene.system.formatting import format_bytes

__all__ = [
    "BlockedMatrix",
    "bank_conflict",
    "blocked_1_0",
    "blocked_1_1",
    "blocked_1_2",
    "blocked_2_0",
    "blocked_2_1",
    "blocked_3_0",
    "blocked_4_0",
    "blocked_4_1",
    "blocked_4_2",
    "blocked_multi",
    "run",
]

# ---- 1.0, 1.1, 1.2: global memory ---------------------------------------------------------------


def blocked_1_0(task: Task, *, block: int = 0) -> Answer:
    """Launch every block separately."""

    def version(b: BlockedMatrix) -> bool:
        kernel = b.kernels("apsp_blocked_global")["apsp_blocked_global_one"]

        def one(t: int, i: int, j: int) -> None:
            kernel.launch((1, 1), b.threads, (b.params, t, i, j))

        def each_round(t: int) -> None:
            others = [x for x in range(b.count) if x != t]
            one(t, t, t)
            for x in others:
                one(t, t, x)
            for x in others:
                one(t, x, t)
            for i in others:
                for j in others:
                    one(t, i, j)

        b.upload()
        b.rounds(each_round)
        return b.download()

    return run("blocked_1_0", version, task, block)


def _three_launches(b: BlockedMatrix, kernels: str, grids: tuple[tuple[int, int], ...]) -> bool:
    file = b.kernels("apsp_blocked_global")
    phases = [file[f"{kernels}_{number}"] for number in (1, 2, 3)]

    def each_round(t: int) -> None:
        for phase, grid in zip(phases, grids, strict=True):
            if grid[0] > 0:
                phase.launch(grid, b.threads, (b.params, t))

    b.upload()
    b.rounds(each_round)
    return b.download()


def blocked_1_1(task: Task, *, block: int = 0) -> Answer:
    """Launch all blocks in each phase; most are idle in the first two."""
    return run(
        "blocked_1_1",
        lambda b: _three_launches(b, "apsp_blocked_global_all", ((b.count, b.count),) * 3),
        task,
        block,
    )


def blocked_1_2(task: Task, *, block: int = 0) -> Answer:
    """Launch only the blocks of each phase."""
    return run(
        "blocked_1_2",
        lambda b: _three_launches(
            b, "apsp_blocked_global", ((1, 1), (b.count - 1, 2), (b.count - 1, b.count - 1))
        ),
        task,
        block,
    )


# ---- 2.0, 2.1: shared memory --------------------------------------------------------------------


def _shared(b: BlockedMatrix) -> bool:
    others = b.count - 1

    def each_round(t: int) -> None:
        b.diagonal(t)
        b.whole("cross", (others, 2), t)
        b.whole("rest", (others, others), t)

    b.upload()
    b.rounds(each_round)
    return b.download()


def blocked_2_0(task: Task, *, block: int = 0) -> Answer:
    """Copy the factors of a block to shared memory, by rows."""

    def version(b: BlockedMatrix) -> bool:
        b.by_columns()
        return _shared(b)

    return run("blocked_2_0", version, task, block)


def blocked_2_1(task: Task, *, block: int = 0) -> Answer:
    """Version 2.0 with factors transposed or padded against bank conflicts."""

    def version(b: BlockedMatrix) -> bool:
        b.without_conflicts()
        return _shared(b)

    return run("blocked_2_1", version, task, block)


# ---- 3.0, 4.0, 4.1: pieces of phases, in streams and in graphs ----------------------------------

#: Dependencies of each piece of a round, in launch order: a name is the piece of this round if it
#: has been launched, else that of the previous round.
_COARSE = {
    "diagonal": ("up_left", "up_right", "down_left", "down_right"),
    "up": ("diagonal",),
    "down": ("diagonal",),
    "left": ("diagonal",),
    "right": ("diagonal",),
    "up_left": ("up", "left"),
    "up_right": ("up", "right"),
    "down_left": ("down", "left"),
    "down_right": ("down", "right"),
}

#: The true dependencies only: the next diagonal block is in the lower right piece; the blocks above
#: and left of it are in two others, or are final.
_FINE = _COARSE | {
    "diagonal": ("down_right",),
    "up": ("diagonal", "up_right"),
    "left": ("diagonal", "down_left"),
    "up_left": ("up", "left", "up_left"),
}


def _pieces(
    b: BlockedMatrix,
    origin: Any,
    streams: dict[str, Any],
    after: dict[str, tuple[str, ...]],
    grid: tuple[int, int] | None,
) -> Callable[[int], None]:
    """Return a function that launches a round in nine streams, after its dependencies."""
    start = origin.record()
    done = dict.fromkeys(after, start)
    for stream in streams.values():
        stream.wait(start)

    def each_round(t: int) -> None:
        before, diagonal, after_t = (0, t), (t, t + 1), (t + 1, b.count)
        row = {"up": before, "down": after_t}
        column = {"left": before, "right": after_t}
        for name, needed in after.items():
            stream = streams[name]
            for other in needed:
                stream.wait(done[other])
            if name == "diagonal":
                b.diagonal(t, stream, grid or (1, 1))
            else:
                vertical, _, horizontal = name.rpartition("_")
                rows = row.get(vertical or horizontal, diagonal)
                columns = column.get(horizontal, diagonal)
                b.piece(t, rows, columns, stream, grid)
            done[name] = stream.record()
        if t == b.count - 1:
            for event in done.values():
                origin.wait(event)

    return each_round


def _streams(b: BlockedMatrix) -> dict[str, Any]:
    return {name: b.device.stream() for name in _COARSE}


def blocked_3_0(task: Task, *, block: int = 0) -> Answer:
    """Split the phases into pieces, each in a stream of its own."""

    def version(b: BlockedMatrix) -> bool:
        b.without_conflicts()
        b.upload()
        b.rounds(_pieces(b, b.device.main, _streams(b), _COARSE, None))
        return b.download()

    return run("blocked_3_0", version, task, block)


def _graph(after: dict[str, tuple[str, ...]], b: BlockedMatrix) -> bool:
    """Capture everything, copies of the whole matrix included, then launch the graph.

    Every launch has a block of threads for every block of the matrix, needed or not. The time of
    the algorithm includes the capture and the copies.
    """
    b.without_conflicts()
    staged = [b.device.pinned(array.shape, array.dtype) for array in b.host]
    for stage, host in zip(staged, b.host, strict=True):
        stage[...] = host
    origin, streams = b.device.stream(), _streams(b)
    b.check()
    with b.computing():
        origin.wait(b.device.main.record())
        with origin.capture() as captured:
            for array, stage in zip(b.arrays, staged, strict=True):
                b.device.copy(array, stage, origin)
            each_round = _pieces(b, origin, streams, after, (b.count, b.count))
            for t in range(b.count):
                each_round(t)
            for array, stage in zip(b.arrays, staged, strict=True):
                b.device.copy(stage, array, origin)
        captured.graph.launch(origin)
        b.device.main.wait(origin.record())
        origin.synchronize()
    if b.device.download(b.cycle)[0]:
        return False
    for stage, host in zip(staged, b.host, strict=True):
        host[...] = stage
    return True


def blocked_4_0(task: Task, *, block: int = 0) -> Answer:
    """Launch one CUDA graph in which each phase waits for the one before."""
    return run("blocked_4_0", partial(_graph, _COARSE), task, block)


def blocked_4_1(task: Task, *, block: int = 0) -> Answer:
    """Launch one CUDA graph in which each piece waits for the pieces it needs."""
    return run("blocked_4_1", partial(_graph, _FINE), task, block)


# ---- several elements per thread ----------------------------------------------------------------


def blocked_multi(task: Task, *, block: int = 0, across: int = 0, down: int = 0) -> Answer:
    """Compute several cells per thread, in registers in phase 3."""
    across, down = across or tuning.MULTI_ACROSS, down or tuning.MULTI_DOWN
    for name, value in (("across", across), ("down", down)):
        if value not in (1, 2, 4, 8):
            raise RequestError(f"{name} can be 1, 2, 4 or 8 elements per thread, not {value}")

    def version(b: BlockedMatrix) -> bool:
        width = min(ceil_div(b.side, across), 32)
        most = min(1024, 4096 // (across * down)) // width
        b.threads = (width, min(ceil_div(b.side, down), most))
        rest = b.kernels("apsp_blocked_multi")[f"apsp_blocked_multi_{across}x{down}"]
        others = b.count - 1

        def each_round(t: int) -> None:
            b.diagonal(t)
            b.whole("cross", (others, 2), t)
            if others:
                rest.launch((others, others), b.threads, (b.params, t), b.two_blocks)

        b.upload()
        b.rounds(each_round)
        return b.download()

    return run("blocked_multi", version, task, block)


# ---- What all versions of blocked Floyd-Warshall share ------------------------------------------
# A matrix on the device, split into blocks.
#
# The phases for one block are in ``kernels/classic/apsp_blocked.cuh``; here are their launches, the
# layout of blocks in shared memory, and the copies of the matrix.


def bank_conflict(side: int, itemsize: int = 4) -> bool:
    """Return whether reading a column of a block has bank conflicts in shared memory.

    The banks deliver 128 bytes at a time: to 32 threads, or to 16 with 8-byte numbers. Rows that
    are lcm(side, banks) / side apart share a bank; there is a conflict if a warp reads two of them.

    >>> [side for side in range(1, 33) if bank_conflict(side)]
    [8, 12, 16, 18, 20, 22, 24, 26, 28, 30, 32]
    """
    banks = 128 // itemsize
    return lcm(side, banks) <= (min(side, banks) - 1) * side


class BlockedMatrix:
    """A matrix and its predecessors on the device, split into blocks."""

    def __init__(
        self,
        method: str,
        task: Task,
        block: int,
        matrix: HostArray,
        predecessors: HostArray | None,
    ) -> None:
        self.task = task
        self.device: Device = open_device(task.device)
        self.host = (matrix,) if predecessors is None else (matrix, predecessors)
        self.n = len(matrix)
        self.side = min(block or tuning.BLOCKED_SIDE, self.n)
        self.count = ceil_div(self.n, self.side)
        self.threads = (min(self.side, 32),) * 2
        what = f"apsp by {method} on {self.n:,} vertices"
        require_memory(self.device, sum(array.nbytes for array in self.host), what)
        self.arrays = [self.device.empty(array.shape, array.dtype) for array in self.host]
        self.d, self.predecessors = (
            self.arrays[0],
            self.arrays[1] if predecessors is not None else None,
        )
        self.cycle = self.device.zeros(1, np.int32, "cycle")
        self._files: dict[str, Mapping[str, Kernel]] = {}
        params = struct_type("apsp_blocked_shared", "BlockedParams", KL_TYPE=ctype(task.dtype))
        #: The first argument of all kernels in apsp_blocked_*.cu.
        self.params = params.pack(
            d=self.d, predecessors=self.predecessors, n=self.n, cycle=self.cycle, side=self.side,
            column_major=0, pitch=self.side, down=self.side, across=1,
        )  # fmt: skip
        self.pitch = self.side

    def kernels(self, file: str) -> Mapping[str, Kernel]:
        if file not in self._files:
            paths = int(self.predecessors is not None)
            defines: dict[str, str | int] = {"KL_TYPE": ctype(self.task.dtype), "KL_PATHS": paths}
            self._files[file] = self.device.kernels(file, **defines)
        return self._files[file]

    # ---- shared memory --------------------------------------------------------------------------

    def by_columns(self) -> None:
        """Let adjacent threads have adjacent rows, not columns."""
        self.params.update(column_major=1)

    def without_conflicts(self) -> None:
        """Choose a layout without bank conflicts, for threads by columns.

        The diagonal block is read by rows and by columns: its rows are padded by a cell. Elsewhere
        only the left factor is read by columns: it is transposed.
        """
        self.by_columns()
        if bank_conflict(self.side, self.d.dtype.itemsize):
            self.pitch = self.side + 1
            self.params.update(pitch=self.pitch, down=1, across=self.side)

    def check(self) -> None:
        """Load kernels and check shared memory, which is not allowed during capture."""
        self.kernels("apsp_blocked_shared")
        _ = self.two_blocks

    @property
    def one_block(self) -> int:
        """Bytes of a padded block in shared memory."""
        return self.two_blocks * self.pitch // (2 * self.side)

    @cached_property
    def two_blocks(self) -> int:
        """Bytes of two blocks in shared memory; RequestError if they do not fit."""
        needed = 2 * self.side**2 * self.d.dtype.itemsize
        if needed > self.device.shared_memory:
            most = int((self.device.shared_memory / (2 * self.d.dtype.itemsize)) ** 0.5)
            raise RequestError(
                f"two blocks of side {self.side} take {format_bytes(needed)} of shared memory, and "
                f"{self.device.name} has {format_bytes(self.device.shared_memory)}; the side can "
                f"be up to {most} here"
            )
        return needed

    # ---- the phases -----------------------------------------------------------------------------

    def diagonal(self, t: int, stream: Any = None, grid: tuple[int, int] = (1, 1)) -> None:
        """Phase 1, in shared memory."""
        self.kernels("apsp_blocked_shared")["apsp_blocked_shared_diagonal"].launch(
            grid, self.threads, (self.params, t), self.one_block, stream
        )

    def whole(self, phase: str, grid: tuple[int, int], t: int, stream: Any = None) -> None:
        """All blocks of phase 2 (``cross``) or 3 (``rest``), in shared memory."""
        if grid[0] == 0:
            return
        self.kernels("apsp_blocked_shared")[f"apsp_blocked_shared_{phase}"].launch(
            grid, self.threads, (self.params, t), self.two_blocks, stream
        )

    def piece(
        self,
        t: int,
        rows: tuple[int, int],
        columns: tuple[int, int],
        stream: Any = None,
        grid: tuple[int, int] | None = None,
    ) -> None:
        """A rectangle of blocks in phase 2 or 3, from a first block to one before the end."""
        height, width = rows[1] - rows[0], columns[1] - columns[0]
        if height <= 0 or width <= 0:
            return
        args = (self.params, t, rows[0], height, columns[0], width)
        self.kernels("apsp_blocked_shared")["apsp_blocked_shared_piece"].launch(
            grid or (width, height), self.threads, args, self.two_blocks, stream
        )

    # ---- copies and rounds ----------------------------------------------------------------------

    def upload(self) -> None:
        for array, host in zip(self.arrays, self.host, strict=True):
            self.device.copy(array, host)

    def rounds(self, one: Callable[[int], None]) -> None:
        """Run all rounds; synchronise and report progress now and then."""
        with self.computing():
            for t in range(self.count):
                one(t)
                if (t + 1) % tuning.BLOCKED_ROUNDS == 0:
                    self.device.synchronize()
                    self.task.report(t + 1, self.count)

    def computing(self) -> AbstractContextManager[None]:
        """Time the work of the main stream, and what it waits for, as computation."""
        return self.device.timer.span("compute", self.device.main)

    def download(self) -> bool:
        """Copy the result to the host; False on a negative cycle."""
        self.device.synchronize()
        if self.device.download(self.cycle)[0]:
            return False
        for array, host in zip(self.arrays, self.host, strict=True):
            self.device.download(array, host)
        return True


Version = Callable[[BlockedMatrix], bool]  # closes the matrix; False at a negative cycle


def run(method: str, version: Version, task: Task, block: int = 0) -> Answer:
    """Close the matrix of a task by one version."""

    def engine(matrix: HostArray, predecessors: HostArray | None) -> bool:
        if len(matrix) == 0:
            task.report(1, 1)
            return True
        blocks = BlockedMatrix(method, task, block, matrix, predecessors)
        closed = version(blocks)
        if closed:
            task.report(blocks.count, blocks.count)
        return closed

    return close_matrix(engine, plain_form(method, task), task)


# ---- Blocked Floyd-Warshall on a GPU, version 4.2 -----------------------------------------------
# A CUDA graph without the faults of 4.0 and 4.1.
#
# Zuccato and Lena (2022) name the faults of their graphs: the whole matrix is copied before
# anything starts, every launch has far too many threads, and building the graph costs more than it
# saves. Here
#
# - the matrix is copied in stripes of rows through two pinned buffers: the first round starts on
#   the
#   stripes that have arrived, and the last round copies finished stripes back while it runs;
# - every launch has exactly the blocks it needs;
# - the graph is one round of five launches. It reads the number of the round from device memory, so
#   it is built once and launched for every round in between. Blocks are numbered cyclically from
#   the
#   diagonal, which makes all rounds alike; and the row and column of the next diagonal block come
#   first, so that the first two phases of the next round overlap with the rest of this one.


def blocked_4_2(task: Task, *, block: int = 0) -> Answer:
    """Relaunch a CUDA graph of one round; overlap it with copies of rows."""
    return run("blocked_4_2", _close, task, block)


def _close(b: BlockedMatrix) -> bool:
    work = b.device.stream()
    transfers = _RowTransfers(b)
    with b.computing():  # copies included, since they overlap
        start = b.device.main.record()
        work.wait(start)
        transfers.stream.wait(start)
        _first_round(b, work, transfers)
        if b.count > 1:
            _both_first_phases(b, work, 1)
        if b.count > 2:
            _rounds_between(b, work)
        return _last_round(b, work, transfers)


def _stripes(b: BlockedMatrix, first: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of block rows."""
    height = ceil_div(b.count, tuning.RELAUNCHED_STRIPES)
    for begin in range(first, end, height):
        yield begin, min(begin + height, end)


def _both_first_phases(b: BlockedMatrix, work: Any, t: int) -> None:
    b.diagonal(t, work)
    b.whole("cross", (b.count - 1, 2), t, work)


def _first_round(b: BlockedMatrix, work: Any, transfers: _RowTransfers) -> None:
    """Run round 0, stripe by stripe as they arrive."""
    work.wait(transfers.fetch(0, 1))
    b.diagonal(0, work)
    b.piece(0, (0, 1), (1, b.count), work)
    for stripe in _stripes(b, 1, b.count):
        work.wait(transfers.fetch(*stripe))
        b.piece(0, stripe, (0, 1), work)
        b.piece(0, stripe, (1, b.count), work)


def _rounds_between(b: BlockedMatrix, work: Any) -> None:
    """Run phase 3 of round 1 to phase 2 of the last round."""
    file, r = b.kernels("apsp_blocked_shared"), b.count
    current = b.device.upload(np.ones(1, np.int32), "round")
    work.wait(b.device.main.record())
    beside = b.device.stream()
    with work.capture() as captured:
        beside.wait(work.record())
        phases = (b.params, r, current)
        file["apsp_blocked_ring_far"].launch(
            (r - 2, r - 2), b.threads, phases, b.two_blocks, beside
        )
        file["apsp_blocked_ring_near"].launch((2 * r - 3, 1), b.threads, phases, b.two_blocks, work)
        file["apsp_blocked_ring_diagonal"].launch(
            (1, 1), b.threads, (b.params, current), b.one_block, work
        )
        file["apsp_blocked_ring_cross"].launch((r - 1, 2), b.threads, phases, b.two_blocks, work)
        work.wait(beside.record())
        file["apsp_blocked_ring_advance"].launch((1, 1), (1, 1), (current,), 0, work)
    for t in range(1, r - 1):
        captured.graph.launch(work)
        if t % tuning.BLOCKED_ROUNDS == 0:
            work.synchronize()
            b.task.report(t, r)
    work.synchronize()  # graph and round number are in use until here


def _last_round(b: BlockedMatrix, work: Any, transfers: _RowTransfers) -> bool:
    """Run phase 3 of the last round stripe by stripe; copy each back when it is done."""
    last = b.count - 1
    ready = work.record()
    b.device.main.wait(ready)
    if b.device.download(b.cycle)[0]:
        b.device.synchronize()
        return False
    transfers.send((last, last + 1), ready)
    for stripe in _stripes(b, 0, last):
        b.piece(last, stripe, (0, last), work)
        transfers.send(stripe, work.record())
    transfers.finish()
    return True


class _RowTransfers:
    """Copies block rows between host and device, in its own stream and through two buffers."""

    def __init__(self, b: BlockedMatrix) -> None:
        self._b = b
        self.stream = b.device.stream()
        rows = min(ceil_div(b.count, tuning.RELAUNCHED_STRIPES) * b.side, b.n)
        self._buffers = [
            [b.device.pinned((rows, b.n), array.dtype) for array in b.host] for _ in range(2)
        ]
        self._in_use: list[tuple[Any, HostRows | None]] = []  # oldest first

    def fetch(self, begin: int, end: int) -> Any:
        """Copy block rows to the device; return the event after the copy."""
        b, rows, buffers = self._b, *self._next(begin, end)
        for array, host, buffer in zip(b.arrays, b.host, buffers, strict=True):
            buffer[...] = host[rows]
            b.device.copy(array[rows], buffer, self.stream)
        event = self.stream.record()
        self._in_use.append((event, None))
        return event

    def send(self, stripe: tuple[int, int], after: Any) -> None:
        """Copy block rows to the host after an event."""
        b, rows, buffers = self._b, *self._next(*stripe)
        self.stream.wait(after)
        for array, buffer in zip(b.arrays, buffers, strict=True):
            b.device.copy(buffer, array[rows], self.stream)
        self._in_use.append((self.stream.record(), (rows, buffers)))

    def finish(self) -> None:
        """Wait for all copies."""
        while self._in_use:
            self._drain()

    def _next(self, begin: int, end: int) -> HostRows:
        """Return rows and free buffers for them."""
        if len(self._in_use) == len(self._buffers):
            self._drain()
        rows = slice(begin * self._b.side, min(end * self._b.side, self._b.n))
        self._buffers.append(self._buffers.pop(0))
        return rows, [buffer[: rows.stop - rows.start] for buffer in self._buffers[-1]]

    def _drain(self) -> None:
        """Wait for the oldest copy; if it was to the host, move its rows into the matrix."""
        event, to_host = self._in_use.pop(0)
        event.synchronize()
        if to_host is not None:
            rows, buffers = to_host
            for host, buffer in zip(self._b.host, buffers, strict=True):
                host[rows] = buffer


HostRows = tuple[slice, list[HostArray]]
