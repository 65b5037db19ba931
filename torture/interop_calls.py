"""Calls by the names of other libraries, and conversions from and to what they hold."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import cache
from operator import attrgetter
from typing import Any

__all__ = ["conversions", "csgraph_calls", "networkx_calls"]

Named = tuple[str, Callable[[], Any]]

#: Functions of NetworkX whose backends know them by another name.
_OTHER_NAMES = {
    "girvan_newman": "community.girvan_newman",
    "newman_betweenness_centrality": "load_centrality",
    "steiner_tree": "approximation.steiner_tree",
}

#: What parameters of NetworkX's functions get; others have a default.
_ARGUMENTS = {
    "source": 0, "target": 5, "sources": [0, 2], "targets": [4, 5], "u": 0, "v": 5, "n": 0,
    "distance": 2, "weight": "weight", "center_nodes": [0, 3], "terminal_nodes": [0, 3, 5],
}  # fmt: skip

#: Calls that take another graph than an undirected one with lengths.
_DIRECTED = ("strongly", "weakly")
_GRAPHS = {"transitive_closure_dag": "acyclic", "find_negative_cycle": "negative"}


def networkx_calls() -> Iterator[Named]:
    """Yield a call of each function of the NetworkX backend, on graphs that are new."""
    import networkx as nx

    from _kleene_networkx import get_info
    from kleene.interop.networkx import convert_from_nx

    ends = [(0, 1, 4), (1, 2, 9), (2, 3, 3), (3, 4, 1), (4, 5, 7), (0, 5, 2), (1, 4, 5)]
    plain = nx.Graph()
    plain.add_weighted_edges_from(ends)
    acyclic = nx.DiGraph()
    acyclic.add_weighted_edges_from(ends)
    negative = acyclic.copy()
    negative.add_edge(5, 0, weight=-3)
    graphs = {"plain": plain, "acyclic": acyclic, "negative": negative}
    converted = {name: convert_from_nx(graph) for name, graph in graphs.items()}
    for name in sorted(get_info()["functions"]):
        kind = "acyclic" if any(part in name for part in _DIRECTED) else _GRAPHS.get(name, "plain")
        call, graph = attrgetter(_OTHER_NAMES.get(name, name))(nx), converted[kind]
        yield f"networkx {name}", lambda c=call, g=graph: _plain(c(g, **_arguments(c)))
    yield (
        "networkx, a graph of its own",
        lambda: _plain(nx.dijkstra_path(plain.copy(), 0, 3, backend="kleene")),
    )


@cache
def _arguments(call: Any) -> dict[str, Any]:
    """Return arguments for what a function needs, and a weight where it takes one."""
    found = {}
    for name, parameter in list(inspect.signature(call).parameters.items())[1:]:
        needed = parameter.default is parameter.empty and parameter.kind != parameter.VAR_KEYWORD
        if needed or name == "weight":
            found[name] = _ARGUMENTS[name]
    return found


def _plain(answer: Any) -> Any:
    """Return an answer as Python's own numbers, lists and dicts, which compare with ==."""
    if hasattr(answer, "edges"):
        return sorted(answer.edges), sorted(answer)
    if hasattr(answer, "tolist"):
        return answer.tolist()
    if isinstance(answer, dict):
        return {key: _plain(value) for key, value in answer.items()}
    if isinstance(answer, (list, tuple)) or hasattr(answer, "__next__"):
        return [_plain(value) for value in answer]
    return answer


def csgraph_calls(matrix: Any) -> Iterator[Named]:
    """Yield a call of each of our own functions of ``kleene.csgraph``."""
    from kleene import csgraph

    def negative() -> str:
        try:
            csgraph.bellman_ford([[0, 1], [-2, 0]])
        except csgraph.NegativeCycleError as error:
            return str(error)
        raise AssertionError("a negative cycle was overlooked")

    several = {"return_predecessors": True}
    for name, do in {
        "shortest_path": lambda: csgraph.shortest_path(matrix, **several),
        "floyd_warshall": lambda: csgraph.floyd_warshall(matrix, **several),
        "dijkstra": lambda: csgraph.dijkstra(matrix, indices=0),
        "bellman_ford": lambda: csgraph.bellman_ford(matrix, indices=[0, 2], **several),
        "johnson": lambda: csgraph.johnson(matrix, indices=1),
        "yen": lambda: csgraph.yen(matrix, 0, 4, 2),
        "breadth_first_order": lambda: csgraph.breadth_first_order(matrix, 0),
        "connected_components": lambda: csgraph.connected_components(matrix),
    }.items():
        yield f"csgraph {name}", lambda do=do: _plain(do())
    yield "csgraph breadth_first_tree", lambda: csgraph.breadth_first_tree(matrix, 0).nnz
    yield "csgraph negative cycle", negative


