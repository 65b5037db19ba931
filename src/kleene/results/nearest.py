"""What a search for the nearest facilities returns."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.common.walks import Walks
from kleene.backends.cpu.near import bounded_dijkstra
from kleene.backends.task import NearestTask, WithinAnswer, WithinTask
from kleene.engine.call import Timings
from kleene.errors import Code, RequestError
from kleene.graph import Graph
from kleene.graph.no_path import NO_HOPS, no_path
from kleene.planning.plan import Plan
from kleene.prepared.sweeps import PreparedRows
from kleene.proofs.nearest import verify_nearest
from kleene.proofs.paths import Proof
from kleene.proofs.rows import ProvedRow, verify_rows
from kleene.results.display import nearest_html
from kleene.results.long_table import LongTable
from kleene.results.paths import Paths
from kleene.results.reach import follow_rows
from kleene.results.route import Route, Routes, make_routes
from kleene.results.tables import BLOCK, Block, label_column
from kleene.system.cached_property import cached_property
from kleene.system.formatting import counted

__all__ = ["Nearest", "NearestRows"]

Array = NDArray[Any]


class Nearest(LongTable):
    """The nearest facilities of every vertex.

    Arrays have one entry per vertex, or one row of ``k``, nearest first, if ``k`` is above 1.

    Attributes
    ----------
    graph : Graph
        The graph that was asked about.
    k : int
        How many facilities were asked for.
    plan : Plan
        What ran, and why.
    stats : Timings
        How many seconds it took.

    Examples
    --------
    >>> import kleene as kl
    >>> near = kl.nearest(kl.generate.grid(1, 6), [0, 4])
    >>> near.distances.tolist(), near.owner.tolist()
    ([0, 1, 2, 1, 0, 1], [0, 0, 0, 4, 4, 4])
    >>> near.path(2), near.path(3)
    ([2, 1, 0], [3, 4])
    """

    def __init__(
        self,
        graph: Graph,
        plan: Plan,
        stats: Timings,
        task: NearestTask,
        distances: Array,
        which: Array,
        hops: bool,
        reverse: bool,
    ) -> None:
        self.graph, self.plan, self.stats = graph, plan, stats
        self.k, self.hops, self.reverse = task.k, hops, reverse
        self._task, self._distances, self._which = task, distances, which

    def _shaped(self, columns: Array) -> Array:
        return columns[:, 0] if self.k == 1 else columns

    # ---- arrays -----------------------------------------------------------------------------

    @property
    def distances(self) -> Array:
        """The distances to the facilities; ``no_path`` where there are fewer than ``k``."""
        return self._shaped(self._distances)

    @property
    def no_path(self) -> Any:
        """The distance that says "no facility": -1 for hops, infinity, or the largest integer."""
        return NO_HOPS if self.hops else no_path(self._distances.dtype)

    @property
    def floats(self) -> Array:
        """The distances as float64, infinite where there is no facility."""
        return self._shaped(np.where(self._which < 0, np.inf, self._distances.astype(np.float64)))

    @property
    def masked(self) -> Any:
        """The distances as a masked array, masked where there is no facility."""
        return np.ma.masked_array(self.distances, self.which < 0)

    @property
    def which(self) -> Array:
        """Positions in the list of facilities; -1 for none."""
        return self._shaped(self._which)

    @property
    def facilities(self) -> Any:
        """The facilities, as vertices, in the order given."""
        return self.graph.label(self._task.facilities)

    @cached_property
    def owner(self) -> Any:
        """The facilities of every vertex, as vertices.

        Where there is none: None on a graph with labels, else -1.
        """
        none = self._which < 0
        found = np.asarray(self.graph.label(self._task.facilities[self._which]))
        if none.any():
            if self.graph.labels is not None:
                found = found.astype(object)
            found[none] = -1 if self.graph.labels is None else None
        return self._shaped(found)

    # ---- paths ------------------------------------------------------------------------------

    def path(self, vertex: Hashable, rank: int = 0) -> list[Any]:
        """Return the vertices from a vertex to its facility, empty if it has none.

        With ``reverse=True`` they lead from the facility to the vertex.

        Parameters
        ----------
        vertex : vertex
            Where to start.
        rank : int
            Which of its facilities: 0 is the nearest.

        Examples
        --------
        >>> import kleene as kl
        >>> kl.nearest(kl.generate.grid(1, 4), [0, 3], k=2).path(1, rank=1)
        [1, 2, 3]
        """
        return self.paths([vertex], rank)[0]

    def paths(self, vertices: Iterable[Any] | None = None, rank: int = 0) -> Paths:
        """Return the paths of some vertices, or of all, as :meth:`path` does.

        They come from one more search for each facility that is involved, bounded by the
        farthest of its vertices.

        Parameters
        ----------
        vertices : sequence of vertices, optional
            Where to start; everywhere unless given.
        rank : int
            Which of their facilities: 0 is the nearest.

        Returns
        -------
        Paths
            A sequence of lists of vertices; a vertex without a facility has an empty one.

        Examples
        --------
        >>> import kleene as kl
        >>> kl.nearest(kl.generate.grid(1, 4), [0]).paths([1, 2])
        Paths([[1, 0], [2, 1, 0]])
        """
        return Paths(self.graph, *self._walks(self._ends(vertices), rank))

    def route(self, vertex: Hashable, rank: int = 0) -> Route:
        """Return a path with its arcs, table rows and coordinates.

        Parameters
        ----------
        vertex : vertex
            Where to start.
        rank : int
            Which of its facilities: 0 is the nearest.

        Examples
        --------
        >>> import kleene as kl
        >>> kl.nearest(kl.generate.grid(1, 4), [0]).route(2)
        Route(2 to 0, 2 arcs, distance 2)
        """
        return self.routes([vertex], rank)[0]

    def routes(self, vertices: Iterable[Any] | None = None, rank: int = 0) -> Routes:
        """Return the routes of some vertices, or of all, computed together.

        Parameters
        ----------
        vertices : sequence of vertices, optional
            Where to start; everywhere unless given.
        rank : int
            Which of their facilities: 0 is the nearest.

        Examples
        --------
        >>> import kleene as kl
        >>> kl.nearest(kl.generate.grid(1, 4), [0]).routes([1, 2])
        Routes([Route(1 to 0, 1 arc, distance 1), Route(2 to 0, 2 arcs, distance 2)])
        """
        ends = self._ends(vertices)
        distances = self._distances[self._rows(ends), rank]
        return make_routes(self.graph, self._walks(ends, rank), distances)

    @property
    def _places(self) -> Array:
        """The positions of the vertices that rows belong to."""
        return np.arange(self.graph.n)

    def _rows(self, ends: Array) -> Array:
        """Return the rows of some vertices."""
        return ends

    def _ends(self, vertices: Iterable[Any] | None) -> Array:
        """Return the positions of some vertices, or of all."""
        if vertices is None:
            return self._places
        if isinstance(vertices, (str, bytes)) or not np.iterable(vertices):
            raise RequestError(f"vertices must be a sequence of vertices, not {vertices!r}")
        return self.graph._labels.positions(vertices)

    def _walks(self, ends: Array, rank: int) -> Walks:
        """Return paths by position."""
        whole = isinstance(rank, (int, np.integer)) and not isinstance(rank, bool)
        if not whole or not 0 <= rank < self.k:
            raise RequestError(Code("rank"), f" must be from 0 to {self.k - 1}, not {rank!r}")
        rows = self._rows(ends)
        return self._follow(ends, self._which[rows, rank], self._distances[rows, rank])

    def _follow(self, ends: Array, owners: Array, lengths: Array) -> Walks:
        """Return the paths between some vertices and their facilities."""
        has = owners >= 0
        used, group = np.unique(owners[has], return_inverse=True)
        farthest = np.zeros(len(used), dtype=self._distances.dtype)
        np.maximum.at(farthest, group, lengths[has])
        rows = np.zeros(len(ends), dtype=np.int64)
        rows[has] = group
        starts = np.where(has, ends, -1)
        answer = self._search(used, farthest)
        return follow_rows(answer, self.graph.n, rows, starts, not self.reverse)

    def _search(self, which: Array, limits: Array) -> WithinAnswer:
        """Search from some facilities, each up to its limit."""
        task = self._task
        return bounded_dijkstra(
            WithinTask(
                task.graph, task.facilities[which], limits, None, True, task.dtype, task.unit,
                task.threads,
            )
        )  # fmt: skip

    # ---- all of it --------------------------------------------------------------------------

    def _blocks(self) -> Iterator[Block]:
        """Yield a row for each vertex and facility found: vertex, rank, facility, distance."""
        step, places = max(1, BLOCK // self.k), self._places
        for first in range(0, max(1, len(places)), step):
            which = self._which[first : first + step]
            vertices, ranks = np.nonzero(which >= 0)
            facilities = self._task.facilities[which[vertices, ranks]]
            yield {
                "vertex": label_column(self.graph, places[first + vertices]),
                "rank": ranks,
                "facility": label_column(self.graph, facilities),
                "distance": self._distances[first + vertices, ranks],
            }

    def verify(self) -> Proof:
        """Prove this answer right, or raise VerificationError.

        The proof looks at every arc once: no label of a vertex, extended by an arc, is better than
        what its head has, and every label is attained by a path.

        Examples
        --------
        >>> import kleene as kl
        >>> proof = kl.nearest(kl.generate.grid(9, 9), [0, 40], k=2).verify()
        >>> proof.tolerance
        'exact'
        """
        return verify_nearest(self._task, self._distances, self._which, self.no_path, self._search)

    def _repr_html_(self) -> str:
        return nearest_html(self)

    def __repr__(self) -> str:
        count = len(self._task.facilities)
        what = "hops" if self.hops else "lengths"
        direction = "from" if self.reverse else "to"
        served = int(np.count_nonzero(self._which[:, 0] >= 0))
        many = f"the {self.k:,} nearest" if self.k > 1 else "the nearest"
        facilities = counted(count, "facility", "facilities")
        have = counted(len(self._which), "vertex has", "vertices have")
        return (
            f"Nearest({what} {direction} {many} of {facilities}, {served:,} of {have} one, "
            f"{self._distances.dtype}, {self.stats.total:.3g} s)"
        )


# ---- on a prepared graph, of some vertices -------------------------------------------------------


class NearestRows(Nearest):
    """The nearest facilities of some vertices: arrays have one entry, or row, for each of them."""

    def __init__(
        self,
        graph: Graph,
        plan: Plan,
        stats: Timings,
        task: NearestTask,
        distances: Array,
        which: Array,
        reverse: bool,
        vertices: Array,
        prepared: PreparedRows,
    ) -> None:
        super().__init__(graph, plan, stats, task, distances, which, False, reverse)
        self._vertices, self._prepared = vertices, prepared

    @property
    def _places(self) -> Array:
        return self._vertices

    @cached_property
    def _row_of(self) -> dict[int, int]:
        return {vertex: row for row, vertex in enumerate(self._vertices.tolist())}

    def _rows(self, ends: Array) -> Array:
        # untestable (1 to 2): any negative number says that there is no row
        rows = np.array([self._row_of.get(vertex, -1) for vertex in ends.tolist()], np.int64)
        if (rows < 0).any():
            vertex = self.graph.label(ends[rows < 0][:1]).tolist()[0]
            raise RequestError(f"vertex {vertex!r} is not among the sources of this answer")
        return rows

    def _follow(self, ends: Array, owners: Array, lengths: Array) -> Walks:
        has = owners >= 0
        far = self._task.facilities[owners[has]]
        positions, starts = self._prepared.walks_between(ends[has], far)
        counts = np.zeros(len(ends), np.int64)
        counts[has] = np.diff(starts)
        return positions, np.append(0, np.cumsum(counts))

    def verify(self, sample: int | None = None, seed: int = 0) -> Proof:
        """Prove this answer right, or raise VerificationError.

        Whole rows of distances are computed for the vertices, or for a sample of them, and proved
        on the original graph; the facilities must be the nearest in these rows.

        Parameters
        ----------
        sample : int, optional
            How many vertices to check.
        seed : int
            Chooses the sample.

        Examples
        --------
        >>> import kleene as kl
        >>> kl.prepare(kl.generate.grid(9, 9)).nearest([3, 50], [0, 40], k=2).verify().tolerance
        'exact'
        """
        return verify_rows(
            self.graph.transpose() if self.reverse else self.graph, "min_plus", self._vertices,
            lambda rows: self._prepared.rows(self._vertices[rows]), self._compare, sample, seed,
            self.reverse,
        )  # fmt: skip

    def _compare(self, row: int, proved: ProvedRow) -> bool:
        """Compare the facilities of a vertex with a row of distances."""
        facilities, limit = self._task.facilities, self._task.limit
        which, held = self._which[row], self._distances[row]
        count = int(np.count_nonzero(which >= 0))
        if (held[count:] != self.no_path).any():
            proved.refuse(f"holds {held.tolist()}, but only {count:,} of these have a facility")
        rest, which, held = which[count:], which[:count], held[:count]
        offered = proved.values[facilities]
        nearest = np.lexsort((np.arange(len(offered)), offered))[: self.k]
        there = offered[nearest] != proved.no_path
        nearest = nearest[there if limit is None else there & (offered[nearest] <= limit)]
        right = offered[nearest]
        if np.array_equal(which, nearest) and np.array_equal(held, right):
            return True
        known = (rest < 0).all() and (which < len(facilities)).all() and len(set(which)) == count
        if proved.exact or not known or not proved.agrees(facilities[which], held).all():
            proved.refuse(f"holds facilities {which.tolist()}, expected {nearest.tolist()}")
        # Floats: nothing that is nearer may be missing, by more than rounding.
        at = facilities[nearest]
        most = right + np.where(proved.short[at], 0, 2 * proved.slack[at])
        near = most < (np.inf if count < self.k else held.max())
        near &= most <= (np.inf if limit is None else limit)
        if (~np.isin(nearest, which) & near).any():
            proved.refuse(f"holds facilities {which.tolist()}, expected {nearest.tolist()}")
        if (np.diff(held) < 0).any() or (limit is not None and (held > limit).any()):
            proved.refuse(f"holds facilities at {held.tolist()}, not in order or beyond the limit")
        return False
