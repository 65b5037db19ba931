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

from collections.abc import Callable
from functools import partial
from typing import Any

from kleene.backends.answer import Answer
from kleene.backends.cuda.apsp_blocked_matrix import BlockedMatrix, run
from kleene.backends.cuda.runtime.interface import ceil_div
from kleene.backends.cuda.tuning import apsp as tuning
from kleene.backends.task import Task
from kleene.errors import RequestError

__all__ = [
    "blocked_1_0",
    "blocked_1_1",
    "blocked_1_2",
    "blocked_2_0",
    "blocked_2_1",
    "blocked_3_0",
    "blocked_4_0",
    "blocked_4_1",
    "blocked_multi",
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
