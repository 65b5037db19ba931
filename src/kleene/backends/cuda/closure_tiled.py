"""All pairs and closures of dense matrices on a GPU: tiled elimination.

The kernels are in ``kernels/closure_tiled.cu``. A round eliminates some blocks of vertices, on two
streams. The urgent one computes the tiles that the next round starts with, then prepares that round
(its columns, diagonal blocks and rows). The other computes the rest, almost all of the work, and
waits only for that preparation.

Predecessors of shortest paths are recovered from the distances where that is possible: see
``closure_predecessors``. Otherwise they are computed along, which takes about twice as long.

A matrix larger than the device memory stays on the host: see ``closure_streamed``.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from kleene.backends.common.dense_driver import MatrixForm, close_matrix, engine_form
from kleene.backends.cuda import apsp_naive
from kleene.backends.cuda.closure_copies import copy_in, copy_out
from kleene.backends.cuda.closure_kernels import ClosureKernels, DeviceRows, TileSet
from kleene.backends.cuda.closure_layout import BLOCK, TileLayout
from kleene.backends.cuda.closure_predecessors import recover, recovery_bytes
from kleene.backends.cuda.runtime.device import (
    Array,
    Device,
    HostArray,
    open_device,
    require_memory,
)
from kleene.backends.cuda.runtime.structs import Struct, constant
from kleene.backends.cuda.tuning import closure as tuning
from kleene.backends.task import Answer, Progress, Task
from kleene.errors import MemoryBudgetError

__all__ = ["TiledClosure", "close_in_place", "is_nonnegative", "tiled"]

_THREADS = constant("closure_tiled", "kThreads")


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
    device, n = open_device(task.device), task.graph.n
    if n == 0:
        return True
    nonnegative = bool(task.graph.stats.min_weight >= 0)
    if predecessors is not None and form.semiring == "min_plus":
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
    closure.upload(task, matrix, predecessors)
    if not closure.run(task.report):
        return False
    closure.download(task, matrix, predecessors)
    return True


def _close_and_recover(
    device: Device,
    layout: TileLayout,
    task: Task,
    matrix: HostArray,
    predecessors: HostArray,
) -> bool | None:
    """Close, then recover predecessors; None if memory or the distances forbid it."""
    if layout.bytes + recovery_bytes(layout) > device.free_memory():
        return None
    closure = TiledClosure(device, layout)
    closure.upload(task, matrix, None)
    arcs = device.empty(closure.rows.words.shape, layout.word, "arcs")
    device.copy(arcs, closure.rows.words)
    if not closure.run(task.report):
        return False
    positive = bool(task.graph.stats.min_weight > 0)
    with device.timer.span("compute", device.main):
        found = recover(device, arcs, closure.rows.words, layout.n, positive)
    if found is None:
        return None
    closure.download(task, matrix, None)
    copy_out(device, task, predecessors, found[: layout.n, : layout.n])
    return True


# ---- in place -----------------------------------------------------------------------------------


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
    matrix = closure.rows.words
    closure.kernels.clear(matrix)
    device.copy(matrix[:n, :n], lengths)
    diagonal = _diagonal(matrix, n)
    if (device.download(diagonal) < 0).any():
        return False
    zeros = np.zeros((n, 1), lengths.dtype)
    device.copy(diagonal, zeros)
    if not closure.run(report) or (device.download(diagonal) < 0).any():  # it may appear only now
        return False
    device.copy(diagonal, zeros)
    device.copy(lengths, matrix[:n, :n])
    device.synchronize()
    return True


def is_nonnegative(device: Device, lengths: Array) -> bool:
    """Return whether no entry of a float32 matrix is negative, -0.0 or NaN; else False."""
    if lengths.dtype != np.float32:  # no other type has an arithmetic of its own for lengths
        return False
    file = device.kernels("closure_tiled", KL_ALGEBRA="KL_MIN_PLUS_LENGTH", KL_PATHS=0)
    found, n = device.zeros(1, np.int32, "found"), lengths.shape[0]
    blocks = min(n, tuning.BLOCKS_PER_MULTIPROCESSOR * device.multiprocessors)
    file["closure_tiled_find_negative"].launch(
        (blocks,), (_THREADS,), (lengths, lengths.pitch, n, found)
    )
    return not device.download(found)[0]


def _diagonal(matrix: Array, n: int) -> Array:
    """Return the diagonal as a column view."""
    item, row = matrix.dtype.itemsize, matrix.strides[0]
    return Array(matrix.address, (n, 1), matrix.dtype, (row + item, item), matrix.owner)


# ---- the engine ---------------------------------------------------------------------------------


class TiledClosure:
    """A matrix on a device and the rounds that close it."""

    def __init__(self, device: Device, layout: TileLayout) -> None:
        self.device, self.layout = device, layout
        self.kernels = ClosureKernels(device, layout)
        self.rows = DeviceRows.empty(device, layout, layout.rows, "matrix")
        self._rounds = layout.rounds()  # the vertices of each
        # Double-buffered: the next round is prepared while this one runs.
        depth = layout.round_blocks * BLOCK
        shape = (depth, layout.rows)
        self._left = [device.empty(shape, layout.word, "left") for _ in range(2)]
        self._spare = device.empty((BLOCK, depth), layout.word, "left of a round's rows")
        # Of the products of even and of odd rounds: those ahead, the rest, all of the last round.
        self._params: dict[tuple[int, str], tuple[Struct, TileSet]] = {}
        self._rest, self._urgent = device.stream(), device.stream(urgent=True)

    # ---- copies ---------------------------------------------------------------------------------

    def upload(self, task: Task, matrix: HostArray, predecessors: HostArray | None) -> None:
        """Copy matrix and predecessors to the device."""
        device, n, rows = self.device, self.layout.n, self.rows
        if self.layout.reordered:
            device.fill(rows.words, 0xFF)  # below all numbers after reordering
            copy_in(device, task, rows.host_view(matrix), matrix)
            self.kernels.reorder(rows.words)
        else:
            self.kernels.clear(rows.words)
            copy_in(device, task, rows.host_view(matrix), matrix)
        if rows.predecessors is not None and predecessors is not None:
            device.fill(rows.predecessors, 0xFF)
            copy_in(device, task, rows.predecessors[:n, :n], predecessors)

    def download(self, task: Task, matrix: HostArray, predecessors: HostArray | None) -> None:
        """Copy matrix and predecessors to the host."""
        device, n, rows = self.device, self.layout.n, self.rows
        if self.layout.reordered:
            self.kernels.reorder(rows.words)
        copy_out(device, task, matrix, rows.host_view(matrix))
        if rows.predecessors is not None and predecessors is not None:
            copy_out(device, task, predecessors, rows.predecessors[:n, :n])

    # ---- rounds ---------------------------------------------------------------------------------

    def run(self, report: Progress) -> bool:
        """Close the matrix; False on a negative cycle, which leaves it unusable."""
        with self.device.timer.span("compute", self.device.main):
            return self._run(report)

    def _run(self, report: Progress) -> bool:
        device, rounds = self.device, len(self._rounds)
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
            self._multiply(current, last=current + 1 == rounds)
            if current + 1 < rounds:
                self._prepare(current + 1)
            done.append((current + 1, rest.record()))
            if len(done) > tuning.ROUNDS_AHEAD:  # Ctrl-C is handled here too
                completed, event = done.popleft()
                event.synchronize()
                report(completed, rounds)
        device.main.wait(urgent.record())
        device.main.wait(rest.record())
        if device.download(self.kernels.cycle)[0]:
            return False
        report(rounds, rounds)
        return True

    def _prepare(self, current: int) -> None:
        """Close the rows of a round over its vertices."""
        first, depth = self._rounds[current].start, len(self._rounds[current])
        left = self._left[current % 2][:depth]
        self.kernels.transpose(self.rows, first, left, self._urgent)
        spare = self._spare[:, :depth]
        own = self.rows[first : first + depth]
        self.kernels.close_rows(own, first, left, first, spare, self._urgent)

    def _multiply(self, current: int, last: bool) -> None:
        """Relax all other rows through the vertices of a round."""
        layout, vertices = self.layout, self._rounds[current]
        columns = layout.tile_columns
        own = range(vertices.start // BLOCK, vertices.stop // BLOCK)
        if last:
            self._launch(current, "all", TileSet.without(columns, own), self._rest)
            return
        following = self._rounds[current + 1]
        ahead = range(following.start // BLOCK, following.stop // BLOCK)
        strip = layout.tile_range(following.start, following.stop)
        urgent = TileSet.ahead(columns, own, ahead, strip)
        self._launch(current, "ahead", urgent, self._urgent)
        self._launch(current, "rest", TileSet.rest(columns, own, ahead, strip), self._rest)

    def _launch(self, current: int, part: str, tiles: TileSet, stream: Any) -> None:
        """Launch a product; from one round to the next only few of its parameters change."""
        vertices = self._rounds[current]
        closed = self.rows[vertices.start : vertices.stop]
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
        count = tiles.count(self.layout.rows // BLOCK)
        self.kernels.launch_product(params, count, stream)
