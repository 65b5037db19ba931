"""Rows of a prepared graph: values, matrices and predecessors by sweeps, paths by pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.answer import Answer
from kleene.graph.checks import require_memory
from kleene.prepared import pairs, sweeps
from kleene.prepared.customization import Customization
from kleene.prepared.elimination import Elimination

__all__ = ["PreparedRows"]

Array = NDArray[Any]

#: Bytes of the values that are swept again, together, where their predecessors are asked for.
_BATCH = 2**27


@dataclass(frozen=True, eq=False)
class PreparedRows:
    """Rows from the sweeps of a prepared graph, paths from its pairs."""

    elimination: Elimination
    customization: Customization
    reverse: bool  # paths lead to the sources
    threads: int | None

    def values(self, sources: Array, out: Array | None = None, progress: Any = None) -> Array:
        """Return whole rows of values, or store them in ``out``."""
        shape = (len(sources), self.elimination.n)
        values = np.empty(shape, self.customization.dtype) if out is None else out
        self._sweep(sources, values, None, progress)
        return values

    def matrix(
        self, sources: Array, targets: Array, out: Array | None = None, progress: Any = None
    ) -> Array:
        """Return the values of some targets, or store them in ``out``."""
        shape = (len(sources), len(targets))
        values = np.empty(shape, self.customization.dtype) if out is None else out
        sweeps.matrix(
            self.elimination, self.customization, sources, targets, values,
            reverse=self.reverse, threads=self.threads, progress=progress,
        )  # fmt: skip
        return values

    def rows(self, sources: Array) -> Answer:
        """Return the whole rows of some sources, with predecessors."""
        shape = (len(sources), self.elimination.n)
        item, link = self.customization.dtype.itemsize, self.elimination.order.itemsize
        _require_rows(shape, item + link)
        values = np.empty(shape, self.customization.dtype)
        predecessors = np.empty(shape, self.elimination.order.dtype)
        self._sweep(sources, values, predecessors)
        return Answer(values, predecessors)

    def predecessors(self, sources: Array) -> Array:
        """Return rows of predecessors; the values are swept once more, some rows at a time."""
        shape = (len(sources), self.elimination.n)
        row = max(1, shape[1] * self.customization.dtype.itemsize)
        step = max(sweeps.LANES, _BATCH // row)
        _require_rows(shape, self.elimination.order.itemsize, row * min(step, shape[0]))
        found = np.empty(shape, self.elimination.order.dtype)
        values = np.empty((min(step, shape[0]), shape[1]), self.customization.dtype)
        for first in range(0, shape[0], step):
            some = sources[first : first + step]
            self._sweep(some, values[: len(some)], found[first : first + step])
        return found

    def walks(self, source: int, vertices: Array) -> tuple[Array, Array]:
        """Return the paths between a source and some vertices: positions and offsets."""
        return self.walks_between(np.full(len(vertices), source, np.int32), vertices)

    def walks_between(self, sources: Array, vertices: Array) -> tuple[Array, Array]:
        """Return the path between each source and a vertex: positions and offsets."""
        ends = sources, vertices.astype(np.int32, copy=False)
        origins, destinations = ends[::-1] if self.reverse else ends
        return pairs.paths(
            self.elimination, self.customization, origins, destinations, threads=self.threads
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return PreparedRows, (self.elimination, self.customization, self.reverse, self.threads)

    def _sweep(
        self, sources: Array, values: Array, predecessors: Array | None, progress: Any = None
    ) -> None:
        sweeps.trees(
            self.elimination, self.customization, sources, values, predecessors,
            reverse=self.reverse, threads=self.threads, progress=progress,
        )  # fmt: skip


def _require_rows(shape: tuple[int, int], item: int, more: int = 0) -> None:
    """Raise unless there is memory for whole rows."""
    require_memory(
        shape[0] * shape[1] * item + more,
        f"whole rows of {shape[0]:,} sources and {shape[1]:,} vertices",
        "ask for fewer sources; the path of a pair takes no rows",
    )
