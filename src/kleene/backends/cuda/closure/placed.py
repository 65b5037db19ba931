"""Closures of a graph that was placed: its matrix is on the device once, for all calls.

The matrix of arcs stays there as the engine wants it, and so does the memory of a closure, until
others need it. A call copies the one to the other on the device, closes it, and makes of it what
the user sees: the type of the answer, its "no path", its predecessors. The rounds of a small matrix
are captured once and launched at one stroke, since each of their launches takes as long as its
work.

The host has to help where predecessors are computed along, or ties leave some of them open, where a
cycle is negative, and where the memory of the device does not suffice for all three matrices.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from kleene.backends.answer import Answer, KeptRows
from kleene.backends.common.dense_driver import MatrixForm, arc_matrix
from kleene.backends.common.tiles import Tile
from kleene.backends.cuda.answer import answer_rows_on_device, kept_answer
from kleene.backends.cuda.closure.bands import copy_in, copy_out
from kleene.backends.cuda.closure.engine import TiledClosure
from kleene.backends.cuda.closure.kernels import DeviceRows, TileLayout
from kleene.backends.cuda.closure.predecessors import recover
from kleene.backends.cuda.graph import DeviceGraph
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.runtime.host_buffers import prefault
from kleene.backends.cuda.runtime.interface import Array, Device, Graph, ctype, scalar
from kleene.backends.cuda.tuning import closure as tuning
from kleene.backends.task import Progress, Task
from kleene.errors import KleeneError, MemoryBudgetError

__all__ = ["close_placed"]

_THREADS = 256


def close_placed(task: Task, form: MatrixForm) -> Answer | None:
    """Return the closure of a graph that is on the device; None where the host has to help."""
    graph, there = task.graph, task.graph.placed
    if (
        not isinstance(there, DeviceGraph)
        or any(open_device(name) is not there.device for name in task.devices or (task.device,))
        or (task.predecessors and form.semiring != "min_plus")
        or task.limit is not None
        or graph.n == 0
        or not np.array_equal(task.sources, np.arange(graph.n))
    ):
        return None
    layout = TileLayout.of(form, graph.n, bool(graph.stats.min_weight >= 0), paths=False)
    with suppress(MemoryBudgetError):
        return _close(task, form, layout, there)
    return None


def _close(task: Task, form: MatrixForm, layout: TileLayout, there: DeviceGraph) -> Answer | None:
    device, key = there.device, ("closure", layout)
    rows = answer_rows_on_device(task, device) if task.keep else None
    waiting = there.take_idle(key)
    closure = _WaitingClosure(device, layout) if waiting is None else waiting
    arcs = there.prepared(f"arcs of {layout.algebra}", partial(closure.upload, task, form))
    try:
        answer = _answer(task, form, closure, arcs, rows)
    except BaseException:
        with suppress(KleeneError):  # nothing may write to memory that is given back now
            device.synchronize()
        raise
    there.keep_idle(key, closure)
    return answer


def _answer(
    task: Task, form: MatrixForm, closure: _WaitingClosure, arcs: Array, rows: KeptRows | None
) -> Answer | None:
    device, held, links = closure.device, None, None
    if rows is None:
        held, links = task.empty_values(), task.empty_predecessors()
    lengths, negative = form.semiring == "min_plus", bool(task.graph.stats.negative)
    may_cycle = negative if lengths else form.semiring == "max_times"
    new = held if task.out is None else None, links if task.out_predecessors is None else None
    with prefault(task.threads, *new):
        if not closure.close(arcs, may_cycle, task.report):
            return None
    with device.timer.span("compute", device.main):
        values = closure.export(task, form, None if rows is None else rows.values)
        if lengths and negative and (device.download(_diagonal(values)) < 0).any():
            return None  # the cycle showed late
        found = closure.recover(task, arcs) if task.predecessors else None
    if task.predecessors and found is None:
        return None
    if rows is not None:
        if found is not None:
            device.copy(rows.predecessors, found)
        device.synchronize()
        return kept_answer(rows)
    assert held is not None
    copy_out(device, task, held, values)
    if links is not None and found is not None:
        copy_out(device, task, links, found)
    return Answer(held, links)


def _diagonal(matrix: Array) -> Array:
    """Return the diagonal of a square matrix, as a column."""
    item = matrix.dtype.itemsize
    strides = (matrix.strides[0] + item, item)
    return Array(matrix.address, (matrix.shape[0], 1), matrix.dtype, strides, matrix.owner)


class _WaitingClosure:
    """The memory and the launches of a closure, which wait with the graph for the next call."""

    def __init__(self, device: Device, layout: TileLayout) -> None:
        before = device.allocated
        self.device, self._layout = device, layout
        self._engine = TiledClosure([device], layout)
        self._rows: DeviceRows = self._engine.bands[0].rows
        self._rounds: Graph | None = None  # all of them, where they are few
        self.nbytes = device.allocated - before

    def upload(self, task: Task, form: MatrixForm) -> Array:
        """Return the arcs on the device, padded, in memory of their own."""
        rows = DeviceRows.empty(self.device, self._layout, self._layout.rows, "arcs")
        tile = Tile(arc_matrix(form, task), None)
        self._engine.kernels.to_device(rows, tile, partial(copy_in, self.device, task))
        return rows.words

    def close(self, arcs: Array, may_cycle: bool, report: Progress) -> bool:
        """Close a copy of the arcs, always the same; False on a cycle better than no path."""
        if self._layout.rows > tuning.CAPTURED_ROWS:
            self._begin(arcs)
            return self._engine.run(report)
        main = self.device.main
        if self._rounds is None:
            with main.capture() as captured:
                self._begin(arcs)
                for _ in self._engine.launch_rounds():
                    pass
            self._rounds = captured.graph
        with self.device.timer.span("compute", main):
            self._rounds.launch()
            return not (may_cycle and self._engine.shows_cycle())

    def _begin(self, arcs: Array) -> None:
        self.device.copy(self._rows.words, arcs)
        self.device.fill(self._engine.kernels.cycle, 0)

    def export(self, task: Task, form: MatrixForm, to: Array | None) -> Array:
        """Return the closed matrix as the user sees it: in ``to``, or where it is convenient."""
        n, device = task.graph.n, self.device
        if self._layout.reordered:
            self._engine.kernels.reorder(self._rows.words)
        if form.lowest is None and form.dtype != np.uint64:
            values = self._rows.part((n, n), form.dtype)
            if to is None:
                return values
            device.copy(to, values)
            return to
        if to is None:
            to = device.empty((n, n), task.dtype, "values")
        _convert(device, form, self._rows.words, to, task.no_path)
        return to

    def recover(self, task: Task, arcs: Array) -> Array | None:
        """Return the predecessors of the closed matrix; None where some are left open."""
        n, device = task.graph.n, self.device
        scratch = device.empty(arcs.shape, arcs.dtype, "arcs to overwrite")
        device.copy(scratch, arcs)
        positive = bool(task.graph.stats.min_weight > 0)
        found = recover(device, scratch, self._rows.words, n, positive, complete=True)
        return None if found is None else found[:n, :n]


def _convert(device: Device, form: MatrixForm, words: Array, to: Array, no_path: Any) -> None:
    """Convert numbers of the engine to those of the answer; what is no path becomes ``no_path``."""
    bits = form.dtype == np.uint64
    entries = words.view(np.uint32 if bits else form.dtype)
    values = to.view(np.uint8) if to.dtype == bool else to
    lowest, highest = (1, 1) if bits else (int(form.lowest), int(form.highest))
    n, pitch = to.shape[0], entries.size // words.shape[0]
    file = device.kernels(
        "closure_export", KL_WORD=ctype(entries.dtype), KL_TYPE=ctype(values.dtype)
    )
    file["closure_export"].launch(
        (min(n, tuning.BLOCKS_PER_MULTIPROCESSOR * device.multiprocessors),),
        (_THREADS,),
        (entries, pitch, n, lowest, highest, values, scalar(values.dtype, no_path)),
    )
