"""Betweenness: the share of all shortest paths that leads through each vertex and along each arc.

A proof repeats some sources by Brandes' algorithm in plain Python, which shares nothing with the
engines. Beyond the sample there is an identity over the whole answer: a path of d arcs passes d - 1
vertices between its ends, so the sums of all vertices come to the sum of d - 1 over all pairs, and
those of the arcs to the sum of d. Distances for it come from breadth-first searches.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.cpu.bfs import multi_source
from kleene.backends.reference.betweenness import brandes
from kleene.backends.semiring import SEMIRINGS
from kleene.backends.task import BetweennessTask, Task
from kleene.engine.call import Timings
from kleene.engine.work import run_method
from kleene.errors import VerificationError
from kleene.graph import Graph
from kleene.graph.forms import adopt
from kleene.measures.measure import Measure
from kleene.planning.plan import Plan
from kleene.proofs.claim import require_numbers
from kleene.proofs.paths import Proof, choose_rows
from kleene.results.long_table import LongTable
from kleene.results.tables import BLOCK, Block, label_column
from kleene.system.formatting import counted

__all__ = ["Betweenness", "EdgeTable", "Sums", "vertex_scale", "whole_scale"]


class EdgeTable(LongTable):
    """A number for each edge, with both ends; in an undirected graph each edge has one row.

    Attributes
    ----------
    graph : Graph
        The graph that was measured.
    name : str
        What was measured: the name of the column.
    arcs : array
        The number of each arc, in the order of ``graph.coo``.

    Examples
    --------
    >>> import kleene as kl
    >>> kl.betweenness(kl.generate.path(3), edges=True, normalized=False).edges.to_frame()
       source  target  betweenness
    0       0       1          2.0
    1       1       2          2.0
    """

    def __init__(self, graph: Graph, name: str, arcs: Array) -> None:
        self.graph, self.name, self.arcs = graph, name, arcs

    @property
    def _kept(self) -> Array:
        """The arcs that have a row."""
        tails, heads = self.graph.coo[:2]
        kept: Array = np.flatnonzero((tails <= heads) | self.graph.directed)
        return kept

    def __len__(self) -> int:
        return len(self._kept)

    def _blocks(self) -> Iterator[Block]:
        kept, (tails, heads) = self._kept, self.graph.coo[:2]
        for first in range(0, max(1, len(kept)), BLOCK):
            part = kept[first : first + BLOCK]
            yield {
                "source": label_column(self.graph, tails[part]),
                "target": label_column(self.graph, heads[part]),
                self.name: self.arcs[part],
            }

    def __repr__(self) -> str:
        return f"EdgeTable({self.name} of {counted(len(self), 'edge')})"


Array = NDArray[Any]
Sums = tuple[Array, Array | None]  # of vertices and arcs, over ordered pairs

#: Sums of floats in another order differ by less than this part of the largest.
_ROUNDING = 1e-9

#: Arcs that the plain method looks at by default, and those of the searches for the identity.
_PLAIN_WORK, _SEARCH_WORK = 2_000_000, 20_000_000_000

#: Rows of distances that are computed together.
_ROWS = 512


class Betweenness(Measure):
    """The share of all shortest paths through each vertex; see :func:`betweenness`.

    Attributes
    ----------
    arcs : array or None
        With ``edges=True``, the same for each arc, in the order of ``graph.coo``; in an undirected
        graph, for both arcs of an edge together.
    normalized : bool
        Whether numbers are parts of all pairs.
    error : float or None
        The error that was allowed, of normalized numbers; None where it was not given.
    paths : int or None
        How many random paths it took to keep to the error.
    sources : array or None
        The sources, where they were a part of the vertices: given, or chosen at random.

    Examples
    --------
    >>> import kleene as kl
    >>> g = kl.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], directed=False)
    >>> b = kl.betweenness(g, edges=True, normalized=False)
    >>> b.values.tolist(), b.rows.tolist()
    ([0.0, 3.0, 4.0, 3.0, 0.0], [4.0, 6.0, 6.0, 4.0])
    >>> b.top(1), b.verify().rows
    ([(2, 4.0)], 5)
    """

    def __init__(
        self,
        task: BetweennessTask,
        sums: Sums,
        plan: Plan,
        stats: Timings,
        normalized: bool,
        sampled: bool = False,
        error: float | None = None,
        paths: int | None = None,
    ) -> None:
        self.graph = graph = task.graph
        self._task, self._sums, self._sampled = task, sums, sampled
        self.normalized, self.error, self.paths = normalized, error, paths
        super().__init__(graph, "betweenness", self._vertices(), plan, stats)
        self.arcs = self._arcs()

    @property
    def sources(self) -> Array | None:
        """The sources, unless they are all vertices; labels where the graph has labels."""
        if len(self._task.sources) == self.graph.n:
            return None
        labels: Array = self.graph.label(self._task.sources)
        return labels

    @property
    def edges(self) -> EdgeTable | None:
        """With ``edges=True``, the numbers of edges as a table, such as ``b.edges.to_frame()``."""
        return None if self.arcs is None else EdgeTable(self.graph, self.name, self.arcs)

    @property
    def rows(self) -> Array | None:
        """With ``edges=True``, the number of each row of the table that the graph was made from.

        Both directions of a row count together. Of parallel rows the first of the lightest has the
        number, and the others zero. None where there is no table.
        """
        if self._sums[1] is None or self.graph.rows is None:
            return None
        row, count = self.graph.arc_rows.rows, self.graph.rows.count
        known = row >= 0
        sums = np.bincount(row[known], weights=self._sums[1][known], minlength=count)
        numbers: Array = adopt(sums * self._arc_scale)
        return numbers

    @property
    def _arc_scale(self) -> float:
        count = len(self._task.sources) if self._sampled else None
        return whole_scale(self.graph.n, self.normalized, self.graph.directed, True, count)

    def _vertices(self) -> Array:
        task, graph = self._task, self.graph
        chosen = task.sources if self._sampled else None
        scale = vertex_scale(graph.n, self.normalized, graph.directed, task.endpoints, chosen)
        numbers: Array = self._sums[0] * scale
        return numbers

    def _arcs(self) -> Array | None:
        if self._sums[1] is None:
            return None
        numbers: Array = adopt(self._of_edges(self._sums[1]) * self._arc_scale)
        return numbers

    def _of_edges(self, sums: Array) -> Array:
        """Return the sums of arcs, those of the two arcs of an edge together."""
        if self.graph.directed:
            return sums
        # The k-th arc by head and tail is the k-th one, reversed.
        both: Array = sums + sums[np.lexsort(self.graph.coo[:2])]
        return both

    # ---- proof ----------------------------------------------------------------------------

    def verify(self, sample: int | None = None, seed: int = 0) -> Proof:
        """Check the numbers by Brandes' algorithm in plain Python, or raise VerificationError.

        The engine is run again for the sources of the sample alone and compared. If the sample is
        all sources, the numbers themselves are compared. Estimates within an error are compared
        with those of the sample, which has an error of its own. Where arcs are counted, the sum of
        all numbers is checked as well, by the distances of all pairs, up to some seconds of
        searching.

        Parameters
        ----------
        sample : int, optional
            How many sources to check; None for as many as take some seconds.
        seed : int
            Chooses the sample.

        Examples
        --------
        >>> import kleene as kl
        >>> kl.betweenness(kl.generate.grid(9, 9)).verify(sample=3).rows
        3
        """
        began = time.perf_counter()
        task, graph = self._task, self.graph
        require_numbers(self.values, self.name, (graph.n,))
        # untestable: how many sources are affordable
        affordable = max(1, _PLAIN_WORK // (graph.n + graph.m + 1))
        chosen = choose_rows(len(task.sources), affordable, sample, seed)
        part = replace(task, sources=task.sources[chosen])
        whole = len(chosen) == len(task.sources)
        plain = brandes(part)
        if self.error is not None and graph.n:
            self._compare_estimates(plain, len(chosen))
        elif whole:
            _compare(graph, self._sums, plain)
        else:
            _compare(graph, run_method(self.plan, part), plain)
            _compare(graph, _smaller(self._sums, plain), plain)  # all sources come to no less
        if (
            task.hops
            and self.error is None
            and not whole
            and len(task.sources) * (graph.n + graph.m) <= _SEARCH_WORK
        ):
            self._check_identity()
        self._check_scaling()
        return Proof(
            len(chosen), len(task.sources), graph.m, "up to rounding", time.perf_counter() - began
        )

    def _compare_estimates(self, plain: Sums, count: int) -> None:
        """Compare estimates with those of ``count`` sources, by the inequality of Hoeffding.

        It holds for all vertices and arcs with a probability of at least 1 - 1e-6.
        """
        graph, n = self.graph, self.graph.n
        width = math.sqrt(math.log(2e6 * (n + graph.m)) / (2 * count)) * n / max(1, n - 1)
        own = 0.0 if count == n else width
        assert self.error is not None
        for what, ends, ours, theirs in (
            ("vertex", self._task.endpoints, self._sums[0], plain[0]),
            ("arc", True, self._sums[1], plain[1]),
        ):
            if ours is None or theirs is None or not len(ours):
                continue
            differences = ours - theirs * (n / count)
            if what == "arc":
                differences = self._of_edges(differences)
            off = np.abs(differences) * whole_scale(n, True, graph.directed, ends)
            beyond = ~(off <= self.error + own + _ROUNDING)  # NaN too
            if beyond.any():
                at = int(np.argmax(beyond))
                raise VerificationError(
                    f"{what} {_name(graph, what, at)} is off by {off[at]:.3g}, more than the error "
                    f"of {self.error:.3g} and the {own:.3g} that a check of {count:,} sources "
                    "cannot decide"
                )

    def _check_scaling(self) -> None:
        """Compare the numbers with those that follow from the sums, which are checked."""
        for what, ours, right in (
            ("vertex", self.values, self._vertices()),
            ("arc", self.arcs, self._arcs()),
        ):
            if ours is not None and right is not None and not np.array_equal(ours, right):
                at = int(np.argmax(ours != right))
                raise VerificationError(
                    f"{what} {_name(self.graph, what, at)} has {ours[at]:.15g}, but its sum gives "
                    f"{right[at]:.15g}"
                )

    def _check_identity(self) -> None:
        """Compare the sum of all numbers with the sum of the distances."""
        task = self._task
        pairs, distances = _pairs_and_distances(task)
        inner = distances + pairs if task.endpoints else distances - pairs
        of_vertices, of_arcs = self._sums
        for what, sums, right in (("vertices", of_vertices, inner), ("arcs", of_arcs, distances)):
            if sums is not None and abs(float(sums.sum()) - right) > _ROUNDING * max(1.0, right):
                raise VerificationError(
                    f"the sums of all {what} add up to {sums.sum():.15g}, but the distances of all "
                    f"pairs give {right:.15g}"
                )


def _compare(graph: Graph, found: Sums, right: Sums) -> None:
    for what, ours, theirs in (("vertex", found[0], right[0]), ("arc", found[1], right[1])):
        if ours is None or theirs is None or not len(theirs):
            continue
        wrong = ~(np.abs(ours - theirs) <= _ROUNDING * np.maximum(1.0, np.abs(theirs)))
        if wrong.any():
            at = int(np.argmax(wrong))
            raise VerificationError(
                f"{what} {_name(graph, what, at)} has the sum {ours[at]:.15g}, but the plain "
                f"method gives {theirs[at]:.15g}"
            )


def _smaller(sums: Sums, others: Sums) -> Sums:
    """Return the smaller of two sums for each vertex and arc."""
    of_arcs = None if sums[1] is None or others[1] is None else np.minimum(sums[1], others[1])
    return np.minimum(sums[0], others[0]), of_arcs


def _name(graph: Graph, what: str, at: int) -> str:
    """Return what a message calls a vertex or an arc."""
    if what == "vertex":
        return repr(graph.label(at))
    tail, head = (graph.label(int(end[at])) for end in graph.coo[:2])
    return f"from {tail!r} to {head!r}"


def _pairs_and_distances(task: BetweennessTask) -> tuple[float, float]:
    """Return the number of pairs with a path that counts, and the sum of their distances."""
    graph, pairs, total = task.graph, 0, 0
    for first in range(0, len(task.sources), _ROWS):
        rows = multi_source(
            Task(
                graph, SEMIRINGS["min_plus"], task.sources[first : first + _ROWS], None, task.limit,
                # untestable (False to True): predecessors are not read
                False, np.dtype(np.int32), task.threads, hops=True,
            )
        ).values  # fmt: skip
        seen = rows if task.targets is None else rows[:, task.targets]
        counts = (seen > 0) if task.limit is None else (seen > 0) & (seen <= task.limit)
        pairs += int(np.count_nonzero(counts))
        total += int(seen[counts].sum(dtype=np.int64))
    return float(pairs), float(total)


# ---- NetworkX's normalization: from sums over ordered pairs to the numbers returned --------------
# A vertex, its own pairs left out, is passed by the paths of at most (n - 1) (n - 2) ordered pairs,
# and where ends of paths count, as they always do for arcs, by those of n (n - 1). Without
# normalization an undirected graph counts a pair once. A sample of k sources stands for all: a
# vertex that is a source itself was seen by k - 1 of them.


def whole_scale(
    n: int, normalized: bool, directed: bool, ends: bool, samples: int | None = None
) -> float:
    """Return the factor of vertices, or with ``ends`` of arcs, unless sources are left out."""
    others = n if ends else n - 1
    if others < 2:
        return 1.0
    sources = others if samples is None else samples
    if normalized:
        return 1 / (sources * (others - 1))
    return others / (sources * (1 if directed else 2))


def vertex_scale(
    n: int, normalized: bool, directed: bool, endpoints: bool, sampled: NDArray[Any] | None
) -> float | NDArray[np.float64]:
    """Return the factor of each vertex; ``sampled`` are the random sources, if there are some."""
    if sampled is None or endpoints or n < 3:
        count = None if sampled is None else len(sampled)
        return whole_scale(n, normalized, directed, endpoints, count)
    count = len(sampled)
    scale = np.full(n, whole_scale(n, normalized, directed, False, count))
    # The only sample says nothing of itself: its sum is zero.
    scale[sampled] = whole_scale(n, normalized, directed, False, max(1, count - 1))
    return scale
