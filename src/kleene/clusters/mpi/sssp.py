"""Shortest paths over parts: delta-stepping (Meyer and Sanders 2003), with a moving window.

Every rank has tentative distances of its slots: for its own vertices the best known, for ghosts the
best that it has sent to their owner. A vertex is *pending* when its distance fell and its arcs were
not relaxed since.

Protocol. In a *round*, the ranks find the nearest pending vertex of all (one reduction), and stop
when there is none. Then each rank alone relaxes the arcs of its pending vertices not farther than
that distance + delta, and of those that come within this window by it, the nearest first, until
none of its own is left there (``native/core/parts/part_sssp.cpp``). Last, it sends the ghosts whose
distance fell to their owners, all in one exchange: one message (vertex, predecessor, distance) per
ghost, with the lightest of its sums. Nothing is sent that is not better than what was sent before.
The owner takes what is better than what it has.

The window begins at the nearest vertex and not at a multiple of delta, so that a round always
settles something, whatever the weights (as in the delta*-stepping of Dong, Gu, Sun and Zhang 2021).
A large delta means fewer rounds, and vertices relaxed more often.

Distances fall only, and a predecessor changes only with a distance that falls. So, with
non-negative weights, predecessors never close a cycle, zeros included; and distances are the least
sums, added arc by arc from the source, whatever the order in which messages arrive.

Bytes of a round: per ghost that is sent, 8 (4 without predecessors) and the distance.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.clusters.mpi.agreement import guarded
from kleene.clusters.mpi.graph import DistributedGraph, messages_to_owners
from kleene.clusters.mpi.result import DistributedResult, as_call, total_stats
from kleene.errors import GraphError, RequestError
from kleene.graph.checks import as_flag, id_dtype
from kleene.graph.no_path import no_path
from kleene.graph.weight_names import warn_of_numbers_left
from kleene.planning.ask import Ask
from kleene.planning.dtype_choice import choose_dtype
from kleene.planning.facts import Facts

__all__ = ["sssp", "sssp_dtype"]

Array = NDArray[Any]

#: The width of the window is so many mean weights / degree^2. By the slowest rank of each round,
#: on 4 and on 16 ranks: R-MAT 2^18 (degree 29) is best from 100 to 500, uniform 2^17 (degree 8)
#: from 30 to 130, a 600 x 600 grid from 130 on. One Xeon core, ranks one after the other.
DELTA_FACTOR = 128


def sssp(
    graph: DistributedGraph,
    source: int,
    *,
    predecessors: bool = True,
    delta: float | None = None,
    dtype: Any = None,
) -> DistributedResult:
    """Return shortest paths from a source to every vertex; collective.

    Parameters
    ----------
    graph : DistributedGraph
        The graph to search. Weights must not be negative; without weights every arc counts one.
    source : int
        Where the search starts, the same on all ranks.
    predecessors : bool
        Whether to keep predecessors, which paths are read from.
    delta : number, optional
        The width of the window of distances that is worked on in one round; chosen by the mean
        weight and degree if not given. It changes the time, not the answer.
    dtype : optional
        The type of the distances: int32, int64, float32 or float64. By default that of the weights
        (int32 without weights), or a wider one where path lengths may exceed it.

    Returns
    -------
    DistributedResult
        ``distances`` are lengths of this rank's vertices. No path is infinity for floats, the
        largest value of the type for integers (the result's ``no_path``).

    Raises
    ------
    GraphError
        When a weight is negative; ``kleene.sssp`` takes such graphs, on one machine.
    PathOverflowError
        When path lengths may exceed what is safe in the widest type: 2^62 for integers, a quarter
        of the largest float64 for floats.

    Examples
    --------
    >>> import kleene as kl
    >>> alone = kl.distributed.Communicator()
    >>> g = kl.distributed.DistributedGraph.from_arcs(alone, 3, [0, 0, 1], [1, 2, 2], [4, 9, 3])
    >>> r = kl.distributed.sssp(g, 0)
    >>> r.distances.tolist(), r.path(2)
    ([0, 4, 7], [0, 1, 2])
    """
    with guarded(graph.communicator, "sssp"):
        facts = graph.facts

        def options() -> dict[str, Any]:
            if graph.communicator.rank == 0:
                warn_of_numbers_left(graph)
            return {
                "predecessors": as_flag(predecessors, "predecessors"),
                "dtype": sssp_dtype(facts, dtype).str,
                "delta": None if delta is None else _as_delta(delta),
            }

        at, checked = as_call(graph, source, options)
        width = _choose_delta(graph) if checked["delta"] is None else checked["delta"]
        chosen = np.dtype(checked["dtype"])
        return _Search(graph, at, checked["predecessors"], chosen, width).run()


def sssp_dtype(facts: Facts, asked: Any) -> np.dtype[Any]:
    """Return the type of the distances; raise for a graph that ranks cannot search."""
    if facts.min_weight < 0:
        raise GraphError(
            "distributed searches need non-negative weights, and the smallest is "
            f"{facts.min_weight} (kleene.sssp takes negative weights, on one machine)"
        )
    name = None if asked is None else getattr(asked, "__name__", str(asked))
    return choose_dtype(facts, Ask.of("sssp", dtype=name))[0]


def _as_delta(delta: Any) -> float:
    try:
        width = float(delta)
    except (TypeError, ValueError):
        width = -1.0
    if not 0 <= width < np.inf:
        raise RequestError(f"delta must be a non-negative number, not {delta!r}")
    return width


def _choose_delta(graph: DistributedGraph) -> float:
    """Return the width of the window from the mean weight and degree; collective."""
    if graph.m == 0 or graph.weights is None:
        return 0.0
    total: float = graph.communicator.reduce(float(graph.weights.sum(dtype=np.float64)), "sum")
    degree = max(1.0, graph.m / graph.n)
    return DELTA_FACTOR * (total / graph.m) / degree**2


class _Search:
    """The state of a search on one rank."""

    def __init__(
        self,
        graph: DistributedGraph,
        source: int,
        predecessors: bool,
        dtype: np.dtype[Any],
        delta: float,
    ) -> None:
        self.graph, self.source, self.delta = graph, source, delta
        self.communicator = graph.communicator
        self.keep_predecessors = predecessors
        slots = graph.part_size + len(graph.ghosts)
        self.lengths = None if graph.weights is None else graph.weights.astype(dtype, copy=False)
        self.values = np.full(slots, no_path(dtype), dtype=dtype)
        self.links = np.full(slots, -1, dtype=id_dtype(graph.n))  # own: predecessors
        self.queued = np.zeros(slots, dtype=np.uint8)  # own: is pending; ghosts: are to be sent
        self.pending = np.empty(0, dtype=graph.slots.dtype)  # positions
        own = graph.first <= source < graph.stop
        self._improve(np.arange(source, source + own) - graph.first, 0, -1)

    def run(self) -> DistributedResult:
        """Work in rounds, from the nearest vertices to the farthest."""
        graph, before, rounds = self.graph, self.communicator.traffic, 0
        none = no_path(self.values.dtype)
        while True:
            own = self.values[self.pending].min(initial=none)
            nearest = self.communicator.reduce(own, "min")
            if nearest == none:
                break
            rounds += 1
            self._exchange(self._settle(nearest))
        distances = self.values[: graph.part_size].copy()  # without the ghosts
        predecessors = self.links[: graph.part_size].copy() if self.keep_predecessors else None
        stats = total_stats(self.communicator, before, rounds)
        return DistributedResult(graph, "sssp", self.source, distances, predecessors, stats)

    def _settle(self, nearest: Any) -> Array:
        """Relax what is in the window, until nothing is; return the ghosts whose value fell."""
        graph, dtype = self.graph, self.values.dtype
        if dtype.kind == "f":
            bound = min(nearest + self.delta, np.finfo(dtype).max)
        else:
            bound = min(nearest + int(self.delta), np.iinfo(dtype).max)
        self.pending, fallen = _native.part_sssp_settle(
            graph.offsets,
            graph.slots,
            self.lengths,
            self.pending,
            np.array([bound], dtype=dtype),
            self.values,
            self.links,
            graph.first,
            self.queued,
        )
        self.queued[fallen] = 0
        return fallen

    def _exchange(self, fallen: Array) -> None:
        """Send the values of ghosts to their owners, and take what comes."""
        graph, keep = self.graph, self.keep_predecessors
        tails = self.links[fallen] - self.links.dtype.type(graph.first) if keep else None
        messages = messages_to_owners(graph, fallen, tails, distance=self.values[fallen])
        for rank, message in enumerate(self.communicator.exchange(messages)):
            better = message["distance"] < self.values[message["vertex"]]
            before = graph.partition.vertices(message["predecessor"][better], rank) if keep else -1
            self._improve(message["vertex"][better], message["distance"][better], before)

    def _improve(self, positions: Array, values: Array | int, links: Array | int) -> None:
        """Give vertices of this rank better values; each is given once."""
        self.values[positions] = values
        self.links[positions] = links
        fresh = positions[self.queued[positions] == 0].astype(self.pending.dtype)
        self.queued[fresh] = 1
        self.pending = np.concatenate([self.pending, fresh])
