"""Conversion between NetworkX graphs and the backend's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from itertools import chain
from operator import itemgetter, methodcaller
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from kleene.interop.networkx.graph import Arcs, KleeneGraph
from kleene.interop.networkx.weights import MISSING

__all__ = ["convert_from_nx", "convert_to_nx", "subgraph_to_nx", "with_fallback"]


def convert_from_nx(
    graph: Any,
    edge_attrs: Mapping[Any, Any] | None = None,
    node_attrs: Mapping[Any, Any] | None = None,
    preserve_edge_attrs: bool = True,
    preserve_node_attrs: bool = True,
    preserve_graph_attrs: bool = True,
    name: str | None = None,
    graph_name: str | None = None,
) -> KleeneGraph:
    """Convert a NetworkX graph; NetworkX calls this, and users may, before many calls.

    Parameters
    ----------
    graph : networkx.Graph or a subclass
        The graph. It is copied: later changes to it do not affect the converted graph.
    edge_attrs, node_attrs : mapping of attribute to default, optional
        The attributes to keep; all of them unless given.
    preserve_edge_attrs, preserve_node_attrs, preserve_graph_attrs : bool
        Whether to keep all attributes, where none are named.
    name, graph_name : str, optional
        The function and the parameter that NetworkX converts for. The order of predecessors is
        kept for a function that needs it, and where none is named.

    Raises
    ------
    NotImplementedError
        When arrays cannot hold the weights exactly.

    Examples
    --------
    >>> import networkx as nx
    >>> from kleene.interop.networkx import convert_from_nx
    >>> convert_from_nx(nx.cycle_graph(4))
    Graph with 4 nodes and 4 edges
    """
    nodes = list(graph)
    rows = list(map(graph._adj.__getitem__, nodes))
    ids = None
    if nodes != list(range(len(nodes))):
        ids = dict(zip(nodes, range(len(nodes)), strict=True))
    offsets, neighbors = _positions(rows, ids)
    predecessors = None
    if graph.is_directed() and name in (None, "shortest_simple_paths"):
        back = map(graph._pred.__getitem__, nodes)
        predecessors = Arcs(*_positions(list(back), ids))
    multigraph = graph.is_multigraph()
    data: list[Any] | None = None
    columns: dict[Any, list[Any]] = {}
    if edge_attrs is None and preserve_edge_attrs:
        data = [_copied(d, multigraph) for row in rows for d in row.values()]
    elif multigraph:
        kept = edge_attrs or {}
        data = [
            {key: {a: d[a] for a in kept if a in d} for key, d in keys.items()}
            for row in rows
            for keys in row.values()
        ]
    else:
        for attribute in edge_attrs or {}:
            columns[attribute] = _column(rows, attribute)
    node_data = None
    if node_attrs is not None:
        node_data = [{a: d[a] for a in node_attrs if a in d} for d in _node_data(graph, nodes)]
    elif preserve_node_attrs:
        node_data = [d.copy() for d in _node_data(graph, nodes)]
    result = KleeneGraph(
        nodes,
        offsets,
        neighbors,
        directed=graph.is_directed(),
        multigraph=multigraph,
        data=data,
        columns=columns,
        node_data=node_data,
        graph=dict(graph.graph) if preserve_graph_attrs else None,
        predecessors=predecessors,
    )
    for attribute, default in (edge_attrs or {}).items():
        result.arcs(attribute, default, allow_hidden=True)  # raises if weights have no array form
    return result


def _positions(
    rows: list[Any], ids: dict[Any, int] | None
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return rows of nodes as arrays; without ``ids``, nodes are their positions."""
    offsets = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, rows), dtype=np.int64, count=len(rows)), out=offsets[1:])
    targets: Any = chain.from_iterable(rows)
    if ids is not None:
        targets = map(ids.__getitem__, targets)
    return offsets, np.fromiter(targets, dtype=np.int32, count=int(offsets[-1]))


