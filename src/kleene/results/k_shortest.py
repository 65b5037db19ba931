"""The k shortest paths between two vertices, and between the vertices of many pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from kleene.graph import Graph
from kleene.results.display import k_shortest_html, k_shortest_pairs_html
from kleene.results.paths import Paths
from kleene.results.route import Route, Routes, make_routes
from kleene.system.cached_property import cached_property
from kleene.system.formatting import counted

__all__ = ["KShortest", "KShortestPairs"]

Array = NDArray[Any]


class KShortest(Sequence[Route]):
    """Paths between two vertices without repeated vertices, shortest first; a sequence of routes.

    Attributes
    ----------
    graph : Graph
        The graph.
    source, target : vertex
        The ends of all paths.
    distances : array
        The lengths of the paths, increasing.
    paths : Paths
        The vertices of each path, as lists of labels.

    Examples
    --------
    >>> import kleene as kl
    >>> g = kl.Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3], [1.0, 2.0, 1.0, 3.0])
    >>> r = kl.k_shortest(g, 0, 3, 5)
    >>> len(r), r.distances.tolist(), list(r.paths)
    (2, [2.0, 5.0], [[0, 1, 3], [0, 2, 3]])
    >>> r[1]
    Route(0 to 3, 2 arcs, distance 5.0)
    """

    graph: Graph
    distances: Array
    paths: Paths

    def __init__(
        self, graph: Graph, ends: tuple[int, int], distances: Array, vertices: Array, offsets: Array
    ) -> None:
        self.graph, self.distances = graph, distances
        self.paths = Paths(graph, vertices, offsets)
        self._ends, self._walks = ends, (vertices, offsets)

    @property
    def source(self) -> Any:
        """The vertex where all paths begin."""
        return self.graph.label(self._ends[0])

    @property
    def target(self) -> Any:
        """The vertex where all paths end."""
        return self.graph.label(self._ends[1])

    def routes(self) -> Routes:
        """Return the paths as routes, with their arcs, table rows and coordinates.

        Examples
        --------
        >>> import kleene as kl
        >>> streets = {"source": ["a", "a", "b"], "target": ["b", "c", "c"], "weight": [1, 5, 2]}
        >>> r = kl.k_shortest(kl.Graph.from_table(streets), "a", "c", 2)
        >>> [route.rows.tolist() for route in r.routes()]
        [[0, 2], [1]]
        """
        return self._routes

    @cached_property
    def _routes(self) -> Routes:
        return make_routes(self.graph, self._walks, self.distances)

    def to_frame(self) -> Any:
        """Return a pandas DataFrame: source, target, rank, distance, path, one row per path.

        Ranks count from 0, as indices do.

        Examples
        --------
        >>> import kleene as kl
        >>> kl.k_shortest(kl.Graph.from_edges([0], [1], [7]), 0, 1, 3).to_frame()
           source  target  rank  distance    path
        0       0       1     0         7  [0, 1]
        """
        return _frame([self])

    def __len__(self) -> int:
        return len(self.distances)

    @overload
    def __getitem__(self, index: int) -> Route: ...
    @overload
    def __getitem__(self, index: slice) -> list[Route]: ...
    def __getitem__(self, index: int | slice) -> Route | list[Route]:
        return self._routes[index]

    def __iter__(self) -> Iterator[Route]:
        return iter(self._routes)

    def _repr_html_(self) -> str:
        return k_shortest_html(self)

    def __repr__(self) -> str:
        count = f"{len(self):,} path{'s' * (len(self) != 1)}"
        span = ""
        if len(self):
            first, last = self.distances[[0, -1]].tolist()
            span = f", length {first:.6g}" + (f" to {last:.6g}" if len(self) > 1 else "")
        return f"KShortest({count} from {self.source!r} to {self.target!r}{span})"


class KShortestPairs(Sequence[KShortest]):
    """The shortest paths of many pairs of vertices, in the order of the pairs.

    Examples
    --------
    >>> import kleene as kl
    >>> g = kl.Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3], [1, 2, 1, 3])
    >>> r = kl.k_shortest(g, k=2, pairs=[(0, 3), (1, 3)])
    >>> [list(one.paths) for one in r]
    [[[0, 1, 3], [0, 2, 3]], [[1, 3]]]
    """

    def __init__(self, each: Iterable[KShortest]) -> None:
        self._each = tuple(each)

    def to_frame(self) -> Any:
        """Return a pandas DataFrame: source, target, rank, distance, path, one row per path.

        Ranks count from 0, as indices do.

        A pair without a path has no row.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.Graph.from_edges([0, 1], [1, 2], [7, 2])
        >>> kl.k_shortest(g, k=2, pairs=[(0, 1), (0, 2)]).to_frame()
           source  target  rank  distance       path
        0       0       1     0         7     [0, 1]
        1       0       2     0         9  [0, 1, 2]
        """
        return _frame(self._each)

    def __len__(self) -> int:
        return len(self._each)

    @overload
    def __getitem__(self, index: int) -> KShortest: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[KShortest, ...]: ...
    def __getitem__(self, index: int | slice) -> KShortest | tuple[KShortest, ...]:
        return self._each[index]

    def _repr_html_(self) -> str:
        return k_shortest_pairs_html(self)

    def __repr__(self) -> str:
        paths = sum(map(len, self._each))
        return f"KShortestPairs({counted(len(self), 'pair')}, {counted(paths, 'path')})"


def _frame(each: Sequence[KShortest]) -> Any:
    import pandas as pd

    sizes = [len(one) for one in each]
    repeated = np.repeat(np.arange(len(each)), sizes).tolist()
    distances = [one.distances for one in each]
    return pd.DataFrame(
        {
            "source": [each[i].source for i in repeated],
            "target": [each[i].target for i in repeated],
            "rank": [rank for size in sizes for rank in range(size)],
            "distance": np.concatenate(distances) if distances else np.empty(0),
            "path": [path for one in each for path in one.paths],
        }
    )
