"""All pairs that are closed on the device and stay there, for ``keep="device"``.

Without predecessors, float lengths on the device are what the user sees. All other matrices are
completed on the host (integers have another "no path" there, boolean ones are bits, trees of
predecessors are repaired), and their answers copied back. Of several devices the first keeps the
answer, or the call fails; it holds no rows of the computation if there is no memory left for them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kleene.backends.answer import Answer
from kleene.backends.common.dense_driver import MatrixForm, arc_matrix
from kleene.backends.cuda.device_answer import answer_rows_on_device, kept_answer
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.task import Task
from kleene.errors import MemoryBudgetError

__all__ = ["close_kept"]


def close_kept(task: Task, form: MatrixForm, close_in_place: Callable[..., bool]) -> Answer | None:
    """Return the distances of all pairs, on the device; None where the host must complete them."""
    n = task.graph.n
    if (
        form.semiring != "min_plus"
        or form.dtype != task.dtype
        or task.dtype.kind != "f"
        or task.predecessors
        or task.limit is not None
        or task.graph.stats.negative
        or not np.array_equal(task.sources, np.arange(n))
    ):
        return None
    device, *others = [open_device(name) for name in task.devices or (task.device,)]
    try:
        rows = answer_rows_on_device(task, device)
        device.copy(rows.values, arc_matrix(form, task))
        closed = close_in_place(device, rows.values, task.report, others)
    except MemoryBudgetError:  # streamed through the device, and then copied there
        return None
    return kept_answer(rows) if closed else None
