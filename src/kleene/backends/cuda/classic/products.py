"""All pairs on a GPU by min-plus matrix products; kernels in ``kernels/classic/apsp_products.cu``.

``min_plus`` squares the matrix until paths of any number of arcs are in it (Cormen et al. 2009,
section 25.1; on a GPU Padamata and Raveendran 2013). R-Kleene closes a matrix by closing its two
diagonal quadrants, with six products between (D'Alberto and Nicolau 2007; on a GPU Ross, Pan and
Burbank, CS205):

    A11 = A11*;  A12 = A11 A12;  A21 = A21 A11;  A22 = A22 + A21 A12;
    A22 = A22*;  A21 = A22 A21;  A12 = A12 A22;  A11 = A11 + A12 A21

``rkleene`` stores the matrix by rows, ``rkleene_quadtree`` in Morton order, where every quadrant of
every size is contiguous; vertices are padded so that they halve down to a tile. Both take
``block``, the largest side of the tiles that one block of threads closes.

A product that would overwrite its own factor goes to a spare buffer first.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import NamedTuple

import numpy as np

from kleene.backends.answer import Answer
from kleene.backends.common.dense_driver import close_matrix, plain_form
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.runtime.interface import Array, HostArray, ceil_div, ctype, require_memory
from kleene.backends.cuda.runtime.structs import constant, struct_type
from kleene.backends.cuda.tuning import apsp as tuning
from kleene.backends.task import Task
from kleene.errors import RequestError

__all__ = [
    "Part",
    "Products",
    "interleave",
    "min_plus",
    "rkleene",
    "rkleene_quadtree",
    "run",
]

# ---- repeated squaring --------------------------------------------------------------------------


def min_plus(task: Task) -> Answer:
    """Square the matrix until nothing improves."""
    return run("min_plus", lambda n: n**2, _square, task)


def _square(p: Products) -> bool:
    current, spare = p.whole, p.empty(p.n, p.n)
    squarings = p.n.bit_length()  # 2 ** squarings > n: paths and cycles of n arcs are known
    check = p.kernels["apsp_products_find_cycle"]
    with p.computing():
        for done in range(squarings):
            p.device.fill(p.improved, 0)
            p.multiply(spare, current, current, current, (True, True))
            current, spare = spare, current
            # After every squaring: sums along a cycle twice could overflow.
            check.launch((ceil_div(p.n, 256),), (256,), (current.d, p.n, p.cycle))
            if p.device.download(p.cycle)[0] or not p.device.download(p.improved)[0]:
                break
            p.task.report(done, squarings)
    p.whole = current
    return p.finish(squarings)


# ---- R-Kleene -----------------------------------------------------------------------------------


Range = tuple[int, int]  # of tiles


def _recurse(
    close_tile: Callable[[int], None], multiply: Callable[[Range, Range, Range], None], all_: Range
) -> None:
    """Close all tiles of a range; ``multiply`` takes rows, inner vertices and columns."""
    if all_[1] - all_[0] == 1:
        close_tile(all_[0])
        return
    middle = sum(all_) // 2
    one, two = (all_[0], middle), (middle, all_[1])
    _recurse(close_tile, multiply, one)
    multiply(one, one, two)
    multiply(two, one, one)
    multiply(two, one, two)
    _recurse(close_tile, multiply, two)
    multiply(two, two, one)
    multiply(one, two, two)
    multiply(one, two, one)


def rkleene(task: Task, *, block: int = 0) -> Answer:
    """Close one quadrant, then the other, with products between."""
    block = block or tuning.RKLEENE_SIDE
    return run("rkleene", lambda n: _half(n, block) ** 2, partial(_by_rows, block), task)


def _half(n: int, block: int) -> int:
    """Return the side of the largest quadrant."""
    return min(ceil_div(ceil_div(n, block), 2) * block, n)


def _by_rows(block: int, p: Products) -> bool:
    side, half = min(block, p.n), _half(p.n, block)
    tiles = ceil_div(p.n, side)
    spare = p.empty(half, half)

    def cells(of: Range) -> slice:
        return slice(of[0] * side, min(of[1] * side, p.n))

    def close_tile(t: int) -> None:
        p.close_tile(p.whole, p.n, side, t)
        p.progress(t, tiles)

    def multiply(rows: Range, inner: Range, columns: Range) -> None:
        c = p.whole.cut(cells(rows), cells(columns))
        a, b = p.whole.cut(cells(rows), cells(inner)), p.whole.cut(cells(inner), cells(columns))
        in_place = inner not in (rows, columns)
        to = c if in_place else spare.cut(slice(c.d.shape[0]), slice(c.d.shape[1]))
        p.multiply(to, c, a, b, (rows == inner, inner == columns))
        if not in_place:
            p.copy(c, to)

    with p.computing():
        _recurse(close_tile, multiply, (0, tiles))
    return p.finish(tiles)


def rkleene_quadtree(task: Task, *, block: int = 0) -> Answer:
    """R-Kleene with every quadrant contiguous in memory."""
    block = block or tuning.RKLEENE_SIDE

    def more(n: int) -> int:
        tiles, side = _tiles(n, block)
        return (tiles**2 + ceil_div(tiles, 2) ** 2) * side**2

    return run("rkleene_quadtree", more, partial(_by_quadrants, block), task)


def _tiles(n: int, block: int) -> tuple[int, int]:
    """Return the tiles per side, a power of two, and the cells per side of a tile."""
    tiles = 1 << (ceil_div(n, block) - 1).bit_length()
    return tiles, ceil_div(n, tiles)


def _by_quadrants(block: int, p: Products) -> bool:
    tiles, side = _tiles(p.n, block)
    size = tiles * side  # with padding
    tree, spare = p.empty(size * size), p.empty(ceil_div(tiles, 2) ** 2 * side**2)
    cut = min(size, 16)

    def move(back: bool) -> None:
        grid = (ceil_div(size, cut),) * 2
        args = (*p.whole, p.n, *tree, side, size, int(back))
        p.kernels["apsp_products_convert"].launch(grid, (cut, cut), args)

    def quadrant(rows: Range, columns: Range) -> Part:
        """Return a contiguous part; rows and columns are aligned ranges of equal size."""
        first = interleave(rows[0], columns[0])
        return tree.cut(slice(first * side**2, (first + (rows[1] - rows[0]) ** 2) * side**2))

    def close_tile(t: int) -> None:
        p.close_tile(quadrant((t, t + 1), (t, t + 1)), side, side, 0)
        p.progress(t, tiles)

    def multiply(rows: Range, inner: Range, columns: Range) -> None:
        c, a, b = quadrant(rows, columns), quadrant(rows, inner), quadrant(inner, columns)
        in_place = inner not in (rows, columns)
        to = c if in_place else spare.cut(slice(c.d.size))
        cells = (rows[1] - rows[0]) * side
        diagonal = (rows == inner, inner == columns)
        p.multiply_quadrants(to, c, a, b, diagonal, side, cells)
        if not in_place:
            p.copy(c, to)

    with p.computing():
        move(back=False)
        _recurse(close_tile, multiply, (0, tiles))
        move(back=True)
    return p.finish(tiles)


def interleave(i: int, j: int) -> int:
    """Return the number of tile (i, j): the bits of i and j in turn (Morton 1966).

    >>> [[interleave(i, j) for j in range(4)] for i in range(4)]
    [[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13], [10, 11, 14, 15]]
    """
    number, place = 0, 0
    while i >> place or j >> place:
        number |= (j >> place & 1) << 2 * place | (i >> place & 1) << (2 * place + 1)
        place += 1
    return number


# ---- What products of a matrix and its parts share ----------------------------------------------
# The matrix on the device, and the launches.
#
# The kernels are in ``kernels/classic/apsp_products.cu``.

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
