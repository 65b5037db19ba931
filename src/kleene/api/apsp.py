"""Shortest paths between all pairs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kleene.api.arguments import Out, Progress, Vertices, check_call
from kleene.api.execution import solve
from kleene.graph import Graph
from kleene.results.result import Result

__all__ = ["apsp"]


def apsp(
    graph: Graph,
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
    options: Mapping[str, int] | None = None,
) -> Result:
    """Return shortest paths between all pairs, or from ``sources`` to all vertices.

    The parameters are those of :func:`bfs`; weights may be negative.

    Parameters
    ----------
    options : mapping of str to int, optional
        Settings of the method, as in ``method="blocked", options={"block": 48}`` for the side of
        a block; each row of ``kleene.methods("apsp")`` lists its own as ``options``. The defaults
        are good.

    Returns
    -------
    Result
        ``distances[i, j]`` is the length from the i-th source to vertex j, as in :func:`sssp`.

    Raises
    ------
    NegativeCycleError
        When a source leads to a cycle of negative length.
    PathOverflowError
        When path lengths may exceed the widest type.
    MemoryBudgetError
        When the answer does not fit in memory; the message says what would make it fit.

    Examples
    --------
    >>> import kleene as kl
    >>> r = kl.apsp(kl.Graph.from_edges([0, 1, 2], [1, 2, 0], [1, 2, 3]))
    >>> r.distances.tolist()
    [[0, 1, 3], [5, 0, 2], [3, 4, 0]]
    >>> r.path(2, 1)
    [2, 0, 1]
    """
    call = check_call(
        "apsp", graph,
        sources=sources, targets=targets, pairs=pairs, reverse=reverse, limit=limit,
        predecessors=predecessors, deterministic=deterministic, method=method, device=device,
        dtype=dtype, threads=threads, progress=progress, out=out, options=options,
    )  # fmt: skip
    return solve(call)
