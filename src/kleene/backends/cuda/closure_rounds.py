"""Rounds of the closure of a matrix in files, on a GPU: see ``backends/common/dense_rounds``.

A round is that of ``closure_streamed``: the panel is on the device, and bands of the other rows
pass through it. Rows come from one copy of the matrix and go to the other. The order of additions
depends on the heights of bands and panel, so a resumed computation keeps those.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from kleene.backends.common.closure_tiles import Tile
from kleene.backends.common.dense_driver import MatrixForm
from kleene.backends.common.dense_rounds import (
    RoundEngine,
    RoundSplit,
    RowSource,
    RowTarget,
)
from kleene.backends.cuda.closure_bands import BandSplit
from kleene.backends.cuda.closure_layout import TileLayout
from kleene.backends.cuda.closure_streamed import StreamedClosure, open_streamed
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.task import Task
from kleene.errors import MemoryBudgetError
from kleene.system.formatting import format_bytes
from kleene.system.threads import Future, ThreadPool

__all__ = ["GpuRounds", "open_rounds"]


def open_rounds(
    task: Task, form: MatrixForm, split: RoundSplit, kept: list[int] | None
) -> RoundEngine:
    """Return an engine with the bands that a ledger has kept, or that suit the device memory."""
    device, graph = open_device(task.device), task.graph
    layout = TileLayout.of(form, graph.n, bool(graph.stats.min_weight >= 0), task.predecessors)
    if kept:
        try:
            engine = StreamedClosure(device, layout, BandSplit(*kept))
        except MemoryBudgetError:
            raise MemoryBudgetError(
                f"these rounds were begun with more memory on {device.name} than the "
                f"{format_bytes(device.free_memory())} that are free there now, and a resumed "
                "computation keeps the sizes of its bands; remove their directory to start again"
            ) from None
        return GpuRounds(task, form, engine)
    return GpuRounds(task, form, open_streamed(device, layout))


class GpuRounds:
    """Rounds by the streamed closure."""

    def __init__(self, task: Task, form: MatrixForm, engine: StreamedClosure) -> None:
        self._task, self._engine = task, engine
        self._like = Tile.empty(form, 1, task.graph.n, task.predecessors)

    @property
    def split(self) -> list[int]:
        """The heights of bands and panel."""
        return [*self._engine.cut]

    @property
    def vertices(self) -> int:
        """The vertices of a round."""
        return self._engine.cut.panel * self._engine.cut.height

    def next_round(self, first: int, begun: range | None) -> range:
        """Return the vertices of the round from ``first`` on."""
        return range(first, min(first + self.vertices, self._task.graph.n))

    def run(
        self,
        vertices: range,
        source: RowSource,
        target: RowTarget,
        missing: list[range],
        report: Callable[[int], None],
    ) -> bool:
        """Take all rows through a round, those in the target once more; False at a cycle."""
        n, cut = self._task.graph.n, self._engine.cut
        visits = list(cut.round_visits(vertices.start // cut.height))

        def progress(done: int, total: int) -> None:
            report(n - n * done // total)

        task = replace(self._task, progress=progress)
        return self._engine.run_visits(task, _FileBands(self._like, source, target), visits)


class _FileBands:
    """Bands that are read from a source and written to a target."""

    def __init__(self, like: Tile, source: RowSource, target: RowTarget) -> None:
        self.like, self._source, self._target = like, source, target

    def load(self, threads: ThreadPool, first: int, to: Tile) -> list[Future[None]]:
        """Start to read rows, from the first on."""
        return [threads.submit(self._source.read, first, to)]

    def save(self, threads: ThreadPool, first: int, rows: Tile) -> list[Future[None]]:
        """Start to write rows."""
        return [threads.submit(self._target.write, first, rows)]
