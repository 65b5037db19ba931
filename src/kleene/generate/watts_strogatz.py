"""Small-world graphs: local neighbourhoods and a few shortcuts between them."""

from __future__ import annotations

from kleene import _native
from kleene.errors import Code, RequestError
from kleene.generate import checks
from kleene.generate.builder import GraphBuilder, Progress
from kleene.generate.weights import WeightRule
from kleene.graph import Graph

__all__ = ["small_world"]


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
