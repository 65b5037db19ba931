"""Answers that are small: the values of pairs with their paths, or a block of a matrix.

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
from kleene.engine.call import Call, Pairs, Part, Sink, Writer
from kleene.engine.pieces import Piece, split
from kleene.graph.no_path import NO_HOPS
from kleene.planning.machine import live_machine
from kleene.planning.plan import Plan

__all__ = ["Block", "Climbs", "Entries"]

Array = NDArray[Any]

#: Bytes of the rows of a batch: distances and predecessors.
_BATCH = 2**29
_SMALL = 2**24  # that many are there: do not ask

#: Pairs of a prepared graph that are a piece of their own.
_CLIMBS = 2**20


# ---- pairs --------------------------------------------------------------------------------------


class Entries(Sink):
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
        root_of = root_of[order]
        bounds = np.searchsorted(root_of, np.arange(len(roots) + 1))
        n = call.graph.n
        self._step = _rows_together(len(roots), n)
        self._paths = call.ask.what.predecessors
        self.writer = _EntriesWriter(order, root_of, far[order], bounds, 0, self._paths)
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
        self._count, self._parts = len(self.writer.pairs), list[tuple[Array, Walks]]()
        self._values: Array = np.empty(self._count, np.dtype(plan.dtype))
        self._ids = call.sources.dtype
        roots = len(call.sources)
        return [Piece(0, 0, roots)] if roots <= self._step else split(roots, self._step)

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
        offsets = np.zeros(self._count + 1, dtype=np.int64)
        for pairs, (_, starts) in self._parts:
            offsets[pairs + 1] = np.diff(starts)
        np.cumsum(offsets, out=offsets)
        positions = np.empty(offsets[-1], dtype=self._ids)
        for pairs, (walked, starts) in self._parts:
            shift = np.repeat(offsets[pairs] - starts[:-1], np.diff(starts))
            positions[shift + np.arange(len(walked))] = walked
        return Part(answer, (positions, offsets))


@dataclass
class _EntriesWriter(Writer):
    """Which pairs each root has, and where they lead: arrays are in the order of the roots."""

    pairs: Array
    root_of: Array
    far: Array
    bounds: Array  # of the pairs of each root
    first: int  # the number of the first root
    paths: bool

    def share(self, pieces: Sequence[Piece], shared: Any) -> Writer:
        """Return the pairs of some roots."""
        first, stop = pieces[0].first, pieces[-1].stop
        own = self._of(pieces)
        bounds = self.bounds[first - self.first : stop - self.first + 1]
        return _EntriesWriter(
            self.pairs[own], self.root_of[own], self.far[own], bounds - bounds[0], first,
            self.paths,
        )  # fmt: skip

    def _of(self, pieces: Sequence[Piece]) -> slice:
        first, stop = pieces[0].first - self.first, pieces[-1].stop - self.first
        return slice(int(self.bounds[first]), int(self.bounds[stop]))

    def narrow(self, call: Call, pieces: Sequence[Piece], first: int) -> Call:
        """Return the call for some roots, to where their pairs lead."""
        own = slice(pieces[0].first - first, pieces[-1].stop - first)
        targets = np.unique(self.far[self._of(pieces)])
        return call._replace(sources=call.sources[own], targets=targets)

    def write(self, piece: Piece, part: Part, rows: slice, call: Call) -> Any:
        """Keep what the pairs of these roots ask for."""
        own, answer = self._of((piece,)), part.answer
        row, far = self.root_of[own] - piece.first, self.far[own]
        if call.form is None:
            values, links = answer.values[row, far], answer.predecessors
        else:  # it may have answered for the targets alone
            assert call.targets is not None
            values = answer.at(slice(None), call.targets)[row, np.searchsorted(call.targets, far)]
            links = answer.whole_predecessors if self.paths else None
        if not self.paths:
            return self.pairs[own], values, None
        assert links is not None
        what = call.ask.what
        hops = what.problem == "bfs"
        no_path = NO_HOPS if hops else SEMIRINGS[what.semiring].zero(values.dtype)
        starts = np.where(values == no_path, -1, far)
        return self.pairs[own], values, follow_links(links, row, starts, call.reverse)


def _rows_together(count: int, n: int) -> int:
    """Return how many rows a batch may have: of bounded size, in a quarter of what is free."""
    row = 16 * max(1, n)
    if count * row <= _SMALL:
        return max(1, count)
    free = live_machine().free_memory()
    return max(1, (_BATCH if free is None else min(_BATCH, free // 4)) // row)


class Climbs(Sink):
    """Pairs of a prepared graph, which makes their values and paths without rows, on workers."""

    def __init__(self) -> None:
        self._parts: dict[int, Part] = {}

    def open(self, call: Call, plan: Plan) -> Sequence[Piece]:
        """Return runs of pairs."""
        assert call.pairs is not None
        self.writer = _ClimbsWriter(call.pairs, 0)
        return split(len(call.pairs[0]), _CLIMBS)

    def record(self, piece: Piece, receipt: Part) -> None:
        """Keep the values and paths of some pairs."""
        self._parts[piece.first] = receipt

    def finish(self) -> Part:
        """Return values and paths, in the order of the pairs."""
        parts = [self._parts[first] for first in sorted(self._parts)]
        answer = Answer(np.concatenate([part.answer.values for part in parts], axis=1), None)
        walks = [part.walks for part in parts if part.walks is not None]
        if not walks:
            return Part(answer)
        starts = np.cumsum([0, *(len(positions) for positions, _ in walks)])
        offsets = [own[:-1] + start for (_, own), start in zip(walks, starts, strict=False)]
        positions = np.concatenate([positions for positions, _ in walks])
        return Part(answer, (positions, np.concatenate([*offsets, starts[-1:]])))


@dataclass
class _ClimbsWriter(Writer):
    """The pairs themselves."""

    pairs: Pairs
    first: int  # the number of the first pair

    def _of(self, pieces: Sequence[Piece]) -> Pairs:
        own = slice(pieces[0].first - self.first, pieces[-1].stop - self.first)
        origins, destinations = self.pairs
        return origins[own], destinations[own]

    def share(self, pieces: Sequence[Piece], shared: Any) -> Writer:
        """Return some of the pairs."""
        return _ClimbsWriter(self._of(pieces), pieces[0].first)

    def narrow(self, call: Call, pieces: Sequence[Piece], first: int) -> Call:
        """Return the call for some of the pairs."""
        return call._replace(pairs=self._of(pieces))


# ---- a block of a matrix ------------------------------------------------------------------------


class Block(Sink):
    """The values of some targets, a small matrix of which workers return rows."""

    def __init__(self, step: int) -> None:
        self.writer = _BlockWriter()
        self._step = step

    def open(self, call: Call, plan: Plan) -> Sequence[Piece]:
        """Take memory for the matrix; return runs of rows."""
        assert call.targets is not None
        self._matrix = np.empty((len(call.sources), len(call.targets)), np.dtype(plan.dtype))
        return split(len(call.sources), self._step)

    def record(self, piece: Piece, receipt: Array) -> None:
        """Put rows where they belong."""
        self._matrix[piece.first : piece.stop] = receipt

    def finish(self) -> Array:
        """Return the matrix."""
        return self._matrix


class _BlockWriter(Writer):
    """The values of the targets in some rows."""

    def write(self, piece: Piece, part: Part, rows: slice, call: Call) -> Array:
        """Return them."""
        assert call.targets is not None
        values: Array = part.answer.at(rows, call.targets)
        return values
