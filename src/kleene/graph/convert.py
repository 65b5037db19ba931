"""Conversion of graphs from and to other libraries.

No library is imported for the conversion from its objects, except SciPy; NetworkX is imported for
the conversion to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import GraphError
from kleene.graph.checks import as_array, as_flag, as_ids, as_weights, require_unmasked
from kleene.graph.dlpack import to_numpy
from kleene.graph.labels import as_labels, ids_from_names, ids_from_numbers

if TYPE_CHECKING:
    from kleene.graph.core import Graph

__all__ = [
    "from_edge_index",
    "from_igraph",
    "from_networkx",
    "from_rustworkx",
    "from_scipy",
    "from_table",
    "to_networkx",
    "to_scipy",
]

Array = NDArray[Any]


def _require_square(shape: tuple[int, ...], what: str) -> int:
    if len(shape) != 2 or shape[0] != shape[1]:
        raise GraphError(f"{what} must be square, but has shape {shape}")
    return shape[0]


def from_scipy(cls: type[Graph], matrix: Any) -> Graph:
    import scipy.sparse

    if not scipy.sparse.issparse(matrix):
        raise GraphError(f"expected a SciPy sparse array or matrix, not {type(matrix).__name__}")
    n = _require_square(matrix.shape, "the sparse matrix")
    if matrix.dtype == bool:
        coo = matrix.tocoo()
        rows, columns = coo.row[coo.data], coo.col[coo.data]
        return cls.from_edges(rows, columns, n=n)
    if matrix.format == "csr":
        return cls.from_csr(matrix.indptr, matrix.indices, matrix.data)
    coo = matrix.tocoo()
    return cls.from_edges(coo.row, coo.col, coo.data, n=n)


def to_scipy(graph: Graph) -> Any:
    import scipy.sparse

    small = graph.m < 2**31
    data = np.ones(graph.m, dtype=np.int32) if graph.weights is None else graph.weights
    offsets = graph.offsets.astype(np.int32) if small else graph.offsets
    neighbors = graph.neighbors if small else graph.neighbors.astype(np.int64)
    return scipy.sparse.csr_array((data, neighbors, offsets), shape=(graph.n, graph.n))


def _require_kind(graph: Any, library: str, *attributes: str) -> None:
    if not all(hasattr(graph, attribute) for attribute in attributes):
        raise GraphError(f"expected a graph of {library}, not {type(graph).__name__}")


def from_networkx(cls: type[Graph], graph: Any, weight: str | None = "weight") -> Graph:
    _require_kind(graph, "NetworkX", "edges", "is_directed", "__iter__", "name")
    nodes = list(graph)
    ids = {node: i for i, node in enumerate(nodes)}
    weighted = weight is not None and any(weight in data for *_, data in graph.edges(data=True))
    sources, targets, weights = [], [], []
    for u, v, data in graph.edges(data=True):
        sources.append(ids[u])
        targets.append(ids[v])
        if weighted:
            weights.append(data.get(weight, 1))
    labels = None if nodes == list(range(len(nodes))) else as_labels(nodes, len(nodes))
    return cls.from_edges(
        np.array(sources, dtype=np.int64),
        np.array(targets, dtype=np.int64),
        weights if weighted else None,
        n=len(nodes),
        directed=graph.is_directed(),
        labels=labels,
        name=str(graph.name or ""),
    )


def to_networkx(graph: Graph) -> Any:
    import networkx as nx

    result = nx.DiGraph(name=graph.name) if graph.directed else nx.Graph(name=graph.name)
    names = list(range(graph.n)) if graph.labels is None else graph.labels.tolist()
    result.add_nodes_from(names)
    coo = graph.coo
    ends = [(names[s], names[t]) for s, t in zip(coo.sources, coo.targets, strict=True)]
    if coo.weights is None:
        result.add_edges_from(ends)
    else:
        result.add_weighted_edges_from(
            (s, t, w) for (s, t), w in zip(ends, coo.weights.tolist(), strict=True)
        )
    return result


def _values(values: list[Any], what: str) -> Array | None:
    """Return weights with None replaced by 1, or None if all are None."""
    array = np.array(values)
    if array.dtype == object:
        missing = np.fromiter((v is None for v in values), dtype=bool, count=len(values))
        if missing.all():
            return None
        array = np.array([1 if v is None else v for v in values])
    return as_weights(array, what)


def from_igraph(cls: type[Graph], graph: Any, weight: str | None = "weight") -> Graph:
    _require_kind(graph, "igraph", "vcount", "ecount", "get_edgelist")
    n, m = graph.vcount(), graph.ecount()
    ends = np.fromiter(chain.from_iterable(graph.get_edgelist()), dtype=np.int32, count=2 * m)
    weighted = weight is not None and weight in graph.es.attributes()
    names = graph.vs["name"] if "name" in graph.vs.attributes() else None
    if names is not None and not _are_labels(names):
        raise GraphError("the vertex attribute 'name' must be unique")
    return cls.from_edges(
        ends[::2],
        ends[1::2],
        _values(graph.es[weight], f"the edge attribute {weight!r}") if weighted else None,
        n=n,
        directed=graph.is_directed(),
        labels=None if names is None or names == list(range(n)) else names,
        name=str(graph["name"]) if "name" in graph.attributes() and graph["name"] else "",
    )


def _are_labels(names: list[Any]) -> bool:
    """Return whether the names are hashable, unique and not None."""
    try:
        return None not in names and len(set(names)) == len(names)
    except TypeError:  # not hashable
        return False


def from_rustworkx(
    cls: type[Graph], graph: Any, weight: str | Callable[[Any], Any] | None = "weight"
) -> Graph:
    _require_kind(graph, "rustworkx", "node_indices", "edge_list", "nodes")
    nodes = np.asarray(graph.node_indices(), dtype=np.int64)
    n = len(nodes)
    ends = np.asarray(graph.edge_list(), dtype=np.int64).reshape(-1, 2)
    names, labels = graph.nodes(), None
    if _are_labels(names):
        labels = None if names == list(range(n)) else names
    elif n and nodes[-1] != n - 1:
        labels = nodes
    if n and nodes[-1] != n - 1:  # nodes were removed: indices have gaps
        ends = np.searchsorted(nodes, ends)
    return cls.from_edges(
        ends[:, 0],
        ends[:, 1],
        _payload_weights(graph.edges(), weight),
        n=n,
        directed=hasattr(graph, "successors"),
        labels=labels,
    )


def _payload_weights(
    payloads: list[Any], weight: str | Callable[[Any], Any] | None
) -> Array | None:
    """Return the weights given by the payloads of rustworkx edges."""
    if weight is None or not payloads:
        return None
    if callable(weight):
        return _values([weight(payload) for payload in payloads], "the values of weight()")
    if any(isinstance(payload, Mapping) for payload in payloads):
        payloads = [p.get(weight) if isinstance(p, Mapping) else p for p in payloads]
    values = np.array(payloads, dtype=object)
    numbers = {type(v) for v in payloads} - {type(None)}
    unsupported = [t for t in numbers if not issubclass(t, (int, float, np.number))]
    if unsupported or values.ndim != 1:
        raise GraphError(
            f"edge payloads of type {unsupported[0].__name__} are not weights; pass weight=, "
            "a function of the payload, or weight=None for an unweighted graph"
        )
    return _values(payloads, "the edge weights")


def from_edge_index(
    cls: type[Graph], data: Any, weight: str | None = "edge_weight", directed: bool = True
) -> Graph:
    index = as_array(to_numpy(data.edge_index), "edge_index")
    if index.ndim != 2 or index.shape[0] != 2:
        raise GraphError(f"edge_index must have two rows, but has shape {index.shape}")
    n = getattr(data, "num_nodes", None)
    weights = None if weight is None else to_numpy(getattr(data, weight, None))
    if weights is None and weight not in (None, "edge_weight"):
        raise GraphError(f"the object has edge_index but no attribute {weight!r}")
    if weights is not None and weights.ndim == 2 and weights.shape[1] == 1:
        weights = weights[:, 0]
    return cls.from_edges(
        index[0], index[1], weights, n=None if n is None else int(n), directed=directed
    )


def _column(table: Any, name: str) -> Array:
    try:
        column = table[name]
        if isinstance(column, np.ma.MaskedArray):
            require_unmasked(column, f"column {name!r}")
        return np.asarray(column)
    except GraphError:
        raise
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise _missing_column(table, name) from error
    except Exception as error:  # Polars and Arrow raise their own exceptions
        said = f"{type(error).__name__} {error}".lower()
        if any(words in said for words in ("not found", "notfound", "does not exist")):
            raise _missing_column(table, name) from error
        raise


def _missing_column(table: Any, name: str) -> GraphError:
    names = getattr(table, "column_names", None) or getattr(table, "columns", None)
    if names is None and not isinstance(table, Mapping):
        return GraphError(f"expected a table or a dict of columns, not {type(table).__name__}")
    names = list(table if names is None else names)
    return GraphError(f"the table has no column {name!r}; it has {', '.join(map(repr, names))}")


def from_table(
    cls: type[Graph],
    table: Any,
    source: str,
    target: str,
    weight: str | None,
    directed: bool,
    relabel: bool,
) -> Graph:
    sources, targets = _column(table, source), _column(table, target)
    if len(sources) != len(targets):
        raise GraphError(
            f"columns {source!r} and {target!r} differ in length: {len(sources)} and {len(targets)}"
        )
    weights = None if weight is None else as_weights(_column(table, weight), f"column {weight!r}")
    labels: Array | None = None
    n: int | None = None
    if sources.dtype.kind in "OUSTM" or targets.dtype.kind in "OUSTM":
        sources, targets, labels = ids_from_names(sources.tolist(), targets.tolist())
        n = len(labels)
    else:
        sources = as_ids(sources, f"column {source!r}")
        targets = as_ids(targets, f"column {target!r}")
        if as_flag(relabel, "relabel"):
            sources, targets, labels, n = ids_from_numbers(sources, targets)
    return cls.from_edges(sources, targets, weights, n=n, directed=directed, labels=labels)
