"""What a call would do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kleene.api.arguments import Out, Vertices, as_prepared, as_vertices, make_request
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

if TYPE_CHECKING:
    from kleene.api.prepared_graph import PreparedGraph

__all__ = ["explain"]


def explain(
    graph: Graph | PreparedGraph,
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
    graph : Graph or PreparedGraph
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

    What it would take to prepare a graph:

    >>> print(kl.explain(kl.datasets.rome(), "prepare"))
    prepare by elimination on cpu, int32 values
      memory   ...
      because  ... pairs of vertices would be joined, from 8,859 arcs; the tree would be ... deep
      because  new weights would relax ... triangles
      because  prepared in about ... s, new weights in ... s, a tree in ... s
    """
    if problem not in (*PATH_PROBLEMS, "prepare"):
        raise RequestError(no_such("problem", problem, (*PATH_PROBLEMS, "prepare")))
    prepared = None
    if not isinstance(graph, Graph):
        prepared = as_prepared(graph)
        graph = prepared.graph
    if problem == "prepare":
        if prepared is not None:
            return prepared.explain()
        from kleene.api.prepared_steps import foresee

        name = find_semiring(semiring or "min_plus").name
        return foresee(graph, name, dtype, as_threads(threads))
    count = 1 if problem in ("bfs", "sssp") else None
    if sources is not None:
        count = len(as_vertices(graph, sources, "sources"))
    request = make_request(
        problem,
        semiring=semiring or _default_semiring(problem, prepared),
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
    if prepared is not None:
        from kleene.api.prepared_calls import has_answer, plan_prepared

        if has_answer(prepared, request):
            return plan_prepared(prepared, request, (graph.n if count is None else count) * graph.n)
    plan = plan_call(graph_facts(graph, hops=problem == "bfs"), request)
    plan = look_closer(graph, request, plan, order=False)
    if problem == "bfs":
        outlook = IncomingArcs.of(graph).outlook(graph)
        plan = replace(plan, reasons=(*plan.reasons, outlook)) if outlook else plan
    if plan.available is None:  # a small call does not ask; a reader wants to know
        plan = replace(plan, available=live_machine().free_memory())
    return plan


def _default_semiring(problem: str, prepared: PreparedGraph | None) -> str:
    if problem != "closure":
        return "min_plus"
    return "boolean" if prepared is None else prepared.semiring
