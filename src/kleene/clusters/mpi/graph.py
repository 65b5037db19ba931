"""A graph in parts: every rank holds the outgoing arcs of its vertices.

Rank r has rows for its own vertices only. In a row, arcs are stored by the *slot* of their head
(see ``arcs``); ``ghosts`` names the vertices of the slots behind its own. The form is canonical as
that of :class:`kleene.Graph`: no parallel arcs (the lightest stays), no self-loops but negative
ones, no infinite weights. Memory is that of the part: its vertices, its arcs and its ghosts, of
which there are no more than arcs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kleene.clusters.mpi.agreement import agreed, guarded, raise_together
from kleene.clusters.mpi.arcs import OwnArcs, number_heads, send_arcs
from kleene.clusters.mpi.communicator import Communicator
from kleene.clusters.mpi.partition import Partition
from kleene.errors import GraphError
from kleene.graph.checks import id_dtype
from kleene.graph.construct import canonical_csr
from kleene.graph.labels import LabelIndex
from kleene.graph.statistics import heaviest_of_rows, magnitude_sum
from kleene.graph.weight_names import NumbersLeft
from kleene.planning.facts import Facts
from kleene.system.cached_property import cached_property
from kleene.system.formatting import counted

__all__ = [
    "DistributedGraph",
    "messages_to_owners",
]

Array = NDArray[Any]


class DistributedGraph:
    """A graph whose vertices are divided among the ranks of an MPI job.

    Make one with :meth:`from_arcs`, or with ``kleene.distributed.read`` and ``rmat``. Making one,
    and every search on it, is collective: all ranks make the same call.

    Attributes
    ----------
    communicator : Communicator
        The ranks.
    partition : Partition
        Which rank owns which vertices.
    n, m : int
        The numbers of vertices and arcs of the whole graph. An undirected edge counts as two arcs.
    directed : bool
        False if the graph was made from undirected edges.
    first, stop : int
        The first vertex of this rank, and the one after its last.
    labels : array or None
        The names of this rank's vertices in a file, None if vertices are their numbers.
    name : str
        What the graph is called, or an empty string.
    offsets, slots, weights : array
        The rows of this rank's vertices; ``weights`` is None for an unweighted graph.
    ghosts : array
        The vertices of other ranks that arcs of this rank lead to, sorted: those of the slots from
        ``stop - first`` on.

    Examples
    --------
    >>> import kleene as kl
    >>> alone = kl.distributed.Communicator()
    >>> g = kl.distributed.DistributedGraph.from_arcs(alone, 3, [0, 0, 1], [1, 2, 2], [4, 9, 3])
    >>> g
    DistributedGraph(3 vertices, 3 arcs, int64 weights, directed, 1 rank)
    >>> kl.distributed.sssp(g, 0).distances.tolist()
    [0, 4, 7]
    """

    def __init__(
        self, communicator: Communicator, partition: Partition, arcs: OwnArcs, directed: bool
    ) -> None:
        self.communicator, self.partition, self.directed = communicator, partition, directed
        self.labels: Array | None = None
        self.name = ""
        self._numbers_left: NumbersLeft | None = None
        self.first, self.stop = partition.range(communicator.rank)

        def build() -> None:
            slots, self.ghosts = number_heads(partition, communicator.rank, arcs.heads)
            vertices = self.part_size + len(self.ghosts)
            tails = arcs.tails.astype(slots.dtype, copy=False)
            csr, _ = canonical_csr(vertices, tails, slots, arcs.weights, False, "min", 1, None)
            self.offsets, self.slots = csr.offsets[: self.part_size + 1], csr.neighbors
            self.weights = csr.weights

        agreed(communicator, build)
        self.m: int = communicator.reduce(len(self.slots), "sum")

    @classmethod
    def from_arcs(
        cls,
        communicator: Communicator,
        n: int,
        tails: ArrayLike,
        heads: ArrayLike,
        weights: ArrayLike | None = None,
        directed: bool = True,
        partition: Partition | None = None,
    ) -> DistributedGraph:
        """Return the graph of the arcs that all ranks bring together; collective.

        Parameters
        ----------
        communicator : Communicator
            The ranks.
        n : int
            The number of vertices of the graph.
        tails, heads : sequences of int
            The arcs that this rank brings; they need not be those of its own vertices.
        weights : sequence of numbers, optional
            Their weights. All ranks that bring arcs have some, or none has.
        directed : bool
            False enters every arc in both directions.
        partition : Partition, optional
            Which rank owns which vertices; by default parts of the same size.

        Examples
        --------
        >>> import kleene as kl
        >>> alone = kl.distributed.Communicator()
        >>> g = kl.distributed.DistributedGraph.from_arcs(alone, 4, [0, 1], [1, 2], directed=False)
        >>> g.n, g.m
        (4, 4)
        """

        def check() -> Partition:
            parts = Partition.even(n, communicator.size) if partition is None else partition
            if (parts.ranks, parts.n) != (communicator.size, n):
                raise GraphError(
                    f"the partition has {parts.n} vertices on {parts.ranks} ranks, but there are "
                    f"{n} on {communicator.size}"
                )
            return parts

        with guarded(communicator, "from_arcs"):
            parts = agreed(communicator, check)
            arcs = send_arcs(communicator, parts, tails, heads, weights, directed)
            return cls(communicator, parts, arcs, directed)

    def index(self, label: Any) -> int:
        """Return the vertex of a label, on all ranks; collective.

        Parameters
        ----------
        label : int or str
            What the file calls the vertex; without labels, its number.

        Examples
        --------
        >>> import kleene as kl
        >>> alone = kl.distributed.Communicator()
        >>> kl.distributed.DistributedGraph.from_arcs(alone, 4, [0], [3]).index(3)
        3
        """
        if self.labels is None:
            return agreed(self.communicator, lambda: LabelIndex(None, self.n).position(label))
        found = np.flatnonzero(self.labels == label)
        own = self.first + int(found[0]) if len(found) else None
        known = [vertex for vertex in self.communicator.gather_all(own) if vertex is not None]
        if not known:
            raise_together(
                self.communicator,
                GraphError(f"no vertex {label!r}: it is not a label of this graph"),
            )
        return int(known[0])

    def label(self, vertex: int) -> Any:
        """Return what the file calls a vertex, on all ranks; collective.

        Parameters
        ----------
        vertex : int
            Its number.
        """
        own = None
        if self.labels is not None and self.first <= vertex < self.stop:
            own = self.labels[vertex - self.first].item()
        said = self.communicator.gather_all(own)
        return vertex if self.labels is None else said[int(self.partition.owner(vertex))]

    @property
    def n(self) -> int:
        """The number of vertices of the whole graph."""
        return self.partition.n

    @property
    def part_size(self) -> int:
        """The number of vertices of this rank."""
        return self.stop - self.first

    @property
    def tails(self) -> Array:
        """The tail of each arc of this rank, a vertex of the graph; made at every access."""
        vertices = np.arange(self.first, self.stop, dtype=id_dtype(self.n))
        return np.repeat(vertices, np.diff(self.offsets))

    @property
    def neighbors(self) -> Array:
        """The head of each arc of this rank, a vertex of the graph; made at every access."""
        return self.vertices_of(self.slots)

    def vertices_of(self, slots: Array) -> Array:
        """Return the vertices of some slots."""
        vertices = self.partition.vertices(slots, self.communicator.rank)
        remote = np.flatnonzero(slots >= self.part_size)
        vertices[remote] = self.ghosts[slots[remote] - self.part_size]
        return vertices

    @cached_property
    def ghost_bounds(self) -> Array:
        """Where the ghosts of each rank begin, then their number."""
        bounds: Array = np.searchsorted(self.ghosts, self.partition.bounds)
        return bounds

    @cached_property
    def ghost_positions(self) -> Array:
        """The position of each ghost in the part of its owner."""
        owners = np.repeat(np.arange(self.partition.ranks), np.diff(self.ghost_bounds))
        positions: Array = self.ghosts - self.partition.bounds[owners]
        return positions.astype(self.partition.position_dtype)

    @property
    def has_incoming(self) -> bool:
        """Whether the incoming arcs are there: in an undirected graph they always are."""
        return not self.directed or "incoming" in self.__dict__

    @cached_property
    def incoming(self) -> DistributedGraph:
        """The graph with every arc reversed, without weights; collective at the first access.

        An undirected graph is its own. Of a directed graph, all arcs are sent to the owners of
        their heads, which takes as long as making the graph: it pays before several searches.
        """
        if not self.directed:
            return self
        with guarded(self.communicator, "incoming"):
            arcs = send_arcs(self.communicator, self.partition, self.neighbors, self.tails)
            return DistributedGraph(self.communicator, self.partition, arcs, directed=True)

    @cached_property
    def facts(self) -> Facts:
        """What the choice of a type needs to know of the whole graph; collective at first."""
        weights, n = self.weights, self.n
        if weights is None or self.m == 0:
            dtype, one = None if weights is None else str(weights.dtype), min(1, self.m)
            return Facts(n, self.m, dtype, one, one, n if self.m else 0)
        own = None
        if len(weights):
            heaviest = magnitude_sum(heaviest_of_rows(self.offsets, weights))
            own = weights.min().item(), weights.max().item(), heaviest
        said = [part for part in self.communicator.gather_all(own) if part is not None]
        lowest, highest, sums = zip(*said, strict=True)
        low, high, bound = min(lowest), max(highest), sum(sums)
        most = n * max(abs(low), abs(high))
        if most > np.iinfo(np.int32).max:
            most = min(most, bound)
        return Facts(n, self.m, str(weights.dtype), low, high, most)

    def __repr__(self) -> str:
        kind = "no weights" if self.weights is None else f"{self.weights.dtype} weights"
        ranks = self.partition.ranks
        return (
            f"DistributedGraph({counted(self.n, 'vertex', 'vertices')}, {counted(self.m, 'arc')}, "
            f"{kind}, {'directed' if self.directed else 'undirected'}, {counted(ranks, 'rank')})"
        )


# ---- Messages about ghosts, combined for their owners -------------------------------------------


def messages_to_owners(
    graph: DistributedGraph, slots: Array, tails: Array | None, **columns: Array
) -> list[Array]:
    """Return one array of records for each rank: what this rank says of the rank's vertices.

    A record has the position of the vertex in its owner's part (``vertex``), that of the tail of an
    arc to it in this rank's part (``predecessor``, unless ``tails`` is None), and the columns.
    """
    order = np.argsort(slots)
    ghosts = slots[order] - graph.part_size
    position = graph.partition.position_dtype
    filled = {"vertex": graph.ghost_positions[ghosts]}
    if tails is not None:
        filled["predecessor"] = tails[order].astype(position)
    filled.update({name: column[order] for name, column in columns.items()})
    records = np.empty(len(ghosts), dtype=[(name, of.dtype) for name, of in filled.items()])
    for name, column in filled.items():
        records[name] = column
    return np.split(records, np.searchsorted(ghosts, graph.ghost_bounds[1:-1]))
