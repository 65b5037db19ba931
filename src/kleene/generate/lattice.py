"""Grids, as in road networks, images and simulations: long paths, low degrees."""

from __future__ import annotations

from kleene import _native
from kleene.errors import RequestError
from kleene.generate import checks
from kleene.generate.builder import GraphBuilder, Progress
from kleene.generate.weights import WeightRule
from kleene.graph import Graph

__all__ = ["grid"]


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
