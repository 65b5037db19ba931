"""What to use for names that other libraries have and ``kleene`` has not."""

from __future__ import annotations

from collections.abc import Iterable

from kleene.system.suggestions import did_you_mean

__all__ = ["USE_INSTEAD", "missing_attribute"]

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
    **dict.fromkeys(("verify", "check", "validate"), "result.verify()"),
    **dict.fromkeys(("path", "paths"), "result.path(target), with kl.sssp or kl.bfs"),
    **dict.fromkeys(("plan", "why"), 'kl.explain(graph, "sssp")'),
    **dict.fromkeys(("doctor", "info", "showversions"), "the command `kleene doctor`"),
}  # fmt: skip


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
