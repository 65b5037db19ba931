"""The symbolic part: which pairs of vertices are joined once all vertices are eliminated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from kleene import _native
from kleene.system.cached_property import cached_property

__all__ = ["Elimination"]

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Elimination:
    """A graph whose vertices were eliminated in an order; direction and weights do not matter.

    The *rank* of a vertex is its place in the order. To eliminate a vertex is to join all its
    neighbors that are left, pair by pair. What a vertex was joined to when its turn came are its
    upward neighbors; the lowest of them is its parent in the elimination tree, and all others are
    ancestors in that tree. Ranks are a postorder of the tree: the descendants of v are the ranks
    just below v.
    """

    order: Array  # int32, the vertex of each rank
    ranks: Array  # int32, the rank of each vertex
    parents: Array  # int32, by rank; -1 for roots
    offsets: Array  # int64, n + 1
    heads: Array  # int32, the upward neighbors of each rank, ascending

    @property
    def n(self) -> int:
        """The number of vertices."""
        return len(self.order)

    @property
    def arcs(self) -> int:
        """The number of joined pairs."""
        return len(self.heads)

    @cached_property
    def head_depths(self) -> tuple[Array, int]:
        """The depth of every head in the elimination tree, by arc, and the number of depths."""
        return _native.prepared_head_depths(self.offsets, self.heads, self.parents)
