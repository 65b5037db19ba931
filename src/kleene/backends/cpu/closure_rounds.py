"""Rounds of the closure of a matrix in files, on the CPU: see ``backends/common/dense_rounds``.

Every entry sees the operations of ``tiled`` on a matrix in memory, in the same order, so the
answer has the same bits, however large the rounds are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from kleene import _native
from kleene.backends.common.closure_tiles import Tile
from kleene.backends.common.dense_driver import MatrixForm, threads_of
from kleene.backends.common.dense_rounds import (
    BUFFERS,
    RoundEngine,
    RoundSplit,
    RowSource,
    RowTarget,
    overlapped,
    pieces,
)
from kleene.backends.task import Task
from kleene.system.threads import ThreadPool

__all__ = ["CpuRounds", "open_rounds"]


def open_rounds(
    task: Task, form: MatrixForm, split: RoundSplit, kept: list[int] | None
) -> RoundEngine:
    """Return the engine for a split; nothing is kept, since all splits give the same bits."""
    return CpuRounds(task, form, split)


class CpuRounds:
    """Rounds by the native tiled engine."""

    def __init__(self, task: Task, form: MatrixForm, split: RoundSplit) -> None:
        self._form, self._n, self._paths = form, task.graph.n, task.predecessors
        self._threads, self._sizes = threads_of(task), split

    @property
    def split(self) -> list[int]:
        """No sizes: the bits of the answer depend on none."""
        return []

    @property
    def vertices(self) -> int:
        """The vertices of a round."""
        return self._sizes.vertices

    def next_round(self, first: int, begun: range | None) -> range:
        """Return the vertices of the next round: those of one that was begun, if they fit."""
        if begun is not None and len(begun) <= self._sizes.most:
            return begun
        return range(first, min(first + self.vertices, self._n))

    def run(
        self,
        vertices: range,
        source: RowSource,
        target: RowTarget,
        missing: list[range],
        report: Callable[[int], None],
    ) -> bool:
        """Take the rows that are missing in the target through a round; False at a cycle."""
        left = sum(map(len, missing))
        form, threads = self._form, self._threads
        rows = Tile.empty(form, len(vertices), self._n, self._paths)
        source.read(vertices.start, rows)
        panel = _native.closure_panel(form.semiring, *rows, self._n, vertices.start, threads)
        if panel is None:
            return False
        band = self._sizes.band

        def read(band: range, buffer: Tile) -> None:
            source.read(band.start, buffer.top(len(band)))

        def relax(band: range, buffer: Tile) -> Callable[[], Any]:
            nonlocal left
            part = buffer.top(len(band))
            panel.relax(*part, band.start, threads)
            left -= len(band)
            report(left)
            return partial(target.write, band.start, part)

        def write_panel(own: range) -> None:
            first = vertices.start
            target.write(own.start, rows.rows(range(own.start - first, own.stop - first)))

        before, after = range(vertices.start), range(vertices.stop, self._n)
        others = [*_common(missing, after), *_common(missing, before)]
        buffers = [Tile.empty(form, band, self._n, self._paths) for _ in range(BUFFERS)]
        with ThreadPool(1) as thread:  # writes the panel meanwhile
            writes = [
                thread.submit(write_panel, own) for own in pieces(_common(missing, vertices), band)
            ]
            overlapped(pieces(others, band), buffers, read, relax)
            for written in writes:
                written.result()
        report(0)
        return True


def _common(ranges: list[range], part: range) -> list[range]:
    """Return what ranges have in common with another."""
    found = (range(max(r.start, part.start), min(r.stop, part.stop)) for r in ranges)
    return [rows for rows in found if rows]
