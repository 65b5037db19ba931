"""Eccentricities, and what follows from them: diameter, radius, center and periphery."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from kleene.api.arguments import Progress
from kleene.api.eccentricity_question import EccentricityQuestion, Unreachable
from kleene.graph import Graph
from kleene.measures.eccentricity import Eccentricity

if TYPE_CHECKING:
    from kleene.api.prepared_graph import PreparedGraph

__all__ = ["center", "diameter", "eccentricity", "periphery", "radius"]

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
