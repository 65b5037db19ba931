"""What bounded searches return: what each source reaches, as sparse arrays."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.common.walks import Walks, follow_links
from kleene.backends.task import WithinAnswer
from kleene.engine.call import Timings
from kleene.errors import Code, RequestError
from kleene.graph import Graph
from kleene.planning.plan import Plan
from kleene.proofs.paths import Proof
from kleene.proofs.reach import verify_reach
from kleene.results.display import reach_html
from kleene.results.long_table import LongTable
from kleene.results.route import Route, make_route
from kleene.results.tables import BLOCK, Block, label_column
from kleene.system.cached_property import cached_property

__all__ = ["Reach", "follow_rows"]

Array = NDArray[Any]


def follow_rows(answer: WithinAnswer, n: int, rows: Array, starts: Array, to_source: bool) -> Walks:
    """Return paths between vertices that rows reach and their sources, by position.

    ``rows`` and ``starts`` have an entry for each path; a start of -1 makes an empty one.
    """
    assert answer.predecessors is not None
    row_of = np.repeat(np.arange(len(answer.offsets) - 1), np.diff(answer.offsets))
    keys = row_of * n + answer.vertices
    links = np.searchsorted(keys, row_of * n + answer.predecessors)
    links[answer.predecessors == -1] = -1
    entries = np.where(starts < 0, -1, np.searchsorted(keys, rows * n + starts))
    walked, offsets = follow_links(links[None, :], np.zeros(len(rows), int), entries, to_source)
    return answer.vertices[walked], offsets


class Reach(LongTable):
    """The vertices that each source reaches within a limit, or those nearest to it.

    Attributes
    ----------
    graph : Graph
        The graph that was asked about.
    sources : array
        The source vertices, one row of the answer each.
    limit, k : number or None
        What the searches were bounded by.
    plan : Plan
        What ran, and why.
    stats : Timings
        How many seconds it took.

    Examples
    --------
    >>> import kleene as kl
    >>> g = kl.Graph.from_edges([0, 1, 2], [1, 2, 3], [2, 3, 4])
    >>> r = kl.within(g, [0, 2], limit=5)
    >>> r.distances.toarray().tolist()
    [[0, 2, 5, 0], [0, 0, 0, 4]]
    >>> r.reached(0).tolist(), r.path(0, 2)
    ([0, 1, 2], [0, 1, 2])
    """

    def __init__(
        self,
        graph: Graph,
        plan: Plan,
        stats: Timings,
        answer: WithinAnswer,
        sources: Array,
        limit: int | float | None,
        k: int | None,
        hops: bool,
        reverse: bool,
    ) -> None:
        self.graph, self.plan, self.stats = graph, plan, stats
        self.limit, self.k, self.hops, self.reverse = limit, k, hops, reverse
        self._answer, self._sources = answer, sources

    # ---- arrays -----------------------------------------------------------------------------

    @property
    def sources(self) -> Any:
        """The source vertices, in the order given."""
        return self.graph.label(self._sources)

    @cached_property
    def distances(self) -> Any:
        """The distances as a ``scipy.sparse.csr_array``: a row per source, a column per vertex.

        What is stored was reached. A source itself is stored, with an explicit 0, and so is
        whatever else is 0 away: ``nnz`` counts what was reached, ``count_nonzero()`` does not.
        """
        return self._sparse(self._answer.distances)

    @property
    def predecessors(self) -> Any:
        """The position of the vertex before each reached vertex, in the pattern of the distances.

        -1 for the sources. None when the call had ``predecessors=False``. An answer of
        ``reverse=True`` has :attr:`next_hops` instead: its paths go on from each vertex.
        """
        if self.reverse:
            raise RequestError(
                "the paths of this answer lead to its sources: use next_hops, the vertex after "
                "each vertex on its path"
            )
        return self._links

    @property
    def next_hops(self) -> Any:
        """With ``reverse=True``, the position of the vertex after each vertex on its path.

        -1 for the sources. None when the call had ``predecessors=False``.
        """
        if not self.reverse:
            raise RequestError(
                "next_hops is for answers of ", Code("reverse=True"), "; this has predecessors"
            )
        return self._links

    @cached_property
    def _links(self) -> Any:
        held = self._answer.predecessors
        return None if held is None else self._sparse(held)

    def _sparse(self, values: Array) -> Any:
        from scipy.sparse import csr_array

        shape = len(self._sources), self.graph.n
        parts = (values, self._answer.vertices, self._answer.offsets)
        made = csr_array(parts, shape=shape, copy=False)
        made.has_canonical_format = True  # rows are sorted: nothing need look again
        return made

    # ---- one source -------------------------------------------------------------------------

    def reached(self, source: Hashable) -> Any:
        """Return the vertices that a source reaches, the nearest first, beginning with itself.

        Parameters
        ----------
        source : vertex
            One of the sources.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.Graph.from_edges([0, 0, 1], [1, 2, 3], [5, 1, 1])
        >>> kl.within(g, [0], k=2).reached(0).tolist()
        [0, 2, 1]
        """
        held = self._held(self._row(source))
        order = np.argsort(self._answer.distances[held], kind="stable")
        vertices = self._answer.vertices[held][order]  # others may be 0 away, too
        own = self.graph.index(source)
        return self.graph.label(np.concatenate([[own], vertices[vertices != own]]))

    def path(self, start: Hashable, end: Hashable) -> list[Any]:
        """Return the vertices of a path, from the first to the last; empty if it was not found.

        Parameters
        ----------
        start, end : vertex
            The first is one of the sources; with ``reverse=True`` the last is.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.Graph.from_edges([0, 1], [1, 2], [2.0, 3.0], labels=["a", "b", "c"])
        >>> kl.within(g, ["a"], limit=5).path("a", "c")
        ['a', 'b', 'c']
        """
        positions: Array = self._walk(start, end)[0]
        return list(self.graph.label(positions).tolist())

    def route(self, start: Hashable, end: Hashable) -> Route:
        """Return a path with its arcs, table rows and coordinates; of no vertices if there is none.

        Parameters
        ----------
        start, end : vertex
            The first is one of the sources; with ``reverse=True`` the last is.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.Graph.from_edges([0, 1], [1, 2], [2, 3])
        >>> kl.within(g, [0], limit=5).route(0, 2)
        Route(0 to 2, 2 arcs, distance 5)
        """
        return make_route(self.graph, *self._walk(start, end))

    def _walk(self, start: Hashable, end: Hashable) -> tuple[Array, Any]:
        """Return the positions along a path, and its length; nothing if there is none."""
        source, far = (end, start) if self.reverse else (start, end)
        row, target = self._row(source), int(self.graph.index(far))
        predecessors = self._answer.predecessors
        if predecessors is None:
            raise RequestError("paths need predecessors: call within(..., predecessors=True)")
        held = self._held(row)
        offsets, vertices = np.array([0, held.stop - held.start]), self._answer.vertices[held]
        at = int(np.searchsorted(vertices, target))
        if at == len(vertices) or vertices[at] != target:
            return vertices[:0], np.inf
        own = WithinAnswer(offsets, vertices, self._answer.distances[held], predecessors[held])
        zero, ends = np.zeros(1, dtype=np.int64), np.array([target])
        walked, _ = follow_rows(own, self.graph.n, zero, ends, self.reverse)
        return walked, own.distances[at].item()

    def _held(self, row: int) -> slice:
        """Return where the entries of a row are."""
        return slice(*self._answer.offsets[row : row + 2].tolist())

    @cached_property
    def _row_of(self) -> dict[int, int]:
        rows = range(len(self._sources) - 1, -1, -1)  # the first of several wins
        return {int(self._sources[row]): row for row in rows}

    def _row(self, source: Hashable) -> int:
        row = self._row_of.get(int(self.graph.index(source)))
        if row is None:
            raise RequestError(f"{source!r} is not among the sources of this answer")
        return row

    # ---- all of it --------------------------------------------------------------------------

    def _blocks(self) -> Iterator[Block]:
        """Yield a row for each source and vertex reached; paths run from source to target."""
        offsets, vertices, distances, predecessors = self._answer
        for first in range(0, max(1, len(vertices)), BLOCK):
            piece = slice(first, min(first + BLOCK, len(vertices)))
            rows = np.searchsorted(offsets, np.arange(first, piece.stop), side="right") - 1
            ends = self._sources[rows], vertices[piece]
            block = {
                "source": label_column(self.graph, ends[self.reverse]),
                "target": label_column(self.graph, ends[not self.reverse]),
                "distance": distances[piece],
            }
            if predecessors is not None:
                name = "next_hop" if self.reverse else "predecessor"
                block[name] = label_column(self.graph, predecessors[piece])
            yield block

    def verify(self) -> Proof:
        """Prove this answer right, or raise VerificationError.

        The proof looks at the arcs that leave what was reached, and runs no search: every stored
        distance is that of a path, no arc offers a smaller one, and none leads to a vertex that
        is missing.

        Examples
        --------
        >>> import kleene as kl
        >>> kl.within(kl.generate.grid(9, 9), [0, 40], limit=3).verify().rows
        2
        """
        graph = self.graph.transpose() if self.reverse else self.graph
        unit = self.hops or graph.weight_dtype is None
        return verify_reach(graph, self._answer, self._sources, self.limit, self.k, unit)

    def _repr_html_(self) -> str:
        return reach_html(self)

    def __repr__(self) -> str:
        count = len(self._sources)
        what = "hops" if self.hops else "lengths"
        bounds = [f"limit {self.limit:g}"] if self.limit is not None else []
        bounds += [f"the {self.k:,} nearest"] if self.k is not None else []
        ends = f"{'to' if self.reverse else 'from'} {count:,} source{'s' * (count != 1)}"
        reached = len(self._answer.vertices)
        return (
            f"Reach({what} {ends}, {', '.join(bounds) or 'no limit'}, {reached:,} reached, "
            f"{self.plan.dtype}, {self.stats.total:.3g} s)"
        )
