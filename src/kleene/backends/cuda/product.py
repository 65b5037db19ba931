"""Matrix products on a GPU, by the tiles of dense closures: ``kernels/closure/closure_tiled.cu``.

A closure relaxes its matrix through the product of some of its columns and rows. Here the columns
are the left factor, transposed, the rows the right one, and the matrix starts as "no path". With
paths, a word that improves takes the predecessor of the right factor's word: there every word of
row k has the number k, so that the inner position comes out, the first among equals.

The factors are on the host or on the device, and are copied into whole tiles, padded with "no
path". Arrays on the device that have this form already are used where they are.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from kleene.backends.common.dense_driver import MatrixForm
from kleene.backends.common.product_form import decoded, encoded, engine_shape, product_form
from kleene.backends.cuda.closure.bands import copy_in, copy_out
from kleene.backends.cuda.closure.kernels import (
    BLOCK,
    ClosureKernels,
    DeviceRows,
    TileLayout,
    TileSet,
)
from kleene.backends.cuda.closure.tiled import is_nonnegative
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.runtime.interface import (
    Array,
    Device,
    Event,
    HostArray,
    ceil_div,
    require_memory,
)
from kleene.backends.cuda.runtime.structs import constant
from kleene.backends.cuda.tuning import closure as tuning
from kleene.backends.task import ProductTask, Progress

__all__ = ["is_nonnegative_matrix", "multiply_on_device", "tiled"]

_NOTED_DEPTH = constant("closure_tiled", "kNotedDepth")

_SLACK = 2**20  # bytes for what is small

_ALIGNED = 16  # bytes that a thread copies at once

#: Squares that a matrix is looked at in, at most: each is a launch.
_MOST_SQUARES = 64


def tiled(task: ProductTask) -> tuple[HostArray, HostArray | None]:
    """Multiply tiles of both factors in shared memory and registers."""
    device, form = open_device(task.device), product_form(task)
    left, right = (_without_signs(task, each) for each in (task.left, task.right))
    left, right = encoded(task, form, left), encoded(task, form, right)
    rows, columns = task.shape
    lowest = -task.entries[1] if task.semiring == "max_plus" else task.entries[0]
    product = DeviceProduct(
        device, form, (rows, len(right), columns), _is_length(lowest, task.argmin), task.argmin
    )
    product.put_left(lambda to: copy_in(device, task, to, left), left.dtype)
    product.put_right(lambda to: copy_in(device, task, to, right), right.dtype)
    found = product.run(task.progress)
    values = np.empty(engine_shape(form, rows, columns), form.dtype)
    copy_out(device, task, values, found.host_view(values))
    chosen = None
    if found.predecessors is not None:
        chosen = np.empty(task.shape, np.int32)
        copy_out(device, task, chosen, found.predecessors[:rows, :columns])
    answer = decoded(task, form, values, chosen)
    if task.out is not None and answer is not task.out:
        task.out[...] = answer
        answer = task.out
    return answer, chosen


def multiply_on_device(
    device: Device,
    form: MatrixForm,
    left: Array,
    right: Array,
    lowest: float,
    argmin: bool,
    report: Progress | None,
) -> tuple[Array, Array | None]:
    """Return the product of two arrays on a device, and the inner positions, both there.

    The arrays are of the form's type, and no entry is below ``lowest``.
    """
    (rows, depth), columns = left.shape, right.shape[1]
    device.synchronize()  # the library that made the arrays has streams of its own
    product = DeviceProduct(
        device, form, (rows, depth, columns), _is_length(lowest, argmin), argmin, kept=True
    )
    product.put_left(lambda to: device.copy(to, left), left.dtype, left)
    product.put_right(lambda to: device.copy(to, right), right.dtype, right)
    found = product.run(report)
    values = _compact(device, found.part((rows, columns), form.dtype))
    chosen = None
    if found.predecessors is not None:
        chosen = _compact(device, found.predecessors[:rows, :columns])
    device.synchronize()
    return values, chosen


def _compact(device: Device, array: Array) -> Array:
    """Return an array without gaps: itself, or a copy."""
    if array.contiguous:
        return array
    copy = device.empty(array.shape, array.dtype, array.name)
    device.copy(copy, array)
    return copy


def is_nonnegative_matrix(device: Device, matrix: Array) -> bool:
    """Return whether no entry of a float32 matrix is negative, -0.0 or NaN; False if it is long.

    The kernel takes squares.
    """
    side = min(matrix.shape)
    tops, lefts = (range(0, extent, side) for extent in matrix.shape)
    if len(tops) * len(lefts) > _MOST_SQUARES:
        return False
    rows, columns = (extent - side for extent in matrix.shape)
    return all(
        is_nonnegative(device, matrix[min(top, rows) :, min(left, columns) :][:side, :side])
        for top in tops
        for left in lefts
    )


def _is_length(lowest: float, argmin: bool) -> bool:
    """Return whether the arithmetic for lengths is right: it takes -0.0 for less than 0.0.

    That is the same value, but another position.
    """
    return lowest > 0 if argmin else lowest >= 0


def _without_signs(task: ProductTask, factor: HostArray) -> HostArray:
    """Return a factor in which zeros have no sign, where floats are compared by their bits."""
    if task.argmin and task.semiring == "max_min" and factor.dtype.kind == "f":
        factor = np.add(factor, factor.dtype.type(0))
    return factor


def _in_tiles(array: Array, shape: tuple[int, int], word: np.dtype[Any]) -> bool:
    """Return whether an array needs no padding, and its rows are aligned as kernels need it."""
    aligned = array.address % _ALIGNED == 0 and array.strides[0] % _ALIGNED == 0
    return aligned and array.shape == shape and array.dtype == word


class DeviceProduct:
    """Both factors and their product on a device."""

    def __init__(
        self,
        device: Device,
        form: MatrixForm,
        extents: tuple[int, int, int],
        lengths: bool,
        argmin: bool,
        kept: bool = False,
    ) -> None:
        """Check that there is memory for all; ``kept`` says that the answer stays there."""
        self._device, self._form, self._shape = device, form, (extents[0], extents[2])
        layouts = [TileLayout.of(form, extent, lengths, argmin) for extent in extents]
        self._high, self._deep, self._wide = layouts
        self._kernels = ClosureKernels(device, self._wide)
        require_memory(device, self._bytes(kept), f"a product of {extents} rows, inner, columns")

    def _bytes(self, kept: bool) -> int:
        """Device bytes of all that is there at once."""
        high, deep, wide = self._high, self._deep, self._wide
        item, answer = wide.word.itemsize, high.rows * wide.row_bytes
        left = deep.rows * high.rows * item
        padded = high.rows * deep.words * item  # the left factor before it is transposed
        panel = min(deep.rows, _NOTED_DEPTH) * wide.words * 4 if wide.paths else 0
        later = deep.rows * wide.words * item + panel + answer * (2 if kept else 1)
        return left + max(padded, later) + _SLACK

    # ---- factors --------------------------------------------------------------------------------

    def put_left(self, copy: Any, dtype: np.dtype[Any], there: Array | None = None) -> None:
        """Copy the left factor by ``copy(to)``, unless it is ``there``, and transpose it."""
        device, high, deep = self._device, self._high, self._deep
        rows = self._padded(high.rows, deep, (high.n, deep.n), copy, dtype, "left", there)
        self._left = device.empty((deep.rows, high.rows), high.word, "left columns")
        self._kernels.transpose(rows, 0, self._left, None)

    def put_right(self, copy: Any, dtype: np.dtype[Any], there: Array | None = None) -> None:
        """Copy the right factor by ``copy(to)``, unless it is ``there``."""
        deep, wide, shape = self._deep, self._wide, (self._deep.n, self._wide.n)
        self._right = self._padded(deep.rows, wide, shape, copy, dtype, "right", there)

    def _padded(
        self,
        rows: int,
        layout: TileLayout,
        shape: tuple[int, int],
        copy: Any,
        dtype: np.dtype[Any],
        name: str,
        there: Array | None,
    ) -> DeviceRows:
        """Return a matrix in whole tiles, which ``copy`` puts there if it is not ``there``."""
        if there is not None and _in_tiles(there, (rows, layout.words), layout.word):
            return DeviceRows(there, None)
        words = self._device.empty((rows, layout.words), layout.word, name)
        if layout.reordered:
            self._device.fill(words, 0xFF)  # below all numbers after reordering
        else:
            self._kernels.clear(words)
        matrix = DeviceRows(words, None)
        copy(matrix.part(engine_shape(self._form, *shape), dtype))
        if layout.reordered:
            self._kernels.reorder(words)
        return matrix

    # ---- product --------------------------------------------------------------------------------

    def run(self, report: Progress | None) -> DeviceRows:
        """Return the product, in whole tiles."""
        device, wide = self._device, self._wide
        answer = DeviceRows.empty(device, wide, self._high.rows, "product")
        self._clear(answer)
        step, panel = self._deep.rows, None
        if wide.paths:
            step = min(step, _NOTED_DEPTH)
            panel = device.empty((step, wide.words), np.int32, "positions of rows")
        blocks = self._high.rows // BLOCK
        launches = max(1, min(blocks, blocks * wide.tile_columns // tuning.PRODUCT_TILES))
        band = BLOCK * ceil_div(blocks, launches)
        tops = range(0, self._high.rows, band)
        tiles = TileSet.without(wide.tile_columns, range(0))
        total, launched = len(tops) * ceil_div(self._deep.rows, step), 0
        waiting: deque[tuple[int, Event]] = deque()
        with device.timer.span("compute", device.main):
            for first in range(0, self._deep.rows, step):
                part = slice(first, min(first + step, self._deep.rows))
                right = DeviceRows(self._right.words[part], self._numbered(panel, part))
                for top in tops:
                    rows = slice(top, min(top + band, self._high.rows))
                    self._kernels.multiply(answer[rows], right, self._left[part, rows], tiles, None)
                    launched += 1
                    waiting.append((launched, device.main.record()))
                    if len(waiting) > 2:  # Ctrl-C is handled here too
                        self._wait(waiting, report, total)
            while waiting:
                self._wait(waiting, report, total)
        if wide.reordered:
            self._kernels.reorder(answer.words)
        return answer

    def _wait(self, waiting: deque[tuple[int, Event]], report: Progress | None, total: int) -> None:
        done, event = waiting.popleft()
        event.synchronize()
        if report is not None:
            report(done, total)

    def _clear(self, answer: DeviceRows) -> None:
        """Set all of the answer to "no path"."""
        if answer.predecessors is not None:
            self._device.fill(answer.predecessors, 0xFF)
        if not self._wide.reordered:
            self._kernels.clear(answer.words)
            return
        # Of floats that is -inf, and not the number below all of them.
        shape = (answer.words.shape[0], min(BLOCK, self._wide.words))
        strip = np.full(shape, self._form.no_path, self._form.dtype)
        self._spread(answer.words, strip.view(self._wide.word))
        self._kernels.reorder(answer.words)

    def _numbered(self, panel: Array | None, part: slice) -> Array | None:
        """Return predecessors for some rows of the right factor: their own numbers."""
        if panel is None:
            return None
        numbers = np.arange(part.start, part.stop, dtype=np.int32)[:, None]
        rows = panel[: len(numbers)]
        self._spread(rows, np.repeat(numbers, min(BLOCK, rows.shape[1]), axis=1))
        return rows

    def _spread(self, to: Array, strip: HostArray) -> None:
        """Fill all columns with those of a strip, by copies that double."""
        width, columns = strip.shape[1], to.shape[1]
        self._device.copy(to[:, :width], strip)
        while width < columns:
            more = min(width, columns - width)
            self._device.copy(to[:, width : width + more], to[:, :more])
            width += more
