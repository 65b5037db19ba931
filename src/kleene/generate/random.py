"""Uniformly random graphs: every arc is equally likely."""

from __future__ import annotations

from kleene import _native
from kleene.errors import Code, RequestError
from kleene.generate import builder as checks
from kleene.generate.builder import GraphBuilder, Progress
from kleene.generate.weights import WeightRule
from kleene.graph import Graph

__all__ = [
    "dense",
    "small_world",
    "uniform",
]


def uniform(
    n: int,
    m: int | None = None,
    *,
    density: float | None = None,
    seed: int = 0,
    directed: bool = True,
    weights: WeightRule = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Graph:
    """Make a uniformly random graph with exactly m arcs: G(n, m) of Erdős and Rényi.

    This is also the "urand" graph of GAP.

    Parameters
    ----------
    n : int
        Number of vertices.
    m : int, optional
        Number of distinct arcs, so that ``graph.m == m``. With ``directed=False``, number of edges;
        then ``graph.m == 2 * m``.
    density : float, optional
        Instead of ``m``: the number of arcs divided by the number of possible arcs, from 0 to 1.
    seed : int
        The same seed makes the same graph, on any machine and any number of threads.
    directed : bool
        Arcs, or undirected edges.
    weights : None, number, (low, high), or function
        None for an unweighted graph, one weight for all, a range to draw from (integers, or floats
        if an end is a float), or a function of (rng, count).
    threads : int, optional
        Threads to use; all cores by default.
    progress : function, optional
        Called repeatedly as ``progress(done, total)``.

    References
    ----------
    P. Erdős, A. Rényi: On random graphs I. Publicationes Mathematicae 6 (1959).

    Examples
    --------
    >>> import kleene as kl
    >>> kl.generate.uniform(1000, 5000, seed=2)
    Graph('uniform(n=1000, m=5000, seed=2)', 1,000 vertices, 5,000 arcs, unweighted, directed)
    >>> kl.generate.uniform(100, density=0.25, directed=False).m
    2476
    """
    builder = GraphBuilder(uniform, locals())
    n = checks.as_count(n, "n", most=checks.MOST_PAIRED_VERTICES)
    possible = n * (n - 1) // (1 if directed else 2)
    if (m is None) == (density is None):
        raise RequestError("pass either m or density")
    if m is None:
        m = round(checks.as_proportion(density, "density") * possible)
    m = checks.as_count(m, "m", most=2**62)
    if m > possible:
        kind = "arcs" if directed else "edges"
        raise RequestError(f"m is {m:,}, but {n:,} vertices have at most {possible:,} {kind}")
    if directed:
        builder.require_memory(n, m)
        return builder.from_rows(_native.capped_rows, n, m, max(n - 1, 0), False)
    builder.require_memory(n, 2 * m, drawn=m)
    return builder.from_arcs(n, *builder.draw_arcs(_native.uniform_edges, n, m), directed=False)


def dense(
    n: int,
    density: float = 1.0,
    *,
    seed: int = 0,
    weights: WeightRule = (1, 1000),
    threads: int | None = None,
    progress: Progress | None = None,
) -> Graph:
    """Make a complete directed graph with random weights: the usual test of all-pairs methods.

    Parameters
    ----------
    n : int
        Number of vertices.
    density : float
        The number of arcs divided by n (n - 1), from 0 to 1.
    seed : int
        The same seed makes the same graph, on any machine and any number of threads.
    weights : None, number, (low, high), or function
        None for an unweighted graph, one weight for all, a range to draw from (integers, or floats
        if an end is a float), or a function of (rng, count); integers from 1 to 1000 by default.
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
    >>> kl.generate.dense(64)
    Graph('dense(n=64)', 64 vertices, 4,032 arcs, int32 weights 1 to 1000, directed)
    """
    builder = GraphBuilder(dense, locals())
    n = checks.as_count(n, "n", most=checks.MOST_PAIRED_VERTICES)
    arcs = round(checks.as_proportion(density, "density") * n * (n - 1))
    builder.require_memory(n, arcs)
    return builder.from_rows(_native.capped_rows, n, arcs, max(n - 1, 0), False)


# ---- Small-world graphs: local neighbourhoods and a few shortcuts between them ------------------


def small_world(
    n: int,
    k: int = 4,
    p: float = 0.1,
    *,
    seed: int = 0,
    weights: WeightRule = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Graph:
    """Make a small-world graph: a ring lattice, some of whose edges are rewired at random.

    Every vertex is joined to the k / 2 nearest on either side; then each edge is rewired with
    probability ``p``. The graph is undirected and has exactly n k / 2 edges.

    In the model of Watts and Strogatz a rewired edge keeps one end and draws the other from all
    vertices. Here it keeps its first end and draws the other from the half of the ring ahead of it.
    Every pair of vertices is equally likely, and all vertices can draw in parallel without
    duplicates.

    Parameters
    ----------
    n : int
        Number of vertices.
    k : int
        Degree of every vertex before rewiring; even, and less than n.
    p : float
        The probability that an edge is rewired: 0 keeps the ring, 1 rewires every edge.
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
    D. Watts, S. Strogatz: Collective dynamics of "small-world" networks. Nature 393 (1998).

    Examples
    --------
    >>> import kleene as kl
    >>> kl.generate.small_world(1000, k=6, p=0.05, seed=3)
    Graph('small_world(n=1000, k=6, p=0.05, seed=3)', 1,000 vertices, 3,000 edges, ...)
    """
    builder = GraphBuilder(small_world, locals())
    n = checks.as_count(n, "n", most=checks.MOST_PAIRED_VERTICES)
    k = checks.as_count(k, "k")
    if k % 2 == 1:
        raise RequestError(
            Code("k"), f" must be even (k / 2 neighbours on either side), but is {k}"
        )
    if k >= max(n, 1):
        raise RequestError(Code("k"), f" must be less than n = {n}, but is {k}")
    p = checks.as_proportion(p, "p")
    builder.require_memory(n, n * k, drawn=n * k // 2)
    drawn = builder.draw_arcs(_native.small_world_edges, n, k // 2, checks.as_threshold(p))
    return builder.from_arcs(n, *drawn, directed=False)
