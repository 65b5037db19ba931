"""Sums over sources: runs of sources are summed separately, and added in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kleene.engine.call import Call, Part, Sink, Writer
from kleene.engine.pieces import Piece, choose_block_rows, shrinking, split
from kleene.engine.work import fills_matrix
from kleene.planning.cost_model import searched_seconds
from kleene.planning.facts import graph_facts
from kleene.planning.plan import Plan

__all__ = ["Sums", "SumsWriter", "add_arrays"]

#: Adds what came of some sources to what came of those before, and returns it.
Add = Callable[[Any, Any], Any]

#: Pieces for workers, at most, and bytes of what all of them return: each has sums of all vertices.
_MOST, _MOST_BYTES = 128, 2**33


def add_arrays(total: tuple[Any, ...], part: tuple[Any, ...]) -> tuple[Any, ...]:
    """Add arrays in place; None where there is none."""
    for array, more in zip(total, part, strict=True):
        if array is not None:
            array += more
    return total


class Sums(Sink):
    """Sums over all sources: in one piece, or a run of sources for a device or worker at a time.

    The runs follow from the call, and sums are added in the order of the pieces, whichever device
    was fast: floats have the same bits in every run.
    """

    def __init__(self, add: Add = add_arrays) -> None:
        self._add = add
        self.writer: Writer = SumsWriter()
        self._waiting: dict[int, Any] = {}
        self._added, self._total = 0, None

    def open(self, call: Call, plan: Plan) -> Sequence[Piece]:
        """Return runs of sources for devices or workers; otherwise all are one piece."""
        sources = call.rows
        if not sources or fills_matrix(plan):
            return [Piece(0, 0, sources)]
        if call.on is not None:
            most = max(1, min(_MOST, _MOST_BYTES // max(1, self.writer.needs((), call, plan))))
            return split(sources, _sources_together(call, most))
        devices = len(plan.devices)
        return shrinking(sources, devices) if devices > 1 else [Piece(0, 0, sources)]

    def record(self, piece: Piece, receipt: Part) -> None:
        """Add the sums of a piece, once those before are added."""
        self._waiting[piece.index] = receipt.answer
        while self._added in self._waiting:
            part = self._waiting.pop(self._added)
            self._total = self._add(self._total, part) if self._added else part
            self._added += 1

    def finish(self) -> Any:
        """Return the sums."""
        return self._total


class SumsWriter(Writer):
    """The sums of a piece, as they are."""

    unit = "sums"
    apart = tells_steps = True

    def needs(self, pieces: Sequence[Piece], call: Call, plan: Plan) -> int:
        """Return the bytes of the sums; the plan of a worker says what a search takes."""
        arcs = call.graph.m if call.ask.what.predecessors else 0
        return 8 * (3 * call.graph.n + arcs)


def _sources_together(call: Call, most: int) -> int:
    """Return the sources of a piece: some seconds of work for one thread, or more."""
    sources = call.rows
    seconds = searched_seconds(graph_facts(call.graph, call.hops), call.ask.but(threads=1), 1)
    return max(choose_block_rows(sources, 1, seconds, 2**62), -(-sources // most))
