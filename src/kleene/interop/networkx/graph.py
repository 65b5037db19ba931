"""The backend's graph: NetworkX's nodes and rows of arcs as arrays, in NetworkX's order.

``Arcs`` are one weighting of the graph (every call names its weight), kept twice: in the order of
NetworkX's adjacency, which decides among equally short paths, and as a ``kleene.Graph``, which the
engines work on.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from functools import cached_property
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from kleene.graph import Graph
from kleene.interop.networkx.weights import Weights, read_weights

__all__ = ["Arcs", "KleeneGraph"]

Array = NDArray[Any]
Weight = Hashable | Callable[..., Any]


class Arcs:
    """Rows of arcs with one weight each; parallel edges are one arc, of the least weight."""

    def __init__(
        self,
        offsets: NDArray[np.int64],
        neighbors: NDArray[np.int32],
        weights: Array | None = None,
        real: NDArray[np.bool_] | None = None,
        directed: bool = True,
    ) -> None:
        self.offsets, self.neighbors, self.weights = offsets, neighbors, weights
        self.real, self.directed = real, directed
        self.n = len(offsets) - 1

    @cached_property
    def graph(self) -> Graph:
        """The same arcs for the engines."""
        made = Graph.from_csr(self.offsets, self.neighbors, self.weights)
        return made if self.directed else Graph(made.csr, directed=False)

    @cached_property
    def owners(self) -> NDArray[np.int32]:
        """The source of every arc."""
        return np.repeat(np.arange(self.n, dtype=np.int32), np.diff(self.offsets))

    @cached_property
    def negative(self) -> bool:
        """Whether some weight is below zero."""
        return self.weights is not None and bool((self.weights < 0).any())

    @cached_property
    def loops(self) -> NDArray[np.int64]:
        """The arcs that lead from a node to itself."""
        return np.flatnonzero(self.owners == self.neighbors)

    @cached_property
    def reversed(self) -> Arcs:
        """Every arc turned round."""
        if not self.directed:
            return self
        by_target = np.argsort(self.neighbors, kind="stable")
        return self._with(by_target, self.owners[by_target], self.neighbors[by_target])

    def only(self, kept: Array) -> Arcs:
        """Return the arcs whose place in ``kept`` is true."""
        chosen = np.flatnonzero(kept)
        return self._with(chosen, self.neighbors[chosen], self.owners[chosen])

    def _with(self, chosen: Array, neighbors: Array, owners: Array) -> Arcs:
        offsets = np.zeros(self.n + 1, dtype=np.int64)
        np.cumsum(np.bincount(owners, minlength=self.n), out=offsets[1:])
        weights = None if self.weights is None else self.weights[chosen]
        real = None if self.real is None else self.real[chosen]
        return Arcs(offsets, neighbors, weights, real, self.directed)


class KleeneGraph:
    """A NetworkX graph that was converted for Kleene; NetworkX's functions take it as it is.

    Examples
    --------
    >>> import networkx as nx
    >>> from kleene.interop.networkx import convert_from_nx
    >>> g = convert_from_nx(nx.path_graph("abc"))
    >>> nx.shortest_path_length(g, "a", "c")
    2
    """

    __networkx_backend__ = "kleene"

    def __init__(
        self,
        nodes: list[Any],
        offsets: NDArray[np.int64],
        neighbors: NDArray[np.int32],
        *,
        directed: bool,
        multigraph: bool,
        data: list[Any] | None = None,
        columns: dict[Any, list[Any]] | None = None,
        node_data: list[dict[Any, Any]] | None = None,
        graph: dict[Any, Any] | None = None,
    ) -> None:
        self.nodes, self._directed, self._multigraph = nodes, directed, multigraph
        self.ids: dict[Any, int] = dict(zip(nodes, range(len(nodes)), strict=True))
        self.data = data  # the attributes of every arc: of a multigraph, by key
        self.columns = columns or {}  # or some attributes: MISSING where an edge has none
        self.node_data, self.graph = node_data, graph or {}
        self.links = Arcs(offsets, neighbors, directed=directed)  # without weights
        self._weighted: dict[Any, Arcs] = {}
        self.__networkx_cache__: dict[str, Any] = {}

    # ---- what algorithms ask for ----------------------------------------------------------

    @cached_property
    def names(self) -> NDArray[np.object_]:
        """The nodes, to be picked by arrays of ids."""
        return np.fromiter(self.nodes, dtype=object, count=len(self.nodes))

    def arcs(self, weight: Weight | None, default: Any = 1, hidden: bool = False) -> Arcs:
        """Return the arcs under a weight: None, the name of an attribute, or a function.

        ``hidden`` says whether a weight of None may hide an arc.
        """
        if weight is None:
            return self.links
        if callable(weight):  # it may tell the two directions of an edge apart
            return self._make_arcs(read_weights(self._called(weight), len(self)), hidden, True)
        key = (weight, type(default))
        if key not in self._weighted:
            read = read_weights(self._attribute(weight, default), len(self), default)
            self._weighted[key] = self._make_arcs(read, True, self._directed)
        if not hidden and len(self._weighted[key].neighbors) < len(self.links.neighbors):
            raise _hidden()
        return self._weighted[key]

    def _make_arcs(self, read: Weights, hidden: bool, directed: bool) -> Arcs:
        if read.present is not None and not hidden:
            raise _hidden()
        links = self.links if read.present is None else self.links.only(read.present)
        if read.values is None and directed == links.directed:
            return links
        return Arcs(links.offsets, links.neighbors, read.values, read.real, directed)

    def _attribute(self, name: Hashable, default: Any) -> list[Any]:
        if self.data is None and name in self.columns:
            return self.columns[name]
        if self.data is None:
            raise nx.NetworkXError(
                f"this graph was converted without the edge attribute {name!r}: convert it again, "
                f"with edge_attrs={{{name!r}: 1}}"
            )
        if self._multigraph:
            return [min(d.get(name, default) for d in keys.values()) for keys in self.data]
        return [d.get(name, default) for d in self.data]

    def _called(self, weight: Callable[..., Any]) -> list[Any]:
        if self.data is None:
            raise nx.NetworkXError("this graph was converted without its edge attributes")
        owners = self.names[self.links.owners].tolist()
        targets = self.names[self.links.neighbors].tolist()
        return list(map(weight, owners, targets, self.data))

    # ---- what NetworkX asks of a graph ----------------------------------------------------

    def is_directed(self) -> bool:
        """Return whether edges have a direction."""
        return self._directed

    def is_multigraph(self) -> bool:
        """Return whether there may be parallel edges."""
        return self._multigraph

    def number_of_nodes(self) -> int:
        """Return how many nodes there are."""
        return len(self.nodes)

    order = number_of_nodes
    __len__ = number_of_nodes

    def number_of_edges(self) -> int:
        """Return how many edges there are, parallel ones counted."""
        if self._multigraph and self.data is not None:
            each = np.fromiter(map(len, self.data), dtype=np.int64, count=len(self.data))
        else:
            each = np.ones(len(self.links.neighbors), dtype=np.int64)
        arcs, loops = int(each.sum()), int(each[self.links.loops].sum())
        return arcs if self._directed else (arcs + loops) // 2

    def __iter__(self) -> Iterator[Any]:
        return iter(self.nodes)

    def __contains__(self, node: object) -> bool:
        try:
            return node in self.ids
        except TypeError:
            return False

    def nbunch_iter(self, nbunch: Any = None) -> Iterator[Any]:
        """Iterate over the nodes of a bunch that are in the graph, as NetworkX does."""
        if nbunch is None:
            return iter(self.nodes)
        if nbunch in self:
            return iter([nbunch])
        return self._each(nbunch)

    def _each(self, nbunch: Any) -> Iterator[Any]:
        node = None
        try:
            for node in nbunch:
                if node in self.ids:
                    yield node
        except TypeError as error:
            message = str(error)
            if "object is not iterable" in message:
                message = f"Node {nbunch} is not in the graph."
            elif "hashable" in message:
                message = f"Node {node} in sequence nbunch is not a valid node."
            else:
                raise
            raise nx.NetworkXError(message) from error

    def __str__(self) -> str:
        kind = ("Multi" if self._multigraph else "") + ("DiGraph" if self._directed else "Graph")
        return f"{kind} with {len(self)} nodes and {self.number_of_edges()} edges"

    __repr__ = __str__


def _hidden() -> NotImplementedError:
    return NotImplementedError("a weight of None hides an edge in Dijkstra's functions only")
