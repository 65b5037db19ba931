"""The backend's graph: NetworkX's nodes and adjacency as arrays, in NetworkX's order.

``Arcs`` hold one weighting of the graph (every call names its weight) twice: in the order of
NetworkX's adjacency, which breaks ties between shortest paths, and as a ``kleene.Graph``, which
Kleene's methods run on.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from kleene.graph import Graph
from kleene.graph.no_path import NO_HOPS, no_path
from kleene.interop.networkx.weights import Weights, read_weights
from kleene.system.cached_property import cached_property

__all__ = ["Arcs", "KleeneGraph"]

Array = NDArray[Any]
Weight = Hashable | Callable[..., Any]


class Arcs:
    """Arcs in CSR form with one weight each; of parallel edges the lightest is kept."""

    def __init__(
        self,
        offsets: NDArray[np.int64],
        neighbors: NDArray[np.int32],
        weights: Array | None = None,
        real: NDArray[np.bool_] | None = None,
        directed: bool = True,
    ) -> None:
        self.offsets, self.neighbors, self.weights = offsets, neighbors, weights
        self.is_float, self.directed = real, directed
        self.n = len(offsets) - 1

    @cached_property
    def graph(self) -> Graph:
        """The same arcs as a :class:`kleene.Graph`."""
        graph = Graph.from_csr(self.offsets, self.neighbors, self.weights)
        return graph if self.directed else Graph(graph.csr, directed=False)

    @cached_property
    def tails(self) -> NDArray[np.int32]:
        """The tail of every arc."""
        return np.repeat(np.arange(self.n, dtype=np.int32), np.diff(self.offsets))

    @property
    def no_path(self) -> Any:
        """The distance that means "no path"."""
        return NO_HOPS if self.weights is None else no_path(self.weights.dtype)

    @cached_property
    def negative(self) -> bool:
        """Whether some weight is below zero."""
        return self.weights is not None and bool((self.weights < 0).any())

    @cached_property
    def loops(self) -> NDArray[np.int64]:
        """Indices of the self-loops."""
        return np.flatnonzero(self.tails == self.neighbors)

    @cached_property
    def reversed(self) -> Arcs:
        """The arcs of the reversed graph."""
        if not self.directed:
            return self
        by_head = np.argsort(self.neighbors, kind="stable")
        return self._with(by_head, self.tails[by_head], self.neighbors[by_head])

    def between(self, tail: int, head: int) -> int:
        """Return the arc from one node to another, which must exist."""
        start, end = self.offsets[tail], self.offsets[tail + 1]
        return int(start) + int(np.flatnonzero(self.neighbors[start:end] == head)[0])

    def without(self, node: int) -> Arcs:
        """Return the arcs of the graph without a node; those after it are numbered one less."""
        kept = self.subset((self.tails != node) & (self.neighbors != node))
        neighbors = kept.neighbors - (kept.neighbors > node)
        offsets = np.delete(kept.offsets, node)
        return Arcs(offsets, neighbors, kept.weights, kept.is_float, self.directed)

    def subset(self, kept: Array) -> Arcs:
        """Return the arcs for which ``kept`` is true."""
        chosen = np.flatnonzero(kept)
        return self._with(chosen, self.neighbors[chosen], self.tails[chosen])

    def _with(self, chosen: Array, neighbors: Array, tails: Array) -> Arcs:
        offsets = np.zeros(self.n + 1, dtype=np.int64)
        np.cumsum(np.bincount(tails, minlength=self.n), out=offsets[1:])
        weights = None if self.weights is None else self.weights[chosen]
        real = None if self.is_float is None else self.is_float[chosen]
        return Arcs(offsets, neighbors, weights, real, self.directed)


class KleeneGraph:
    """A NetworkX graph converted for Kleene; NetworkX's functions accept it directly.

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
        predecessors: Arcs | None = None,
    ) -> None:
        self.nodes, self._directed, self._multigraph = nodes, directed, multigraph
        self.ids: dict[Any, int] = dict(zip(nodes, range(len(nodes)), strict=True))
        self.data = data  # the attributes of every arc; for a multigraph, a dict by key
        self.columns = columns or {}  # or some attributes by name; MISSING where an edge has none
        self.node_data, self.graph = node_data, graph or {}
        self.unweighted_arcs = Arcs(offsets, neighbors, directed=directed)
        self.predecessors = predecessors  # rows of these, in NetworkX's order, where they were kept
        self._weighted: dict[Any, Arcs] = {}
        self.__networkx_cache__: dict[str, Any] = {}

    # ---- for the algorithms ----------------------------------------------------------------

    @cached_property
    def names(self) -> NDArray[np.object_]:
        """The nodes as an object array, to be indexed by arrays of ids."""
        return np.fromiter(self.nodes, dtype=object, count=len(self.nodes))

    def arcs(self, weight: Weight | None, default: Any = 1, allow_hidden: bool = False) -> Arcs:
        """Return the arcs under a weight: None, the name of an attribute, or a function.

        ``allow_hidden`` says whether a weight of None may hide an arc; otherwise it is refused.
        """
        if weight is None:
            return self.unweighted_arcs
        if callable(weight):  # the two directions of an edge may have different weights
            return self._make_arcs(
                read_weights(self._called(weight), len(self)), allow_hidden, True
            )
        key = (weight, type(default))
        if key not in self._weighted:
            read = read_weights(self._attribute(weight, default), len(self), default)
            self._weighted[key] = self._make_arcs(read, True, self._directed)
        if not allow_hidden and len(self._weighted[key].neighbors) < len(
            self.unweighted_arcs.neighbors
        ):
            raise _hidden()
        return self._weighted[key]

    def incoming(self, arcs: Arcs) -> Arcs:
        """Return arcs from head to tail, in the order of NetworkX's predecessors."""
        rows = self.predecessors
        if rows is None:
            raise NotImplementedError("the graph was converted without its order of predecessors")
        keys = arcs.tails.astype(np.int64) * arcs.n + arcs.neighbors
        order = np.argsort(keys)
        wanted = rows.neighbors.astype(np.int64) * arcs.n + rows.tails
        place = np.searchsorted(keys, wanted, sorter=order)
        found = order[np.minimum(place, len(keys) - 1)] if len(keys) else place[:0]
        kept = keys[found] == wanted if len(keys) else np.zeros(len(wanted), dtype=bool)
        rows = rows.subset(kept)  # without those that a weight hides
        weights = None if arcs.weights is None else arcs.weights[found[kept]]
        return Arcs(rows.offsets, rows.neighbors, weights)

    def _make_arcs(self, read: Weights, allow_hidden: bool, directed: bool) -> Arcs:
        if read.present is not None and not allow_hidden:
            raise _hidden()
        links = (
            self.unweighted_arcs
            if read.present is None
            else self.unweighted_arcs.subset(read.present)
        )
        if read.values is None and directed == links.directed:
            return links
        return Arcs(links.offsets, links.neighbors, read.values, read.is_float, directed)

    def _attribute(self, name: Hashable, default: Any) -> list[Any]:
        if self.data is None and name in self.columns:
            return self.columns[name]
        if self.data is None:
            raise nx.NetworkXError(
                f"this graph was converted without the edge attribute {name!r}; convert it again "
                f"with edge_attrs={{{name!r}: 1}}"
            )
        if self._multigraph:
            try:
                return [min(d.get(name, default) for d in keys.values()) for keys in self.data]
            except TypeError as error:  # NetworkX raises only if its search sees this edge
                raise NotImplementedError(f"weights of parallel edges: {error}") from error
        return [d.get(name, default) for d in self.data]

    def _called(self, weight: Callable[..., Any]) -> list[Any]:
        if self.data is None:
            raise nx.NetworkXError(
                "this graph was converted without its edge attributes; convert it again with "
                "preserve_edge_attrs=True"
            )
        tails = self.names[self.unweighted_arcs.tails].tolist()
        targets = self.names[self.unweighted_arcs.neighbors].tolist()
        try:
            return list(map(weight, tails, targets, self.data))
        except Exception as error:  # NetworkX raises only if its search sees this edge
            raise NotImplementedError(f"the weight function raised {error!r}") from error

    # ---- the graph interface of NetworkX ---------------------------------------------------

    def is_directed(self) -> bool:
        """Return whether edges have a direction."""
        return self._directed

    def is_multigraph(self) -> bool:
        """Return whether there may be parallel edges."""
        return self._multigraph

    def number_of_nodes(self) -> int:
        """Return the number of nodes."""
        return len(self.nodes)

    order = number_of_nodes
    __len__ = number_of_nodes

    def number_of_edges(self) -> int:
        """Return the number of edges, parallel edges included."""
        if self._multigraph and self.data is not None:
            each = np.fromiter(map(len, self.data), dtype=np.int64, count=len(self.data))
        else:
            each = np.ones(len(self.unweighted_arcs.neighbors), dtype=np.int64)
        arcs, loops = int(each.sum()), int(each[self.unweighted_arcs.loops].sum())
        return arcs if self._directed else (arcs + loops) // 2

    def __iter__(self) -> Iterator[Any]:
        return iter(self.nodes)

    def __contains__(self, node: object) -> bool:
        try:
            return node in self.ids
        except TypeError:
            return False

    def position(self, node: Any, absent: str) -> int:
        """Return the id of a node; raise NodeNotFound, in NetworkX's words, if there is none."""
        if node not in self:
            raise nx.NodeNotFound(absent)
        return self.ids[node]

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
    return NotImplementedError("a weight of None hides an edge in the Dijkstra functions only")
