"""Products of matrices on the CPU, by the tiles of dense closures: ``native/core/closure``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.backends.common.product_form import decoded, encoded, new_values, product_form
from kleene.backends.task import ProductTask

__all__ = ["tiled"]

Array = NDArray[Any]


def tiled(task: ProductTask) -> tuple[Array, Array | None]:
    """Multiply packed blocks of both factors, a tile of the answer in vector registers."""
    form = product_form(task)
    left, right = encoded(task, form, task.left), encoded(task, form, task.right)
    values = new_values(task, form)
    chosen = np.full(task.shape, -1, np.int32) if task.argmin else None
    _native.closure_multiply(
        form.semiring, left, right, None, values, chosen, len(right), task.shape[1], task.threads,
        task.progress,
    )  # fmt: skip
    return decoded(task, form, values, chosen), chosen
