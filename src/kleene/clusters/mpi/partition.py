"""The 1-D partition: which rank owns which vertices.

Rank r owns the vertices ``bounds[r] .. bounds[r + 1] - 1``, its *part*, with their outgoing arcs. A
part may be empty. A vertex of a part is named by its *position* in it, which fits in 32 bits; the
messages of searches carry positions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kleene.errors import GraphError
from kleene.graph.checks import as_vertex_count, id_dtype
from kleene.graph.forms import adopt

__all__ = ["Partition"]

Array = NDArray[Any]


class Partition:
    """Contiguous ranges of vertices, one for each rank.

    Parameters
    ----------
    bounds : sequence of int
        Where the parts begin, then the number of vertices: starts at 0 and never decreases.

    Examples
    --------
    >>> p = Partition.even(10, 3)
    >>> p.bounds.tolist(), p.range(1), p.owner([0, 5, 9]).tolist()
    ([0, 3, 6, 10], (3, 6), [0, 1, 2])
    """

    def __init__(self, bounds: ArrayLike) -> None:
        found = np.array(bounds, dtype=np.int64)
        if found.ndim != 1 or len(found) < 2 or found[0] != 0 or (np.diff(found) < 0).any():
            raise GraphError("the bounds of a partition must rise from 0 to the number of vertices")
        self.bounds: Array = adopt(found)

    @classmethod
    def even(cls, n: int, ranks: int) -> Partition:
        """Return the partition in which parts differ by one vertex at most.

        Parameters
        ----------
        n : int
            The number of vertices.
        ranks : int
            The number of parts.

        Examples
        --------
        >>> Partition.even(2, 4).bounds.tolist()
        [0, 0, 1, 1, 2]
        """
        n = as_vertex_count(n)
        return cls([rank * n // ranks for rank in range(ranks + 1)])

    @property
    def n(self) -> int:
        """The number of vertices."""
        return int(self.bounds[-1])

    @property
    def ranks(self) -> int:
        """The number of parts."""
        return len(self.bounds) - 1

    @property
    def sizes(self) -> Array:
        """The number of vertices in each part."""
        return np.diff(self.bounds)

    @property
    def position_dtype(self) -> np.dtype[Any]:
        """The type of positions: it holds those of the largest part."""
        return id_dtype(int(self.sizes.max()))

    def range(self, rank: int) -> tuple[int, int]:
        """Return the first vertex of a part, and the one after its last.

        Parameters
        ----------
        rank : int
            The owner of the part.

        Examples
        --------
        >>> Partition.even(10, 4).range(3)
        (7, 10)
        """
        return int(self.bounds[rank]), int(self.bounds[rank + 1])

    def owner(self, vertices: ArrayLike) -> Array:
        """Return the rank that owns each vertex.

        Parameters
        ----------
        vertices : int or array of int
            Vertices, 0 .. n - 1.

        Examples
        --------
        >>> Partition([0, 2, 2, 5]).owner([1, 2]).tolist()
        [0, 2]
        """
        found: Array = np.searchsorted(self.bounds, vertices, side="right") - 1
        return found

    def vertices(self, positions: Array, rank: int) -> Array:
        """Return the vertices at some positions of a part.

        Parameters
        ----------
        positions : array of int
            Positions in the part.
        rank : int
            The owner of the part.

        Examples
        --------
        >>> import numpy as np
        >>> Partition.even(10, 3).vertices(np.array([0, 2]), 1).tolist()
        [3, 5]
        """
        ids = id_dtype(self.n)
        found: Array = positions.astype(ids) + ids.type(self.bounds[rank])
        return found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Partition) and np.array_equal(self.bounds, other.bounds)

    def __hash__(self) -> int:
        return hash(self.bounds.tobytes())

    def __repr__(self) -> str:
        return f"Partition({self.n:,} vertices, {self.ranks} ranks)"