def conversions(whole: Any, answer: Any) -> Iterator[Named]:
    """Yield calls that make graphs of what other libraries hold, and tables of answers."""
    import geopandas
    import igraph
    import networkx as nx
    import pandas
    import polars
    import pyarrow
    import rustworkx

    import kleene as kl

    tails, heads, weights = (array.tolist() for array in (*whole.coo[:2], whole.weights))
    columns = {"source": tails, "target": heads, "weight": weights}
    edges = list(zip(tails, heads, weights, strict=True))
    theirs = igraph.Graph(
        n=5, edges=[edge[:2] for edge in edges], directed=True, edge_attrs={"weight": weights}
    )
    rust = rustworkx.PyDiGraph()
    rust.add_nodes_from(range(5))
    rust.add_edges_from(edges)
    nxs = nx.DiGraph()
    nxs.add_weighted_edges_from(edges)
    streets = nx.MultiDiGraph(crs="epsg:4326")
    streets.add_nodes_from((v, {"x": 12 + v / 100, "y": 41.0}) for v in range(5))
    streets.add_edges_from((u, v, {"length": w}) for u, v, w in edges)
    lines = [f"LINESTRING ({u} 0, {u} 9, {v} 0)" for u, v, _ in edges]
    shapes = geopandas.GeoDataFrame(geometry=geopandas.GeoSeries.from_wkt(lines))
    primal = nx.MultiGraph(approach="primal")
    primal.add_nodes_from((v, {"x": float(v), "y": 0.0}) for v in range(5))
    primal.add_edges_from(
        (u, v, {"geometry": line}) for (u, v, _), line in zip(edges, lines, strict=True)
    )
    matrix, labelled = whole.to_scipy(), kl.Graph.from_table(pandas.DataFrame(columns))
    reach, loads = kl.within(whole, [0, 3], 9), kl.loads(whole, ([0, 1], [3, 4], [5.0, 2.0]))

    def distances(make: Callable[[], Any]) -> Callable[[], Any]:
        return lambda: kl.sssp(make(), 0).distances.tolist()

    for name, make in {
        "from_table, pandas": lambda: kl.Graph.from_table(pandas.DataFrame(columns)),
        "from_table, polars": lambda: kl.Graph.from_table(polars.DataFrame(columns)),
        "from_table, arrow": lambda: kl.Graph.from_table(pyarrow.table(columns)),
        "from_igraph": lambda: kl.Graph.from_igraph(theirs),
        "from_rustworkx": lambda: kl.Graph.from_rustworkx(rust, weight=float),
        "from_networkx": lambda: kl.Graph.from_networkx(nxs),
        "from_osmnx": lambda: kl.Graph.from_osmnx(streets),
        "from_geopandas": lambda: kl.Graph.from_geopandas(shapes, snap=0.25),
        "from_momepy": lambda: kl.Graph.from_momepy(primal),
        "from_scipy": lambda: kl.Graph.from_scipy(matrix),
        "from_dense": lambda: kl.Graph.from_dense(answer.floats),
        "from_csr": lambda: kl.Graph.from_csr(whole.offsets, whole.neighbors, whole.weights),
        "from_any": lambda: kl.Graph.from_any(matrix),
    }.items():
        yield name, distances(make)
    yield "to_networkx", lambda: _plain(whole.to_networkx())
    yield "to_scipy", lambda: whole.to_scipy().toarray().tolist()
    for name, made in {"answer": answer, "reach": reach, "loads": loads}.items():
        yield f"{name} to_frame", lambda made=made: made.to_frame().to_dict("list")
        yield f"{name} to_polars", lambda made=made: made.to_polars().to_dict(as_series=False)
        yield f"{name} to_arrow", lambda made=made: pyarrow.table(made.to_arrow()).to_pydict()
    yield "to_pandas", lambda: answer.to_pandas().to_numpy().tolist()
    yield "labelled to_frame", lambda: kl.sssp(labelled, 0).to_frame().to_dict("list")
