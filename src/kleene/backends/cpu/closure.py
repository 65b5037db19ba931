"""Closures of dense matrices on the CPU; the algorithms are in ``native/core/closure``."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from numpy.typing import NDArray

from kleene import _native
from kleene.backends.answer import Answer
from kleene.backends.common.bands import (
    BUFFERS,
    RoundEngine,
    RoundSplit,
    RowSource,
    RowTarget,
    overlapped,
    pieces,
)
from kleene.backends.common.dense_driver import MatrixForm, close_matrix, engine_form, threads_of
from kleene.backends.common.tiles import Tile
from kleene.backends.task import Task
from kleene.system.threads import ThreadPool

__all__ = [
    "CpuRounds",
    "CpuTiles",
    "blocked",
    "close",
    "floyd_warshall",
    "measure_ceiling",
    "min_plus",
    "open_rounds",
    "open_tiles",
    "rkleene",
    "rkleene_quadtree",
    "tiled",
]

Array = NDArray[Any]


def tiled(task: Task, block: int = 0) -> Answer:
    """Eliminate blocks of vertices; tiles of the products are in vector registers."""
    return close("tiled", task, block=block)


def floyd_warshall(task: Task) -> Answer:
    """Allow one more inner vertex at each step, over any semiring, on one core."""
    return close("floyd_warshall", task)


def blocked(task: Task, block: int = 0) -> Answer:
    """Run Floyd-Warshall by blocks: the diagonal, its row and column, the rest."""
    return close("blocked", task, block=block)


def min_plus(task: Task) -> Answer:
    """Square the matrix until nothing improves."""
    return close("min_plus", task)


def rkleene(task: Task) -> Answer:
    """Close one quadrant, then the other, with products between."""
    return close("rkleene", task)


def rkleene_quadtree(task: Task) -> Answer:
    """Run R-Kleene with every quadrant contiguous in memory."""
    return close("rkleene_quadtree", task)


def close(method: str, task: Task, *, block: int = 0, level: int = -1) -> Answer:
    """Close the whole matrix by the native method of this name, then keep the rows of the sources.

    ``block`` is the side of a block and ``level`` an index into ``_native.simd_levels()``, for
    methods that have them; the defaults are the fastest.
    """
    form = engine_form(method, task)

    def engine(matrix: Array, predecessors: Array | None) -> bool:
        return _native.closure(
            form.method, form.semiring, matrix, predecessors, threads_of(task), block, level,
            task.progress,
        )  # fmt: skip

    return close_matrix(engine, form, task)


# ---- Rounds of the closure of a matrix in files, on the CPU -------------------------------------
# See ``backends/common/bands``.
#
# Every entry sees the operations of ``tiled`` on a matrix in memory, in the same order, so the
# answer has the same bits, however large the rounds are.


def open_rounds(
    task: Task, form: MatrixForm, split: RoundSplit, kept: list[int] | None
) -> RoundEngine:
    """Return the engine for a split; nothing is kept, since all splits give the same bits."""
    return CpuRounds(task, form, split)


class CpuRounds:
    """Rounds by the native tiled engine."""

    def __init__(self, task: Task, form: MatrixForm, split: RoundSplit) -> None:
        self._form, self._n, self._paths = form, task.graph.n, task.predecessors
        self._threads, self._sizes = threads_of(task), split

    @property
    def split(self) -> list[int]:
        """No sizes: the bits of the answer depend on none."""
        return []

    @property
    def vertices(self) -> int:
        """The vertices of a round."""
        return self._sizes.vertices

    def next_round(self, first: int, begun: range | None) -> range:
        """Return the vertices of the next round: those of one that was begun, if they fit."""
        if begun is not None and len(begun) <= self._sizes.most:
            return begun
        return range(first, min(first + self.vertices, self._n))

    def run(
        self,
        vertices: range,
        source: RowSource,
        target: RowTarget,
        missing: list[range],
        report: Callable[[int], None],
    ) -> bool:
        """Take the rows that are missing in the target through a round; False at a cycle."""
        left = sum(map(len, missing))
        form, threads = self._form, self._threads
        rows = Tile.empty(form, len(vertices), self._n, self._paths)
        source.read(vertices.start, rows)
        panel = _native.closure_panel(form.semiring, *rows, self._n, vertices.start, threads)
        if panel is None:
            return False
        band = self._sizes.band

        def read(band: range, buffer: Tile) -> None:
            source.read(band.start, buffer.top(len(band)))

        def relax(band: range, buffer: Tile) -> Callable[[], Any]:
            nonlocal left
            part = buffer.top(len(band))
            panel.relax(*part, band.start, threads)
            left -= len(band)
            report(left)
            return partial(target.write, band.start, part)

        def write_panel(own: range) -> None:
            first = vertices.start
            target.write(own.start, rows.rows(range(own.start - first, own.stop - first)))

        before, after = range(vertices.start), range(vertices.stop, self._n)
        others = [*_common(missing, after), *_common(missing, before)]
        buffers = [Tile.empty(form, band, self._n, self._paths) for _ in range(BUFFERS)]
        with ThreadPool(1) as thread:  # writes the panel meanwhile
            writes = [
                thread.submit(write_panel, own) for own in pieces(_common(missing, vertices), band)
            ]
            overlapped(pieces(others, band), buffers, read, relax)
            for written in writes:
                written.result()
        report(0)
        return True


def _common(ranges: list[range], part: range) -> list[range]:
    """Return what ranges have in common with another."""
    found = (range(max(r.start, part.start), min(r.stop, part.stop)) for r in ranges)
    return [rows for rows in found if rows]


# ---- Steps on single tiles of a matrix, on the CPU: see ``backends/common/tiles`` ---------------


def open_tiles(form: MatrixForm, device: str, threads: int, nonnegative: bool) -> CpuTiles:
    """Return the engine for tiles of this form."""
    return CpuTiles(form, threads)


@dataclass(frozen=True)
class CpuTiles:
    """The steps by the native tiled engine."""

    form: MatrixForm
    threads: int

    def close(self, tile: Tile) -> bool:
        """Close a square; False at a negative cycle."""
        return _native.closure("tiled", self.form.semiring, *tile, self.threads)

    def relax(self, tile: Tile, left: NDArray[Any], right: Tile) -> None:
        """Relax a tile: take the best of it and left times right."""
        columns = tile.values.shape[1] * (64 if self.form.dtype == "uint64" else 1)
        _native.closure_multiply(
            self.form.semiring, left, *right, *tile, len(right.values), columns, self.threads
        )


# ---- The rate of the dense CPU kernel with its operands in the nearest cache --------------------

_REPEATS = 3


def measure_ceiling(
    semiring: str, dtype: str, predecessors: bool, threads: int, seconds: float
) -> float:
    """Return relaxations per second, the median of some runs that take so many seconds together."""
    each = seconds / _REPEATS
    return statistics.median(
        _native.closure_peak_rate(semiring, dtype, predecessors, threads, each)
        for _ in range(_REPEATS)
    )
