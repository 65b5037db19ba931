"""What products of a matrix and its parts share: the matrix on the device, and the launches.

The kernels are in ``kernels/apsp_products.cu``; ``apsp_products`` has the algorithms.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import NamedTuple

import numpy as np

from kleene.backends.answer import Answer
from kleene.backends.common.dense_driver import close_matrix, plain_form
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.runtime.interface import Array, HostArray, ceil_div, ctype, require_memory
from kleene.backends.cuda.runtime.structs import constant, struct_type
from kleene.backends.task import Task
from kleene.errors import RequestError

__all__ = ["Part", "Products", "run"]

_TILE = constant("apsp_products", "kTile")
_THREADS = (constant("apsp_products", "kThreads"),) * 2
_DEPTH = constant("apsp_products", "kDepth")


class Part(NamedTuple):
    """A part of the matrix and its predecessors."""

    d: Array
    predecessors: Array | None

    def cut(self, *slices: slice) -> Part:
        """Return a slice of both."""
        return Part(
            self.d[slices], None if self.predecessors is None else self.predecessors[slices]
        )


class Products:
    """A matrix on the device, and products of its parts."""

    def __init__(
        self,
        method: str,
        more: int,  # cells beside those of the matrix
        task: Task,
        matrix: HostArray,
        predecessors: HostArray | None,
    ) -> None:
        self.task, self.n = task, len(matrix)
        self.host = (matrix, predecessors)
        self.device = open_device(task.device)
        cell = matrix.itemsize + (0 if predecessors is None else predecessors.itemsize)
        what = f"apsp by {method} on {self.n:,} vertices"
        require_memory(self.device, cell * (self.n**2 + more), what)
        self.whole = Part(
            self.device.upload(matrix, "d"),
            None if predecessors is None else self.device.upload(predecessors, "predecessors"),
        )
        self.cycle = self.device.zeros(1, np.int32, "cycle")
        self.improved = self.device.zeros(1, np.int32, "improved")
        defines: dict[str, str | int] = {
            "KL_TYPE": ctype(task.dtype),
            "KL_PATHS": int(predecessors is not None),
        }
        self.kernels = self.device.kernels("apsp_products", **defines)
        self.closing = self.device.kernels("apsp_blocked_shared", **defines)[
            "apsp_blocked_shared_diagonal"
        ]
        self.shared = 2 * _TILE * _DEPTH * task.dtype.itemsize
        kind = ctype(task.dtype)
        self.params = struct_type("apsp_products", "ProductsParams", KL_TYPE=kind).pack(
            to=None, to_predecessors=None, c=None, c_predecessors=None, a=None, b=None,
            b_predecessors=None, improved=self.improved, cycle=self.cycle, to_pitch=0, c_pitch=0,
            a_pitch=0, b_pitch=0, side=0, rows=0, inner=0, columns=0, a_diagonal=0, b_diagonal=0,
        )  # fmt: skip
        self.tile = struct_type("apsp_blocked_shared", "BlockedParams", KL_TYPE=kind).pack(
            d=self.whole.d, predecessors=self.whole.predecessors, n=self.n, cycle=self.cycle,
            side=0, column_major=0, pitch=0, down=0, across=0,
        )  # fmt: skip

    def empty(self, *shape: int) -> Part:
        """Allocate a part of this shape."""
        predecessors = (
            None
            if self.whole.predecessors is None
            else self.device.empty(shape, np.int32, "predecessors")
        )
        return Part(self.device.empty(shape, self.task.dtype, "d"), predecessors)

    def copy(self, to: Part, source: Part) -> None:
        self.device.copy(to.d, source.d)
        if to.predecessors is not None and source.predecessors is not None:
            self.device.copy(to.predecessors, source.predecessors)

    def multiply(self, to: Part, c: Part, a: Part, b: Part, diagonal: tuple[bool, bool]) -> None:
        """Set ``to`` to min(c, a b), by rows; ``diagonal``: which factors are diagonal blocks."""
        rows, columns = c.d.shape
        self.params.update(
            to_pitch=to.d.pitch, c_pitch=c.d.pitch, a_pitch=a.d.pitch, b_pitch=b.d.pitch
        )
        size = (rows, a.d.shape[1], columns)
        self._launch("apsp_products_rows", to, c, a, b, diagonal, size)

    def multiply_quadrants(
        self, to: Part, c: Part, a: Part, b: Part, diagonal: tuple[bool, bool], side: int, size: int
    ) -> None:
        """The same in Morton order, for quadrants of ``size`` cells a side."""
        self.params.update(side=side)
        self._launch("apsp_products_quadtree", to, c, a, b, diagonal, (size, size, size))

    def _launch(
        self, kernel: str, to: Part, c: Part, a: Part, b: Part,
        diagonal: tuple[bool, bool], size: tuple[int, int, int],
    ) -> None:  # fmt: skip
        rows, inner, columns = size
        self.params.update(
            to=to.d, to_predecessors=to.predecessors, c=c.d, c_predecessors=c.predecessors,
            a=a.d, b=b.d, b_predecessors=b.predecessors, rows=rows, inner=inner, columns=columns,
            a_diagonal=int(diagonal[0]), b_diagonal=int(diagonal[1]),
        )  # fmt: skip
        grid = (ceil_div(columns, _TILE), ceil_div(rows, _TILE))
        self.kernels[kernel].launch(grid, _THREADS, (self.params,), self.shared)

    def close_tile(self, part: Part, n: int, side: int, t: int) -> None:
        """Close the t-th tile on the diagonal of a part of n x n cells by rows."""
        item = self.task.dtype.itemsize
        shared = side * side * item
        if shared > self.device.shared_memory:
            most = int((self.device.shared_memory / item) ** 0.5)
            raise RequestError(f"a tile can have up to {most} vertices a side here, not {side}")
        threads = (min(side, 32),) * 2
        self.tile.update(d=part.d, predecessors=part.predecessors, n=n, side=side, pitch=side)
        self.closing.launch((1, 1), threads, (self.tile, t), shared)

    def progress(self, done: int, total: int) -> None:
        """Synchronise and report progress."""
        self.device.synchronize()
        self.task.report(done, total)

    def computing(self) -> AbstractContextManager[None]:
        """Time the work of the main stream as computation."""
        return self.device.timer.span("compute", self.device.main)

    def finish(self, total: int) -> bool:
        """Copy the result to the host; False on a negative cycle."""
        if self.device.download(self.cycle)[0]:
            return False
        for array, host in zip(self.whole, self.host, strict=True):
            if array is not None:
                self.device.download(array, host)
        self.task.report(total, total)
        return True


def run(
    method: str, more: Callable[[int], int], close: Callable[[Products], bool], task: Task
) -> Answer:
    def engine(matrix: HostArray, predecessors: HostArray | None) -> bool:
        n = len(matrix)
        if n == 0:
            task.report(1, 1)
            return True
        return close(Products(method, more(n), task, matrix, predecessors))

    return close_matrix(engine, plain_form(method, task), task)
