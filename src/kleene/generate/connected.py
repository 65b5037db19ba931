"""Random directed graphs in which every vertex is reachable from vertex 0."""

from __future__ import annotations

import math

from kleene import _native
from kleene.errors import RequestError
from kleene.generate import builder as checks
from kleene.generate.builder import GraphBuilder, Progress
from kleene.generate.weights import WeightRule
from kleene.graph import Graph

__all__ = ["capped", "path_plus"]


def capped(
    n: int,
    density: float,
    max_degree: int | float = 1.0,
    *,
    seed: int = 0,
    weights: WeightRule = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Graph:
    """Make a random directed graph of a given density with bounded out-degrees.

    Every vertex is reachable from vertex 0, along a random spanning tree.

    Parameters
    ----------
    n : int
        Number of vertices.
    density : float
        The number of arcs divided by n (n - 1), from 0 to 1. The graph has exactly that many arcs,
        rounded, but at least n - 1, which a spanning tree needs.
    max_degree : int or float
        The largest out-degree: an int is a number of arcs, a float from 0 to 1 is relative to n. So
        ``1`` is one arc, and ``1.0`` means no limit.
    seed : int
        The same seed makes the same graph, on any machine and any number of threads.
    weights : None, number, (low, high), or function
        None for an unweighted graph, one weight for all, a range to draw from (integers, or floats
        if an end is a float), or a function of (rng, count).
    threads : int, optional
        Threads to use; all cores by default.
    progress : function, optional
        Called repeatedly as ``progress(done, total)``.

    References
    ----------
    S. Padamata, N. Raveendran: Graph algorithms on GPUs using CUDA. Georgia Tech, 2013.

    Examples
    --------
    >>> import kleene as kl
    >>> g = kl.generate.capped(1024, density=0.25, max_degree=0.3)
    >>> g.m == round(0.25 * 1024 * 1023), g.stats.max_degree <= 307
    (True, True)
    """
    builder = GraphBuilder(capped, locals())
    n = checks.as_count(n, "n", most=checks.MOST_PAIRED_VERTICES)
    arcs = max(round(checks.as_proportion(density, "density") * n * (n - 1)), n - 1, 0)
    cap = min(_as_cap(max_degree, n), max(n - 1, 0))
    if arcs > n * cap:
        raise RequestError(
            f"density = {density:g} needs {arcs:,} arcs, but {n:,} vertices of degree at most "
            f"{cap:,} have {n * cap:,}",
            advice=[f"raise max_degree to {-(-arcs // n):,} or lower density"],
        )
    builder.require_memory(n, arcs)
    return builder.from_rows(_native.capped_rows, n, arcs, cap, True)


def _as_cap(max_degree: int | float, n: int) -> int:
    if isinstance(max_degree, float):
        proportion = checks.as_proportion(max_degree, "max_degree (a float is relative to n)")
        return math.floor(proportion * n + 1e-9)  # 0.29 * 100 is 29
    return checks.as_count(max_degree, "max_degree", least=1)


def path_plus(
    n: int,
    extra: int = 2,
    *,
    seed: int = 0,
    weights: WeightRule = (1, 3),
    threads: int | None = None,
    progress: Progress | None = None,
) -> Graph:
    """Make a path through all vertices, and some random arcs to each vertex.

    The path 0 -> 1 -> ... -> n - 1 makes every vertex reachable from vertex 0; the random arcs are
    shortcuts.

    Parameters
    ----------
    n : int
        Number of vertices.
    extra : int
        Random arcs to every vertex, besides the arc of the path, from distinct vertices (as far as
        there are enough).
    seed : int
        The same seed makes the same graph, on any machine and any number of threads.
    weights : None, number, (low, high), or function
        None for an unweighted graph, one weight for all, a range to draw from (integers, or floats
        if an end is a float), or a function of (rng, count); integers from 1 to 3 by default.
    threads : int, optional
        Threads to use; all cores by default.
    progress : function, optional
        Called repeatedly as ``progress(done, total)``.

    References
    ----------
    B. Periasubbramaniam, R. Denlinger: Parallel GPU based shortest path in graph algorithms.
    University of Texas, Austin.

    Examples
    --------
    >>> import kleene as kl
    >>> kl.generate.path_plus(1000)
    Graph('path_plus(n=1000)', 1,000 vertices, 2,999 arcs, int32 weights 1 to 3, directed)
    """
    builder = GraphBuilder(path_plus, locals())
    n = checks.as_count(n, "n", most=checks.MOST_PAIRED_VERTICES)
    extra = min(checks.as_count(extra, "extra"), max(n - 1, 0))
    arcs = n * (extra + 1)
    builder.require_memory(n, arcs, drawn=arcs)
    return builder.from_arcs(n, *builder.draw_arcs(_native.path_plus_arcs, n, extra))
