"""Floyd-Warshall on a GPU, one launch per inner vertex; see ``kernels/closure/apsp_naive.cu``."""

from __future__ import annotations

from functools import partial

import numpy as np

from kleene.backends.answer import Answer
from kleene.backends.common.dense_driver import close_matrix, plain_form
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.runtime.interface import HostArray, ceil_div, ctype, require_memory
from kleene.backends.cuda.tuning import apsp as tuning
from kleene.backends.task import Task

__all__ = ["naive"]


def naive(task: Task) -> Answer:
    """Allow one more inner vertex per launch; one thread per pair."""
    return close_matrix(partial(_naive, task), plain_form("naive", task), task)


def _naive(task: Task, matrix: HostArray, predecessors: HostArray | None) -> bool:
    device, n = open_device(task.device), len(matrix)
    needed = matrix.nbytes + (0 if predecessors is None else predecessors.nbytes)
    require_memory(device, needed, f"apsp by naive on {n:,} vertices")
    file = device.kernels(
        "apsp_naive", KL_TYPE=ctype(task.dtype), KL_PATHS=int(predecessors is not None)
    )
    pivot, step = file["apsp_naive_pivot"], file["apsp_naive_step"]
    d = device.upload(matrix, "d")
    d_predecessors = None if predecessors is None else device.upload(predecessors, "predecessors")
    cycle = device.zeros(1, np.int32, "cycle")
    grid = (ceil_div(n, tuning.NAIVE_THREADS[0]), ceil_div(n, tuning.NAIVE_THREADS[1]))
    with device.timer.span("compute", device.main):
        for k in range(n):
            pivot.launch((1,), (1,), (d, n, k, cycle))
            step.launch(grid, tuning.NAIVE_THREADS, (d, d_predecessors, n, k, cycle))
            if (k + 1) % tuning.NAIVE_STEPS == 0:
                device.synchronize()
                task.report(k + 1, n)
    if device.download(cycle)[0]:
        return False
    device.download(d, matrix)
    if d_predecessors is not None:
        device.download(d_predecessors, predecessors)
    task.report(n, n)
    return True
