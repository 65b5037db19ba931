"""Pairs of vertices on a prepared graph: distances and paths, without any row."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.semiring import SEMIRINGS
from kleene.calls.arguments import Progress, as_pairs, check_call
from kleene.calls.pairs import solve_pairs
from kleene.engine.prepared import PreparedForm
from kleene.engine.value import timed
from kleene.errors import RequestError
from kleene.graph.labels import is_one_vertex
from kleene.prepared import pairs as queries
from kleene.results.pairs import PairsResult
from kleene.system.machine import as_threads

__all__ = ["PreparedPairs"]

Array = NDArray[Any]

_FLOAT = np.dtype(np.float64)


class PreparedPairs(PreparedForm):
    """A prepared graph that answers for pairs of vertices."""

    def distance(self, source: Hashable, target: Hashable) -> Any:
        """Return the length of the shortest path between two vertices; infinity if there is none.

        Over another semiring, it is the value of the best path.

        Parameters
        ----------
        source, target : vertex
            Where the path begins and ends: labels of the graph, or positions 0 .. n - 1 if it has
            no labels.

        Returns
        -------
        int, float or bool

        Examples
        --------
        >>> import kleene as kl
        >>> p = kl.prepare(kl.Graph.from_edges([0, 1], [1, 2], [4, 3]))
        >>> p.distance(0, 2), p.distance(2, 0)
        (7, inf)
        """
        value = queries.distance(*self._parts, *self._ends(source, target, "distance"))
        if type(value) is int and value == self.no_path:
            return SEMIRINGS[self.semiring].zero(_FLOAT)
        return value

    def distances(
        self, pairs: Any, *, threads: int | None = None, progress: Progress = None
    ) -> Array:
        """Return the lengths of the shortest paths of many pairs.

        Parameters
        ----------
        pairs : sequence of (source, target)
            A list of pairs, an array of shape (k, 2) or a table of two columns.
        threads : int, optional
            How many threads may be used; all cores unless given.
        progress : bool or function, optional
            True shows a progress bar; a function is called with (done, total).

        Returns
        -------
        array
            One length for each pair; :attr:`no_path` where there is no path.

        Examples
        --------
        >>> import kleene as kl
        >>> p = kl.prepare(kl.Graph.from_edges([0, 1], [1, 2], [4.0, 3.0]))
        >>> p.distances([(0, 2), (1, 2), (2, 1)]).tolist()
        [7.0, 3.0, inf]
        """
        ends, team = as_pairs(self.graph, pairs), as_threads(threads)
        climb = partial(queries.distances, *self._parts, *ends, threads=team)
        return timed(lambda report: climb(progress=report), progress, "distances of pairs")[0]

    def path(self, source: Hashable, target: Hashable) -> list[Any]:
        """Return the vertices of the best path between two vertices; empty if there is none.

        Parameters
        ----------
        source, target : vertex
            Where the path begins and ends.

        Returns
        -------
        list
            Labels where the graph has labels.

        Examples
        --------
        >>> import kleene as kl
        >>> p = kl.prepare(kl.Graph.from_edges([0, 1, 0], [1, 2, 2], [4, 3, 9]))
        >>> p.path(0, 2), p.path(2, 0)
        ([0, 1, 2], [])
        """
        positions = queries.path(*self._parts, *self._ends(source, target, "path"))
        labels = self.graph.labels
        path: list[Any] = (positions if labels is None else labels[positions]).tolist()
        return path

    def paths(
        self, pairs: Any, *, threads: int | None = None, progress: Progress = None
    ) -> PairsResult:
        """Return the shortest paths of many pairs, with their lengths.

        Where weights are negative floats, lengths are the sums along the paths, which may differ
        from those of :meth:`distances` in the last bits.

        Parameters
        ----------
        pairs : sequence of (source, target)
            A list of pairs, an array of shape (k, 2) or a table of two columns.
        threads : int, optional
            How many threads may be used; all cores unless given.
        progress : bool or function, optional
            True shows a progress bar; a function is called with (done, total).

        Returns
        -------
        PairsResult
            Distances, paths and routes in the order of the pairs.

        Examples
        --------
        >>> import kleene as kl
        >>> p = kl.prepare(kl.Graph.from_edges([0, 1, 0], [1, 2, 2], [4, 3, 9]))
        >>> r = p.paths([(0, 2), (1, 2)])
        >>> r.distances.tolist(), r.paths()
        ([7, 3], Paths([[0, 1, 2], [1, 2]]))
        """
        self._require_lengths("paths of many pairs are")
        call = check_call("sssp", self, pairs=pairs, threads=threads, progress=progress)
        return solve_pairs(call)

    def _ends(self, source: Hashable, target: Hashable, what: str) -> tuple[int, int]:
        """Return the positions of two vertices."""
        if is_one_vertex(source) and is_one_vertex(target):
            position = self.graph._labels.position
            return position(source), position(target)
        several = target if is_one_vertex(source) else source
        raise RequestError(
            f"{what} takes two vertices, not {several!r}; for many pairs, use {what}s([...])"
        )
