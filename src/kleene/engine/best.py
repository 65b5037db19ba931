"""The nearest of many facilities: subsets are searched separately, and the best are kept.

One search finds the k nearest of all facilities, and takes as long as the labels that it keeps: k
at each vertex, however many facilities there are. So subsets of the facilities are searched
separately where a subset has fewer than k; the k nearest of all are then the best among those of
the subsets. Otherwise all of it is one piece, for a worker that has more memory, more cores or a
GPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.engine.call import Call, Part, Sink, Writer
from kleene.engine.pieces import Piece, split
from kleene.graph.no_path import no_path
from kleene.planning.plan import Plan
from kleene.system.formatting import counted

__all__ = ["Best"]

Array = NDArray[Any]


class Best(Sink):
    """The ``k`` best of the facilities of all shares; the first of the list among equals."""

    def __init__(self, k: int, workers: int) -> None:
        self._k, self._workers = k, workers
        self.writer = _BestWriter(k)
        self._parts: dict[int, tuple[Array, Array]] = {}

    def open(self, call: Call, plan: Plan) -> Sequence[Piece]:
        """Return a share for each worker, or one for all."""
        facilities, self._dtype = call.rows, np.dtype(plan.dtype)
        share = -(-facilities // max(1, self._workers))
        pieces = split(facilities, share if share < self._k else facilities)
        self._shares = len(pieces)
        return pieces

    def record(self, piece: Piece, receipt: Part) -> None:
        """Keep the distances of a share, and the places in its list."""
        self._parts[piece.first] = receipt.answer

    def finish(self) -> tuple[Array, Array]:
        """Return the distances of every vertex from its nearest facilities, and which these are."""
        if self._shares == 1:
            return self._parts[0]
        firsts = sorted(self._parts)
        parts = [self._parts[first] for first in firsts]
        places = [np.where(own < 0, -1, own + f) for f, (_, own) in zip(firsts, parts, strict=True)]
        which = np.concatenate(places, axis=1)
        distances = np.concatenate([own for own, _ in parts], axis=1)
        distances = np.where(which < 0, no_path(self._dtype), distances)
        order = np.argsort(distances, axis=1, kind="stable")[:, : self._k]
        return np.take_along_axis(distances, order, 1), np.take_along_axis(which, order, 1)

    def ran(self, runs: int) -> str:
        """Return in words how the facilities were shared."""
        return f"facilities in {counted(self._shares, 'share')}"


class _BestWriter(Writer):
    """What is found for a share, as it is."""

    unit = "facilities"
    alone = tells_steps = True

    def __init__(self, k: int) -> None:
        self._k = k

    def needs(self, pieces: Sequence[Piece], call: Call, plan: Plan) -> int:
        """Return the bytes of the labels: k at each vertex, however many facilities there are."""
        item = np.dtype(plan.dtype).itemsize + call.graph.id_dtype.itemsize
        return call.graph.n * self._k * item
