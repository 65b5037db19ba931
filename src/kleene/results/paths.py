"""Paths from links: each vertex of a search tree links to the next vertex towards the root."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from kleene.errors import VerificationError
from kleene.graph import Graph
from kleene.system.cached_property import cached_property

__all__ = ["Paths", "Walks", "cyclic", "follow_links", "select_walks"]

Array = NDArray[Any]


class Paths(Sequence[list[Any]]):
    """Many paths, a sequence of lists of vertices that is stored in two arrays.

    Attributes
    ----------
    vertices : array
        The vertices of all paths, one path after the other: labels where the graph has labels.
    offsets : array of int64
        Path ``i`` is ``vertices[offsets[i]:offsets[i + 1]]``; it is empty if there is none.

    Examples
    --------
    >>> import kleene as kl
    >>> paths = kl.bfs(kl.Graph.from_edges([0, 1], [1, 2]), 0).paths([2, 1])
    >>> paths[0], len(paths), paths.vertices.tolist(), paths.offsets.tolist()
    ([0, 1, 2], 2, [0, 1, 2, 0, 1], [0, 3, 5])
    """

    def __init__(self, graph: Graph, positions: Array, offsets: NDArray[np.int64]) -> None:
        self.offsets = offsets
        self._graph, self._positions = graph, positions

    @cached_property
    def vertices(self) -> Array:
        """The vertices of all paths, one path after the other."""
        vertices: Array = self._graph.label(self._positions)
        return vertices

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> list[Any]: ...
    @overload
    def __getitem__(self, index: slice) -> list[list[Any]]: ...
    def __getitem__(self, index: int | slice) -> list[Any]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        i = range(len(self))[index]
        path: list[Any] = self.vertices[self.offsets[i] : self.offsets[i + 1]].tolist()
        return path

    def __iter__(self) -> Iterator[list[Any]]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        shown = [repr(path) for path in self[:3]] + ["..."] * (len(self) > 3)
        return f"Paths([{', '.join(shown)}])"


#: Positions along many paths, and where each path begins.
Walks = tuple[Array, NDArray[np.int64]]


def follow_links(links: Array, rows: Array, starts: Array, to_root: bool) -> Walks:
    """Return the vertices from each start along the links of its row, up to the root.

    Parameters
    ----------
    links : array of shape (rows, n)
        The next vertex towards the root of each row's tree; -1 at the root.
    rows, starts : array
        The row and the first vertex of each walk; -1 for an empty one.
    to_root : bool
        Whether paths run towards the root, as the links do, or away from it.
    """
    n = links.shape[1]
    at = starts.astype(np.int64)
    steps: list[Array] = []
    walks: list[Array] = []
    walking = np.arange(len(starts))
    while len(walking := walking[at[walking] != -1]):
        if len(steps) == n:
            raise cyclic()
        steps.append(at[walking])
        walks.append(walking)
        at[walking] = links[rows[walking], at[walking]]
    lengths = np.zeros(len(starts), dtype=np.int64)
    for walk in walks:
        lengths[walk] += 1
    offsets = np.zeros(len(starts) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    positions = np.empty(offsets[-1], dtype=links.dtype)
    for k, (step, walk) in enumerate(zip(steps, walks, strict=True)):
        place = offsets[walk] + k if to_root else offsets[walk + 1] - 1 - k
        positions[place] = step
    return positions, offsets


def select_walks(walks: Walks, chosen: Array) -> Walks:
    """Return some of many walks, in this order."""
    positions, offsets = walks
    lengths = np.diff(offsets)[chosen]
    starts = np.zeros(len(chosen) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    places = np.repeat(offsets[chosen] - starts[:-1], lengths) + np.arange(starts[-1])
    return positions[places], starts


def cyclic() -> VerificationError:
    """Return the error for links that never come to a root."""
    return VerificationError(
        "the predecessors form a cycle: verify() would have refused this result"
    )
