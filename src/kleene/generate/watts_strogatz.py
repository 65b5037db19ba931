"""Small worlds: local neighbourhoods and a few shortcuts between them."""

from __future__ import annotations

from kleene import _native
from kleene.errors import RequestError
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
    """Make a small-world graph: a ring of neighbours, some of whose edges became shortcuts.

    Every vertex is joined to the k / 2 next ones on either side of it; then each edge is replaced,
    with probability ``p``, by a random one. The graph is undirected and has exactly n k / 2 edges.

    Watts and Strogatz let the replaced edge keep one end and choose the other anywhere. Here it
    keeps its first end and chooses the other in the half of the ring ahead of it, which gives every
    pair of vertices the same chance and lets all vertices choose at once without ever choosing
    twice.

    Parameters
    ----------
    n : int
        Vertices.
    k : int
        Neighbours of every vertex before the change; even, and less than n.
    p : float
        The chance of an edge to be replaced: 0 leaves the ring, 1 leaves no trace of it.
    seed : int
        The same seed makes the same graph, on any machine and any number of threads.
    weights, threads, progress
        As for :func:`rmat`.

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
        raise RequestError(f"k must be even, as many neighbours on either side, and is {k}")
    if k >= max(n, 1):
        raise RequestError(f"k must be less than n = {n}, and is {k}: pass a smaller k")
    p = checks.as_share(p, "p")
    builder.require_memory(n, n * k, drawn=n * k // 2)
    made = builder.draw_arcs(_native.small_world_edges, n, k // 2, checks.as_threshold(p))
    return builder.from_arcs(n, *made, directed=False)
