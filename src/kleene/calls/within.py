"""What lies within a limit of some sources, or nearest to them: sparse arrays, or a subgraph."""

from __future__ import annotations

import numbers
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.common.limits import as_limit
from kleene.backends.task import WithinAnswer, WithinTask
from kleene.calls.arguments import (
    USE_SSSP,
    Progress,
    Vertices,
    as_count,
    as_prepared,
    as_vertices,
    make_ask,
    plan_lengths,
    require_graph,
    require_not_negative,
)
from kleene.engine import solve as engine
from kleene.engine.call import Call, Computation
from kleene.engine.planned import Planned
from kleene.engine.work import run_method
from kleene.errors import Code, RequestError, Text
from kleene.graph import Graph
from kleene.graph.checks import as_flag
from kleene.graph.labels import is_one_vertex
from kleene.planning.ask import Ask
from kleene.planning.facts import graph_facts
from kleene.planning.plan import Plan
from kleene.results.reach import Reach
from kleene.system.machine import threads_for

if TYPE_CHECKING:
    from kleene.backends.task import Progress as Report
    from kleene.calls.prepared_graph import PreparedGraph

__all__ = ["ego", "search_within", "within"]


def within(
    graph: Graph | PreparedGraph,
    sources: Hashable | Vertices | None,
    limit: float | None = None,
    *,
    k: int | None = None,
    hops: bool = False,
    reverse: bool = False,
    predecessors: bool = True,
    threads: int | None = None,
    progress: Progress = None,
) -> Reach:
    """Return the vertices that each source reaches within a limit, or those nearest to it.

    The answer takes memory for what is reached, and not for all pairs of sources and vertices.
    Searches run side by side on all cores, and what one costs does not depend on the size of the
    graph. The answer is the same in every run.

    Parameters
    ----------
    graph : Graph or PreparedGraph
        The graph to search; its weights must not be negative. A prepared graph answers by itself
        where there is a limit, and neither ``k`` nor ``hops``.
    sources : vertex, sequence of vertices, or None
        Where to search from; None means all vertices, in order of position.
    limit : number, optional
        The length, or the number of hops, to stop at. A vertex is within it if the weights of a
        path, added one by one from the source, come to no more. ``math.inf`` means no limit.
    k : int, optional
        How many vertices to stop at, besides the source: the nearest. Among vertices at the same
        distance, those found first come first, and among those found, the ones of smaller position.
    hops : bool
        Count arcs instead of adding weights.
    reverse : bool
        Search against the arcs: what is returned are the vertices that reach the sources.
    predecessors : bool
        Whether to keep predecessors, which paths are read from.
    threads : int, optional
        How many threads may be used; all cores unless given.
    progress : bool or function, optional
        True shows a progress bar; a function is called with (done, total).

    Returns
    -------
    Reach
        ``distances`` and ``predecessors`` are ``scipy.sparse.csr_array``, with a row for each
        source and a column for each vertex; :meth:`Reach.path`, :meth:`Reach.reached` and
        :meth:`Reach.to_frame` speak of vertices by label.

    Raises
    ------
    RequestError
        Neither ``limit`` nor ``k`` is given, or a weight is negative.
    MemoryBudgetError
        The answer grows beyond the memory that is available; the error estimates how far.

    See Also
    --------
    sssp : Distances to all vertices, as a dense array; takes ``limit``, too.
    isochrones : The same from one source, as bands and outlines on a map.

    Examples
    --------
    >>> import kleene as kl
    >>> g = kl.generate.grid(100, 100)
    >>> r = kl.within(g, [0, 5050], limit=2)
    >>> r.distances.shape, r.distances.nnz
    ((2, 10000), 19)
    >>> r.reached(0).tolist(), r.path(0, 101)
    ([0, 1, 100, 2, 101, 200], [0, 1, 101])

    The three nearest of each of two vertices:

    >>> kl.within(g, [0, 5050], k=3).to_frame().target.tolist()
    [0, 1, 2, 100, 4950, 5049, 5050, 5051]
    """
    form = None
    if not isinstance(graph, Graph):
        prepared = as_prepared(graph)
        if limit is not None and k is None and not hops and prepared.semiring == "min_plus":
            form = prepared
        graph = prepared.graph
    hops, reverse = as_flag(hops, "hops"), as_flag(reverse, "reverse")
    rows = (
        np.arange(graph.n, dtype=graph.id_dtype)
        if sources is None
        else one_or_more(graph, sources, "sources")
    )
    if limit is None and k is None:
        raise RequestError(
            "within needs a ",
            Code("limit"),
            " or ",
            Code("k"),
            advice=[Text(Code("limit=math.inf"), " returns all that the sources reach")],
        )
    most = None if k is None else as_count(k, "k")
    ask = make_ask(
        "within", sources=len(rows), predecessors=as_flag(predecessors, "predecessors"),
        threads=threads, device="cpu",
    )  # fmt: skip
    return search_within(graph, rows, limit, most, hops, reverse, ask, progress, form)


