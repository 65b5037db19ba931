"""All pairs and closures of dense matrices on a GPU: tiled elimination.

The kernels are in ``kernels/closure_tiled.cu``. A round eliminates a block of vertices, on two
streams. The urgent one computes the tiles that the next round starts with, then prepares that round
(its columns, diagonal block and rows). The other computes the rest, almost all of the work, and
waits only for that preparation.

If all weights are positive, predecessors are recovered from the distances: see
``closure_predecessors``. Otherwise they are computed along, which takes two to three times as long.

A matrix larger than the device memory stays on the host: see ``closure_streamed``.
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

__all__ = ["TileLayout", "TiledClosure", "close_in_place", "is_nonnegative", "tiled"]

_BLOCK = 128  # kBlock, kRows: vertices of a round, rows of a tile
_TILE_BYTES = 512  # per row of a tile
_THREADS = 256
_AHEAD = 8  # rounds queued on the device


def tiled(task: Task) -> Answer:
    """Eliminate vertices block by block; tile products do almost all of the work."""
    form = engine_form("tiled", task)
    if form.method != "tiled":  # sums could wrap
        return apsp_naive.naive(task)
    if task.keep:
        from kleene.backends.cuda.closure_kept import close_kept

        kept = close_kept(task, form)
        if kept is not None:
            return kept
    return close_matrix(partial(_close, task, form), form, task)


def _close(task: Task, form: MatrixForm, matrix: HostArray, predecessors: HostArray | None) -> bool:
    device, n, stats = open_device(task.device), task.graph.n, task.graph.stats
    if n == 0:
        return True
    nonnegative = bool(stats.min_weight >= 0)
    if predecessors is not None and form.semiring == "min_plus" and stats.min_weight > 0:
        layout = TileLayout.of(form, n, nonnegative, paths=False)
        with suppress(MemoryBudgetError):
            closed = _close_and_recover(device, layout, task, matrix, predecessors)
            if closed is not None:
                return closed
    layout, closure = TileLayout.of(form, n, nonnegative, predecessors is not None), None
    if layout.bytes <= device.free_memory():
        with suppress(MemoryBudgetError):  # another process may allocate first
            closure = TiledClosure(device, layout)
    if closure is None:
        from kleene.backends.cuda import closure_streamed

        return closure_streamed.close(device, layout, task, matrix, predecessors)
    closure.upload(matrix, predecessors)
    if not closure.run(task.report):
        return False
    closure.download(matrix, predecessors)
    return True


def close_in_place(device: Device, lengths: Array, report: Progress) -> bool:
    """Replace arc lengths on the device by distances; False, unchanged, on a negative cycle.

    A matrix of float32 without negative entries takes the faster arithmetic for lengths. Entries
    of -0.0 and NaN count as negative: they take the general arithmetic, whose minimum ignores NaN.
    """
    n = lengths.shape[0]
    if n == 0:
        return True
    form = MatrixForm("tiled", "min_plus", lengths.dtype, np.inf)
    device.synchronize()  # the library that made the array has streams of its own
    layout = TileLayout.of(form, n, is_nonnegative(device, lengths), paths=False)
    require_memory(device, layout.bytes, f"shortest distances of {n:,} vertices")
    closure = TiledClosure(device, layout)
    closure.clear()
    device.copy(closure.matrix[:n, :n], lengths)
    diagonal = _diagonal(closure.matrix, n)
    if (device.download(diagonal) < 0).any():
        return False
    zeros = np.zeros((n, 1), lengths.dtype)
    device.copy(diagonal, zeros)
    if not closure.run(report) or (device.download(diagonal) < 0).any():  # it may appear only now
        return False
    device.copy(diagonal, zeros)
    device.copy(lengths, closure.matrix[:n, :n])
    device.synchronize()
    return True


def is_nonnegative(device: Device, lengths: Array) -> bool:
    """Return whether no entry of a float32 matrix is negative, -0.0 or NaN; else False."""
    if lengths.dtype != np.float32:  # no other type has an arithmetic of its own for lengths
        return False
    file = device.kernels("closure_tiled", KL_ALGEBRA="KL_MIN_PLUS_LENGTH", KL_PATHS=0)
    found, n = device.zeros(1, np.int32, "found"), lengths.shape[0]
    file["closure_tiled_find_negative"].launch(
        (min(n, 8 * device.multiprocessors),), (_THREADS,), (lengths, lengths.pitch, n, found)
    )
    return not device.download(found)[0]


def _diagonal(matrix: Array, n: int) -> Array:
    """Return the diagonal as a column view."""
    item, row = matrix.dtype.itemsize, matrix.strides[0]
    return Array(matrix.address, (n, 1), matrix.dtype, (row + item, item), matrix.owner)


def _close_and_recover(
    device: Device,
    layout: TileLayout,
    task: Task,
    matrix: HostArray,
    predecessors: HostArray,
) -> bool | None:
    """Close, then recover predecessors; None if memory or the number of tight arcs forbids it."""
    if layout.bytes + recovery_bytes(layout) > device.free_memory():
        return None
    closure = TiledClosure(device, layout)
    arcs = closure.upload(matrix, None, keep=True)
    assert arcs is not None
    if not closure.run(task.report):
        return False
    with device.timer.span("compute", device.main):
        found = recover(device, arcs, closure.matrix, layout.n)
    if found is None:
        return None
    closure.download(matrix, None)
    device.download(found[: layout.n, : layout.n], predecessors)
    return True


class TileLayout(NamedTuple):
    """How a matrix lies in device memory: padded to whole tiles, in words of a number format."""

    algebra: str
    dtype: np.dtype[Any]  # of the host matrix
    word: np.dtype[Any]
    lanes: int  # columns per word
    n: int
    paths: bool
    reordered: bool  # floats as integers in the same order

    @classmethod
    def of(cls, form: MatrixForm, n: int, nonnegative: bool, paths: bool) -> TileLayout:
        """Choose the number format; ``nonnegative`` says that no weight is negative."""
        kind, bits = form.dtype.kind, 8 * form.dtype.itemsize
        word = np.dtype(f"i{max(4, form.dtype.itemsize)}")
        if form.dtype == np.uint64:
            return cls("KL_BOOLEAN", form.dtype, np.dtype(np.int32), 32, n, paths, False)
        if form.semiring == "max_min":
            name = "KL_MAX_MIN_INT" if bits == 32 else "KL_MAX_MIN_LONG"
            return cls(name, form.dtype, word, 1, n, paths, kind == "f")
        number = {"f4": "FLOAT", "f8": "DOUBLE", "i2": "SHORT", "i4": "INT", "i8": "LONG"}
        name = number[f"{kind}{form.dtype.itemsize}"]
        if form.semiring == "min_plus" and name == "FLOAT" and nonnegative:
            name = "LENGTH"
        if name == "SHORT":
            return cls("KL_MIN_PLUS_SHORT", form.dtype, word, 2, n, paths, False)
        algebra = f"KL_{form.semiring.upper()}_{name}"
        return cls(algebra, form.dtype, form.dtype, 1, n, paths, False)

    @property
    def tile_words(self) -> int:
        """Words per row of a tile."""
        return _TILE_BYTES // self.word.itemsize

    @property
    def rows(self) -> int:
        """Rows with padding."""
        return ceil_div(self.n, _BLOCK) * _BLOCK

    @property
    def words(self) -> int:
        """Words per row with padding."""
        return ceil_div(self.rows, self.lanes * self.tile_words) * self.tile_words

    @property
    def left_bytes(self) -> int:
        """Bytes of the columns of a round, transposed and expanded."""
        return _BLOCK * self.rows * self.word.itemsize

    @property
    def bytes(self) -> int:
        """Device bytes of the matrix and its workspace."""
        each = self.word.itemsize + (4 if self.paths else 0)
        return self.rows * self.words * each + 2 * self.left_bytes + 2**20

    @property
    def shared(self) -> int:
        """Shared bytes of the product: two panels, and a list of improved words for paths."""
        depth = 16 if self.word.itemsize == 8 else 32
        panel = depth * (_BLOCK * self.word.itemsize + _TILE_BYTES)
        return 2 * panel + (2 * _BLOCK * self.tile_words if self.paths else 0)


class Kernels(NamedTuple):
    """The kernels of one number format."""

    clear: Kernel
    reorder: Kernel | None
    columns: Kernel
    diagonal: Kernel
    strips: Kernel | None  # with predecessors
    product: Kernel

    @classmethod
    def of(cls, device: Device, layout: TileLayout) -> Kernels:
        """Load the kernels."""
        file = device.kernels(
            "closure_tiled", KL_ALGEBRA=layout.algebra, KL_PATHS=int(layout.paths)
        )
        names = ("clear", "reorder", "columns", "diagonal", "strips", "product")
        return cls(*(file.get(f"closure_tiled_{name}") for name in names))  # type: ignore[arg-type]


class TiledClosure:
    """A matrix on a device and the rounds that close it."""

    def __init__(self, device: Device, layout: TileLayout) -> None:
        self.device, self.layout = device, layout
        self.kernels = Kernels.of(device, layout)
        rows, words = layout.rows, layout.words
        self.matrix = device.empty((rows, words), layout.word, "matrix")
        self.predecessors = (
            device.empty((rows, words), np.int32, "predecessors") if layout.paths else None
        )
        # Double-buffered: the next round is prepared while this one runs.
        self._left = [device.empty((_BLOCK, rows), layout.word, "left") for _ in range(2)]
        self._diagonal = device.empty((_BLOCK, _BLOCK), layout.word, "diagonal")
        self._cycle = device.zeros(1, np.int32, "cycle")
        self._rest, self._urgent = device.stream(), device.stream(urgent=True)

    # ---- copies ---------------------------------------------------------------------------------

    def upload(
        self, matrix: HostArray, predecessors: HostArray | None, keep: bool = False
    ) -> Array | None:
        """Copy matrix and predecessors to the device; with ``keep``, return a second copy."""
        device, n = self.device, self.layout.n
        if self.layout.reordered:
            assert self.kernels.reorder is not None
            device.fill(self.matrix, 0xFF)  # below all numbers after reordering
            device.copy(self._host_view(matrix), matrix)
            self._launch_over_words(self.kernels.reorder)
        else:
            self.clear()
            device.copy(self._host_view(matrix), matrix)
        if self.predecessors is not None and predecessors is not None:
            device.fill(self.predecessors, 0xFF)
            device.copy(self.predecessors[:n, :n], predecessors)
        if not keep:
            return None
        copy = device.empty(self.matrix.shape, self.matrix.dtype, "arcs")
        device.copy(copy, self.matrix)
        return copy

    def clear(self) -> None:
        """Set all words to no_path, padding included."""
        self._launch_over_words(self.kernels.clear)

    def download(self, matrix: HostArray, predecessors: HostArray | None) -> None:
        """Copy matrix and predecessors to the host."""
        device, n = self.device, self.layout.n
        if self.layout.reordered:
            assert self.kernels.reorder is not None
            self._launch_over_words(self.kernels.reorder)
        device.download(self._host_view(matrix), matrix)
        if self.predecessors is not None and predecessors is not None:
            device.download(self.predecessors[:n, :n], predecessors)

    def _host_view(self, matrix: HostArray) -> Array:
        """Return the words of the host matrix, without padding and in its type."""
        flat = self.matrix.view(matrix.dtype)
        words = flat.reshape(self.layout.rows, flat.size // self.layout.rows)
        return words[: matrix.shape[0], : matrix.shape[1]]

    def _launch_over_words(self, kernel: Kernel) -> None:
        blocks = min(ceil_div(self.matrix.size, _THREADS), 8 * self.device.multiprocessors)
        kernel.launch((blocks,), (_THREADS,), (self.matrix, self.matrix.size))

    # ---- rounds ---------------------------------------------------------------------------------

    def run(self, report: Progress) -> bool:
        """Close the matrix; False on a negative cycle, which leaves it unusable."""
        with self.device.timer.span("compute", self.device.main):
            return self._run(report)

    def _run(self, report: Progress) -> bool:
        device, rounds = self.device, self.layout.rows // _BLOCK
        rest, urgent = self._rest, self._urgent
        began = device.main.record()
        urgent.wait(began)
        rest.wait(began)
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
            if len(done) > _AHEAD:  # Ctrl-C is handled here too
                completed, event = done.popleft()
                event.synchronize()
                report(completed, rounds)
        device.main.wait(urgent.record())
        device.main.wait(rest.record())
        if device.download(self._cycle)[0]:
            return False
        report(rounds, rounds)
        return True

    def _prepare(self, current: int) -> None:
        """Close the rows of the block of a round."""
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
                    self.matrix, self.predecessors, self.matrix.pitch, first, first, self._diagonal,
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
        """Relax all other rows through the block; ``find_tile`` in the kernel defines the parts."""
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
        right_predecessors = None if self.predecessors is None else self.predecessors[first]
        ahead_column = (current + 1) * _BLOCK // layout.lanes // layout.tile_words
        self.kernels.product.launch(
            (tiles,),
            (_THREADS,),
            (
                self.matrix, self.predecessors, self.matrix.pitch, left, left.pitch, right,
                right_predecessors, right.pitch, _BLOCK, part, columns, current, current + 1,
                ahead_column, self._cycle,
            ),
            shared=layout.shared,
            stream=stream,
        )  # fmt: skip
