"""Results of searches in a graph with turns, in the vertices and arcs of the graph itself."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from kleene.backends.answer import Answer
from kleene.backends.common.walks import Walks
from kleene.errors import RequestError
from kleene.graph import Graph
from kleene.graph.forms import spans
from kleene.graph.turns import Expansion
from kleene.proofs.paths import Proof
from kleene.results.result import Result

__all__ = ["TurnResult"]

Array = NDArray[Any]


class TurnResult(Result):
    """The answer to a search with turns; a :class:`Result` in the vertices of the graph.

    Distances include the delays of turns. A path may visit a vertex twice, where the way around the
    block avoids a turn; there are no ``predecessors``, since the vertex before depends on the turn
    that follows.

    Attributes
    ----------
    search : Result
        The search in the graph whose vertices are split.

    Examples
    --------
    >>> import kleene as kl
    >>> g = kl.Graph.from_edges([0, 1, 1], [1, 2, 3], [1, 1, 1])
    >>> turns = {"from": [0], "via": [1], "to": [3], "delay": [5]}
    >>> kl.TurnGraph(g, turns).sssp(0).distances.tolist()
    [0, 1, 2, 7]
    """

    search: Result

    def __init__(
        self, graph: Graph, expansion: Expansion, search: Result, targets: Array | None
    ) -> None:
        self.search, self._expansion = search, expansion
        rows = np.atleast_2d(search._answer.whole_values)
        starts = expansion.offsets[:-1]
        nearest = np.minimum.reduceat(rows[:, expansion.copies], starts, axis=1)
        super().__init__(
            graph, search.plan, search.stats, Answer(nearest, None), search._sources, targets,
            search._limit, search._single,
        )  # fmt: skip

    def path(self, *ends: Hashable) -> list[Any]:
        """Return the vertices of a path, from the first to the last; empty if there is none.

        Parameters
        ----------
        *ends : vertex
            ``path(target)`` for a result with one source, or ``path(source, target)``.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.Graph.from_edges([0, 1, 1, 3], [1, 2, 3, 2], [1, 1, 1, 1])
        >>> kl.TurnGraph(g, {"from": [0], "via": [1], "to": [2]}).sssp(0).path(2)
        [0, 1, 3, 2]
        """
        return self.route(*ends).vertices

    @property
    def predecessors(self) -> None:
        """None: the vertex before another depends on the turn that follows."""
        return None

    def verify(self, sample: int | None = None, seed: int = 0) -> Proof:
        """Prove the search right in the graph whose vertices are split; see :meth:`Result.verify`.

        Parameters
        ----------
        sample : int, optional
            How many sources to check.
        seed : int
            Chooses the sample.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.Graph.from_edges([0, 1], [1, 2], [4, 5])
        >>> kl.TurnGraph(g, {"from": [0], "via": [1], "to": [2]}).sssp(0).verify().rows
        1
        """
        return self.search.verify(sample, seed)

    # ---- inside ---------------------------------------------------------------------------

    def _walk(self, row: int, far: Array) -> tuple[Walks, Array]:
        """Return the paths to vertices: to the nearest copy of each, in original vertices."""
        _, vertex, copies, offsets = self._expansion
        which, place = spans(offsets[far], offsets[far + 1] - offsets[far])
        candidates = copies[place]
        nearest = self._answer.values[row, far]
        hit = np.flatnonzero(self.search._answer.at(row, candidates) == nearest[which])
        first = hit[np.searchsorted(which[hit], np.arange(len(far)))]
        (positions, begins), distances = self.search._walk(row, candidates[first])
        return (vertex[positions], begins), distances

    def __repr__(self) -> str:
        return f"Turn{super().__repr__()}"

    def _links(self, rows: slice = slice(None)) -> NoReturn:
        raise RequestError(
            "paths with turns have no predecessors", advice=["use path, paths or routes"]
        )

    def _save_npz(self, path: str | Path) -> NoReturn:
        raise RequestError("a result with turns is saved as a table: .csv, .parquet, or .npy")

    _save_store = _save_npz
