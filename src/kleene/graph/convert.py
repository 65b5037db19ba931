"""Conversion of graphs from and to other libraries.

No library is imported for the conversion from its objects, except SciPy; NetworkX is imported for
the conversion to it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib import import_module
from itertools import chain
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import Code, GraphError, RequestError, Text
from kleene.graph.checks import as_array, as_name, as_weights
from kleene.graph.dlpack import is_foreign, to_numpy
from kleene.graph.earth import are_degrees, distances_between, lengths_of_lines
from kleene.graph.labels import as_labels, is_missing
from kleene.graph.positions import crs_of, in_crs, lines_of, oriented
from kleene.graph.weight_names import (
    GEOMETRY,
    UNWEIGHTED,
    NumbersLeft,
    is_number,
    keeping_numbers_left,
    named_weight,
)

if TYPE_CHECKING:
    from kleene.graph.core import Graph

__all__ = [
    "from_any",
    "from_edge_index",
    "from_igraph",
    "from_momepy",
    "from_networkx",
    "from_osmnx",
    "from_rustworkx",
    "from_scipy",
    "no_such_weight",
    "to_networkx",
    "to_scipy",
]

Array = NDArray[Any]


def _require_square(shape: tuple[int, ...], what: str) -> int:
    if len(shape) != 2 or shape[0] != shape[1]:
        raise GraphError(Code(what), f" must be square, but has shape {shape}")
    return shape[0]


def from_scipy(cls: type[Graph], matrix: Any) -> Graph:
    import scipy.sparse

    if not scipy.sparse.issparse(matrix):
        raise GraphError(f"expected a SciPy sparse array or matrix, not {type(matrix).__name__}")
    n = _require_square(matrix.shape, "the sparse matrix")
    if matrix.dtype == bool:
        coo = matrix.tocoo()
        rows, columns = coo.row[coo.data], coo.col[coo.data]
        return cls.from_edges(rows, columns, n=n, keep_rows=False)
    if matrix.format == "csr":
        return cls.from_csr(matrix.indptr, matrix.indices, matrix.data)
    coo = matrix.tocoo()
    return cls.from_edges(coo.row, coo.col, coo.data, n=n, keep_rows=False)


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


def from_networkx(cls: type[Graph], graph: Any, weight: str | None = "auto") -> Graph:
    _require_kind(graph, "NetworkX", "edges", "is_directed", "__iter__", "name")
    weight = as_name(weight, "weight")
    nodes = list(graph)
    ids = {node: i for i, node in enumerate(nodes)}
    edges = list(graph.edges(data=True))
    labels = None if nodes == list(range(len(nodes))) else as_labels(nodes, len(nodes))
    name, left = weight, None
    if weight == "auto":
        name, left = _known_attribute([data for *_, data in edges])
    made = cls.from_edges(
        np.fromiter((ids[u] for u, _, _ in edges), np.int64, count=len(edges)),
        np.fromiter((ids[v] for _, v, _ in edges), np.int64, count=len(edges)),
        _edge_weights(edges, name),
        n=len(nodes),
        directed=graph.is_directed(),
        labels=labels,
        name=str(graph.name or ""),
    )
    made = keeping_numbers_left(made, left)
    positions = _node_positions(graph)
    return made if positions is None else made.with_positions(positions)


def _known_attribute(attributes: list[Mapping[str, Any]]) -> tuple[str | None, NumbersLeft | None]:
    """Return the attribute of edges that is known for weights; or numbers that may be some."""
    names = dict.fromkeys(chain.from_iterable(attributes))
    name = named_weight(sorted(names, key=str), "edge attributes")
    if name is not None:
        return name, None
    numbers = [
        name for name in names if is_number(_first_present(each.get(name) for each in attributes))
    ]
    return None, NumbersLeft(numbers) if numbers else None


def _first_present(values: Iterable[Any]) -> Any:
    """Return the first value that is not missing, or None."""
    return next((value for value in values if not is_missing(value)), None)


def _edge_weights(edges: list[Any], weight: str | None) -> list[Any] | None:
    """Return the attribute ``weight`` of NetworkX edges."""
    if weight is None:
        return None
    try:
        return [data[weight] for *_, data in edges] or None
    except KeyError:
        missing = next((u, v) for u, v, data in edges if weight not in data)
        have = sum(weight in data for *_, data in edges)
    if have:
        raise GraphError(
            f"{have:,} of {len(edges):,} edges have the attribute {weight!r}, but not the "
            f"edge {missing!r}",
            advice=["give it one", UNWEIGHTED],
        )
    known = sorted({str(key) for *_, data in edges for key in data})
    raise no_such_weight(weight, "edge attribute", known)


def _node_positions(graph: Any) -> list[Any] | None:
    """Return the attributes (x, y) or pos of the nodes, if all nodes have them."""
    nodes = [data for _, data in graph.nodes(data=True)]
    if not nodes:
        return None
    if all("x" in data and "y" in data for data in nodes):
        return [(data["x"], data["y"]) for data in nodes]
    if all(np.shape(data.get("pos", ())) == (2,) for data in nodes):
        return [data["pos"] for data in nodes]
    return None


def no_such_weight(name: Any, what: str, known: Sequence[str]) -> GraphError:
    """Return the error for a weight that was named and is not there."""
    has = f"there are {', '.join(map(repr, known))}" if known else "there are none"
    return GraphError(
        f"no {what} {name!r} for the weights: {has}",
        advice=[UNWEIGHTED],
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
    """Return weights; None if all are None, an error if some are."""
    missing = [at for at, value in enumerate(values) if value is None]
    if missing and len(missing) < len(values):
        raise GraphError(
            f"{what}: edge {missing[0]} of {len(values):,} has no weight",
            advice=["give every edge one", UNWEIGHTED],
        )
    return None if missing or not values else as_weights(np.array(values), what)


def from_igraph(cls: type[Graph], graph: Any, weight: str | None = "auto") -> Graph:
    _require_kind(graph, "igraph", "vcount", "ecount", "get_edgelist")
    n, m = graph.vcount(), graph.ecount()
    ends = np.fromiter(chain.from_iterable(graph.get_edgelist()), dtype=np.int32, count=2 * m)
    attributes, left = graph.es.attributes(), None
    name: str | None = as_name(weight, "weight")
    if name == "auto":
        name, left = _known_attribute([{key: _first_present(graph.es[key]) for key in attributes}])
    given = graph.es[name] if name in attributes else [None] * m
    weights = _values(given, f"the edge attribute {name!r}")
    if weights is None and m and weight not in (None, "auto"):
        raise no_such_weight(str(name), "edge attribute", attributes)
    names = graph.vs["name"] if "name" in graph.vs.attributes() else None
    if names is not None and not _are_labels(names):
        raise GraphError("the vertex attribute 'name' must be unique and present on every vertex")
    made = cls.from_edges(
        ends[::2],
        ends[1::2],
        weights,
        n=n,
        directed=graph.is_directed(),
        labels=None if names is None or names == list(range(n)) else names,
        name=str(graph["name"]) if "name" in graph.attributes() and graph["name"] else "",
    )
    made = keeping_numbers_left(made, left)
    if {"x", "y"} <= set(graph.vs.attributes()):
        made = made.with_positions(list(zip(graph.vs["x"], graph.vs["y"], strict=True)))
    return made


def _are_labels(names: list[Any]) -> bool:
    """Return whether the names are hashable, unique and not missing."""
    try:
        return len(set(names)) == len(names) and not any(map(is_missing, names))
    except TypeError:  # not hashable
        return False


def from_rustworkx(
    cls: type[Graph], graph: Any, weight: str | Callable[[Any], Any] | None = "auto"
) -> Graph:
    _require_kind(graph, "rustworkx", "node_indices", "edge_list", "nodes")
    weight = as_name(weight, "weight")
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
    payloads, left = graph.edges(), None
    if weight == "auto" and any(isinstance(payload, Mapping) for payload in payloads):
        weight, left = _known_attribute([p for p in payloads if isinstance(p, Mapping)])
    made = cls.from_edges(
        ends[:, 0],
        ends[:, 1],
        _payload_weights(payloads, weight),
        n=n,
        directed=hasattr(graph, "successors"),
        labels=labels,
    )
    return keeping_numbers_left(made, left)


def _payload_weights(
    payloads: list[Any], weight: str | Callable[[Any], Any] | None
) -> Array | None:
    """Return the weights given by the payloads of rustworkx edges."""
    if weight is None or not payloads:
        return None
    if callable(weight):
        return _values([weight(payload) for payload in payloads], "the values of weight()")
    if any(isinstance(payload, Mapping) for payload in payloads):
        known = sorted({str(key) for p in payloads if isinstance(p, Mapping) for key in p})
        payloads = [p.get(weight) if isinstance(p, Mapping) else p for p in payloads]
        if all(p is None for p in payloads):
            raise no_such_weight(weight, "entry of the edge payloads", known)
    values = np.array(payloads, dtype=object)
    numbers = {type(v) for v in payloads} - {type(None)}
    unsupported = [t for t in numbers if not issubclass(t, (int, float, np.number))]
    if unsupported or values.ndim != 1:
        raise GraphError(
            f"edge payloads of type {unsupported[0].__name__} are not weights",
            advice=[Text("pass ", Code("weight="), ", a function of the payload"), UNWEIGHTED],
        )
    return _values(payloads, "the edge weights")


def from_edge_index(
    cls: type[Graph], data: Any, weight: str | None = "auto", directed: bool = True
) -> Graph:
    index = as_array(to_numpy(data.edge_index), "edge_index")
    if index.ndim != 2 or index.shape[0] != 2:
        raise GraphError(f"edge_index must have two rows, but has shape {index.shape}")
    n = getattr(data, "num_nodes", None)
    weight = as_name(weight, "weight")
    name = "edge_weight" if weight == "auto" else weight
    weights = None if name is None else to_numpy(getattr(data, name, None))
    if weights is None and weight not in (None, "auto"):
        raise GraphError(f"the object has edge_index but no attribute {weight!r}")
    if weights is not None and weights.ndim == 2 and weights.shape[1] == 1:
        weights = weights[:, 0]
    return cls.from_edges(
        index[0], index[1], weights, n=None if n is None else int(n), directed=directed
    )


# ---- choose the constructor by the type of an object --------------------------------------------
# No library is imported for this: the class of an object names its library, which is imported
# already if the object exists.

_Constructor = Callable[..., "Graph"]

_TABLES = ("pandas", "polars", "pyarrow")


def from_any(cls: type[Graph], thing: Any, options: dict[str, Any]) -> Graph:
    name, construct = _constructor(cls, thing, options)
    _check_options(name, construct, options)
    return construct(thing, **options)


def _constructor(
    cls: type[Graph], thing: Any, options: Mapping[str, Any]
) -> tuple[str, _Constructor]:
    """Return the constructor for an object, and its name for messages."""
    if isinstance(thing, cls):
        return "a Graph", lambda graph: graph
    if isinstance(thing, (str, PathLike)):
        return "kleene.read", import_module("kleene.io").read  # by name: io is a layer above
    libraries = {kind.__module__.partition(".")[0] for kind in type(thing).__mro__}
    about: Mapping[str, Any] = getattr(thing, "graph", {}) if "networkx" in libraries else {}
    if "approach" in about:  # of momepy; in its dual graphs streets are nodes
        primal = about["approach"] == "primal"
        return (
            ("Graph.from_momepy", cls.from_momepy)
            if primal
            else ("Graph.from_networkx", cls.from_networkx)
        )
    if "crs" in about:  # streets have one
        return "Graph.from_osmnx", cls.from_osmnx
    if "geopandas" in libraries and not options.keys() & {"source", "target"}:
        return "Graph.from_geopandas", cls.from_geopandas
    for library in ("networkx", "igraph", "rustworkx"):
        if library in libraries:
            return f"Graph.from_{library}", getattr(cls, f"from_{library}")
    if hasattr(thing, "edge_index"):
        return "an edge_index", partial(from_edge_index, cls)
    if "scipy" in libraries and hasattr(thing, "tocoo"):
        return "Graph.from_scipy", cls.from_scipy
    if libraries.intersection(_TABLES) or isinstance(thing, Mapping):
        return "Graph.from_table", cls.from_table
    if isinstance(thing, tuple):
        return "Graph.from_edges", partial(_from_tuple, cls)
    if isinstance(thing, np.ndarray) or is_foreign(thing):
        return "Graph.from_dense", partial(_from_array, cls)
    if isinstance(thing, list):
        raise GraphError(
            "a list is ambiguous: call Graph.from_dense(rows) for the rows of a matrix, or "
            "Graph.from_edges(*zip(*edges)) for a list of edges"
        )
    raise GraphError(
        f"cannot make a graph from {type(thing).__name__}; pass a SciPy sparse array, "
        "a NumPy matrix, a NetworkX, igraph or rustworkx graph, a pandas, Polars or Arrow table, "
        "a GeoDataFrame of lines, a tuple (sources, targets, weights), an object with "
        "edge_index, or a file name"
    )


def _check_options(name: str, construct: _Constructor, options: dict[str, Any]) -> None:
    parameters = list(inspect.signature(construct).parameters.values())[1:]
    if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters):
        return
    known = [p.name for p in parameters]
    for option in options:
        if option not in known:
            takes = f"takes {', '.join(known)}" if known else "takes no options"
            raise RequestError(f"unknown option {option!r}: {name} {takes}")


def _from_tuple(
    cls: type[Graph],
    arrays: tuple[Any, ...],
    n: int | None = None,
    directed: bool = True,
    combine: Any = "min",
    labels: Any = None,
    name: str = "",
) -> Graph:
    if len(arrays) not in (2, 3):
        raise GraphError(
            f"a tuple must be (sources, targets) or (sources, targets, weights); it has "
            f"{len(arrays)} elements"
        )
    sources, targets, weights = map(to_numpy, (*arrays, None)[:3])
    return cls.from_edges(
        sources, targets, weights, n, directed, combine=combine, labels=labels, name=name
    )


def _from_array(cls: type[Graph], matrix: Any, null_value: Any = None) -> Graph:
    array = to_numpy(matrix)
    if array.ndim == 2 and array.shape[0] == 2 != array.shape[1]:
        raise GraphError(
            f"an array of shape {array.shape} is not a square matrix of weights; if its rows are "
            "sources and targets, pass tuple(array)"
        )
    return cls.from_dense(array, null_value)


# ---- Graphs of OSMnx ----------------------------------------------------------------------------
# A NetworkX multigraph of streets, with coordinates and street geometry.
#
# Its nodes have x and y, its edges a length and, unless the street is straight, a geometry. See
# https://osmnx.readthedocs.io, "Under the Hood".


def from_osmnx(cls: type[Graph], streets: Any, weight: str | None) -> Graph:
    graph = from_networkx(cls, streets, weight)
    if graph.positions is None and graph.n:
        raise GraphError(
            "expected a graph of OSMnx, whose nodes have x and y; for other graphs use "
            "from_networkx"
        )
    return _with_streets(graph, streets)


def _with_streets(graph: Graph, streets: Any) -> Graph:
    """Return the graph with the coordinate reference system and the geometry of its streets."""
    crs = streets.graph.get("crs")
    graph = in_crs(graph, None if crs is None else str(crs))
    geometries = [data.get("geometry") for *_, data in streets.edges(data=True)]
    if all(geometry is None for geometry in geometries):
        return graph
    assert graph.rows is not None
    assert graph.positions is not None
    lines = oriented(lines_of(geometries), graph.positions, graph.rows.sources, graph.rows.targets)
    return graph._derived(graph.csr, rows=graph.rows.with_lines(lines))


# ---- Graphs of momepy ---------------------------------------------------------------------------
# A NetworkX multigraph, of which a node is the point (x, y) where streets end. Streets have
# columns of their table, their geometry, and as "mm_len" its length in the units of coordinates.


def from_momepy(cls: type[Graph], streets: Any, weight: str | None) -> Graph:
    _require_kind(streets, "momepy", "edges", "is_directed", "graph")
    if streets.graph.get("approach") != "primal":
        raise GraphError(
            "expected a primal graph of momepy, gdf_to_nx(streets); for dual and other graphs use "
            "from_networkx"
        )
    name = as_name(weight, "weight")
    if name == "auto":
        names = dict.fromkeys(chain.from_iterable(data for *_, data in streets.edges(data=True)))
        name = named_weight(sorted(names, key=str), "edge attributes") or GEOMETRY
    graph = from_networkx(cls, streets, None if name == GEOMETRY else name)
    graph = _with_streets(graph, streets)
    if name != GEOMETRY or graph.rows is None or graph.rows.lines is None:
        return graph
    rows, lines, positions = graph.rows, graph.rows.lines, graph.positions
    assert positions is not None
    degrees = are_degrees(crs_of(graph), lines.coordinates)
    straight = distances_between(positions[rows.sources], positions[rows.targets], degrees)
    drawn = np.diff(lines.offsets) > 0
    return graph.reweight(rows=np.where(drawn, lengths_of_lines(lines, degrees), straight))
