"""Betweenness: the share of all shortest paths through each vertex and along each arc."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.common.limits import as_limit
from kleene.backends.task import BetweennessTask
from kleene.calls.arguments import (
    Devices,
    Progress,
    Vertices,
    as_vertices,
    make_ask,
    plan_lengths,
    require_graph,
    sample_vertices,
    wide_dtype,
)
from kleene.calls.execution import runner_for
from kleene.engine.call import Call, Computation
from kleene.engine.fit import require_fit
from kleene.engine.planned import Planned
from kleene.engine.solve import solve
from kleene.engine.sums import Sums
from kleene.engine.work import run_method
from kleene.errors import Code, GraphError, RequestError, Text
from kleene.graph import Graph
from kleene.graph.checks import as_flag, as_seed
from kleene.measures.betweenness import Betweenness
from kleene.measures.zero_cycles import refuse_zero_cycles
from kleene.planning.ask import Ask, Decision
from kleene.planning.plan import Plan
from kleene.registry.measures import HOPS_ONLY
from kleene.system.machine import threads_for

if TYPE_CHECKING:
    from kleene.backends.task import Progress as Report

__all__ = ["betweenness", "plan_betweenness"]

#: Below it, differences of logarithms say too little, and samples take days.
_SMALLEST_ERROR = 1e-6


def betweenness(
    graph: Graph,
    *,
    edges: bool = False,
    hops: bool = False,
    normalized: bool = True,
    endpoints: bool = False,
    sources: Vertices | None = None,
    targets: Vertices | None = None,
    limit: float | None = None,
    samples: int | None = None,
    error: float | None = None,
    confidence: float | None = None,
    seed: int = 0,
    on: Any = None,
    method: str = "auto",
    device: str = "auto",
    devices: Devices = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Betweenness:
    """Return the share of all shortest paths through each vertex, or along each edge.

    Between two vertices each of several shortest paths counts for its part, so that together they
    count one. The numbers are those of NetworkX's ``betweenness_centrality``,
    ``edge_betweenness_centrality`` and their forms for subsets. They are sums of floats: another
    number of threads or devices may change the last digits, and so does a cluster. Memory does not
    grow with the number of sources.

    Parameters
    ----------
    graph : Graph
        The graph. Its weights must not be negative, and no cycle may have length zero.
        Two paths are equally short if their lengths are equal: integers exactly, floats if their
        float64 sums, added arc by arc from the source, are equal.
    edges : bool
        Whether to return the numbers of arcs as well: ``arcs`` and ``rows`` of the result, and
        ``edges``, a table.
    hops : bool
        Count arcs instead of adding weights, as NetworkX and igraph do unless weights are named.
    normalized : bool
        Divide by the number of pairs that could have a path through the vertex, (n - 1) (n - 2), or
        along the edge, n (n - 1). Otherwise the numbers count pairs, an unordered one in an
        undirected graph.
    endpoints : bool
        Whether a path counts for its two ends, too.
    sources, targets : sequence of vertices, optional
        Where paths begin and end; all vertices by default. Naming a vertex twice makes no
        difference. Normalization does not depend on them.
    limit : number, optional
        The length, or the number of hops, beyond which paths do not count.
    samples : int, optional
        Paths from so many random sources, scaled to all: an estimate without a bound.
    error : float, optional
        Take paths of random pairs until, with probability ``confidence``, every normalized number,
        of vertices and of edges, is within this error.
    confidence : float, optional
        The probability that all numbers are within ``error``; 0.9 unless given.
    seed : int
        Chooses samples.
    on : dask.distributed.Client or str, optional
        A Dask cluster, or the address of its scheduler, whose workers search from some of the
        sources each.
    method : str
        ``"auto"``, or one of ``kleene.methods("betweenness")``.
    device : {"auto", "cuda", "cpu", "emulated", "reference"}
        Where to run.
    devices : sequence of int or str, optional
        The GPUs that share the sources, such as ``[0, 2]`` or ``["cuda:0", "cuda:2"]``; by default
        all of them where that pays, unless ``device`` names one (``"cuda:1"``).
    threads : int, optional
        How many threads may be used; all cores unless given.
    progress : bool or function, optional
        True shows a progress bar; a function is called with (done, total).

    Returns
    -------
    Betweenness
        A number for each vertex.

    Raises
    ------
    RequestError
        A weight is negative, or arcs of weight zero form a cycle.

    Examples
    --------
    >>> import kleene as kl
    >>> g = kl.Graph.from_table(
    ...     {"source": ["a", "b", "c", "d"], "target": ["b", "c", "d", "b"]}, directed=False
    ... )
    >>> b = kl.betweenness(g, edges=True)
    >>> b.top(1)
    [('b', 0.6666666666666666)]
    >>> b.rows.round(3).tolist()
    [0.5, 0.333, 0.167, 0.333]
    >>> kl.betweenness(g, sources=["a"], targets=["d"], normalized=False)["b"]
    0.5
    """
    require_graph(graph)
    edges, hops = as_flag(edges, "edges"), as_flag(hops, "hops")
    normalized, endpoints = as_flag(normalized, "normalized"), as_flag(endpoints, "endpoints")
    chance = np.random.default_rng(as_seed(seed))
    begins = np.arange(graph.n, dtype=graph.id_dtype)
    if samples is not None:
        begins = sample_vertices(graph, samples, sources, chance)
    elif sources is not None:
        begins = _distinct(graph, sources, "sources")
    ends = None if targets is None else _distinct(graph, targets, "targets")
    chosen, why = _as_part(0.9 if confidence is None else confidence, "confidence"), ""
    if error is None and confidence is not None:
        raise RequestError(
            Code("confidence="),
            " is the probability that ",
            Code("error="),
            " holds: give both, or neither",
        )
    if error is not None:
        error = _as_error(error)
        others = {"sources": sources, "targets": targets, "limit": limit, "samples": samples}
        _refuse_with_error(others)
        if method == "auto":
            method, why = "sampled", f"sampled: random paths, until all are within {error:g}"
    ask = make_ask(
        "betweenness", sources=len(begins), predecessors=edges, limited=limit is not None,
        method=method, device=device, devices=devices, threads=threads,
    )  # fmt: skip
    if why:
        ask = ask._replace(frozen=(Decision("method", method, why),))
    if error is None and ask.where.method == "sampled":
        raise RequestError("method 'sampled' needs ", Code("error="))
    if error is not None and ask.where.method != "sampled":
        raise RequestError(Code("error="), f" needs method 'sampled', not {ask.where.method!r}")
    asked = (
        _Asked(hops, "sums", ends, limit, endpoints)
        if error is None
        else _Asked(hops, "estimate", ends, limit, endpoints, (error, chosen, seed))
    )
    call = Call(ask, graph, begins, None, None, progress, None, False, on=on, computes=asked)
    require_fit(call)
    made = asked.plan(call)
    if not hops and graph.weights is not None:
        refuse_zero_cycles(graph)
    found, plan, stats, _ = solve(call, Sums(), made, runner_for(call))
    sums, paths = (found, None) if error is None else found
    task = asked.task(call, plan)
    sampled = samples is not None and len(begins) < graph.n
    return Betweenness(task, sums, plan, stats, normalized, sampled, error, paths)


@dataclass(eq=False)
class _Asked(Computation):
    """Which shortest paths from its sources a call asks for."""

    targets: NDArray[Any] | None
    limit: float | None
    endpoints: bool
    estimate: tuple[Any, ...] = ()  # the error, the confidence and the seed

    def plan(self, call: Call) -> Planned:
        """Plan the call, or what a part of its sources take."""
        graph, ask = call.graph, call.ask
        ask = ask if call.on is None else ask.for_workers()
        return Planned(plan_betweenness(graph, ask, self.hops))

    def task(self, call: Call, plan: Plan, report: Report | None = None) -> BetweennessTask:
        """Return what a method is given."""
        graph, ask = call.graph, call.ask
        unit = self.hops or graph.weight_dtype is None
        limit = as_limit(self.limit, graph, wide_dtype(graph, self.hops), unit)
        work = len(call.sources) * (graph.n + graph.m)
        return BetweennessTask(
            graph, call.sources, self.targets, unit, limit, self.endpoints,
            ask.what.predecessors, threads_for(work, ask.where.threads), report, plan.first_device,
        )  # fmt: skip

    def compute(self, call: Call, plan: Plan, report: Report | None) -> Any:
        """Return the sums of vertices and arcs over the sources; of an estimate, its paths too."""
        return run_method(plan, self.task(call, plan, report), *self.estimate)


def plan_betweenness(graph: Graph, ask: Ask, hops: bool) -> Plan:
    """Plan a call; refuse methods that cannot add weights where there are some."""
    if ask.where.method in HOPS_ONLY and not hops and graph.weight_dtype is not None:
        raise RequestError(
            f"method {ask.where.method!r} counts arcs, but the graph has weights: pass ",
            Code("hops=True"),
            ", or leave the method to 'auto'",
        )
    if graph.id_dtype != np.int32:
        raise GraphError(
            f"betweenness takes fewer than 2^31 vertices, but the graph has {graph.n:,}"
        )
    return plan_lengths(graph, ask, hops, "use a machine with more memory")


def _distinct(graph: Graph, vertices: Any, name: str) -> NDArray[Any]:
    positions = np.unique(as_vertices(graph, vertices, name))
    if not len(positions):
        raise RequestError(
            Code(name), " is empty: name at least one vertex, or leave it out for all"
        )
    return positions.astype(graph.id_dtype, copy=False)


def _as_part(number: Any, name: str) -> float:
    if (
        isinstance(number, bool)
        or not isinstance(number, numbers.Real)
        or not 0 < float(number) < 1
    ):
        raise RequestError(Code(name), f" must be a number between 0 and 1, not {number!r}")
    return float(number)


def _as_error(number: Any) -> float:
    error = _as_part(number, "error")
    if error < _SMALLEST_ERROR:
        raise RequestError(
            Code("error"),
            f" must be at least {_SMALLEST_ERROR:g}, not {error:g}: random paths take too long for "
            "that",
            advice=["leave it out for exact numbers"],
        )
    return error


def _refuse_with_error(others: dict[str, Any]) -> None:
    given = [name for name, value in others.items() if value is not None]
    if given:
        raise RequestError(
            Code("error="),
            " samples paths between all pairs of vertices: leave out ",
            Text.joined(" and ", [Code(f"{name}=") for name in given]),
        )
