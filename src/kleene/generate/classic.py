"""The classic families: path, cycle, star, tree, complete."""

from __future__ import annotations

import numpy as np

from kleene import _native
from kleene.errors import RequestError
from kleene.generate import builder as checks
from kleene.generate.builder import GraphBuilder, Progress
from kleene.generate.weights import WeightRule
from kleene.graph import Graph
from kleene.graph.checks import id_dtype

__all__ = [
    "complete",
    "cycle",
    "grid",
    "path",
    "star",
    "tree",
]


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


# ---- Grids, as in road networks, images and simulations: long paths, low degrees ----------------


def grid(
    rows: int,
    columns: int,
    layers: int | None = None,
    *,
    diagonals: bool = False,
    drop: float = 0.0,
    directed: bool = False,
    seed: int = 0,
    weights: WeightRule = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Graph:
    """Make a two- or three-dimensional grid.

    Vertex (row, column) has the number ``row * columns + column``; in three dimensions
    ``(layer * rows + row) * columns + column``.

    Parameters
    ----------
    rows, columns, layers : int
        The shape; two-dimensional without ``layers``.
    diagonals : bool
        Also join diagonal neighbours: 8 per vertex instead of 4; in three dimensions 26 instead of
        6.
    drop : float
        The probability that an edge is left out. With 0.1 the grid resembles a road network; above
        0.5 it falls into many components.
    directed : bool
        If False, edges are undirected. If True, each direction has its own weight and is dropped
        independently.
    seed : int
        Determines the weights and the dropped edges.
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
    >>> kl.generate.grid(3, 4)
    Graph('grid(rows=3, columns=4)', 12 vertices, 17 edges, unweighted, undirected)
    >>> kl.generate.grid(100, 100, drop=0.1, weights=(1.0, 2.0)).stats.max_degree
    4
    """
    builder = GraphBuilder(grid, locals())
    rows, columns = checks.as_count(rows, "rows"), checks.as_count(columns, "columns")
    depth = 1 if layers is None else checks.as_count(layers, "layers")
    drop = checks.as_proportion(drop, "drop")
    n = rows * columns * depth
    if n > checks.MOST_VERTICES:
        raise RequestError(
            f"rows, columns and layers make {n:,} vertices, more than {checks.MOST_VERTICES:,}"
        )
    degree = (8 if diagonals else 4) if layers is None else (26 if diagonals else 6)
    builder.require_memory(n, n * degree)
    threshold = checks.as_threshold(drop)
    return builder.from_rows(
        _native.grid_rows,
        depth,
        rows,
        columns,
        bool(diagonals),
        bool(directed),
        threshold,
        directed=bool(directed),
    )
