"""Reductions of rows: some rows at a time in one buffer, of which a few numbers are kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.engine.call import Call, Outcome, Part, Progress, Sink, Writer
from kleene.engine.pieces import Piece, split
from kleene.engine.planned import Planned, planned, show
from kleene.engine.solve import Runner, solve
from kleene.engine.work import fills_matrix
from kleene.graph.checks import memory_for
from kleene.planning.ask import IN_BATCHES
from kleene.planning.plan import Plan

__all__ = ["Keep", "Reduce", "Reduction", "planned_rows", "rows_together"]

Array = NDArray[Any]

#: What is kept of some rows, by the number of the first one: computed where the rows are.
Keep = Callable[[int, Array], Any]

#: Bytes of the rows of a batch, and rows that are enough for every method: 512 searches share work.
_BATCH_BYTES, _BATCH_ROWS = 2**25, 512

#: Bytes that a matrix of all pairs may take, where a dense method pays; or how many times the bytes
#: of the graph's own arrays. Beyond, rows of 400 arcs a vertex, n = 5000, took about five times as
#: long (two EPYC cores, busy).
_MATRIX_BYTES, _MATRIX_GRAPHS = 2**26, 8


class Reduction(NamedTuple):
    """A call whose rows are reduced, planned."""

    call: Call
    plan: Plan
    step: int  # rows that are computed together
    threads: int
    looked: float = 0.0

    @classmethod
    def of(cls, call: Call, beside: int = 0) -> Reduction:
        """Plan a call; its memory includes the matrix, where a small one is built.

        ``beside`` are bytes that the caller keeps of the rows.
        On a cluster, rows are computed by one thread each unless the call says otherwise.
        """
        plan, looked = planned_rows(call)
        if call.on is None:
            plan = _with_matrix(call, plan)
        plan = show(replace(plan, memory=plan.memory + beside))
        return cls.planned(call, plan, looked)

    @classmethod
    def planned(cls, call: Call, plan: Plan, looked: float = 0.0) -> Reduction:
        """Take a call with its plan, whose memory includes the matrix."""
        wanted, n, item = call.ask.where.threads, call.graph.n, np.dtype(plan.dtype).itemsize
        if call.on is not None:
            return cls(call, plan, rows_together(n, item, 1), wanted or 1, looked)
        threads = plan.threads if wanted is None else wanted
        step, rows = rows_together(n, item, threads), len(call.sources) * n * item
        if fills_matrix(plan) and rows <= memory_for(rows):  # all rows are computed together
            step = max(step, len(call.sources))
        return cls(call, plan, step, threads, looked)

    def run(
        self,
        keep: Keep,
        record: Callable[[int, Any], object] | None = None,
        runner: Runner | None = None,
        title: str = "",
        progress: Progress = None,
    ) -> Outcome:
        """Compute all rows; ``record`` gets what was kept of some of them, in this process."""
        call = self.call
        rows = call._replace(
            ask=call.ask.but(predecessors=False, keep="host"), progress=progress or call.progress
        )
        sink = Reduce(self.step, keep, record)
        return solve(rows, sink, Planned(self.plan, self.looked), runner, title)


class Reduce(Sink):
    """Rows that are gone once a few numbers of them are kept, or the values of targets."""

    def __init__(self, step: int, keep: Keep, record: Callable[[int, Any], object] | None) -> None:
        self._step, self._record = step, record
        self.writer = _ReduceWriter(keep)

    def open(self, call: Call, plan: Plan) -> Sequence[Piece]:
        """Return runs of rows that fit into the buffer."""
        return split(len(call.sources), self._step)

    def record(self, piece: Piece, receipt: Any) -> None:
        """Take what was kept of some rows."""
        if self._record is not None:
            self._record(piece.first, receipt)

    def finish(self) -> None:
        """There is nothing but what was kept."""


class _ReduceWriter(Writer):
    """One buffer, and what is kept of the rows in it; the next rows take the place of these."""

    def __init__(self, keep: Keep) -> None:
        self._keep = keep
        self._buffer: Array | None = None

    def memory(self, pieces: Sequence[Piece], call: Call, plan: Plan) -> Array | None:
        """Return the buffer; the values of targets may come without whole rows."""
        if call.targets is not None:
            return None
        rows = len(call.sources)
        if self._buffer is None or len(self._buffer) < rows:
            self._buffer = np.empty((rows, call.graph.n), plan.dtype)
        return self._buffer[:rows]

    def write(self, piece: Piece, part: Part, rows: slice, call: Call) -> Any:
        """Return what is kept of the rows."""
        answer, targets = part.answer, call.targets
        values = answer.whole_values if targets is None else answer.at(rows, targets)
        return self._keep(piece.first, values)


def rows_together(n: int, itemsize: int, threads: int) -> int:
    """Return how many rows are computed together: at least one a thread."""
    return max(threads, min(_BATCH_ROWS, _BATCH_BYTES // max(1, n * itemsize)))


def planned_rows(call: Call) -> Planned:
    """Plan rows of values that are not kept as they are."""
    return planned(call, call.ask.but(predecessors=False, given=True, keep="host"))


def _with_matrix(call: Call, plan: Plan) -> Plan:
    """Return a plan that fills no matrix, or a small one, whose bytes it counts."""
    if not fills_matrix(plan):
        return plan
    n, item = call.graph.n, np.dtype(plan.dtype).itemsize
    arrays = sum(array.nbytes for array in call.graph.csr if array is not None)
    rows = item * n * len(call.sources)
    total = plan.memory + rows
    if item * n * n > max(_MATRIX_BYTES, _MATRIX_GRAPHS * arrays) or total > memory_for(total):
        plan = planned_rows(call._replace(ask=call.ask.freeze(IN_BATCHES))).plan
        if not fills_matrix(plan):  # as it does on a GPU where weights are negative
            return plan
    return replace(plan, memory=plan.memory + rows)
