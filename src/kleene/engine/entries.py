"""Answers of pairs: their values and paths, without rows.

Pairs with the same origin share a search. Searches run in batches; of each batch only what its
pairs ask for is kept. Where there are fewer destinations than origins, searches start there, on the
reversed graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.answer import Answer
from kleene.backends.common.walks import Walks, follow_links
from kleene.backends.semiring import SEMIRINGS
from kleene.engine.call import Call, Part, Sink, Writer
from kleene.engine.pieces import Piece, split
from kleene.graph.no_path import NO_HOPS
from kleene.planning.machine import live_machine
from kleene.planning.plan import Plan

__all__ = ["Climbs", "Entries"]

Array = NDArray[Any]

#: Bytes of the rows of a batch: distances and predecessors.
_BATCH = 2**29
_SMALL = 2**24  # that many are there: do not ask

#: Pairs of a prepared graph that are a piece of their own.
_CLIMBS = 2**20


class _Collected(Sink):
    """The values and paths of pairs, which come some at a time."""

    def _begin(self, call: Call, plan: Plan, count: int) -> None:
        self._values: Array = np.empty(count, np.dtype(plan.dtype))
        self._parts, self._paths = list[tuple[Array, Walks]](), call.ask.what.predecessors
        self._ids = call.graph.id_dtype

    def record(self, piece: Piece, receipt: Any) -> None:
        """Put values where their pairs are."""
        pairs, values, walks = receipt
        self._values[pairs] = values
        if walks is not None:
            self._parts.append((pairs, walks))

    def finish(self) -> Part:
        """Return values and paths, in the order of the pairs."""
        answer = Answer(self._values[None], None)
        if not self._paths:
            return Part(answer)
        offsets = np.zeros(len(self._values) + 1, dtype=np.int64)
        for pairs, (_, starts) in self._parts:
            offsets[pairs + 1] = np.diff(starts)
        np.cumsum(offsets, out=offsets)
        positions = np.empty(offsets[-1], dtype=self._ids)
        for pairs, (walked, starts) in self._parts:
            shift = np.repeat(offsets[pairs] - starts[:-1], np.diff(starts))
            positions[shift + np.arange(len(walked))] = walked
        return Part(answer, (positions, offsets))


class Entries(_Collected):
    """What pairs ask for of the rows of their origins, or of their destinations."""

    writer: _EntriesWriter

    def __init__(self, call: Call, ends: tuple[int, int]) -> None:
        """Take a call with pairs, and how many origins and destinations they have."""
        assert call.pairs is not None
        origins, destinations = call.pairs
        # From the destinations, against the arcs, where these are fewer; but not where the answer
        # could be another one: a search meets other negative cycles there, and a sum of floats may
        # round to the other side of a limit.
        self.by_target = ends[1] < ends[0] and (
            call.ask.what.problem == "bfs" or (call.limit is None and not call.graph.stats.negative)
        )
        named, far = (destinations, origins) if self.by_target else (origins, destinations)
        roots, root_of = np.unique(named, return_inverse=True)
        order = np.argsort(root_of, kind="stable")  # pairs by root
        n = call.graph.n
        self._step = _roots_together(len(roots), n)
        self.writer = _EntriesWriter(order, root_of[order], far[order])
        batch = min(self._step, len(roots))
        # Methods on matrices are open to all sources.
        what = call.ask.what
        every = what.problem == "apsp" and batch == n
        self.rows = call._replace(
            ask=call.ask._replace(what=what._replace(sources=None if every else batch)),
            sources=roots.astype(call.graph.id_dtype, copy=False), pairs=None,
            reverse=self.by_target,
        )  # fmt: skip

    def open(self, call: Call, plan: Plan) -> Sequence[Piece]:
        """Return batches of roots."""
        self._begin(call, plan, len(self.writer.pairs))
        return split(len(call.sources), self._step)


@dataclass
class _EntriesWriter(Writer):
    """Which pairs each root has, and where they lead: arrays are in the order of the roots."""

    pairs: Array
    root_of: Array
    far: Array

    def _of(self, pieces: Sequence[Piece]) -> slice:
        """Return where the pairs of some roots are."""
        return slice(*np.searchsorted(self.root_of, (pieces[0].first, pieces[-1].stop)))

    def share(self, pieces: Sequence[Piece], shared: Any) -> Writer:
        """Return the pairs of some roots."""
        own = self._of(pieces)
        return _EntriesWriter(self.pairs[own], self.root_of[own], self.far[own])

    def narrow(self, call: Call, pieces: Sequence[Piece], first: int) -> Call:
        """Return the call for some roots, to where their pairs lead."""
        targets = np.unique(self.far[self._of(pieces)])
        return Writer.narrow(self, call, pieces, first)._replace(targets=targets)

    def write(self, piece: Piece, part: Part, rows: slice, call: Call) -> Any:
        """Keep what the pairs of these roots ask for."""
        own, answer, what = self._of((piece,)), part.answer, call.ask.what
        row, far = self.root_of[own] - piece.first, self.far[own]
        if call.form is None:
            values, links = answer.values[row, far], answer.predecessors
        else:  # it may have answered for the targets alone
            assert call.targets is not None
            values = answer.at(slice(None), call.targets)[row, np.searchsorted(call.targets, far)]
            links = answer.whole_predecessors if what.predecessors else None
        if not what.predecessors:
            return self.pairs[own], values, None
        assert links is not None
        hops = what.problem == "bfs"
        no_path = NO_HOPS if hops else SEMIRINGS[what.semiring].zero(values.dtype)
        starts = np.where(values == no_path, -1, far)
        return self.pairs[own], values, follow_links(links, row, starts, call.reverse)


def _roots_together(count: int, n: int) -> int:
    """Return how many roots a batch may have: of bounded size, in a quarter of what is free."""
    row = 16 * max(1, n)
    if count * row <= _SMALL:
        return max(1, count)
    free = live_machine().free_memory()
    return max(1, (_BATCH if free is None else min(_BATCH, free // 4)) // row)


class _ClimbsWriter(Writer):
    """Pairs as they are."""

    def write(self, piece: Piece, part: Part, rows: slice, call: Call) -> Any:
        """Return the values and paths of some pairs."""
        return np.arange(piece.first, piece.stop), part.answer.values[0], part.walks


class Climbs(_Collected):
    """Pairs of a prepared graph, which makes their values and paths without rows, on workers."""

    writer = _ClimbsWriter()

    def open(self, call: Call, plan: Plan) -> Sequence[Piece]:
        """Return runs of pairs."""
        self._begin(call, plan, call.rows)
        return split(call.rows, _CLIMBS)
