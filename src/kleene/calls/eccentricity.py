"""Eccentricities, and what follows from them: diameter, radius, center and periphery."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from kleene.calls.arguments import Call, Progress
from kleene.calls.components import components
from kleene.calls.distance_sums import DistanceWork, check_distances
from kleene.engine.planned import plan_value
from kleene.engine.value import timed
from kleene.errors import Code, GraphError, RequestError, Text
from kleene.graph import Graph
from kleene.measures.eccentricity import Eccentricity, Goal, Known, by_bounds, by_searches
from kleene.planning.ask import ARC_BY_ARC
from kleene.planning.facts import graph_facts
from kleene.planning.plan import Plan, with_notes
from kleene.results.components import Components
from kleene.system.formatting import counted

if TYPE_CHECKING:
    from kleene.calls.prepared_graph import PreparedGraph

__all__ = [
    "EccentricityQuestion",
    "Unreachable",
    "center",
    "diameter",
    "eccentricity",
    "periphery",
    "radius",
]

Array = NDArray[Any]


def eccentricity(
    graph: Graph | PreparedGraph,
    *,
    hops: bool = False,
    reverse: bool = False,
    unreachable: Unreachable = "error",
    threads: int | None = None,
    progress: Progress = None,
) -> Eccentricity:
    """Return the eccentricity of each vertex: the distance to the vertex farthest from it.

    Of hops and integers, bounds by the triangle inequality decide most vertices after few searches;
    the others are searched from hundreds at a time. Floats are searched from all vertices: rounding
    leaves every bound open. The numbers are those of searches from all vertices, to the last bit;
    floats are added up in float64.

    Parameters
    ----------
    graph : Graph or PreparedGraph
        The graph; its weights must not be negative.
    hops : bool
        Count arcs instead of adding weights, as NetworkX and igraph do unless weights are named. A
        graph without weights counts arcs anyway.
    reverse : bool
        Whether paths lead to the vertex instead of from it.
    unreachable : {"error", "ignore"}
        What becomes of a graph in which some vertices do not reach all others: an error, or each
        vertex is measured by those that it reaches. Of a directed graph of that kind, all vertices
        are searched from.
    threads : int, optional
        How many threads may be used; all cores unless given.
    progress : bool or function, optional
        True shows a progress bar; a function is called with (done, total) while vertices that
        bounds have not decided are searched from.

    Returns
    -------
    Eccentricity
        A number for each vertex, and ``diameter``, ``radius``, ``center``, ``periphery`` and
        ``searches``.

    Raises
    ------
    GraphError
        Some vertex does not reach all others, and ``unreachable`` is ``"error"``.

    Examples
    --------
    >>> import kleene as kl
    >>> e = kl.eccentricity(kl.generate.grid(3, 5))
    >>> e.values.reshape(3, 5).tolist()
    [[6, 5, 4, 5, 6], [5, 4, 3, 4, 5], [6, 5, 4, 5, 6]]
    >>> e.diameter, e.radius, e.center.tolist(), e.periphery.tolist()
    (6, 3, [7], [0, 4, 10, 14])
    """
    asked = EccentricityQuestion(graph, hops, reverse, unreachable, threads, progress)
    return asked.eccentricity()


def diameter(
    graph: Graph | PreparedGraph,
    *,
    hops: bool = False,
    unreachable: Unreachable = "error",
    threads: int | None = None,
    progress: Progress = None,
) -> Any:
    """Return the largest distance between any two vertices, exactly.

    Few searches decide it on most graphs: 5 on a social network of 4,039 vertices, 10 on the
    highways of the world. It is what searches from all vertices would find, to the last bit.

    Parameters
    ----------
    graph : Graph or PreparedGraph
        The graph; its weights must not be negative.
    hops : bool
        Count arcs instead of adding weights, as NetworkX and igraph do unless weights are named. A
        graph without weights counts arcs anyway.
    unreachable : {"error", "ignore"}
        What becomes of a graph in which some vertices do not reach all others: an error, or the
        largest distance of those pairs that a path joins. Of a directed graph of that kind, all
        vertices are searched from.
    threads : int, optional
        How many threads may be used; all cores unless given.
    progress : bool or function, optional
        True shows a progress bar; a function is called with (done, total) while vertices that
        bounds have not decided are searched from.

    Returns
    -------
    int or float
        The diameter.

    Raises
    ------
    GraphError
        Some vertex does not reach all others, and ``unreachable`` is ``"error"``.

    Examples
    --------
    >>> import kleene as kl
    >>> kl.diameter(kl.datasets.rome()), kl.diameter(kl.datasets.rome(), hops=True)
    (77403, 57)
    """
    asked = EccentricityQuestion(graph, hops, False, unreachable, threads, progress)
    return asked.number("diameter")


def radius(
    graph: Graph | PreparedGraph,
    *,
    hops: bool = False,
    reverse: bool = False,
    unreachable: Unreachable = "error",
    threads: int | None = None,
    progress: Progress = None,
) -> Any:
    """Return the smallest eccentricity: the distance from the most central vertex to the farthest.

    Parameters
    ----------
    graph : Graph or PreparedGraph
        The graph; its weights must not be negative.
    hops : bool
        Count arcs instead of adding weights, as NetworkX and igraph do unless weights are named. A
        graph without weights counts arcs anyway.
    reverse : bool
        Whether paths lead to the vertex instead of from it.
    unreachable : {"error", "ignore"}
        What becomes of a graph in which some vertices do not reach all others: an error, or each
        vertex is measured by those that it reaches; a vertex that reaches no other has 0.
    threads : int, optional
        How many threads may be used; all cores unless given.
    progress : bool or function, optional
        True shows a progress bar; a function is called with (done, total) while vertices that
        bounds have not decided are searched from.

    Returns
    -------
    int or float
        The radius.

    Examples
    --------
    >>> import kleene as kl
    >>> kl.radius(kl.generate.grid(3, 5))
    3
    """
    asked = EccentricityQuestion(graph, hops, reverse, unreachable, threads, progress)
    return asked.number("radius")


def center(
    graph: Graph | PreparedGraph,
    *,
    hops: bool = False,
    reverse: bool = False,
    unreachable: Unreachable = "error",
    threads: int | None = None,
    progress: Progress = None,
) -> Array:
    """Return the vertices whose eccentricity is the radius.

    Parameters
    ----------
    graph : Graph or PreparedGraph
        The graph; its weights must not be negative.
    hops : bool
        Count arcs instead of adding weights, as NetworkX and igraph do unless weights are named. A
        graph without weights counts arcs anyway.
    reverse : bool
        Whether paths lead to the vertex instead of from it.
    unreachable : {"error", "ignore"}
        What becomes of a graph in which some vertices do not reach all others: an error, or each
        vertex is measured by those that it reaches; a vertex that reaches no other has 0.
    threads : int, optional
        How many threads may be used; all cores unless given.
    progress : bool or function, optional
        True shows a progress bar; a function is called with (done, total) while vertices that
        bounds have not decided are searched from.

    Returns
    -------
    array
        Vertices in the order of the graph: labels where the graph has labels.

    Examples
    --------
    >>> import kleene as kl
    >>> kl.center(kl.generate.grid(3, 5)).tolist()
    [7]
    """
    asked = EccentricityQuestion(graph, hops, reverse, unreachable, threads, progress)
    return asked.vertices("center")


def periphery(
    graph: Graph | PreparedGraph,
    *,
    hops: bool = False,
    reverse: bool = False,
    unreachable: Unreachable = "error",
    threads: int | None = None,
    progress: Progress = None,
) -> Array:
    """Return the vertices whose eccentricity is the diameter.

    Parameters
    ----------
    graph : Graph or PreparedGraph
        The graph; its weights must not be negative.
    hops : bool
        Count arcs instead of adding weights, as NetworkX and igraph do unless weights are named. A
        graph without weights counts arcs anyway.
    reverse : bool
        Whether paths lead to the vertex instead of from it.
    unreachable : {"error", "ignore"}
        What becomes of a graph in which some vertices do not reach all others: an error, or each
        vertex is measured by those that it reaches.
    threads : int, optional
        How many threads may be used; all cores unless given.
    progress : bool or function, optional
        True shows a progress bar; a function is called with (done, total) while vertices that
        bounds have not decided are searched from.

    Returns
    -------
    array
        Vertices in the order of the graph: labels where the graph has labels.

    Examples
    --------
    >>> import kleene as kl
    >>> kl.periphery(kl.generate.grid(3, 5)).tolist()
    [0, 4, 10, 14]
    """
    asked = EccentricityQuestion(graph, hops, reverse, unreachable, threads, progress)
    return asked.vertices("periphery")


# ---- What the calls about eccentricities share --------------------------------------------------
# Checks, plans, bounds, and searches from many.

Unreachable = Literal["error", "ignore"]


class EccentricityQuestion:
    """A graph whose eccentricities are asked about, with checked arguments."""

    def __init__(
        self,
        graph: Graph | PreparedGraph,
        hops: bool,
        reverse: bool,
        unreachable: Unreachable,
        threads: int | None,
        progress: Progress,
    ) -> None:
        if not isinstance(unreachable, str) or unreachable not in ("error", "ignore"):
            raise RequestError(
                Code("unreachable"), f" must be 'error' or 'ignore', not {unreachable!r}"
            )
        call = check_distances(
            graph, hops=hops, reverse=reverse, device="cpu", threads=threads, progress=progress
        )
        self.graph, self.hops = call.graph, call.ask.what.problem == "bfs"
        weights = self.graph.weight_dtype
        if not self.hops and weights is not None and weights.kind == "f":
            # Floats are added up from the source on, in float64, by bounds and by many searches.
            ask = call.ask.but(problem="sssp", dtype="float64")._replace(frozen=(ARC_BY_ARC,))
            call = call._replace(ask=ask, form=None)
        self._call: Call = call
        self._unreachable = unreachable
        ask = call.ask.but(problem="bfs" if self.hops else "sssp", sources=1)
        self.plan: Plan = plan_value(graph_facts(self.graph, self.hops), ask)
        self._dtype = np.dtype(self.plan.dtype)

    # ---- answers --------------------------------------------------------------------------------

    def eccentricity(self) -> Eccentricity:
        """Return the eccentricity of each vertex."""
        found, stats = timed(lambda _: self._find("all"))
        decide = counted(found.searches, "search decides", "searches decide")
        note = f"bounds: {decide} {counted(self.graph.n, 'vertex', 'vertices')}"
        plan = with_notes(self.plan, note)
        return Eccentricity(
            self.graph, found, self.hops, self._call.reverse, self._dtype, plan, stats
        )

    def number(self, goal: Literal["diameter", "radius"]) -> Any:
        """Return the largest eccentricity, or the smallest."""
        if not self.graph.n:
            raise GraphError(f"a graph without vertices has no {goal}")
        found = self._find(goal)
        return found.largest if goal == "diameter" else found.smallest

    def vertices(self, goal: Literal["center", "periphery"]) -> Array:
        """Return the vertices with the smallest eccentricity, or with the largest."""
        which = np.empty(0, np.int64)
        if self.graph.n:
            found = self._find(goal)
            value = found.smallest if goal == "center" else found.largest
            which = np.flatnonzero(found.known & (found.lower == value))
        named: Array = self.graph.label(which)
        return named

    # ---- searches -------------------------------------------------------------------------------

    def _find(self, goal: Goal) -> Known:
        """Return the eccentricities that the goal needs."""
        parts = self._components()
        exact = goal == "all" and self._dtype.kind == "f"  # bounds on floats decide no vertex
        if parts is None or exact or not self.graph.n:
            return by_searches(self.graph, self._farthest)
        graph = self.graph.transpose() if self._call.reverse else self.graph
        return by_bounds(
            graph, goal, self.hops, self._dtype, (parts.component, parts.sizes), self._farthest,
            self.plan.threads,
        )  # fmt: skip

    def _components(self) -> Components | None:
        """Return the components, or None unless all vertices of each reach one another."""
        threads = self._call.ask.where.threads
        kind: Literal["weak", "strong"] = "strong" if self.graph.directed else "weak"
        parts = components(self.graph, kind, threads=threads)
        if parts.count <= 1:
            return parts
        if self._unreachable == "error":
            connected, part = "connected", Code("g.subgraph(kl.components(g).largest)")
            if kind == "strong":
                connected = "strongly connected"
                part = Code("g.subgraph(kl.components(g, 'strong').largest)")
            raise GraphError(
                f"the graph is not {connected}: it has {parts.count:,} components, and some pairs "
                "of vertices have no path",
                advice=[
                    Text("Leave unreachable vertices out with ", Code("unreachable='ignore'")),
                    Text("take the largest component: ", part),
                ],
                lead=". ",
            )
        if kind == "strong" and parts.count != components(self.graph, threads=threads).count:
            return None
        return parts

    def _farthest(self, sources: Array) -> Array:
        """Return the distance from each of many vertices to the farthest that it reaches."""
        ask = self._call.ask.but(sources=len(sources))
        call = self._call._replace(ask=ask, sources=sources.astype(self.graph.id_dtype, copy=False))
        if not len(sources):
            return np.empty(0, np.int64)
        work = DistanceWork.of(call)
        farthest, _ = timed(work.farthest, call.progress, "eccentricities")
        return farthest.astype(np.int64 if self._dtype.kind == "i" else np.float64, copy=False)
