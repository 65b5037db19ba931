"""The libraries that Kleene's measures are measured beside.

A peer is made from a graph, outside the clock: an undirected one where the graph is. Its methods
are named by measure; a method returns the call to time and a function that reads the numbers from
what the call returned, as Kleene defines them. A peer without the method does not have the measure.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

import kleene as kl
from kleene.calls.programs import cores
from kleene_lab.harness.peers import Peer, PeerCall

__all__ = ["MEASURE_PEERS", "MeasurePeer"]

Array = NDArray[Any]


class MeasurePeer(Peer):
    """One library's form of one graph, for measures."""

    #: Seconds for a source and an arc, about; the most that may take part.
    look: ClassVar[dict[str, float]] = {}
    patience: ClassVar[float] = np.inf
    bounds_diameters: ClassVar[bool] = False  # or searches from every vertex
    betweenness: Callable[..., PeerCall]
    sampled: Callable[..., PeerCall]
    closeness: Callable[..., PeerCall]
    diameter: Callable[..., PeerCall]

    @classmethod
    def has(cls, measure: str) -> bool:
        """Whether the library has a measure."""
        return hasattr(cls, measure)

    @property
    def pairs(self) -> float:
        """The ordered pairs of which paths may pass a vertex."""
        return max(1.0, (self.g.n - 1.0) * (self.g.n - 2.0))

    def ends(self) -> tuple[Array, Array, Array]:
        """Return tails, heads and weights; those of an undirected graph once."""
        tails, heads, _ = self.g.coo
        once = np.flatnonzero((tails < heads) | self.g.directed)
        return tails[once], heads[once], self.weights[once]


class NetworKitMeasures(MeasurePeer):
    """On all cores, but for the diameter."""

    name, module = "NetworKit", "networkit"
    taken_over: ClassVar[float] = 3e-7
    look: ClassVar[dict[str, float]] = {"betweenness": 1.5e-8, "closeness": 2e-9}
    bounds_diameters: ClassVar[bool] = True

    def __init__(self, g: kl.Graph) -> None:
        import networkit

        super().__init__(g)
        self.nk = networkit
        networkit.setNumberOfThreads(cores())
        networkit.setSeed(1, True)  # as Kadabra asks for
        tails, heads, weights = self.ends()
        ids = tuple(end.astype(np.uint64) for end in (tails, heads))
        self.graph = networkit.GraphFromCoo(
            (weights, ids), n=g.n, weighted=g.weights is not None, directed=g.directed
        )

    def betweenness(self) -> PeerCall:
        """Return the betweenness of all vertices."""
        make = partial(self.nk.centrality.Betweenness, self.graph)
        return PeerCall(lambda: make().run(), lambda done: np.array(done.scores()) / self.pairs)

    def sampled(self, error: float) -> PeerCall:
        """Return estimates by KADABRA, with a probability of 0.9."""
        kadabra = self.nk.centrality.KadabraBetweenness
        make = partial(kadabra, self.graph, error, 0.1)
        # All paths pass the centre of a star; NetworKit 11.2 says that twice as many do.
        star = self.nk.Graph(50)
        for leaf in range(1, 50):
            star.addEdge(0, leaf)
        scale = 1 if self.g.directed else round(max(kadabra(star, 0.1, 0.1).run().scores()))
        return PeerCall(lambda: make().run(), lambda done: np.array(done.scores()) / scale)

    def closeness(self) -> PeerCall:
        """Return the closeness of all vertices of a connected graph, by paths to them."""
        graph = self.nk.graphtools.transpose(self.graph) if self.g.directed else self.graph
        make = partial(self.nk.centrality.Closeness, graph, True, False)
        return PeerCall(lambda: make().run(), lambda done: np.array(done.scores()))

    def diameter(self) -> PeerCall:
        """Return the exact diameter of a connected graph."""
        exact = self.nk.distance.DiameterAlgo.EXACT
        make = partial(self.nk.distance.Diameter, self.graph, exact)
        return PeerCall(lambda: make().run(), lambda done: np.array(done.getDiameter()[0]))


class IGraphMeasures(MeasurePeer):
    """One core."""

    name, module = "igraph", "igraph"
    taken_over: ClassVar[float] = 1.5e-6
    look: ClassVar[dict[str, float]] = {"betweenness": 5e-9, "closeness": 3e-9, "diameter": 3e-9}

    def __init__(self, g: kl.Graph) -> None:
        import igraph

        super().__init__(g)
        tails, heads, weights = self.ends()
        both = np.column_stack([tails, heads]).astype(np.int64)
        self.graph = igraph.Graph(n=g.n, edges=both, directed=g.directed)
        self.graph.es["weight"] = weights.tolist()
        self.named = {} if g.weights is None else {"weights": "weight"}

    def betweenness(self) -> PeerCall:
        """Return the betweenness of all vertices."""
        scale = (1 if self.g.directed else 2) / self.pairs
        run = partial(self.graph.betweenness, **self.named)
        return PeerCall(run, lambda numbers: np.array(numbers) * scale)

    def closeness(self) -> PeerCall:
        """Return the closeness of all vertices of a connected graph."""
        run = partial(self.graph.closeness, mode="in", normalized=True, **self.named)
        return PeerCall(run, np.array)

    def diameter(self) -> PeerCall:
        """Return the largest distance."""
        return PeerCall(partial(self.graph.diameter, **self.named), np.array)


class NetworkXMeasures(MeasurePeer):
    """Plain Python."""

    name, module = "NetworkX", "networkx"
    taken_over: ClassVar[float] = 5e-6
    look: ClassVar[dict[str, float]] = {"betweenness": 1e-6, "closeness": 2e-7, "diameter": 2e-7}
    patience: ClassVar[float] = 30.0

    def __init__(self, g: kl.Graph) -> None:
        import networkx

        super().__init__(g)
        self.nx = networkx
        self.graph = (networkx.DiGraph if g.directed else networkx.Graph)()
        self.graph.add_nodes_from(range(g.n))
        each = zip(*(end.tolist() for end in self.ends()), strict=True)
        self.graph.add_weighted_edges_from(each)
        self.weight = None if g.weights is None else "weight"

    def betweenness(self) -> PeerCall:
        """Return the betweenness of all vertices."""
        call = self.nx.betweenness_centrality
        run = partial(call, self.graph, weight=self.weight, backend="networkx")
        return PeerCall(run, _listed)

    def closeness(self) -> PeerCall:
        """Return the closeness of all vertices."""
        call = self.nx.closeness_centrality
        run = partial(call, self.graph, distance=self.weight, backend="networkx")
        return PeerCall(run, _listed)

    def diameter(self) -> PeerCall:
        """Return the largest distance."""
        run = partial(self.nx.diameter, self.graph, weight=self.weight, backend="networkx")
        return PeerCall(run, np.array)


def _listed(numbers: dict[int, float]) -> Array:
    return np.array(list(numbers.values()))


MEASURE_PEERS: tuple[type[MeasurePeer], ...] = (
    NetworKitMeasures, IGraphMeasures, NetworkXMeasures,
)  # fmt: skip
