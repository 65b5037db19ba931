"""Closures of dense matrices on the CPU; the algorithms are in ``native/core/dense_*.cpp``."""

from __future__ import annotations

from functools import partial
from typing import Any

from numpy.typing import NDArray

from kleene import _native
from kleene.backends.common.dense_driver import close_matrix, engine_form, threads_of
from kleene.backends.task import Answer, Task

__all__ = ["close", "floyd_warshall", "tiled"]

Array = NDArray[Any]


def close(method: str, task: Task, *, block: int = 0, level: int = -1) -> Answer:
    """Close the whole matrix, then keep the rows of the sources.

    ``block`` is the side of a block and ``level`` the place of an instruction set in
    ``_native.dense_levels()``, for engines that have them; by themselves they choose well.
    """
    form = engine_form(method, task)

    def engine(matrix: Array, predecessors: Array | None) -> bool:
        return _native.dense_close(
            form.method, form.semiring, matrix, predecessors, threads_of(task), block, level,
            task.progress,
        )  # fmt: skip

    return close_matrix(engine, form, task)


tiled = partial(close, "tiled")
floyd_warshall = partial(close, "floyd_warshall")
