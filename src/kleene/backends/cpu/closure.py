"""Closures of dense matrices on the CPU; the algorithms are in ``native/core/closure``.

One function for each native method: ``tiled(task)``, ``floyd_warshall(task)``, ...; ``blocked`` and
``tiled`` also take the side of a block, as in ``blocked(task, block=48)``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from numpy.typing import NDArray

from kleene import _native
from kleene.backends.common.dense_driver import close_matrix, engine_form, threads_of
from kleene.backends.cpu import method_functions
from kleene.backends.task import Answer, Task

__all__ = ["close"]  # the functions are attributes by __getattr__

Array = NDArray[Any]


def close(method: str, task: Task, *, block: int = 0, level: int = -1) -> Answer:
    """Close the whole matrix, then keep the rows of the sources.

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


_METHODS = method_functions("closure", lambda method: partial(close, method.name))


def __getattr__(name: str) -> Callable[..., Answer]:
    if name in _METHODS:
        return _METHODS[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
