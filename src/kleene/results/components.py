"""The components of a graph: the number of each vertex's, sizes, and members."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from kleene.errors import RequestError
from kleene.graph import Graph
from kleene.graph.forms import adopt
from kleene.results.display import components_html
from kleene.system.cached_property import cached_property

__all__ = ["Components"]

Array = NDArray[Any]


class Components:
    """The components of a graph, the largest first; a sequence of arrays of vertices.

    Attributes
    ----------
    graph : Graph
        The graph.
    kind : str
        ``"weak"`` or ``"strong"``.
    component : array
        The number of the component of each vertex, by position; numbers begin with 0, the largest.
    sizes : array
        The number of vertices of each component, the largest first.

    Examples
    --------
    >>> import kleene as kl
    >>> c = kl.components(kl.Graph.from_edges([0, 2, 3], [1, 3, 4], n=6))
    >>> c
    Components(3 weak components, the largest of 3 vertices)
    >>> c.component.tolist(), c.largest.tolist()
    ([1, 1, 0, 0, 0, 2], [2, 3, 4])
    >>> [members.tolist() for members in c]
    [[2, 3, 4], [0, 1], [5]]
    """

    graph: Graph
    kind: str
    component: Array
    sizes: NDArray[np.int64]

    def __init__(self, graph: Graph, kind: str, component: Array, sizes: Array) -> None:
        self.graph, self.kind = graph, kind
        self.component, self.sizes = adopt(component), adopt(sizes)

    @property
    def count(self) -> int:
        """The number of components."""
        return len(self.sizes)

    @cached_property
    def _order(self) -> Array:
        """The vertices by component."""
        order: Array = np.argsort(self.component, kind="stable")
        return order

    @cached_property
    def _offsets(self) -> Array:
        return np.concatenate([[0], np.cumsum(self.sizes)])

    def members(self, number: int) -> Array:
        """Return the vertices of a component, in the order of the graph.

        Parameters
        ----------
        number : int
            The number of the component; 0 is the largest.

        Returns
        -------
        array
            Labels, or positions where the graph has no labels; what :meth:`Graph.subgraph` takes.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.Graph.from_table({"source": ["a", "x"], "target": ["b", "y"]})
        >>> kl.components(g).members(1).tolist()
        ['x', 'y']
        """
        if isinstance(number, bool) or not isinstance(number, (int, np.integer)):
            raise RequestError(f"the number of a component is an integer, not {number!r}")
        if not 0 <= number < self.count:
            has = f"they are numbered 0 to {self.count - 1}" if self.count else "there are none"
            raise RequestError(f"no component {number}: {has}")
        begin, end = self._offsets[number : number + 2]
        members: Array = self.graph.label(self._order[begin:end])
        return members

    @property
    def largest(self) -> Array:
        """The vertices of the largest component; none if the graph has none."""
        if self.count == 0:
            return self._order
        return self.members(0)

    def __len__(self) -> int:
        return self.count

    @overload
    def __getitem__(self, index: int) -> Array: ...
    @overload
    def __getitem__(self, index: slice) -> list[Array]: ...
    def __getitem__(self, index: int | slice) -> Array | list[Array]:
        if isinstance(index, slice):
            return [self.members(i) for i in range(*index.indices(self.count))]
        return self.members(range(self.count)[index])

    def __iter__(self) -> Iterator[Array]:
        return map(self.members, range(self.count))

    def to_frame(self) -> Any:
        """Return a pandas DataFrame: vertex, component and its size, one row per vertex.

        Examples
        --------
        >>> import kleene as kl
        >>> kl.components(kl.Graph.from_edges([0], [1], n=3)).to_frame()
           vertex  component  size
        0       0          0     2
        1       1          0     2
        2       2          1     1
        """
        import pandas as pd

        return pd.DataFrame(
            {
                "vertex": self.graph.label(np.arange(self.graph.n)),
                "component": self.component,
                "size": self.sizes[self.component],
            }
        )

    def _repr_html_(self) -> str:
        return components_html(self)

    def __repr__(self) -> str:
        count = f"{self.count:,} {self.kind} component{'s' * (self.count != 1)}"
        if self.count == 0:
            return f"Components({count})"
        largest = int(self.sizes[0])
        vertices = "1 vertex" if largest == 1 else f"{largest:,} vertices"
        return f"Components({count}, the largest of {vertices})"
