"""All pairs and closures of dense matrices on a GPU; kernels in ``kernels/dense_tiled.cu``.

A round takes in a block of vertices. Two streams share the work of a round: one has the tiles that
the next round begins with, then prepares that round (its columns, its diagonal block, its rows);
the other has the rest of the tiles, which is almost all, and never waits for more than that.

Where all weights are above zero, predecessors are recovered afterwards: see ``recover``. Elsewhere
they are carried along, which takes two to three times as long.

A matrix that the memory of the device does not hold stays on the host: see ``closure_streamed``.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from kleene.backends.common.dense_driver import MatrixForm, close_matrix, engine_form
from kleene.backends.cuda import apsp_naive
from kleene.backends.cuda.closure_predecessors import recover, recovery_bytes
from kleene.backends.cuda.runtime.device import (
    Array,
    Device,
    HostArray,
    Kernel,
    ceil_div,
    open_device,
    require_memory,
)
from kleene.backends.task import Answer, Progress, Task
from kleene.errors import MemoryBudgetError

__all__ = ["Closer", "Layout", "close_in_place", "tiled"]

_BLOCK = 128  # vertices of a round, rows of a tile: kBlock and kRows
_TILE_BYTES = 512  # of a row of a tile
_THREADS = 256
_AHEAD = 8  # rounds that may be waiting on the device


def tiled(task: Task) -> Answer:
    """Eliminate block by block; a product of tiles does almost all of the work."""
    form = engine_form("tiled", task)
    if form.method != "tiled":  # sums might wrap
        return apsp_naive.naive(task)
    return close_matrix(partial(_close, task, form), form, task)


def _close(task: Task, form: MatrixForm, matrix: HostArray, last: HostArray | None) -> bool:
    device, n, stats = open_device(task.device), task.graph.n, task.graph.stats
    if n == 0:
        return True
    positive = bool(stats.min_weight >= 0)
    if last is not None and form.semiring == "min_plus" and stats.min_weight > 0:
        layout = Layout.of(form, n, positive, paths=False)
        with suppress(MemoryBudgetError):
            closed = _close_and_recover(device, layout, task, matrix, last)
            if closed is not None:
                return closed
    layout, closer = Layout.of(form, n, positive, last is not None), None
    if layout.bytes <= device.free_memory():
        with suppress(MemoryBudgetError):  # somebody else may take it first
            closer = Closer(device, layout)
    if closer is None:
        from kleene.backends.cuda import closure_streamed

        return closure_streamed.close(device, layout, task, matrix, last)
    closer.upload(matrix, last)
    if not closer.run(task.report):
        return False
    closer.download(matrix, last)
    return True


def close_in_place(device: Device, lengths: Array, report: Progress) -> bool:
    """Turn arc lengths on the device into distances; False, and nothing, on a negative cycle."""
    n = lengths.shape[0]
    if n == 0:
        return True
    form = MatrixForm("tiled", "min_plus", lengths.dtype, np.inf)
    layout = Layout.of(form, n, positive=False, paths=False)
    require_memory(device, layout.bytes, f"shortest distances of {n:,} vertices")
    device.synchronize()  # the library that made the array has streams of its own
    closer = Closer(device, layout)
    closer.clear()
    device.copy(closer.matrix[:n, :n], lengths)
    diagonal = _diagonal(closer.matrix, n)
    if (device.download(diagonal) < 0).any():
        return False
    none = np.zeros((n, 1), lengths.dtype)
    device.copy(diagonal, none)
    if not closer.run(report) or (device.download(diagonal) < 0).any():  # it may show late
        return False
    device.copy(diagonal, none)
    device.copy(lengths, closer.matrix[:n, :n])
    device.synchronize()
    return True


def _diagonal(matrix: Array, n: int) -> Array:
    """Return the diagonal as a column."""
    item, row = matrix.dtype.itemsize, matrix.strides[0]
    return Array(matrix.address, (n, 1), matrix.dtype, (row + item, item), matrix.owner)


def _close_and_recover(
    device: Device,
    layout: Layout,
    task: Task,
    matrix: HostArray,
    last: HostArray,
) -> bool | None:
    """Close without predecessors and find those afterwards; None where that does not serve."""
    if layout.bytes + recovery_bytes(layout) > device.free_memory():
        return None
    closer = Closer(device, layout)
    arcs = closer.upload(matrix, None, keep=True)
    assert arcs is not None
    if not closer.run(task.report):
        return False
    with device.meter.span("compute", device.main):
        found = recover(device, arcs, closer.matrix, layout.n)
    if found is None:
        return None
    closer.download(matrix, None)
    device.download(found[: layout.n, : layout.n], last)
    return True


class Layout(NamedTuple):
    """How a matrix lies in device memory: padded to whole tiles, in words of an algebra."""

    algebra: str
    dtype: np.dtype[Any]  # of the host's matrix
    word: np.dtype[Any]
    lanes: int  # columns in a word
    n: int
    paths: bool
    reordered: bool  # floats as integers of the same order

    @classmethod
    def of(cls, form: MatrixForm, n: int, positive: bool, paths: bool) -> Layout:
        """Choose the algebra; ``positive`` says that no weight is negative."""
        kind, bits = form.dtype.kind, 8 * form.dtype.itemsize
        word = np.dtype(f"i{max(4, form.dtype.itemsize)}")
        if form.dtype == np.uint64:
            return cls("KL_BOOLEAN", form.dtype, np.dtype(np.int32), 32, n, paths, False)
        if form.semiring == "max_min":
            name = "KL_MAX_MIN_INT" if bits == 32 else "KL_MAX_MIN_LONG"
            return cls(name, form.dtype, word, 1, n, paths, kind == "f")
        number = {"f4": "FLOAT", "f8": "DOUBLE", "i2": "SHORT", "i4": "INT", "i8": "LONG"}
        name = number[f"{kind}{form.dtype.itemsize}"]
        if form.semiring == "min_plus" and name == "FLOAT" and positive:
            name = "LENGTH"
        if name == "SHORT":
            return cls("KL_MIN_PLUS_SHORT", form.dtype, word, 2, n, paths, False)
        algebra = f"KL_{form.semiring.upper()}_{name}"
        return cls(algebra, form.dtype, form.dtype, 1, n, paths, False)

    @property
    def tile_words(self) -> int:
        """Words of a row of a tile."""
        return _TILE_BYTES // self.word.itemsize

    @property
    def rows(self) -> int:
        """Rows, with the padding; as many vertices are in the columns, or more."""
        return ceil_div(self.n, _BLOCK) * _BLOCK

    @property
    def words(self) -> int:
        """Words of a row, with the padding."""
        return ceil_div(self.rows, self.lanes * self.tile_words) * self.tile_words

    @property
    def left_bytes(self) -> int:
        """Bytes of the columns of a round, turned and expanded."""
        return _BLOCK * self.rows * self.word.itemsize

    @property
    def bytes(self) -> int:
        """Bytes of device memory for a whole matrix and the work on it."""
        each = self.word.itemsize + (4 if self.paths else 0)
        return self.rows * self.words * each + 2 * self.left_bytes + 2**20

    @property
    def shared(self) -> int:
        """Bytes of shared memory of the product: two panels, and a list for paths."""
        depth = 16 if self.word.itemsize == 8 else 32
        panel = depth * (_BLOCK * self.word.itemsize + _TILE_BYTES)
        return 2 * panel + (2 * _BLOCK * self.tile_words if self.paths else 0)


class Kernels(NamedTuple):
    """The kernels of one algebra."""

    clear: Kernel
    reorder: Kernel | None
    columns: Kernel
    diagonal: Kernel
    strips: Kernel | None  # for paths
    product: Kernel

    @classmethod
    def of(cls, device: Device, layout: Layout) -> Kernels:
        """Load them."""
        file = device.kernels("dense_tiled", KL_ALGEBRA=layout.algebra, KL_PATHS=int(layout.paths))
        names = ("clear", "reorder", "columns", "diagonal", "strips", "product")
        return cls(*(file.get(f"tiled_{name}") for name in names))  # type: ignore[arg-type]


class Closer:
    """A matrix on a device, and the engine that closes it."""

    def __init__(self, device: Device, layout: Layout) -> None:
        self.device, self.layout = device, layout
        self.kernels = Kernels.of(device, layout)
        rows, words = layout.rows, layout.words
        self.matrix = device.empty((rows, words), layout.word, "matrix")
        self.last = device.empty((rows, words), np.int32, "last") if layout.paths else None
        # Two of each: the next round is prepared while this one is at work.
        self._left = [device.empty((_BLOCK, rows), layout.word, "left") for _ in range(2)]
        self._diagonal = device.empty((_BLOCK, _BLOCK), layout.word, "diagonal")
        self._cycle = device.zeros(1, np.int32, "cycle")
        self._rest, self._urgent = device.stream(), device.stream(urgent=True)

    # ---- between host and device ----------------------------------------------------------------

    def upload(self, matrix: HostArray, last: HostArray | None, keep: bool = False) -> Array | None:
        """Take the matrix and the predecessors from the host; ``keep`` and return a copy."""
        device, n = self.device, self.layout.n
        if self.layout.reordered:
            assert self.kernels.reorder is not None
            device.fill(self.matrix, 0xFF)  # comes before all numbers, reordered
            device.copy(self._seen(matrix), matrix)
            self._everywhere(self.kernels.reorder)
        else:
            self.clear()
            device.copy(self._seen(matrix), matrix)
        if self.last is not None and last is not None:
            device.fill(self.last, 0xFF)
            device.copy(self.last[:n, :n], last)
        if not keep:
            return None
        copy = device.empty(self.matrix.shape, self.matrix.dtype, "arcs")
        device.copy(copy, self.matrix)
        return copy

    def clear(self) -> None:
        """Say "no path" everywhere, in the padding too."""
        self._everywhere(self.kernels.clear)

    def download(self, matrix: HostArray, last: HostArray | None) -> None:
        """Bring matrix and predecessors to the host."""
        device, n = self.device, self.layout.n
        if self.layout.reordered:
            assert self.kernels.reorder is not None
            self._everywhere(self.kernels.reorder)
        device.download(self._seen(matrix), matrix)
        if self.last is not None and last is not None:
            device.download(self.last[:n, :n], last)

    def _seen(self, matrix: HostArray) -> Array:
        """Return the part of the device's words that the host's matrix stands for, in its type."""
        flat = self.matrix.view(matrix.dtype)
        words = flat.reshape(self.layout.rows, flat.size // self.layout.rows)
        return words[: matrix.shape[0], : matrix.shape[1]]

    def _everywhere(self, kernel: Kernel) -> None:
        blocks = min(ceil_div(self.matrix.size, _THREADS), 8 * self.device.multiprocessors)
        kernel.launch((blocks,), (_THREADS,), (self.matrix, self.matrix.size))

    # ---- rounds ---------------------------------------------------------------------------------

    def run(self, report: Progress) -> bool:
        """Close the matrix; False if there is a negative cycle, in which case nothing is closed."""
        with self.device.meter.span("compute", self.device.main):
            return self._run(report)

    def _run(self, report: Progress) -> bool:
        device, rounds = self.device, self.layout.rows // _BLOCK
        rest, urgent = self._rest, self._urgent
        begun = device.main.record()
        urgent.wait(begun)
        rest.wait(begun)
        self._prepare(0)
        done: deque[tuple[int, Any]] = deque()
        for current in range(rounds):
            rest.wait(urgent.record())
            if done:
                urgent.wait(done[-1][1])
            if current + 1 == rounds:
                self._multiply(current, 0, rest)
            else:
                self._multiply(current, 1, urgent)
                self._multiply(current, 2, rest)
                self._prepare(current + 1)
            done.append((current + 1, rest.record()))
            if len(done) > _AHEAD:  # which also lets Ctrl-C in
                passed, event = done.popleft()
                event.synchronize()
                report(passed, rounds)
        device.main.wait(urgent.record())
        device.main.wait(rest.record())
        if device.download(self._cycle)[0]:
            return False
        report(rounds, rounds)
        return True

    def _prepare(self, current: int) -> None:
        """Close the rows of a round's block."""
        kernels, layout, stream = self.kernels, self.layout, self._urgent
        first, left = current * _BLOCK, self._left[current % 2]
        grid = (layout.rows // 32, _BLOCK // 32)
        args = (self.matrix, self.matrix.pitch, first, left, left.pitch)
        kernels.columns.launch(grid, (32, 8), args, stream=stream)
        kernels.diagonal.launch(
            (1,),
            (_THREADS,),
            (left, left.pitch, first, self._diagonal, self._cycle),
            stream=stream,
        )
        columns = layout.words // layout.tile_words
        if kernels.strips is not None:
            kernels.strips.launch(
                (columns,),
                (_THREADS,),
                (
                    self.matrix, self.last, self.matrix.pitch, first, first, self._diagonal,
                    self._cycle,
                ),
                stream=stream,
            )  # fmt: skip
            return
        rows = self.matrix[first : first + _BLOCK]
        kernels.product.launch(
            (columns,),
            (_THREADS,),
            (
                rows, None, rows.pitch, self._diagonal, _BLOCK, rows, None, rows.pitch,
                _BLOCK, 0, columns, -1, 0, 0, self._cycle,
            ),
            shared=layout.shared,
            stream=stream,
        )  # fmt: skip

    def _multiply(self, current: int, part: int, stream: Any) -> None:
        """Let all rows but the block's go through the block; see ``find_tile`` for the parts."""
        layout, left = self.layout, self._left[current % 2]
        rows, columns = layout.rows // _BLOCK, layout.words // layout.tile_words
        ahead = max(1, _BLOCK // layout.lanes // layout.tile_words)  # columns of tiles
        tiles = (
            (rows - 1) * columns,
            columns + (rows - 2) * ahead,
            (rows - 2) * (columns - ahead),
        )[part]
        if tiles == 0:
            return
        first = slice(current * _BLOCK, (current + 1) * _BLOCK)
        right = self.matrix[first]
        right_last = None if self.last is None else self.last[first]
        ahead_column = (current + 1) * _BLOCK // layout.lanes // layout.tile_words
        self.kernels.product.launch(
            (tiles,),
            (_THREADS,),
            (
                self.matrix, self.last, self.matrix.pitch, left, left.pitch, right, right_last,
                right.pitch, _BLOCK, part, columns, current, current + 1, ahead_column, self._cycle,
            ),
            shared=layout.shared,
            stream=stream,
        )  # fmt: skip
