"""Closures of dense matrices on the CPU; the algorithms are in ``native/core/closure``."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from kleene import _native
from kleene.backends.answer import Answer
from kleene.backends.common.dense_driver import close_matrix, engine_form, threads_of
from kleene.backends.task import Task

__all__ = [
    "blocked", "close", "floyd_warshall", "min_plus", "rkleene", "rkleene_quadtree", "tiled",
]  # fmt: skip

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
