"""All pairs on a GPU by blocks: the versions of blocked Floyd-Warshall, from plain to elaborate.

In each round t, three phases: the diagonal block (t, t), the blocks in its row and column, the rest
(Venkataraman, Sahni and Mukhopadhyaya 2003). The versions 1.0 to 4.1 are those of Zuccato and Lena
(2022), for any number of vertices and any block size; ``blocked_multi`` is the form of Padamata and
Raveendran (2013). The kernels are in ``kernels/apsp_global.cu``, ``apsp_shared.cu`` and
``apsp_multi.cu``; version 4.2 is in ``apsp_relaunched.py``.

Each takes a task, and ``block``, the side of a block; ``blocked_multi`` also takes ``across`` and
``down``, the elements per thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from math import lcm
from typing import Any

import numpy as np

from kleene.cpu.closure import as_seen, close_by
from kleene.cuda.runtime import (
    Device,
    HostArray,
    Kernel,
    ceil_div,
    ctype,
    open_device,
    require_memory,
)
from kleene.errors import RequestError
from kleene.graph.checks import format_bytes
from kleene.task import Answer, Task

__all__ = [
    "Blocks",
    "bank_conflict",
    "blocked_1_0",
    "blocked_1_1",
    "blocked_1_2",
    "blocked_2_0",
    "blocked_2_1",
    "blocked_3_0",
    "blocked_4_0",
    "blocked_4_1",
    "blocked_multi",
    "run",
]

_SIDE = 32  # a block of 1024 threads with a cell each, the largest of Zuccato and Lena
_ELEMENTS = (4, 2)  # across and down, the best of Padamata and Raveendran
_ROUNDS = 16  # put into the stream between two looks at the clock and the keyboard


def bank_conflict(side: int, itemsize: int = 4) -> bool:
    """Do neighbouring rows of a column of a block meet in one bank of shared memory?

    Banks deliver 128 bytes at a time, to 32 threads, or to 16 where numbers have 8 bytes. Rows that
    are lcm(side, banks) / side apart are in one bank; is that within the rows that threads read?

    >>> [side for side in range(1, 33) if bank_conflict(side)]
    [8, 12, 16, 18, 20, 22, 24, 26, 28, 30, 32]
    """
    banks = 128 // itemsize
    return lcm(side, banks) <= (min(side, banks) - 1) * side


class Blocks:
    """A matrix and its predecessors on the device, cut into blocks."""

    def __init__(
        self,
        method: str,
        task: Task,
        block: int,
        matrix: HostArray,
        last: HostArray | None,
        tolerant: bool,
    ) -> None:
        self.task, self.tolerant = task, int(tolerant)
        self.device: Device = open_device(task.device)
        self.host = (matrix,) if last is None else (matrix, last)
        self.n = len(matrix)
        self.side = min(block or _SIDE, self.n)
        self.count = ceil_div(self.n, self.side)
        self.threads = (min(self.side, 32),) * 2
        what = f"apsp by {method} on {self.n:,} vertices"
        require_memory(self.device, sum(array.nbytes for array in self.host), what)
        self.arrays = [self.device.empty(array.shape, array.dtype) for array in self.host]
        self.d, self.last = self.arrays[0], self.arrays[1] if last is not None else None
        self.cycle = self.device.zeros(1, np.int32, "cycle")
        self._files: dict[str, Mapping[str, Kernel]] = {}
        self.by_rows()

    def kernels(self, file: str) -> Mapping[str, Kernel]:
        if file not in self._files:
            paths = int(self.last is not None)
            defines: dict[str, str | int] = {"KL_TYPE": ctype(self.task.dtype), "KL_PATHS": paths}
            self._files[file] = self.device.kernels(file, **defines)
        return self._files[file]

    # ---- shared memory --------------------------------------------------------------------------

    def by_rows(self, turned: bool = False) -> None:
        """Lay blocks out by rows; if turned, neighbouring threads have neighbouring rows."""
        self.turned, self.pitch = int(turned), self.side
        self.layout = (self.side, 1)

    def without_conflicts(self) -> None:
        """Lay out so that columns are read without conflicts, where there are any.

        The diagonal block is read both ways: a cell is added to its rows. Elsewhere only the left
        factor is read by columns: it is transposed.
        """
        self.by_rows(turned=True)
        if bank_conflict(self.side, self.d.dtype.itemsize):
            self.pitch = self.side + 1
            self.layout = (1, self.side)

    def check(self) -> None:
        """Load kernels and look at shared memory, which cannot be done while work is recorded."""
        self.kernels("apsp_shared")
        _ = self.two_blocks

    @property
    def one_block(self) -> int:
        """Bytes of a padded block in shared memory."""
        return self.two_blocks * self.pitch // (2 * self.side)

    @cached_property
    def two_blocks(self) -> int:
        """Bytes of two blocks in shared memory, which must be there."""
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
        args = (*self.view, self.pitch, t, self.tolerant, self.cycle)
        self.kernels("apsp_shared")["apsp_shared_diagonal"].launch(
            grid, self.threads, args, self.one_block, stream
        )

    def whole(self, phase: str, grid: tuple[int, int], t: int, stream: Any = None) -> None:
        """All blocks of phase 2 (``cross``) or 3 (``rest``), in shared memory."""
        if grid[0] == 0:
            return
        args = (*self.view, *self.layout, t, self.cycle)
        self.kernels("apsp_shared")[f"apsp_shared_{phase}"].launch(
            grid, self.threads, args, self.two_blocks, stream
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
        args = (*self.view, *self.layout, t, rows[0], height, columns[0], width, self.cycle)
        self.kernels("apsp_shared")["apsp_shared_piece"].launch(
            grid or (width, height), self.threads, args, self.two_blocks, stream
        )

    @property
    def view(self) -> tuple[Any, ...]:
        """What all kernels in shared memory begin with."""
        return (self.d, self.last, self.n, self.side, self.turned)

    # ---- the way there and back -----------------------------------------------------------------

    def upload(self) -> None:
        for array, host in zip(self.arrays, self.host, strict=True):
            self.device.copy(array, host)

    def rounds(self, one: Callable[[int], None]) -> None:
        """Do all rounds; now and then wait for them."""
        for t in range(self.count):
            one(t)
            if (t + 1) % _ROUNDS == 0:
                self.device.synchronize()
                self.task.report(t + 1, self.count)

    def download(self) -> bool:
        """Fetch the answer, unless there is a negative cycle."""
        self.device.synchronize()
        if self.device.download(self.cycle)[0]:
            return False
        for array, host in zip(self.arrays, self.host, strict=True):
            self.device.download(array, host)
        return True


Version = Callable[[Blocks], bool]  # closes the matrix; False at a negative cycle


def run(method: str, version: Version, task: Task, block: int = 0) -> Answer:
    """Close the matrix of a task by some version."""

    def engine(matrix: HostArray, last: HostArray | None, tolerant: bool) -> bool:
        if len(matrix) == 0:
            task.report(1, 1)
            return True
        blocks = Blocks(method, task, block, matrix, last, tolerant)
        closed = version(blocks)
        if closed:
            task.report(blocks.count, blocks.count)
        return closed

    return close_by(engine, as_seen(method, task), task)


# ---- 1.0, 1.1, 1.2: global memory ---------------------------------------------------------------


def blocked_1_0(task: Task, *, block: int = 0) -> Answer:
    """Launch every block by itself."""

    def version(b: Blocks) -> bool:
        kernel = b.kernels("apsp_global")["apsp_global_one"]

        def one(t: int, i: int, j: int) -> None:
            args = (b.d, b.last, b.n, b.side, t, i, j, b.tolerant, b.cycle)
            kernel.launch((1, 1), b.threads, args)

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


def _three_launches(b: Blocks, kernels: str, grids: tuple[tuple[int, int], ...]) -> bool:
    file = b.kernels("apsp_global")
    phases = [file[f"{kernels}_{number}"] for number in (1, 2, 3)]

    def each_round(t: int) -> None:
        args = (b.d, b.last, b.n, b.side, t)
        phases[0].launch(grids[0], b.threads, (*args, b.tolerant, b.cycle))
        for phase, grid in zip(phases[1:], grids[1:], strict=True):
            if grid[0] > 0:
                phase.launch(grid, b.threads, (*args, b.cycle))

    b.upload()
    b.rounds(each_round)
    return b.download()


def blocked_1_1(task: Task, *, block: int = 0) -> Answer:
    """Launch all blocks in each phase; most have nothing to do in the first two."""
    return run(
        "blocked_1_1",
        lambda b: _three_launches(b, "apsp_global_all", ((b.count, b.count),) * 3),
        task,
        block,
    )


def blocked_1_2(task: Task, *, block: int = 0) -> Answer:
    """Launch the blocks that a phase has."""
    return run(
        "blocked_1_2",
        lambda b: _three_launches(
            b, "apsp_global", ((1, 1), (b.count - 1, 2), (b.count - 1, b.count - 1))
        ),
        task,
        block,
    )


# ---- 2.0, 2.1: shared memory --------------------------------------------------------------------


def _shared(b: Blocks) -> bool:
    others = b.count - 1

    def each_round(t: int) -> None:
        b.diagonal(t)
        b.whole("cross", (others, 2), t)
        b.whole("rest", (others, others), t)

    b.upload()
    b.rounds(each_round)
    return b.download()


def blocked_2_0(task: Task, *, block: int = 0) -> Answer:
    """Copy what a block reads to shared memory, as it is."""

    def version(b: Blocks) -> bool:
        b.by_rows(turned=True)
        return _shared(b)

    return run("blocked_2_0", version, task, block)


def blocked_2_1(task: Task, *, block: int = 0) -> Answer:
    """The same, transposed or padded where columns would be read with bank conflicts."""

    def version(b: Blocks) -> bool:
        b.without_conflicts()
        return _shared(b)

    return run("blocked_2_1", version, task, block)


# ---- 3.0, 4.0, 4.1: pieces of phases, in streams and in graphs ----------------------------------

#: What each piece of a round comes after, in the order in which they are launched: a name stands
#: for the piece in this round if that has been launched, in the round before if not.
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

#: Only what is really needed: the next diagonal block is in the lower right piece; the blocks above
#: and left of it are in two others, or were final before.
_FINE = _COARSE | {
    "diagonal": ("down_right",),
    "up": ("diagonal", "up_right"),
    "left": ("diagonal", "down_left"),
    "up_left": ("up", "left", "up_left"),
}


def _pieces(
    b: Blocks,
    origin: Any,
    streams: dict[str, Any],
    after: dict[str, tuple[str, ...]],
    grid: tuple[int, int] | None,
) -> Callable[[int], None]:
    """Return what launches a round in nine streams, each piece after those that it needs."""
    start = origin.record()
    done = dict.fromkeys(after, start)
    for stream in streams.values():
        stream.wait(start)

    def each_round(t: int) -> None:
        before, here, beyond = (0, t), (t, t + 1), (t + 1, b.count)
        row = {"up": before, "down": beyond}
        column = {"left": before, "right": beyond}
        for name, needed in after.items():
            stream = streams[name]
            for other in needed:
                stream.wait(done[other])
            if name == "diagonal":
                b.diagonal(t, stream, grid or (1, 1))
            else:
                vertical, _, horizontal = name.rpartition("_")
                rows = row.get(vertical or horizontal, here)
                columns = column.get(horizontal, here)
                b.piece(t, rows, columns, stream, grid)
            done[name] = stream.record()
        if t == b.count - 1:
            for event in done.values():
                origin.wait(event)

    return each_round


def _streams(b: Blocks) -> dict[str, Any]:
    return {name: b.device.stream() for name in _COARSE}


def blocked_3_0(task: Task, *, block: int = 0) -> Answer:
    """Break the phases into pieces that run in streams of their own."""

    def version(b: Blocks) -> bool:
        b.without_conflicts()
        b.upload()
        b.rounds(_pieces(b, b.device.main, _streams(b), _COARSE, None))
        return b.download()

    return run("blocked_3_0", version, task, block)


def _graph(after: dict[str, tuple[str, ...]], b: Blocks) -> bool:
    """Record everything, copies of the whole matrix included, then launch it.

    Every launch has a block of threads for every block of the matrix, needed or not.
    """
    b.without_conflicts()
    staged = [b.device.pinned(array.shape, array.dtype) for array in b.host]
    for stage, host in zip(staged, b.host, strict=True):
        stage[...] = host
    origin, streams = b.device.stream(), _streams(b)
    origin.wait(b.device.main.record())
    b.check()
    with origin.capture() as captured:
        for array, stage in zip(b.arrays, staged, strict=True):
            b.device.copy(array, stage, origin)
        each_round = _pieces(b, origin, streams, after, (b.count, b.count))
        for t in range(b.count):
            each_round(t)
        for array, stage in zip(b.arrays, staged, strict=True):
            b.device.copy(stage, array, origin)
    captured.graph.launch(origin)
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
    """Let each thread look after several cells, in registers in phase 3."""
    across, down = across or _ELEMENTS[0], down or _ELEMENTS[1]
    for name, value in (("across", across), ("down", down)):
        if value not in (1, 2, 4):
            raise RequestError(f"{name} can be 1, 2 or 4 elements per thread, not {value}")

    def version(b: Blocks) -> bool:
        width = min(ceil_div(b.side, across), 32)
        most = min(1024, 4096 // (across * down)) // width
        b.threads = (width, min(ceil_div(b.side, down), most))
        rest = b.kernels("apsp_multi")[f"apsp_multi_{across}x{down}"]
        others = b.count - 1

        def each_round(t: int) -> None:
            b.diagonal(t)
            b.whole("cross", (others, 2), t)
            if others:
                args = (b.d, b.last, b.n, b.side, t, b.cycle)
                rest.launch((others, others), b.threads, args, b.two_blocks)

        b.upload()
        b.rounds(each_round)
        return b.download()

    return run("blocked_multi", version, task, block)