def ego(
    graph: Graph,
    vertex: Hashable,
    radius: float,
    *,
    hops: bool = False,
    reverse: bool = False,
    undirected: bool = False,
    center: bool = True,
) -> Graph:
    """Return the subgraph of the vertices within a radius of one vertex.

    It has all arcs of the graph between these vertices, also those that no shortest path takes. The
    search costs what lies within the radius, not the size of the graph, unless ``undirected`` asks
    for the undirected form of a directed one.

    Parameters
    ----------
    graph : Graph
        The graph; its weights must not be negative.
    vertex : vertex
        The vertex in the middle, by label, or by position if the graph has no labels.
    radius : number
        How far a vertex may be, by the weights of a path, or by its arcs where the graph has no
        weights. ``math.inf`` takes all that is reached.
    hops : bool
        Count arcs instead of adding weights.
    reverse : bool
        Take the vertices from which ``vertex`` is reached, instead of those that it reaches.
    undirected : bool
        Measure distances as if every arc led both ways, by the smaller weight; the arcs of the
        subgraph keep their directions.
    center : bool
        Whether ``vertex`` itself is part of the subgraph.

    Returns
    -------
    Graph
        The subgraph, its vertices in the order of ``graph``. It keeps labels, positions and table
        rows; without labels, the old positions become the labels.

    See Also
    --------
    within : The distances of these vertices, for many sources at once.
    Graph.subgraph : The subgraph of vertices that are known.

    Examples
    --------
    >>> import kleene as kl
    >>> g = kl.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], [2, 2, 2, 5])
    >>> near = kl.ego(g, 1, radius=4)
    >>> near.labels.tolist(), near.m
    ([1, 2, 3], 2)
    >>> kl.ego(g, 1, radius=1, hops=True, undirected=True, center=False).labels.tolist()
    [0, 2]
    """
    require_graph(graph)
    _require_radius(radius)
    undirected, center = as_flag(undirected, "undirected"), as_flag(center, "center")
    if undirected and as_flag(reverse, "reverse"):
        raise RequestError("undirected=True measures distances both ways: leave out reverse")
    if vertex is None or not is_one_vertex(vertex):
        raise RequestError(Code("vertex"), f" must be one vertex, not {vertex!r}")
    middle = int(graph.index(vertex))
    searched = graph.symmetrise() if undirected and graph.directed else graph
    require_not_negative(graph_facts(searched, as_flag(hops, "hops")), "ego")
    reach = within(
        searched, [graph.label(middle)], radius, hops=hops, reverse=reverse, predecessors=False
    )
    found = np.sort(reach.distances.indices)
    return graph.subgraph(graph.label(found if center else found[found != middle]))


def _require_radius(radius: Any) -> None:
    real = isinstance(radius, numbers.Real) and not isinstance(radius, (bool, np.bool_))
    if not real or not radius >= 0:
        raise RequestError(Code("radius"), f" must be a non-negative number, not {radius!r}")


def search_within(
    graph: Graph,
    sources: NDArray[Any],
    limit: Any,
    most: int | None,
    hops: bool,
    reverse: bool,
    ask: Ask,
    progress: Progress = None,
    form: PreparedGraph | None = None,
) -> Reach:
    """Plan and run bounded searches from some positions; a prepared graph may find the same."""
    bounded = _Bounded(hops, "sparse", limit, most, reverse)
    call = Call(
        ask, graph, sources, None, None, progress, None, False,
        form=form, by_form=form is not None, computes=bounded,
    )  # fmt: skip
    part, plan, stats, _ = engine.solve(call)
    answer, bound = part.answer
    return Reach(graph, plan, stats, answer, sources, bound, most, hops, reverse)


@dataclass(eq=False)
class _Bounded(Computation):
    """Searches that stop at a limit, or after so many vertices."""

    limit: Any
    most: int | None
    reverse: bool

    def plan(self, call: Call) -> Planned:
        """Plan them, on arcs or on a prepared graph; the answer grows with what is reached."""
        if call.form is not None:
            require_not_negative(graph_facts(call.graph), "within", USE_SSSP)
            return Planned(call.form._plan(call.ask, 0))
        several = len(call.sources) > 1
        advice = "ask for fewer sources at a time" if several else "use a machine with more memory"
        return Planned(plan_lengths(call.graph, call.ask, self.hops, advice))

    def compute(self, call: Call, plan: Plan, report: Report | None) -> tuple[WithinAnswer, Any]:
        """Return what each source reaches, and the limit in the type of the distances."""
        graph, sources, dtype = call.graph, call.sources, np.dtype(plan.dtype)
        bound = as_limit(self.limit, graph, dtype, self.hops)
        paths, threads = call.ask.what.predecessors, call.ask.where.threads
        if call.form is not None:
            from kleene.prepared.near import within as within_prepared  # few calls need it

            form: Any = call.form
            elimination, values = form._parts
            found = within_prepared(
                elimination, values, sources, bound, predecessors=paths, reverse=self.reverse,
                threads=threads, progress=report,
            )  # fmt: skip
            return found, bound
        task = WithinTask(
            graph.transpose() if self.reverse else graph, sources, bound, self.most, paths, dtype,
            self.hops or graph.weight_dtype is None,
            threads_for(len(sources) * (graph.n + graph.m), threads), report,
        )  # fmt: skip
        return run_method(plan, task), bound


def one_or_more(graph: Graph, vertices: Any, name: str) -> NDArray[Any]:
    """Return the positions of a vertex, or of a sequence of vertices."""
    if isinstance(vertices, (str, bytes)) or not np.iterable(vertices):
        return np.array([graph.index(vertices)], dtype=graph.id_dtype)
    return as_vertices(graph, vertices, name)
