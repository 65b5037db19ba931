"""A sink that Kleene does not have: of each row, the farthest vertex alone is kept."""

from __future__ import annotations

from collections.abc import Sequence

from kleene.engine.call import Call, Part, Sink, Writer
from kleene.engine.pieces import Piece, split
from kleene.planning.plan import Plan


class FarthestWriter(Writer):
    """Returns the farthest vertex of each row; it goes to where rows are computed."""

    def __init__(self, apart: bool) -> None:
        self.apart = apart

    def write(self, piece: Piece, part: Part, rows: slice, call: Call) -> list[int]:
        values = part.answer.values[rows]
        return values.argmax(axis=1).tolist()


class Farthest(Sink):
    """The farthest vertex from each source, of two rows at a time.

    ``apart``: each of several devices computes pieces of its own, instead of rows of every piece.
    """

    def __init__(self, apart: bool = False) -> None:
        self.writer = FarthestWriter(apart)
        self.found: dict[int, list[int]] = {}
        self.failed: BaseException | None = None

    def open(self, call: Call, plan: Plan) -> Sequence[Piece]:
        return split(len(call.sources), 2)

    def record(self, piece: Piece, receipt: list[int]) -> None:
        assert piece.index not in self.found
        self.found[piece.index] = receipt

    def finish(self) -> list[int]:
        return [vertex for index in sorted(self.found) for vertex in self.found[index]]

    def abandon(self, error: BaseException) -> None:
        self.failed = error
