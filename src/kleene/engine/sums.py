"""Sums over sources: those of runs of them are computed apart, and added in their order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kleene.engine.call import Call, Part, Sink, Writer
from kleene.engine.pieces import Piece, shrinking
from kleene.planning.plan import Plan

__all__ = ["Sums", "add_arrays"]

#: Adds what came of some sources to what came of those before, and returns it.
Add = Callable[[Any, Any], Any]


def add_arrays(total: tuple[Any, ...], part: tuple[Any, ...]) -> tuple[Any, ...]:
    """Add arrays in place; None where there is none."""
    for array, more in zip(total, part, strict=True):
        if array is not None:
            array += more
    return total


class Sums(Sink):
    """Sums over all sources: in one piece, or a run of sources for a device at a time.

    Sums are added in the order of the pieces, whichever device was fast: floats have the same bits
    in every run.
    """

    def __init__(self, add: Add = add_arrays) -> None:
        self._add = add
        self.writer = _SumsWriter()
        self._waiting: dict[int, Any] = {}
        self._added, self._total = 0, None

    def open(self, call: Call, plan: Plan) -> Sequence[Piece]:
        """Return shrinking runs of sources for several devices; otherwise all are one piece."""
        sources, devices = len(call.sources), len(plan.devices)
        return shrinking(sources, devices) if devices > 1 else [Piece(0, 0, sources)]

    def record(self, piece: Piece, receipt: Any) -> None:
        """Add the sums of a piece, once those before are added."""
        self._waiting[piece.index] = receipt
        while self._added in self._waiting:
            part = self._waiting.pop(self._added)
            self._total = self._add(self._total, part) if self._added else part
            self._added += 1

    def finish(self) -> Any:
        """Return the sums."""
        return self._total


class _SumsWriter(Writer):
    """The sums of a piece, as they are."""

    unit = "sums"
    apart = tells_steps = True

    def write(self, piece: Piece, part: Part, rows: slice, call: Call) -> Any:
        """Return them."""
        return part.answer
