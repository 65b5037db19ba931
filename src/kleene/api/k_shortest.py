"""The k shortest paths between two vertices."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.api.arguments import make_request
from kleene.api.sssp import sssp
from kleene.backends.task import KShortestTask
from kleene.graph import Graph
from kleene.planning.plan import plan_call
from kleene.planning.request import graph_facts
from kleene.registry import find

__all__ = ["KShortest", "k_shortest"]

Array = NDArray[Any]


class KShortest(NamedTuple):
    """Paths by increasing length; path ``i`` is ``vertices[offsets[i]:offsets[i + 1]]``."""

    lengths: Array
    vertices: Array
    offsets: NDArray[np.int64]


def k_shortest(
    graph: Graph,
    source: int,
    target: int,
    k: int,
    *,
    device: str = "auto",
    threads: int | None = None,
) -> KShortest:
    """Return up to ``k`` shortest paths without repeated vertices, shortest first.

    The distances to the target are computed on ``device``, on so many ``threads``; the paths on one
    core. Weights may be negative; the graph must have no negative cycle.

    Examples
    --------
    >>> import kleene as kl
    >>> from kleene.api import k_shortest
    >>> g = kl.Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3], [1.0, 2.0, 1.0, 3.0])
    >>> k_shortest(g, 0, 3, 5).lengths.tolist()
    [2.0, 5.0]
    """
    remaining = sssp(
        graph.transpose().unlabelled(), target, predecessors=False, dtype=np.float64,
        device=device, threads=threads,
    ).distances  # fmt: skip
    request = make_request("k_shortest", sources=1, predecessors=False, dtype=np.float64)
    plan = plan_call(graph_facts(graph), request)
    method = find(plan.problem, plan.method, plan.device)
    assert method is not None
    return KShortest(*method.load()(KShortestTask(graph, source, target, k, remaining)))