def _column(rows: list[Any], attribute: Any) -> list[Any]:
    """Return one attribute of every arc."""
    try:
        data = chain.from_iterable(map(methodcaller("values"), rows))
        return list(map(itemgetter(attribute), data))
    except KeyError:
        return [d.get(attribute, MISSING) for row in rows for d in row.values()]


def _copied(data: Any, multigraph: bool) -> dict[Any, Any]:
    return {key: d.copy() for key, d in data.items()} if multigraph else data.copy()


def _node_data(graph: Any, nodes: list[Any]) -> Any:
    return map(graph._node.__getitem__, nodes)


def convert_to_nx(obj: Any, *, name: str | None = None) -> Any:
    """Return a converted graph as a NetworkX graph; anything else is returned unchanged.

    Examples
    --------
    >>> import networkx as nx
    >>> from kleene.interop.networkx import convert_from_nx, convert_to_nx
    >>> convert_to_nx(convert_from_nx(nx.path_graph(3))).edges
    EdgeView([(0, 1), (1, 2)])
    """
    if not isinstance(obj, KleeneGraph):
        return obj
    return subgraph_to_nx(obj, np.ones(len(obj), dtype=bool))


def subgraph_to_nx(
    graph: KleeneGraph, kept: NDArray[np.bool_], arcs_kept: NDArray[np.bool_] | None = None
) -> Any:
    """Return the nodes that are kept, and the edges among them, as a NetworkX graph.

    ``arcs_kept`` says which of these edges, in both directions if edges have none.
    """
    directed = graph.is_directed()
    if graph.is_multigraph():
        result = nx.MultiDiGraph() if directed else nx.MultiGraph()
    else:
        result = nx.DiGraph() if directed else nx.Graph()
    result.graph.update(graph.graph)
    nodes = np.flatnonzero(kept)
    result.add_nodes_from(graph.names[nodes].tolist())
    if graph.node_data is not None:
        for v in nodes.tolist():
            result._node[graph.nodes[v]].update(graph.node_data[v])
    links = graph.unweighted_arcs
    inside = kept[links.tails] & kept[links.neighbors]
    if arcs_kept is not None:
        inside &= arcs_kept
    if not directed:
        inside &= links.tails <= links.neighbors
    arcs = np.flatnonzero(inside)
    sources = graph.names[links.tails[arcs]].tolist()
    targets = graph.names[links.neighbors[arcs]].tolist()
    data = _edge_data(graph, arcs)
    if graph.is_multigraph():
        result.add_edges_from(
            (u, v, key, d)
            for u, v, keys in zip(sources, targets, data, strict=True)
            for key, d in keys.items()
        )
    else:
        result.add_edges_from(zip(sources, targets, data, strict=True))
    return result


def _edge_data(graph: KleeneGraph, arcs: NDArray[np.int64]) -> list[Any]:
    """Return a dict of attributes for each of some arcs; for a multigraph, one per key."""
    if graph.data is not None:
        return [graph.data[arc] for arc in arcs.tolist()]
    data: list[Any] = [{} for _ in range(len(arcs))]
    for attribute, column in graph.columns.items():
        for d, arc in zip(data, arcs.tolist(), strict=True):
            if column[arc] is not MISSING:
                d[attribute] = column[arc]
    return data


# ---- refusals of generator functions ------------------------------------------------------------
# NetworkX's dispatcher tries the next backend when a function raises NotImplementedError. A
# generator function raises only when its caller asks for the first item, which is too late.


Generator = Callable[..., Iterator[Any]]


def with_fallback(function: Generator) -> Generator:
    """Make a generator function run NetworkX's where the graph's weights are refused."""

    @wraps(function)
    def generator(G: KleeneGraph, *args: Any, **kwargs: Any) -> Iterator[Any]:
        items = function(G, *args, **kwargs)
        try:
            first = next(items)
        except NotImplementedError:
            theirs = getattr(nx, function.__name__)
            yield from theirs(convert_to_nx(G), *args, backend="networkx", **kwargs)
        except StopIteration:
            return
        else:
            yield first
            yield from items

    return generator
