"""All pairs and closures of dense matrices on a GPU: tiled elimination.

The rounds are in ``closure/engine``. Predecessors of shortest paths are recovered from the
distances where that is possible: see ``closure/predecessors``. Otherwise they are computed along,
which takes about twice as long.

The matrix of a graph that was placed is on the device already: see ``closure/placed``.

Several devices share the rows: see ``closure/bands``. A matrix that is larger than the memory of
all, or on one device so large that copies take long, stays on the host: see ``closure/streamed``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

import numpy as np

from kleene.backends.answer import Answer
from kleene.backends.common.dense_driver import MatrixForm, arc_matrix, close_matrix, engine_form
from kleene.backends.cuda.answer import answer_rows_on_device, kept_answer
from kleene.backends.cuda.closure import naive as apsp_naive
from kleene.backends.cuda.closure.bands import copy_in, copy_out, gather, note_rows, scatter
from kleene.backends.cuda.closure.engine import TiledClosure
from kleene.backends.cuda.closure.kernels import TileLayout
from kleene.backends.cuda.closure.placed import close_placed
from kleene.backends.cuda.closure.predecessors import recover, recovery_bytes
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.runtime.interface import Array, Device, HostArray, require_memory
from kleene.backends.cuda.runtime.structs import constant
from kleene.backends.cuda.tuning import closure as tuning
from kleene.backends.task import Progress, Task
from kleene.errors import MemoryBudgetError

__all__ = [
    "close_in_place",
    "close_kept",
    "is_nonnegative",
    "tiled",
]

_THREADS = constant("closure_tiled", "kThreads")


def tiled(task: Task) -> Answer:
    """Eliminate vertices block by block; tile products do almost all of the work."""
    form = engine_form("tiled", task)
    if form.method != "tiled":  # sums could wrap
        return apsp_naive.naive(task)
    answer = close_placed(task, form)
    if answer is None and task.keep:
        answer = close_kept(task, form, close_in_place)
    if answer is not None:
        return answer
    return close_matrix(partial(_close, task, form), form, task)


def _close(task: Task, form: MatrixForm, matrix: HostArray, predecessors: HostArray | None) -> bool:
    devices, n = [open_device(name) for name in task.devices or (task.device,)], task.graph.n
    if n == 0:
        return True
    nonnegative = bool(task.graph.stats.min_weight >= 0)
    if predecessors is not None and form.semiring == "min_plus":
        layout = TileLayout.of(form, n, nonnegative, paths=False)
        with suppress(MemoryBudgetError):
            closed = _close_and_recover(devices, layout, task, matrix, predecessors)
            if closed is not None:
                return closed
    layout, closure = TileLayout.of(form, n, nonnegative, predecessors is not None), None
    if len(devices) > 1 or _fits(devices[0], layout, matrix):
        with suppress(MemoryBudgetError):  # another process may allocate first
            closure = TiledClosure(devices, layout)
    if closure is None:
        from kleene.backends.cuda.closure import streamed as closure_streamed

        device = max(devices, key=lambda device: device.free_memory())
        if len(devices) > 1:
            note_rows([(device, n)])
        return closure_streamed.close(device, layout, task, matrix, predecessors)
    closure.upload(task, matrix, predecessors)
    if not closure.run(task.report):
        return False
    closure.download(task, matrix, predecessors)
    return True


def _fits(device: Device, layout: TileLayout, matrix: HostArray) -> bool:
    """Return whether a device holds the whole matrix, and should."""
    streamed = matrix.nbytes >= tuning.STREAMED_LEAST  # copies overlap with computation there
    return not streamed and layout.bytes <= device.free_memory()


def _close_and_recover(
    devices: Sequence[Device],
    layout: TileLayout,
    task: Task,
    matrix: HostArray,
    predecessors: HostArray,
) -> bool | None:
    """Close, then recover predecessors on the first device; None if that is not possible."""
    device, n = devices[0], layout.n
    if layout.bytes + recovery_bytes(layout) > device.free_memory():
        return None
    shape = (layout.rows, layout.words)
    arcs = device.empty(shape, layout.word, "arcs")
    distances = device.empty(shape, layout.word, "distances") if len(devices) > 1 else None
    closure = TiledClosure(devices, layout)
    copy_in(device, task, arcs[:n, :n], matrix)
    scatter(closure.bands, device, arcs[:n, :n])
    if not closure.run(task.report):
        return False
    if distances is None:
        distances = closure.bands[0].rows.words
    else:
        gather(closure.bands, device, distances[:n, :n])
    del closure  # and its memory, where there are several bands
    positive = bool(task.graph.stats.min_weight > 0)
    with device.timer.span("compute", device.main):
        found = recover(device, arcs, distances, n, positive)
    if found is None:
        return None
    copy_out(device, task, matrix, distances[:n, :n])
    copy_out(device, task, predecessors, found[:n, :n])
    return True


# ---- in place -----------------------------------------------------------------------------------


def close_in_place(
    device: Device, lengths: Array, report: Progress, others: Sequence[Device] = ()
) -> bool:
    """Replace arc lengths on a device by distances; False, unchanged, on a negative cycle.

    A matrix of float32 without negative entries takes the faster arithmetic for lengths. Entries
    of -0.0 and NaN count as negative: they take the general arithmetic, whose minimum ignores NaN.
    Other devices take a part of the work if there are any.
    """
    n = lengths.shape[0]
    if n == 0:
        return True
    form = MatrixForm("tiled", "min_plus", lengths.dtype, np.inf)
    device.synchronize()  # the library that made the array has streams of its own
    layout = TileLayout.of(form, n, is_nonnegative(device, lengths), paths=False)
    if not others:
        require_memory(device, layout.bytes, f"shortest distances of {n:,} vertices")
    closure = TiledClosure([device, *others], layout)
    scatter(closure.bands, device, lengths)
    if any(band.clear_diagonal() for band in closure.bands):
        return False
    if not closure.run(report) or any(band.clear_diagonal() for band in closure.bands):
        return False  # it may appear only now
    gather(closure.bands, device, lengths)
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


# ---- All pairs that are closed on the device and stay there, for ``keep="device"`` --------------
# Without predecessors, float lengths on the device are what the user sees. All other matrices are
# completed on the host (integers have another "no path" there, boolean ones are bits, trees of
# predecessors are repaired), and their answers copied back. Of several devices the first keeps the
# answer, or the call fails; it holds no rows of the computation if there is no memory left for
# them.


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
