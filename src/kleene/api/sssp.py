"""Shortest paths from one source, or from several."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from kleene.api.arguments import Out, Progress, Vertices, check_call
from kleene.api.execution import solve
from kleene.graph import Graph
from kleene.results.result import Result

__all__ = ["sssp"]


def sssp(
    graph: Graph,
    source: Hashable | None = None,
    *,
    sources: Vertices | None = None,
    targets: Vertices | None = None,
    pairs: Any = None,
    reverse: bool = False,
    limit: float | None = None,
    predecessors: bool = True,
    deterministic: bool = False,
    method: str = "auto",
    device: str = "auto",
    dtype: Any = None,
    threads: int | None = None,
    progress: Progress = None,
    out: Out = None,
) -> Result:
    """Return shortest paths from a source to every vertex; weights may be negative.

    The parameters are those of :func:`bfs`. ``limit`` is a length, and needs weights that are not
    negative; a vertex is within it if the weights of a path, added one by one from the source,
    come to no more.

    Returns
    -------
    Result
        ``distances`` are lengths. No path is infinity for floats, the largest value of the type
        for integers: the result's ``no_path``.

    Raises
    ------
    NegativeCycleError
        When the source leads to a cycle of negative length; the error's ``cycle`` lists it.
    PathOverflowError
        When path lengths may exceed the widest type.

    Examples
    --------
    >>> import kleene as kl
    >>> g = kl.Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], [4.0, 9.0, -3.0, 1.0])
    >>> r = kl.sssp(g, 0)
    >>> r.distances.tolist(), r.path(3)
    ([0.0, 4.0, 1.0, 2.0], [0, 1, 2, 3])
    """
    call = check_call(
        "sssp", graph,
        source=source, sources=sources, targets=targets, pairs=pairs, reverse=reverse, limit=limit,
        predecessors=predecessors, deterministic=deterministic, method=method,
        device=device, dtype=dtype, threads=threads, progress=progress, out=out,
    )  # fmt: skip
    return solve(call)
