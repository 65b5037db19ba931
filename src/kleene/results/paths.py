"""Many paths, a sequence of lists of vertices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from kleene.graph import Graph
from kleene.system.cached_property import cached_property

__all__ = ["Paths"]

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
