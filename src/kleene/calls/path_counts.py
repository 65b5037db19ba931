"""How many shortest paths lead from a source to each vertex."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from kleene.backends.common.limits import as_limit
from kleene.calls.arguments import (
    Progress,
    check_call,
    require_graph,
    require_not_negative,
    wide_dtype,
)
from kleene.calls.execution import solve
from kleene.engine.value import timed
from kleene.errors import Code, RequestError
from kleene.graph import Graph
from kleene.graph.checks import as_flag
from kleene.graph.labels import is_one_vertex
from kleene.graph.weight_names import warn_of_numbers_left
from kleene.measures.path_counts import PathCounts, count_paths
from kleene.measures.zero_cycles import refuse_zero_cycles
from kleene.planning.facts import graph_facts

__all__ = ["path_counts"]


def path_counts(
    graph: Graph,
    source: Hashable,
    *,
    hops: bool = False,
    reverse: bool = False,
    limit: float | None = None,
    exact: bool = False,
    threads: int | None = None,
    progress: Progress = None,
) -> PathCounts:
    """Return how many shortest paths lead from a source to each vertex.

    Paths are counted in whole numbers, whatever their size. Floats are the nearest to these.

    Parameters
    ----------
    graph : Graph
        The graph. Its weights must not be negative, and no cycle may have length zero. Two paths
        are equally short if their lengths are equal: integers exactly, floats if their float64
        sums, added arc by arc from the source, are equal.
    source : vertex
        Where paths begin. The source itself has one path, of no arcs.
    hops : bool
        Count arcs instead of adding weights, as NetworkX and igraph do unless weights are named.
    reverse : bool
        Whether paths lead to the source instead of from it; floats are then added from there, too.
    limit : number, optional
        The length, or the number of hops, beyond which a vertex counts as not reached.
    exact : bool
        Return integers: an int64 array if all numbers fit, else an array of Python's integers.
        Otherwise numbers are float64, and more paths than 1.8e308 are an error.
    threads : int, optional
        How many threads the search may use; all cores unless given. Paths are counted by one.
    progress : bool or function, optional
        True shows a progress bar; a function is called with (done, total).

    Returns
    -------
    PathCounts
        A number for each vertex: 0 where no path leads.

    Raises
    ------
    RequestError
        A weight is negative, arcs of weight zero form a cycle, or a number is too large for a
        float.

    Examples
    --------
    >>> import kleene as kl
    >>> roads = {"from": ["a", "a", "b", "c", "d"], "to": ["b", "c", "d", "d", "e"]}
    >>> g = kl.Graph.from_table({**roads, "km": [2, 3, 4, 3, 1]}, "from", "to", "km")
    >>> counts = kl.path_counts(g, "a")
    >>> counts["e"], counts.distances.tolist()
    (2.0, [0, 2, 3, 6, 7])
    >>> kl.path_counts(kl.generate.grid(50, 50), 0, exact=True).top(1)
    [(2499, 25477612258980856902730428600)]
    """
    require_graph(graph)
    if source is None or not is_one_vertex(source):
        raise RequestError(Code("source"), f" must be one vertex, not {source!r}")
    hops, exact = as_flag(hops, "hops"), as_flag(exact, "exact")
    own = None if hops else graph.weight_dtype
    unit, wide = own is None, wide_dtype(graph, hops)
    if not hops:
        warn_of_numbers_left(graph)
    bound = as_limit(limit, graph, wide, unit)
    call = check_call(
        "bfs" if unit else "sssp", graph, source=source, reverse=reverse, limit=bound,
        predecessors=False, device="cpu", threads=threads, progress=progress, arc_by_arc=True,
        dtype=wide if wide.kind == "f" else None,
    )  # fmt: skip
    if not unit:
        require_not_negative(graph_facts(graph), "path_counts")
        refuse_zero_cycles(graph)
    call = call._replace(ask=call.ask._replace(keywords=()))
    found = solve(call)
    walked = graph.transpose() if call.reverse else graph
    start = int(call.sources[0])
    values, counting = timed(lambda _: count_paths(walked, found.distances, start, unit, exact))
    stats = replace(found.stats, total=found.stats.total + counting.total)
    return PathCounts(
        graph, values, found.distances, start, unit, call.reverse, bound, found.plan, stats
    )
