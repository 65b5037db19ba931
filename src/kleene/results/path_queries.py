"""Paths and routes of a result, read from the links of its search trees."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.task import Answer
from kleene.errors import Code, RequestError
from kleene.graph.label_index import is_one_vertex
from kleene.results.paths import Paths, Walks, cyclic, follow_links
from kleene.results.route import Route, Routes, make_routes
from kleene.results.views import ResultViews
from kleene.system.cached_property import cached_property

__all__ = ["PathQueries"]

Array = NDArray[Any]


class PathQueries(ResultViews):
    """A result with a row of values, and a search tree, for each source."""

    reverse: bool
    _answer: Answer
    _sources: Array  # positions
    _targets: Array | None
    _single: bool

    @property
    def _far_ends(self) -> Array:
        """The positions of the vertices that distances lead to from each source."""
        return np.arange(self.graph.n) if self._targets is None else self._targets

    def path(self, *ends: Hashable) -> list[Any]:
        """Return the vertices of a path, from the first to the last; empty if there is none.

        Parameters
        ----------
        *ends : vertex
            ``path(target)`` for a result with one source, or ``path(source, target)``. For a
            result of ``reverse=True``, ``path(start)`` or ``path(start, end)``.

        Returns
        -------
        list
            Labels where the graph has labels.

        Examples
        --------
        >>> import kleene as kl
        >>> r = kl.apsp(kl.Graph.from_edges([0, 1], [1, 2]))
        >>> r.path(0, 2), r.path(2, 0)
        ([0, 1, 2], [])
        """
        row, at = self._locate(ends, "path")
        walks = self._answer.walks(row, np.array([at]))
        path = self._follow(row, at) if walks is None else walks[0].tolist()
        labels = self.graph.labels
        return path if labels is None else labels[path].tolist()

    def paths(self, targets: Iterable[Any] | None = None, source: Hashable | None = None) -> Paths:
        """Return the paths to many targets, computed together.

        Parameters
        ----------
        targets : sequence of vertices, optional
            Where the paths end (where they begin, for a result of ``reverse=True``); by default
            the targets of the call, or all vertices.
        source : vertex, optional
            The source, for a result with several.

        Returns
        -------
        Paths
            A sequence of lists of vertices; a target without a path has an empty one.

        Examples
        --------
        >>> import kleene as kl
        >>> r = kl.bfs(kl.Graph.from_edges([0, 1], [1, 2]), 0)
        >>> r.paths([2, 1])
        Paths([[0, 1, 2], [0, 1]])
        """
        walks, _ = self._walks(targets, source, "path")
        return Paths(self.graph, *walks)

    def route(self, *ends: Hashable) -> Route:
        """Return a path with its arcs, table rows and coordinates.

        Parameters
        ----------
        *ends : vertex
            ``route(target)`` for a result with one source, or ``route(source, target)``. For a
            result of ``reverse=True``, ``route(start)`` or ``route(start, end)``.

        Returns
        -------
        Route
            Of no vertices, if there is no path.

        Examples
        --------
        >>> import kleene as kl
        >>> r = kl.sssp(kl.Graph.from_edges([0, 0, 1], [1, 2, 2], [4, 9, 3]), 0)
        >>> r.route(2)
        Route(0 to 2, 2 arcs, distance 7)
        """
        row, at = self._locate(ends, "route")
        return make_routes(self.graph, *self._walk(row, np.array([at])))[0]

    def routes(
        self, targets: Iterable[Any] | None = None, source: Hashable | None = None
    ) -> Routes:
        """Return the routes to many targets, computed together.

        Parameters
        ----------
        targets : sequence of vertices, optional
            Where the paths end (where they begin, for a result of ``reverse=True``); by default
            the targets of the call, or all vertices.
        source : vertex, optional
            The source, for a result with several.

        Returns
        -------
        Routes
            A sequence of :class:`Route`.

        Examples
        --------
        >>> import kleene as kl
        >>> r = kl.sssp(kl.Graph.from_edges([0, 0, 1], [1, 2, 2], [4, 9, 3]), 0)
        >>> [route.distance for route in r.routes([2, 1])]
        [7, 4]
        """
        walks, distances = self._walks(targets, source, "route")
        return make_routes(self.graph, walks, distances)

    @property
    def next_hops(self) -> Array:
        """The position of the second vertex of each path; -1 for sources and unreached vertices.

        That is the neighbor of the source that leads to each vertex. For a result of
        ``reverse=True``, it is the vertex to go to from each vertex.
        """
        links = self._links()
        if self.reverse:
            return links[0] if self._single else links
        hops = np.empty_like(links)
        for row, source in enumerate(self._sources.tolist()):
            inner = (links[row] != -1) & (links[row] != source)
            first = np.where(inner, links[row], np.arange(self.graph.n))
            for _ in range(self.graph.n.bit_length() + 1):  # each round looks back twice as far
                first = first[first]
            if inner[first].any():
                raise cyclic()
            hops[row] = np.where(links[row] == -1, -1, first)
        return hops[0] if self._single else hops

    # ---- inside ---------------------------------------------------------------------------

    def _follow(self, row: int, at: int) -> list[int]:
        """Return the positions along the path to a vertex, by the links of its row."""
        links = self._links(slice(row, row + 1))[0]
        if self._answer.at(row, np.array([at]))[0] == self.no_path:
            return []
        path = [at]
        while (at := int(links[at])) != -1:
            path.append(at)
            if len(path) > self.graph.n:
                raise cyclic()
        if not self.reverse:
            path.reverse()
        return path

    def _locate(self, ends: tuple[Hashable, ...], what: str) -> tuple[int, int]:
        """Return the row and the far end of a path."""
        if len(ends) == 1 and len(self._sources) == 1:
            row, far = 0, self._position(ends[0], what)
        elif len(ends) == 2:
            named, other = reversed(ends) if self.reverse else ends
            row, far = self._row(named, what), self._position(other, what)
        else:
            raise RequestError(
                f"{what} takes a target, or a source and a target when there are several sources; "
                f"for many, use {what}s([...])"
            )
        self._require_targets(np.array([far]))
        return row, far

    def _walks(
        self, targets: Iterable[Any] | None, source: Hashable | None, what: str
    ) -> tuple[Walks, Array]:
        """Return the paths to many vertices, by position, and their lengths."""
        listed = targets is None or (np.iterable(targets) and not isinstance(targets, (str, bytes)))
        if not listed:
            raise RequestError(
                f"{what}s takes a sequence of vertices, {what}s([{targets!r}]); for one, use "
                f"{what}({targets!r})"
            )
        if source is None and len(self._sources) != 1:
            raise RequestError(f"name a source: this result has several, {what}s(..., source=...)")
        row = 0 if source is None else self._row(source, what)
        if targets is None:
            return self._walk(row, self._far_ends)
        far = self.graph._labels.positions(targets)
        self._require_targets(far)
        return self._walk(row, far)

    def _walk(self, row: int, far: Array) -> tuple[Walks, Array]:
        values = self._answer.at(row, far)
        walks = self._answer.walks(row, far)
        if walks is None:
            links = self._links(slice(row, row + 1))
            starts = np.where(values == self.no_path, -1, far)
            walks = follow_links(links, np.zeros(len(far), np.int64), starts, self.reverse)
        return walks, values

    @cached_property
    def _row_of(self) -> dict[int, int]:
        return {source: row for row, source in enumerate(self._sources.tolist())}

    def _position(self, vertex: Hashable, what: str) -> int:
        """Return the position of one vertex."""
        if not is_one_vertex(vertex):
            raise RequestError(
                f"{what} takes one vertex, not {vertex!r}; for many, use {what}s(...)"
            )
        return int(self.graph.index(vertex))

    def _row(self, source: Hashable, what: str) -> int:
        """Return the row of a source."""
        row = self._row_of.get(self._position(source, what))
        if row is None:
            raise RequestError(f"vertex {source!r} is not among the sources of this result")
        return row

    def _require_targets(self, far: Array) -> None:
        if self._targets is None:
            return
        unknown = ~np.isin(far, self._targets)
        if unknown.any():
            vertex = self.graph.label(far[unknown][:1]).tolist()[0]
            raise RequestError(f"vertex {vertex!r} is not among the targets of this result")

    def _links(self, rows: slice = slice(None)) -> Array:
        """Return the links of the search trees of some rows: the vertex before, or after, each."""
        links = self._answer.links(rows)
        if links is None:
            raise RequestError(
                "paths need predecessors: make the call with ", Code("predecessors=True")
            )
        return links
