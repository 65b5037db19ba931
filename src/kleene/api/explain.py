"""What a call would do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kleene.api.arguments import Out, Vertices, as_vertices, make_request, require_graph
from kleene.errors import RequestError
from kleene.graph import Graph
from kleene.planning.machine import live_machine
from kleene.planning.plan import Plan, plan_call
from kleene.planning.request import graph_facts
from kleene.registry import PATH_PROBLEMS
from kleene.system.suggestions import no_such

__all__ = ["explain"]

_DEFAULT_SEMIRING = {"closure": "boolean"}


def explain(
    graph: Graph,
    problem: str,
    *,
    semiring: str | None = None,
    sources: Vertices | None = None,
    predecessors: bool | None = None,
    deterministic: bool = False,
    limit: float | None = None,
    method: str = "auto",
    device: str = "auto",
    dtype: Any = None,
    threads: int | None = None,
    out: Out = None,
    options: Mapping[str, int] | None = None,
) -> Plan:
    """Return what a call would run, why, and how much memory it takes, without running it.

    Examples
    --------
    >>> import kleene as kl
    >>> print(kl.explain(kl.Graph.from_edges([0, 1], [1, 2], [5, -2]), "sssp"))
    sssp by bellman_ford on ..., int64 values
      memory   ...
      because  ...
      because  bellman_ford: some weights are negative
      because  int64: the type of the weights
    """
    if problem not in PATH_PROBLEMS:
        raise RequestError(no_such("problem", problem, PATH_PROBLEMS))
    require_graph(graph)
    count = 1 if problem in ("bfs", "sssp") else None
    if sources is not None:
        count = len(as_vertices(graph, sources, "sources"))
    request = make_request(
        problem,
        semiring=semiring or _DEFAULT_SEMIRING.get(problem, "min_plus"),
        sources=count,
        predecessors=problem != "closure" if predecessors is None else predecessors,
        deterministic=deterministic,
        limited=limit is not None,
        method=method,
        device=device,
        dtype=dtype,
        threads=threads,
        out=out is not None,
        options=options,
    )
    plan = plan_call(graph_facts(graph, hops=problem == "bfs"), request)
    if plan.available is None:  # a small call does not ask; a reader wants to know
        plan = replace(plan, available=live_machine().free_memory())
    return plan
