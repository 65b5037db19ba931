"""What a search on all ranks returns: every rank has the answers for its own vertices."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.clusters.mpi.agreement import agreed, guarded
from kleene.clusters.mpi.communicator import Communicator, Traffic
from kleene.errors import RequestError
from kleene.graph.labels import LabelIndex
from kleene.graph.no_path import NO_HOPS, no_path

if TYPE_CHECKING:
    from kleene.clusters.mpi.graph import DistributedGraph

__all__ = [
    "DistributedResult",
    "Gathered",
    "SearchStats",
    "Summary",
    "as_call",
    "summarize",
    "total_stats",
]

Array = NDArray[Any]


class SearchStats(NamedTuple):
    """What a search sent to other ranks, all ranks together, and in how many rounds."""

    messages: int
    bytes: int
    rounds: int  # levels of a breadth-first search; exchanges of delta-stepping
    collectives: int  # calls of MPI, of each rank
    pulled: int = 0  # rounds in which bitmaps were gathered


class Gathered(NamedTuple):
    """The answers for all vertices."""

    distances: Array
    predecessors: Array | None


class DistributedResult:
    """Distances and predecessors of the vertices of each rank.

    Attributes
    ----------
    graph : DistributedGraph
        The graph that was searched.
    problem : str
        ``"bfs"`` or ``"sssp"``.
    source : int
        Where the search started.
    distances : array
        Of the vertices ``graph.first .. graph.stop - 1`` of this rank; ``no_path`` where there is
        no path.
    predecessors : array or None
        The vertex before each on a shortest path; -1 for the source and where there is no path.
    stats : SearchStats
        What was sent: messages, bytes, rounds.

    Examples
    --------
    >>> import kleene as kl
    >>> alone = kl.distributed.Communicator()
    >>> g = kl.distributed.DistributedGraph.from_arcs(alone, 4, [0, 1], [1, 2])
    >>> r = kl.distributed.bfs(g, 0)
    >>> r.distances.tolist(), r.predecessors.tolist(), r.path(2)
    ([0, 1, 2, -1], [-1, 0, 1, -1], [0, 1, 2])
    """

    def __init__(
        self,
        graph: DistributedGraph,
        problem: str,
        source: int,
        distances: Array,
        predecessors: Array | None,
        stats: SearchStats,
    ) -> None:
        self.graph, self.problem, self.source = graph, problem, source
        self.distances, self.predecessors, self.stats = distances, predecessors, stats

    @property
    def no_path(self) -> Any:
        """The distance that means "no path"."""
        return NO_HOPS if self.problem == "bfs" else no_path(self.distances.dtype)

    @property
    def reached(self) -> Array:
        """Whether there is a path, for each entry of :attr:`distances`."""
        reached: Array = self.distances != self.no_path
        return reached

    def gather(self) -> Gathered | None:
        """Return the answers for all vertices on rank 0, None on the others; collective.

        Rank 0 needs the memory for all of them.

        Examples
        --------
        >>> import kleene as kl
        >>> alone = kl.distributed.Communicator()
        >>> g = kl.distributed.DistributedGraph.from_arcs(alone, 3, [0, 1], [1, 2])
        >>> kl.distributed.bfs(g, 0).gather().distances.tolist()
        [0, 1, 2]
        """
        communicator = self.graph.communicator
        with guarded(communicator, "gather"):
            distances = self._to_rank_0(self.distances)
            before = None if self.predecessors is None else self._to_rank_0(self.predecessors)
        return None if distances is None else Gathered(distances, before)

    def _to_rank_0(self, own: Array) -> Array | None:
        communicator = self.graph.communicator
        parts = communicator.exchange([own, *[own[:0]] * (communicator.size - 1)])
        return np.concatenate(parts) if communicator.rank == 0 else None

    def path(self, target: int) -> list[int]:
        """Return the vertices of a shortest path to a target, on all ranks; collective.

        Parameters
        ----------
        target : int
            Where the path ends, the same on all ranks.

        Returns
        -------
        list of int
            From the source to the target; empty if there is no path.

        Examples
        --------
        >>> import kleene as kl
        >>> alone = kl.distributed.Communicator()
        >>> g = kl.distributed.DistributedGraph.from_arcs(alone, 3, [0, 1], [1, 2])
        >>> kl.distributed.bfs(g, 0).path(2)
        [0, 1, 2]
        """
        graph, communicator = self.graph, self.graph.communicator

        def check() -> int:
            if self.predecessors is None:
                raise RequestError(
                    f"paths need predecessors: call {self.problem}(..., predecessors=True)"
                )
            return LabelIndex(None, graph.n).position(target)

        with guarded(communicator, "path"):
            at = agreed(communicator, check, same=True)
            walk: list[int] = []
            while at >= 0:  # the owner follows predecessors as far as they are its own
                owner = int(graph.partition.owner(at))
                own = self._steps_before(at) if communicator.rank == owner else None
                steps, at = communicator.gather_all(own)[owner]
                walk += steps
        return walk[::-1]

    def _steps_before(self, vertex: int) -> tuple[list[int], int]:
        """Return the vertices back from one of this rank, and the first that is not its own."""
        assert self.predecessors is not None
        first, stop = self.graph.first, self.graph.stop
        steps: list[int] = []
        if self.distances[vertex - first] == self.no_path:
            return steps, -1
        while first <= vertex < stop:
            steps.append(vertex)
            vertex = int(self.predecessors[vertex - first])
        return steps, vertex

    def __repr__(self) -> str:
        return f"DistributedResult({self.problem} from {self.source}, {self.graph!r})"


def as_call(
    graph: DistributedGraph, source: Any, options: Callable[[], dict[str, Any]]
) -> tuple[int, dict[str, Any]]:
    """Return the checked source and options of a search; all ranks must ask for the same."""

    def check() -> tuple[int, dict[str, Any]]:
        return LabelIndex(None, graph.n).position(source), options()

    return agreed(graph.communicator, check, same=True)


def total_stats(
    communicator: Communicator, before: Traffic, rounds: int, pulled: int = 0
) -> SearchStats:
    """Return what all ranks have sent since an earlier count; collective, and not counted."""
    sent = communicator.traffic.since(before)
    messages, size = communicator.reduce(np.array(sent[:2]), "sum").tolist()
    return SearchStats(messages, size, rounds, sent.collectives, pulled)


# ---- What a page says of a distributed result ---------------------------------------------------
# Sums over all ranks, and the farthest vertex.


class Summary(NamedTuple):
    """Statistics of the distances; the source does not count for mean and farthest."""

    reached: int
    mean: float | None
    farthest: int | None  # a vertex
    distance: Any  # of the farthest
    levels: list[int]  # vertices at 0, 1, 2 ... hops; empty for weighted distances


def summarize(result: DistributedResult) -> Summary:
    """Return statistics of a result, on all ranks; collective."""
    graph, comm = result.graph, result.graph.communicator
    with guarded(comm, "summarize"):
        vertices = graph.first + np.flatnonzero(result.reached)
        values = result.distances[result.reached]
        others = vertices != result.source
        last = int(values.argmax()) if others.any() else None
        best = None if last is None else (values[last].item(), -int(vertices[last]))
        total = float(values.sum(dtype=np.float64))
        counts = np.bincount(values) if result.problem == "bfs" else np.empty(0, np.int64)
        said = comm.gather_all((len(values), int(others.sum()), total, best, counts))
    reached, count, totals, bests, levels = zip(*said, strict=True)
    far = max((one for one in bests if one is not None), default=None)
    length = max(map(len, levels))
    added = sum(np.pad(level, (0, length - len(level))) for level in levels)
    return Summary(
        sum(reached),
        sum(totals) / sum(count) if sum(count) else None,
        None if far is None else -far[1],
        None if far is None else far[0],
        [] if not length else added.tolist(),  # type: ignore[union-attr]
    )
