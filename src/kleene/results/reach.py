"""What bounded searches return: what each source reaches, as sparse arrays."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.task import WithinAnswer
from kleene.errors import RequestError
from kleene.graph import Graph
from kleene.planning.plan import Plan
from kleene.results.display import reach_html
from kleene.results.timings import Timings
from kleene.results.verify import Proof
from kleene.results.verify_reach import verify_reach
from kleene.system.cached_property import cached_property

__all__ = ["Reach", "walk_back"]

Array = NDArray[Any]


def walk_back(answer: WithinAnswer, row: int, target: int) -> list[int]:
    """Return the positions from a reached target back to the source of a row."""
    assert answer.predecessors is not None
    first, end = answer.offsets[row : row + 2].tolist()
    vertices, predecessors = answer.vertices[first:end], answer.predecessors[first:end]
    path = [target]
    while (target := int(predecessors[np.searchsorted(vertices, target)])) != -1:
        path.append(target)
    return path


class Reach:
    """What each source reaches within a limit, or the vertices nearest to it.

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

    @cached_property
    def predecessors(self) -> Any:
        """The vertex before each reached vertex, by position, in the pattern of the distances.

        A source has -1. With ``reverse=True`` it is the vertex after, on the way to the source.
        None when the call had ``predecessors=False``.
        """
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
        """Return the vertices that a source reaches, the nearest first; itself to begin with.

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
        first, end = self._answer.offsets[self._row(source) :][:2].tolist()
        order = np.argsort(self._answer.distances[first:end], kind="stable")
        # Others may be 0 away, too; the source comes first.
        vertices = self._answer.vertices[first:end][order]
        own = self.graph.index(source)
        return self.graph.label(np.concatenate([[own], vertices[vertices != own]]))

    def path(self, source: Hashable, target: Hashable) -> list[Any]:
        """Return the vertices of the path from a source to a target, empty if it is not reached.

        With ``reverse=True`` it leads from the target to the source.

        Parameters
        ----------
        source : vertex
            One of the sources.
        target : vertex
            Any vertex.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.Graph.from_edges([0, 1], [1, 2], [2.0, 3.0], labels=["a", "b", "c"])
        >>> kl.within(g, ["a"], limit=5).path("a", "c")
        ['a', 'b', 'c']
        """
        positions = self._path(source, target)[0]
        return list(self.graph.label(np.array(positions, dtype=np.int64)).tolist())

    def _path(self, source: Hashable, target: Hashable) -> tuple[list[int], Any]:
        """Return the positions along a path, and its length; nothing if there is none."""
        row, end = self._row(source), int(self.graph.index(target))
        if self._answer.predecessors is None:
            raise RequestError("paths need predecessors: call within(..., predecessors=True)")
        first, last = self._answer.offsets[row : row + 2].tolist()
        at = first + int(np.searchsorted(self._answer.vertices[first:last], end))
        if at == last or self._answer.vertices[at] != end:
            return [], None
        path = walk_back(self._answer, row, end)
        return path if self.reverse else path[::-1], self._answer.distances[at].item()

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

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with a row for each source and vertex that it reaches.

        Columns are source, target, distance and, if kept, predecessor: vertices by label, and
        the predecessor of a source is missing (-1 where there are no labels).

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.Graph.from_edges([0, 1, 2], [1, 2, 3], [2, 3, 4])
        >>> kl.within(g, [2, 0], limit=4).to_frame()
           source  target  distance  predecessor
        0       2       2         0           -1
        1       2       3         4            2
        2       0       0         0           -1
        3       0       1         2            0
        """
        import pandas as pd

        offsets, vertices, distances, predecessors = self._answer
        table = {
            "source": self.graph.label(np.repeat(self._sources, np.diff(offsets))),
            "target": self.graph.label(vertices),
            "distance": distances,
        }
        if predecessors is not None:
            before = predecessors
            if self.graph.labels is not None:
                before = np.array(self.graph.label(np.maximum(predecessors, 0)), dtype=object)
                before[predecessors == -1] = None
            table["predecessor"] = before
        return pd.DataFrame(table)

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
