"""Breadth-first search over parts, by pushing or pulling (Beamer, Asanovic and Patterson 2012).

Protocol. A level is a *round*. At its start, the ranks add up the size of the frontier and the arcs
that leave it (one reduction): they stop at an empty one, and all choose the same direction.

*Push* (top-down). A rank goes through the arcs of its frontier. Heads of its own it visits at
once. For a ghost it makes a message (vertex, predecessor) to the owner: one per ghost in the whole
search, as the rank remembers what it has sent. Messages for the same owner are sent together in one
exchange. The owner visits what it has not visited; of several predecessors the one from the lowest
rank stays. Both are positions in their owners' parts, 4 bytes each.

*Pull* (bottom-up). The ranks gather the frontier as a bitmap, a bit per vertex: every rank sends
its part's bits to all. Every unvisited vertex then looks through its incoming arcs for a tail in
the frontier, and stops at the first. That needs the incoming arcs: those of an undirected
graph are its arcs; of a directed graph they must be there already (``graph.incoming``).

Bytes of a level: 8 (4 without predecessors) per ghost that is sent when pushing, and
``(ranks - 1) * ceil(part / 8)`` per rank when pulling.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.clusters.mpi.agreement import guarded
from kleene.clusters.mpi.graph import DistributedGraph, messages_to_owners
from kleene.clusters.mpi.result import DistributedResult, as_call, total_stats
from kleene.graph.checks import as_flag, id_dtype
from kleene.graph.no_path import NO_HOPS

__all__ = ["bfs"]

Array = NDArray[Any]

#: Pull when the frontier's arcs times ALPHA exceed those not yet explored, and times GAMMA the
#: vertices; push again when the frontier shrinks and has fewer than n / BETA vertices. The numbers
#: of the native core, native/core/bfs/tuning.hpp.
ALPHA, BETA, GAMMA = 15, 18, 8


def bfs(graph: DistributedGraph, source: int, *, predecessors: bool = True) -> DistributedResult:
    """Return the fewest hops from a source to every vertex; collective.

    Parameters
    ----------
    graph : DistributedGraph
        The graph to search; its weights are ignored. A directed graph is searched in both
        directions if its incoming arcs are there: access ``graph.incoming`` before several
        searches.
    source : int
        Where the search starts, the same on all ranks.
    predecessors : bool
        Whether to keep predecessors, which paths are read from.

    Returns
    -------
    DistributedResult
        ``distances`` are the hop counts of this rank's vertices, -1 where there is no path.

    Examples
    --------
    >>> import kleene as kl
    >>> alone = kl.distributed.Communicator()
    >>> g = kl.distributed.DistributedGraph.from_arcs(alone, 5, [0, 1, 0], [1, 2, 3])
    >>> kl.distributed.bfs(g, 0).distances.tolist()
    [0, 1, 2, 1, -1]
    """
    with guarded(graph.communicator, "bfs"):
        at, keep = as_call(
            graph, source, lambda: {"predecessors": as_flag(predecessors, "predecessors")}
        )
        return _Search(graph, at, keep["predecessors"]).run()


class _Search:
    """The state of a search on one rank."""

    def __init__(self, graph: DistributedGraph, source: int, predecessors: bool) -> None:
        self.graph, self.source = graph, source
        self.communicator = graph.communicator
        ids = id_dtype(graph.n)
        self.distances = np.full(graph.part_size, NO_HOPS, dtype=ids)
        self.predecessors = np.full(graph.part_size, -1, dtype=ids) if predecessors else None
        self.visited = np.zeros(graph.part_size + len(graph.ghosts), dtype=bool)  # ghosts: sent
        self.depth = 0
        own = graph.first <= source < graph.stop
        self.frontier = self._visit(np.arange(source, source + own) - graph.first, -1)  # positions

    def run(self) -> DistributedResult:
        """Search level by level."""
        graph, before = self.graph, self.communicator.traffic
        unexplored, size, pulling, pulled = graph.m, 0, False, 0
        while True:
            degrees = graph.offsets[self.frontier + 1] - graph.offsets[self.frontier]
            own = np.array([len(self.frontier), degrees.sum()])
            last, (size, arcs) = size, self.communicator.reduce(own, "sum").tolist()
            if size == 0:
                break
            if pulling:
                pulling = size >= last or size > graph.n // BETA
            else:
                pulling = (
                    graph.has_incoming and arcs > unexplored // ALPHA and arcs > graph.n // GAMMA
                )
            unexplored -= arcs
            pulled += pulling
            self.depth += 1
            self.frontier = self._pull() if pulling else self._push()
        stats = total_stats(self.communicator, before, self.depth, pulled)
        return DistributedResult(
            graph, "bfs", self.source, self.distances, self.predecessors, stats
        )

    def _visit(self, positions: Array, predecessors: Array | int) -> Array:
        """Visit vertices of this rank, each given once; return them as a part of a frontier."""
        self.distances[positions] = self.depth
        self.visited[positions] = True
        if self.predecessors is not None:
            self.predecessors[positions] = predecessors
        return positions.astype(self.graph.slots.dtype, copy=False)

    def _push(self) -> Array:
        """Return the next frontier, by the outgoing arcs of this one."""
        graph, vertices = self.graph, self.graph.partition.vertices
        heads, tails = _native.part_bfs_push(
            graph.offsets, graph.slots, self.frontier, self.visited.view(np.uint8)
        )
        own = heads < graph.part_size
        reached = [self._visit(heads[own], vertices(tails[own], self.communicator.rank))]
        keep = self.predecessors is not None
        messages = messages_to_owners(graph, heads[~own], tails[~own] if keep else None)
        for rank, message in enumerate(self.communicator.exchange(messages)):
            fresh = ~self.visited[message["vertex"]]
            before = vertices(message["predecessor"][fresh], rank) if keep else -1
            reached.append(self._visit(message["vertex"][fresh], before))
        return np.concatenate(reached)

    def _pull(self) -> Array:
        """Return the next frontier, by the incoming arcs of unvisited vertices."""
        graph, incoming = self.graph, self.graph.incoming
        frontier = self._frontier_slots(incoming)
        if incoming is graph:  # ghosts of the frontier need not be sent later
            self.visited |= frontier
        heads, tails = _native.part_bfs_pull(
            incoming.offsets, incoming.slots, frontier.view(np.uint8), self.visited.view(np.uint8)
        )
        return self._visit(heads, incoming.vertices_of(tails))

    def _frontier_slots(self, incoming: DistributedGraph) -> Array:
        """Return whether the vertex of each slot is in the frontier."""
        count, partition = incoming.part_size, incoming.partition
        slots = np.zeros(count + len(incoming.ghosts), dtype=bool)
        slots[self.frontier] = True
        bitmaps = self.communicator.gather_arrays(
            np.packbits(slots[:count]), (partition.sizes + 7) // 8
        )
        ghosts = np.split(incoming.ghost_positions, incoming.ghost_bounds[1:-1])
        bits = [
            bitmap[at >> 3] >> (7 - (at & 7)) & 1
            for bitmap, at in zip(bitmaps, ghosts, strict=True)
        ]
        slots[count:] = np.concatenate(bits)
        return slots
