"""The classic families: path, cycle, star, tree, complete."""

from __future__ import annotations

import numpy as np

from kleene import _native
from kleene.generate import checks
from kleene.generate.builder import GraphBuilder, Progress
from kleene.generate.weights import WeightRule
from kleene.graph import Graph
from kleene.graph.checks import id_dtype

__all__ = ["complete", "cycle", "path", "star", "tree"]


def path(
    n: int,
    *,
    directed: bool = False,
    seed: int = 0,
    weights: WeightRule = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Graph:
    """Make the path 0, 1, ..., n - 1.

    Parameters
    ----------
    n : int
        Number of vertices.
    directed : bool
        Arcs, or undirected edges.
    seed : int
        Determines random weights.
    weights : None, number, (low, high), or function
        None for an unweighted graph, one weight for all, a range to draw from (integers, or floats
        if an end is a float), or a function of (rng, count).
    threads : int, optional
        Threads to use; all cores by default.
    progress : function, optional
        Called repeatedly as ``progress(done, total)``.

    Examples
    --------
    >>> import kleene as kl
    >>> kl.generate.path(4, directed=True).coo.targets.tolist()
    [1, 2, 3]
    """
    builder = GraphBuilder(path, locals())
    n = checks.as_count(n, "n")
    builder.require_memory(n, n if directed else 2 * n, drawn=n)
    vertices = np.arange(n, dtype=id_dtype(n))
    return builder.from_arcs(n, vertices[:-1], vertices[1:], bool(directed))


def cycle(
    n: int,
    *,
    directed: bool = False,
    seed: int = 0,
    weights: WeightRule = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Graph:
    """Make the cycle 0, 1, ..., n - 1, 0.

    Parameters
    ----------
    n : int
        Number of vertices.
    directed : bool
        Arcs, or undirected edges.
    seed : int
        Determines random weights.
    weights : None, number, (low, high), or function
        None for an unweighted graph, one weight for all, a range to draw from (integers, or floats
        if an end is a float), or a function of (rng, count).
    threads : int, optional
        Threads to use; all cores by default.
    progress : function, optional
        Called repeatedly as ``progress(done, total)``.

    Examples
    --------
    >>> import kleene as kl
    >>> kl.generate.cycle(4, directed=True).coo.targets.tolist()
    [1, 2, 3, 0]
    """
    builder = GraphBuilder(cycle, locals())
    n = checks.as_count(n, "n")
    builder.require_memory(n, n if directed else 2 * n, drawn=n)
    vertices = np.arange(n, dtype=id_dtype(n))
    return builder.from_arcs(n, vertices, np.roll(vertices, -1), bool(directed))


def star(
    n: int,
    *,
    directed: bool = False,
    seed: int = 0,
    weights: WeightRule = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Graph:
    """Make a star: vertex 0 joined to all others (by arcs from vertex 0, if directed).

    Parameters
    ----------
    n : int
        Number of vertices.
    directed : bool
        Arcs, or undirected edges.
    seed : int
        Determines random weights.
    weights : None, number, (low, high), or function
        None for an unweighted graph, one weight for all, a range to draw from (integers, or floats
        if an end is a float), or a function of (rng, count).
    threads : int, optional
        Threads to use; all cores by default.
    progress : function, optional
        Called repeatedly as ``progress(done, total)``.

    Examples
    --------
    >>> import kleene as kl
    >>> kl.generate.star(5, directed=True).coo.targets.tolist()
    [1, 2, 3, 4]
    """
    builder = GraphBuilder(star, locals())
    n = checks.as_count(n, "n")
    builder.require_memory(n, n if directed else 2 * n, drawn=n)
    leaves = np.arange(1, n, dtype=id_dtype(n))
    return builder.from_arcs(n, np.zeros_like(leaves), leaves, bool(directed))


def tree(
    n: int,
    branching: int = 2,
    *,
    directed: bool = False,
    seed: int = 0,
    weights: WeightRule = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Graph:
    """Make a tree filled level by level; every vertex has up to ``branching`` children.

    Vertex 0 is the root; in a directed tree arcs lead away from it.

    Parameters
    ----------
    n : int
        Number of vertices.
    branching : int
        The largest number of children of a vertex.
    directed : bool
        Arcs, or undirected edges.
    seed : int
        Determines random weights.
    weights : None, number, (low, high), or function
        None for an unweighted graph, one weight for all, a range to draw from (integers, or floats
        if an end is a float), or a function of (rng, count).
    threads : int, optional
        Threads to use; all cores by default.
    progress : function, optional
        Called repeatedly as ``progress(done, total)``.

    Examples
    --------
    >>> import kleene as kl
    >>> kl.generate.tree(7, directed=True).coo.sources.tolist()
    [0, 0, 1, 1, 2, 2]
    """
    builder = GraphBuilder(tree, locals())
    n, branching = checks.as_count(n, "n"), checks.as_count(branching, "branching", least=1)
    builder.require_memory(n, n if directed else 2 * n, drawn=n)
    children = np.arange(1, n, dtype=id_dtype(n))
    parents = (children - 1) // min(branching, max(n, 1))
    return builder.from_arcs(n, parents, children, bool(directed))


def complete(
    n: int,
    *,
    directed: bool = False,
    seed: int = 0,
    weights: WeightRule = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Graph:
    """Make the complete graph: every vertex joined to every other.

    If directed, the two arcs between a pair of vertices have independent weights.

    Parameters
    ----------
    n : int
        Number of vertices.
    directed : bool
        Arcs, or undirected edges.
    seed : int
        Determines random weights.
    weights : None, number, (low, high), or function
        None for an unweighted graph, one weight for all, a range to draw from (integers, or floats
        if an end is a float), or a function of (rng, count).
    threads : int, optional
        Threads to use; all cores by default.
    progress : function, optional
        Called repeatedly as ``progress(done, total)``.

    Examples
    --------
    >>> import kleene as kl
    >>> kl.generate.complete(4)
    Graph('complete(n=4)', 4 vertices, 6 edges, unweighted, undirected)
    """
    builder = GraphBuilder(complete, locals())
    n = checks.as_count(n, "n", most=checks.MOST_PAIRED_VERTICES)
    arcs = n * (n - 1)
    builder.require_memory(n, arcs)
    return builder.from_rows(
        _native.capped_rows, n, arcs, max(n - 1, 0), False, directed=bool(directed)
    )
