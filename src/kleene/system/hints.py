"""What to write here for the names and keywords of other libraries."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable
from typing import ParamSpec, TypeVar

from kleene.system.suggestions import did_you_mean

__all__ = [
    "ATTRIBUTES", "KEYWORDS", "USE_INSTEAD", "Hint", "hint_on", "hinted", "missing",
    "missing_attribute",
]  # fmt: skip

P = ParamSpec("P")
R = TypeVar("R")

_ONE_SOURCE = "kl.sssp(graph, source)"
_ALL_PAIRS = "kl.apsp(graph)"
_GRAPH = "kl.Graph"

#: By name in lower case without underscores, so that ``DiGraph`` and ``di_graph`` are one.
USE_INSTEAD = {
    **dict.fromkeys(
        ("dijkstra", "dijkstrapath", "singlesourcedijkstra", "deltastepping", "spfa"), _ONE_SOURCE
    ),
    **dict.fromkeys(
        ("bellmanford", "singlesourcebellmanford"),
        f"{_ONE_SOURCE}, which takes negative weights",
    ),
    **dict.fromkeys(
        ("shortestpath", "shortestpaths", "getshortestpath", "getshortestpaths", "astar"),
        "kl.sssp(graph, source).path(target), or kl.bfs for the fewest hops",
    ),
    **dict.fromkeys(
        ("shortestpathlength", "distance", "distances"),
        "kl.sssp(graph, source).distances, or kl.bfs for hops",
    ),
    **dict.fromkeys(
        ("floydwarshall", "johnson", "allpairs", "allpairsshortestpath", "allpairsdijkstra",
         "distancematrix"),
        _ALL_PAIRS,
    ),
    **dict.fromkeys(
        ("breadthfirstsearch", "breadthfirstorder", "breadthfirsttree", "hops"),
        "kl.bfs(graph, source)",
    ),
    **dict.fromkeys(("transitiveclosure", "reachability"), "kl.closure(graph)"),
    **dict.fromkeys(("widestpath", "bottleneckpath"), 'kl.closure(graph, "max_min")'),
    **dict.fromkeys(
        ("connectedcomponents", "weaklyconnectedcomponents", "stronglyconnectedcomponents",
         "scc", "wcc"),
        "kl.components(graph)",
    ),
    **dict.fromkeys(
        ("yen", "kshortestpaths", "shortestsimplepaths"),
        "kl.k_shortest(graph, source, target, k)",
    ),
    "egograph": "kl.within(graph, sources, limit)",
    **dict.fromkeys(
        ("multisourcedijkstra", "voronoicells", "nearestpois"), "kl.nearest(graph, facilities)"
    ),
    **{
        name.replace("_", ""): f"{_GRAPH}.{name}(...)"
        for name in (
            "from_any", "from_edges", "from_csr", "from_scipy", "from_dense", "from_networkx",
            "from_igraph", "from_rustworkx", "from_table",
        )
    },
    **dict.fromkeys(
        ("frompandas", "frompandasedgelist", "fromdataframe", "frompolars", "fromarrow"),
        f"{_GRAPH}.from_table(table)",
    ),
    **dict.fromkeys(("fromnumpy", "fromnumpyarray", "frommatrix"), f"{_GRAPH}.from_dense(matrix)"),
    **dict.fromkeys(("digraph", "multigraph", "multidigraph"), f"{_GRAPH}.from_any(thing)"),
    **dict.fromkeys(
        ("load", "open", "readgraph", "readcsv", "readedgelist", "readgraphml", "loadgraph"),
        "kl.read(path); a saved result comes back by kl.Result.load(path, graph)",
    ),
    **dict.fromkeys(
        ("save", "dump", "writegraph", "savegraph"),
        "kl.write(graph, path), or result.save(path)",
    ),
    **dict.fromkeys(("plot", "show", "drawgraph", "picture", "drawnetworkx"), "kl.draw(graph)"),
    **dict.fromkeys(
        ("nearestvertex", "nearestnodes", "getnodeids", "mappoints"),
        "g.nearest_vertex(x, y), which says how far they are, too",
    ),
    **dict.fromkeys(("readfile", "readgeojson", "readgpkg"), "kl.read(path)"),
    **dict.fromkeys(
        ("fromgeodataframe", "fromgdf", "gdftonx", "fromgeopandas"),
        f"{_GRAPH}.from_geopandas(streets)",
    ),
    **dict.fromkeys(("verify", "check", "validate"), "result.verify()"),
    **dict.fromkeys(("path", "paths"), "result.path(target), with kl.sssp or kl.bfs"),
    **dict.fromkeys(("plan", "why"), 'kl.explain(graph, "sssp")'),
    **dict.fromkeys(("doctor", "info", "showversions"), "the command `kleene doctor`"),
}  # fmt: skip

#: Of graphs; more stand in USE_INSTEAD. (A prepared graph has a Hint for each name: a class with
#: ``__getattr__`` finds its other attributes later, by a twentieth of PreparedGraph.distance.)
ATTRIBUTES = {
    **dict.fromkeys(("nodes", "vertices", "vs", "nodelist"), "g.label(range(g.n)), of all g.n"),
    **dict.fromkeys(("edges", "arcs", "es", "edgelist"), "g.coo, the ends and weights of arcs"),
    **dict.fromkeys(("numberofnodes", "order", "vcount", "numnodes", "numvertices"), "g.n"),
    **dict.fromkeys(("numberofedges", "size", "ecount", "numedges", "nnz"), "g.m"),
    **dict.fromkeys(("toundirected", "asundirected", "symmetrize"), "g.symmetrise()"),
    **dict.fromkeys(("reverse", "reverseedges", "t"), "g.transpose()"),
    **dict.fromkeys(("adjacency", "adj", "toscipysparsearray"), "g.csr, or g.to_scipy()"),
    **dict.fromkeys(("addedge", "addedges", "addnode", "removeedge"), "g.update(...)"),
    "save": "kl.write(g, path)",
    **dict.fromkeys(
        ("nearestnodes", "nearestnode", "getnodeids", "getnodeid", "nearestedges"),
        "g.nearest_vertex(x, y).vertices",
    ),
}  # fmt: skip

_WEIGHTS = "weights belong to the graph, as in kl.Graph.from_table(table, weight='km')"

#: Keywords, a parameter of ours, and what to do: the first row that has both is the hint.
KEYWORDS = (
    (("cutoff", "max_distance", "maxdist", "max_dist", "max_hops", "radius"), "limit",
     "use limit=, beyond which paths do not count"),
    (("cutoff", "limit", "max_distance", "order"), "radius", "use radius="),
    (("cutoff", "limit", "radius", "mapping_distance"), "max_distance", "use max_distance="),
    (("x", "lon", "lng", "longitude"), "x", "use x="),
    (("y", "lat", "latitude"), "y", "use y="),
    (("tolerance", "digits", "precision", "rounding"), "snap", "use snap=, a distance"),
    (("length",), "weight", "use weight=, a column, or weight='geometry'"),
    (("oneway_column", "oneway"), "directed", "use directed=, the name of the column"),
    (("k", "n_samples", "nsamples", "num_samples", "pivots"), "samples",
     "use samples=, a number of random sources"),
    (("epsilon", "eps", "err"), "error", "use error="),
    (("delta",), "confidence", "use confidence=, which is 1 - delta"),
    (("weight", "weights", "distance", "cost", "unweighted"), "hops",
     f"{_WEIGHTS}; hops=True counts arcs"),
    (("weight", "weights", "distance", "cost"), "graph", f"{_WEIGHTS}; kl.bfs counts arcs"),
    (("source", "target", "start", "end"), "ends",
     "give the ends by position: route(target), or route(source, target)"),
    (("target", "destination", "end", "to"), "targets",
     "use targets=[...]; a path is kl.sssp(graph, source).path(target)"),
    (("targets", "destinations", "pois"), "facilities", "use facilities="),
    (("origin", "start", "root", "src"), "source", "use source="),
    (("indices", "origins", "vertices", "seeds", "source"), "sources", "use sources=[...]"),
    (("source", "sources", "node"), "vertex", "use vertex="),
    (("mode", "direction"), "reverse", "use reverse=True for paths that lead to the sources"),
    (("directed", "undirected"), "graph",
     "a graph is directed or not; g.symmetrise() gives every arc both directions"),
    (("n_jobs", "workers", "num_threads", "nthreads"), "threads", "use threads="),
    (("gpu", "use_gpu", "backend"), "device", "use device='cuda' or device='cpu'"),
    (("return_predecessors", "paths"), "predecessors", "use predecessors=True"),
    (("algorithm", "algo"), "method", "use method="),
    (("filename", "file", "fname"), "path", "use path="),
)  # fmt: skip


def hinted(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function that says, of a keyword that it has not, what to write instead.

    The name is public where the function is made, so it can be pickled from there.
    """

    @functools.wraps(function)
    def call(*args: P.args, **keywords: P.kwargs) -> R:
        try:
            return function(*args, **keywords)
        except TypeError as error:
            inside = error.__traceback__ is None or error.__traceback__.tb_next is not None
            unexpected = not inside and "unexpected keyword" in str(error)
            if not unexpected:
                raise
            from inspect import signature

            known = signature(function).parameters
            advice = hint_on(next((name for name in keywords if name not in known), ""), known)
            if not advice:
                raise
            message = f"{error}; {advice}"
        raise TypeError(message)

    return call


