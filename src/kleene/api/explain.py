"""What a call would do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kleene.api.arguments import Devices, Out, Vertices, as_prepared, as_vertices, make_ask
from kleene.api.closure import prepared_for
from kleene.backends.semiring import semiring as find_semiring
from kleene.engine.call import Call
from kleene.engine.fit import REFUSED
from kleene.engine.planned import planned
from kleene.errors import RequestError
from kleene.graph import Graph
from kleene.graph.checks import as_flag
from kleene.graph.incoming import IncomingArcs
from kleene.planning.facts import graph_facts
from kleene.planning.machine import live_machine
from kleene.planning.plan import Plan, with_notes
from kleene.registry import PATH_PROBLEMS
from kleene.system.machine import as_threads
from kleene.system.suggestions import no_such

if TYPE_CHECKING:
    from kleene.api.prepared_graph import PreparedGraph

__all__ = ["explain"]

_EXPLAINED = (*PATH_PROBLEMS, "betweenness", "loads", "prepare")


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
    devices: Devices = None,
    dtype: Any = None,
    threads: int | None = None,
    hops: bool = False,
    out: Out = None,
    keep: str = "host",
    options: Mapping[str, int] | None = None,
    on: Any = None,
) -> Plan:
    """Return what a call would run, why, and how much memory it takes, without running it.

    Parameters
    ----------
    graph : Graph or PreparedGraph
        The graph that the call would be about.
    problem : {"bfs", "sssp", "apsp", "closure", "betweenness", "loads", "prepare"}
        The call.
    semiring : str, optional
        Of a closure: ``"boolean"`` by default, ``"min_plus"``, ``"max_min"`` or ``"max_times"``,
        and for a prepared graph the one that it is prepared for; of prepare, ``"min_plus"`` by
        default.
    sources : sequence of vertices, optional
        The sources; by default one for a search, and all vertices for all pairs and closures. Of
        loads: the vertices that have trips, from each to each.
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
    devices : sequence of int or str, optional
        The GPUs that share the sources, such as ``[0, 2]`` or ``["cuda:0", "cuda:2"]``; by default
        all of them where that pays, unless ``device`` names one (``"cuda:1"``).
    dtype : optional
        The type of the distances; by default that of the weights.
    threads : int, optional
        Threads to use; all cores by default.
    hops : bool
        Of betweenness and loads: whether arcs are counted instead of weights.
    out : array or path, optional
        Where the call would write the distances; with a file name, the plan says in how many
        blocks.
    keep : {"host", "device"}
        Where the answer would stay; see :func:`bfs`.
    options : dict, optional
        Parameters of the method, such as ``{"block": 48}``.
    on : dask.distributed.Client or str, optional
        The Dask cluster that the call would use: how many pieces there would be, how many bytes,
        and about how long it would take.

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
    if problem not in _EXPLAINED:
        raise RequestError(no_such("problem", problem, _EXPLAINED), option="problem")
    prepared = None
    if not isinstance(graph, Graph):
        prepared = as_prepared(graph)
        if problem == "closure":
            prepared = prepared_for(prepared, semiring)
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
    ask = make_ask(
        problem,
        semiring=semiring or _default_semiring(problem, prepared),
        sources=count,
        predecessors=problem not in ("closure", "betweenness", "loads")
        if predecessors is None
        else predecessors,
        deterministic=deterministic,
        limited=limit is not None,
        method=method,
        device=device,
        devices=devices,
        dtype=dtype,
        threads=threads,
        out=out is not None,
        keep=keep,
        options=options,
    )
    # Which sources they are makes no difference.
    call = Call(
        ask, graph, np.arange(graph.n if count is None else count), None, None, None, None, False,
        form=prepared, on=on,
    )  # fmt: skip
    if on is not None:
        return _explain_on_cluster(call)
    if problem == "loads":
        from kleene.api.loads import plan_loads

        zones = graph.n if count is None else count
        ask = ask.but(sources=zones, trips=zones**2)
        hops, known = as_flag(hops, "hops"), prepared is not None
        return _with_available(plan_loads(graph, ask, hops, known, order=False))
    if problem == "betweenness":
        from kleene.api.betweenness import plan_betweenness

        return _with_available(plan_betweenness(graph, ask, as_flag(hops, "hops")))
    if isinstance(out, (str, Path)) and not (prepared is not None and prepared._answers(ask)):
        from kleene.distributed.store_sink import with_block_rows

        ask = with_block_rows(graph_facts(graph, hops=problem == "bfs"), ask, Path(out))
    plan = planned(call, ask, order=False).plan
    if plan.form == "prepared":
        return plan
    if problem == "bfs":
        outlook = IncomingArcs.of(graph).outlook(graph)
        plan = with_notes(plan, outlook) if outlook else plan
    return _with_available(plan)


def _explain_on_cluster(call: Call) -> Plan:
    """Return the plan of the rows, with what the cluster makes of it."""
    from kleene.api.on_cluster import explain_rows
    from kleene.api.tiles_on_cluster import explain_tiles, plan_tiles

    if call.ask.what.problem in ("bfs", "sssp") and len(call.sources) == 1:
        raise RequestError(REFUSED["row", "cluster"])
    tiles = plan_tiles(call)
    return explain_rows(call) if tiles is None else explain_tiles(call, tiles)


def _with_available(plan: Plan) -> Plan:
    """Add the free memory: a small call does not ask, but a reader wants to know."""
    return replace(plan, available=plan.available or live_machine().free_memory())


def _default_semiring(problem: str, prepared: PreparedGraph | None) -> str:
    if problem != "closure":
        return "min_plus"
    return "boolean" if prepared is None else prepared.semiring
