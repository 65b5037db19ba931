"""What a call would do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kleene.api.arguments import Out, Vertices, as_vertices, make_request, require_graph
from kleene.api.closer_look import look_closer
from kleene.backends.semiring import semiring as find_semiring
from kleene.errors import RequestError
from kleene.graph import Graph
from kleene.graph.incoming import IncomingArcs
from kleene.planning.machine import live_machine
from kleene.planning.plan import Plan, plan_call
from kleene.planning.request import graph_facts
from kleene.registry import PATH_PROBLEMS
from kleene.system.machine import as_threads
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
    keep: str = "host",
    options: Mapping[str, int] | None = None,
) -> Plan:
    """Return what a call would run, why, and how much memory it takes, without running it.

    Parameters
    ----------
    graph : Graph
        The graph that the call would be about.
    problem : {"bfs", "sssp", "apsp", "closure", "prepare"}
        The call.
    semiring : str, optional
        Of a closure: ``"boolean"`` by default, ``"min_plus"``, ``"max_min"`` or ``"max_times"``;
        of a prepared graph, ``"min_plus"`` by default.
    sources : sequence of vertices, optional
        The sources; by default one for a search, and all vertices for all pairs and closures.
    predecessors : bool, optional
        Whether paths are wanted; by default as in the call.
    deterministic : bool
        Whether predecessors must be the same in every run.
    limit : float, optional
        The largest distance of interest.
    method : str
        ``"auto"``, or one of :func:`methods`.
    device : {"auto", "cpu", "cuda", "emulated", "reference"}
        Where to compute.
    dtype : optional
        The type of the distances; by default that of the weights.
    threads : int, optional
        Threads to use; all cores by default.
    out : array or path, optional
        Where the call would write the distances.
    keep : {"host", "device"}
        Where the answer would stay; see :func:`bfs`.
    options : dict, optional
        Parameters of the method, such as ``{"block": 48}``.

    Returns
    -------
    Plan
        Method, device, type, memory, and the reasons. ``print`` shows it in words.

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
    if problem not in (*PATH_PROBLEMS, "prepare"):
        raise RequestError(no_such("problem", problem, (*PATH_PROBLEMS, "prepare")))
    require_graph(graph)
    if problem == "prepare":
        from kleene.api.prepared_steps import foresee

        return foresee(
            graph, find_semiring(semiring or "min_plus").name, dtype, as_threads(threads)
        )
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
        keep=keep,
        options=options,
    )
    plan = plan_call(graph_facts(graph, hops=problem == "bfs"), request)
    plan = look_closer(graph, request, plan, order=False)
    if problem == "bfs":
        outlook = IncomingArcs.of(graph).outlook(graph)
        plan = replace(plan, reasons=(*plan.reasons, outlook)) if outlook else plan
    if plan.available is None:  # a small call does not ask; a reader wants to know
        plan = replace(plan, available=live_machine().free_memory())
    return plan