def hint_on(keyword: str, known: Collection[str]) -> str:
    """Return what to write for a keyword that a function has not, or ""; it knows others."""
    name = keyword.lower()
    hints = (hint for names, ours, hint in KEYWORDS if name in names and ours in known)
    return next(hints, "") or did_you_mean(keyword, known)


class Hint:
    """An attribute that a class does not have, and what to use instead."""

    def __init__(self, use: str) -> None:
        self._use = use

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, thing: object, owner: type) -> object:
        if thing is None:  # programs look at what classes have
            return self
        message = f"{owner.__name__!r} object has no attribute {self._name!r}; use {self._use}"
        raise AttributeError(message, name=self._name, obj=thing)


def missing(thing: object, name: str) -> str:
    """Return the message for an attribute that a graph does not have, with what to use instead.

    >>> import kleene as kl
    >>> missing(kl.datasets.rome(), "nodes")
    "'Graph' object has no attribute 'nodes'; use g.label(range(g.n)), of all g.n"
    """
    message = f"{type(thing).__name__!r} object has no attribute {name!r}"
    if name.startswith("_"):  # programs ask for these
        return message
    plain = name.lower().replace("_", "")
    use = ATTRIBUTES.get(plain) or USE_INSTEAD.get(plain)
    return f"{message}; use {use}" if use else message


def missing_attribute(name: str, public: Iterable[str]) -> str:
    """Return the message for a name that ``kleene`` does not have, with what to use instead.

    >>> missing_attribute("dijkstra", ["apsp", "sssp"])
    "module 'kleene' has no attribute 'dijkstra'; use kl.sssp(graph, source)"
    >>> missing_attribute("apps", ["apsp", "sssp"])
    "module 'kleene' has no attribute 'apps'; did you mean 'apsp'?"
    """
    message = f"module 'kleene' has no attribute {name!r}"
    if name.startswith("_"):  # programs ask for these
        return message
    use = USE_INSTEAD.get(name.lower().replace("_", ""))
    advice = f"use {use}" if use else did_you_mean(name, public)
    return f"{message}; {advice}" if advice else message
