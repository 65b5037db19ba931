"""The nearest of some facilities, for every vertex.

The nearest one follows from a single search, on any device: from an extra vertex that arcs of
length zero join to all facilities. Which facility it is follows from the distances. For several,
the native core keeps so many labels per vertex: in one search (``native/core/sssp/k_nearest.cpp``),
or by elimination where the graph is prepared (``native/core/prepared/nearest_labels.cpp``).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.api.arguments import (
    Devices,
    Progress,
    Vertices,
    as_prepared,
    check_call,
    make_ask,
)
from kleene.api.device_arguments import as_devices
from kleene.api.execution import runner_for, solve
from kleene.api.length_plans import COUNT_ARCS, USE_SSSP, plan_lengths, require_not_negative
from kleene.api.number_arguments import as_count
from kleene.api.within import one_or_more
from kleene.backends.common.limits import as_limit
from kleene.backends.common.native_sssp import lengths_or_none
from kleene.backends.task import NearestTask
from kleene.engine import solve as engine
from kleene.engine.best import Best
from kleene.engine.call import Call, Computation, Timings
from kleene.engine.fit import REFUSED
from kleene.engine.planned import Planned
from kleene.engine.value import timed
from kleene.engine.work import run_method
from kleene.errors import Code, RequestError, Text
from kleene.graph import Graph
from kleene.graph.checks import as_flag
from kleene.graph.forms import CSR
from kleene.graph.no_path import NO_HOPS, no_path
from kleene.graph.weight_names import warn_of_numbers_left
from kleene.planning.dtype_choice import choose_dtype
from kleene.planning.facts import graph_facts
from kleene.planning.plan import Plan
from kleene.prepared.known import Known
from kleene.results.nearest import Nearest
from kleene.system.machine import threads_for

if TYPE_CHECKING:
    from kleene.api.prepared_graph import PreparedGraph
    from kleene.backends.task import Progress as Report
    from kleene.prepared.customization import Customization
    from kleene.prepared.elimination import Elimination

__all__ = ["nearest"]

Array = NDArray[Any]


def nearest(
    graph: Graph | PreparedGraph,
    facilities: Hashable | Vertices,
    k: int = 1,
    *,
    limit: float | None = None,
    hops: bool = False,
    reverse: bool = False,
    threads: int | None = None,
    device: str = "auto",
    devices: Devices = None,
    progress: Progress = None,
    on: Any = None,
) -> Nearest:
    """Return the ``k`` nearest facilities of every vertex: which, how far, and the way there.

    One search finds them all, however many facilities there are. The answer is the same in every
    run; facilities at the same distance come in the order of the list.

    Parameters
    ----------
    graph : Graph or PreparedGraph
        The graph; its weights must not be negative. For some of the vertices, and not all, there
        is :meth:`PreparedGraph.nearest`.
    facilities : vertex, or sequence of vertices
        Where the facilities are. A vertex may be named more than once: two shops at one corner
        are two facilities.
    k : int
        How many facilities to find for each vertex.
    limit : number, optional
        The length, or the number of hops, beyond which a facility does not count.
    hops : bool
        Count arcs instead of adding weights.
    reverse : bool
        False measures from the vertex to the facility, as people travel to a shop; True from the
        facility to the vertex, as an ambulance does.
    threads : int, optional
        How many threads may be used; all cores unless given.
    device : str
        ``"auto"`` is the fastest that can do it. Several facilities per vertex (``k`` above 1)
        are found on the CPU.
    devices : sequence of int or str, optional
        GPUs, such as ``[1]``: the search for one facility per vertex runs on the first of them.
    progress : bool or function, optional
        True shows a progress bar; a function is called with (done, total).
    on : dask.distributed.Client or str, optional
        A Dask cluster, or the address of its scheduler, whose workers search. Facilities are shared
        among them where each gets fewer than ``k``; otherwise one worker is as fast as all.

    Returns
    -------
    Nearest
        As with ``scipy.spatial.KDTree.query``, arrays have shape (n,) for ``k=1`` and (n, k)
        otherwise: ``distances``, ``which`` (positions in the list of facilities, -1 for none) and
        ``owner`` (the facilities as vertices).

    Raises
    ------
    RequestError
        The list is empty, or a weight is negative.

    Examples
    --------
    >>> import kleene as kl
    >>> g = kl.Graph.from_edges(
    ...     [0, 1, 2, 3], [1, 2, 3, 4], [2, 2, 5, 1], directed=False,
    ...     labels=["a", "b", "c", "d", "e"],
    ... )
    >>> near = kl.nearest(g, ["e", "a"])
    >>> near.owner.tolist(), near.distances.tolist()
    (['a', 'a', 'a', 'e', 'e'], [0, 2, 4, 1, 0])
    >>> near.path("c")
    ['c', 'b', 'a']
    >>> kl.nearest(g, ["e", "a"], k=2).which[2].tolist()
    [1, 0]
    """
    form = None
    if not isinstance(graph, Graph):
        form = as_prepared(graph)
        graph = form.graph
    hops, reverse = as_flag(hops, "hops"), as_flag(reverse, "reverse")
    places = one_or_more(graph, facilities, "facilities")
    if not len(places):
        raise RequestError(Code("facilities"), " is empty: name at least one vertex")
    k = as_count(k, "k")
    kind, names = as_devices(device, devices)
    if k > 1 and len(names) > 1:
        raise RequestError(REFUSED["best", "devices"])
    if k > 1 and kind not in ("auto", "cpu"):
        raise RequestError(
            Code(f"k={k}"),
            " runs on ",
            Code("device='cpu'"),
            f"; on {names[0] if names else kind!r} there is ",
            Code("k=1"),
        )
    ask = make_ask("nearest", sources=k, threads=threads, limited=limit is not None, device="cpu")
    kept = "best" if k > 1 else "nearest"
    search = _Search(hops, kept, k, limit, reverse, kind, names)
    call = Call(
        ask, graph, places, None, None, progress, None, False,
        form=form if k > 1 else None, on=on, computes=search,
    )  # fmt: skip
    if k > 1 or on is not None:
        made, workers = search.plan(call), 1
        if on is not None:
            from kleene.api.on_cluster import count_workers

            workers = count_workers(on)
        found, plan, stats, _ = engine.solve(call, Best(k, workers), made, runner_for(call))
        task, (distances, which) = search.task(call, np.dtype(plan.dtype)), found
    else:  # the search from the extra vertex has a plan of its own
        if not hops:
            warn_of_numbers_left(graph)
        facts = graph_facts(graph, hops)
        require_not_negative(facts, "nearest", COUNT_ARCS, USE_SSSP)
        task = search.task(call, choose_dtype(facts, ask)[0])
        (plan, distances, which), stats = timed(lambda _: search.one(call, task, progress))
    return search.result(call, plan, task, stats, distances, which)


@dataclass(frozen=True)
class _Search(Computation):
    """The search for the nearest of some facilities, which are the sources of its call."""

    k: int
    limit: float | None
    reverse: bool
    device: str  # for k = 1
    devices: tuple[str, ...]

    def plan(self, call: Call) -> Planned:
        """Plan it, on arcs or what a prepared graph has for its lengths."""
        graph, ask = call.graph, call.ask.but(sources=self.k)
        parts = self._parts(call)
        known = None if parts is None else Known.of(*parts)
        many = self.k > 1
        advice = Text("ask for a smaller ", Code("k")) if many else "use a machine with more memory"
        return Planned(plan_lengths(graph, ask, self.hops, advice, known))

    def _parts(self, call: Call) -> tuple[Elimination, Customization] | None:
        """Return what a prepared graph has for the lengths, in their direction, or None."""
        form: Any = call.form
        if form is None:
            return None
        dtype, _ = choose_dtype(graph_facts(call.graph, self.hops), call.ask)
        if form._customization.key != ("min_plus", str(dtype)):
            return None
        if self.hops and call.graph.weights is not None:
            return None
        from kleene.prepared.sweeps import reverse_values

        elimination, values = form._parts
        return elimination, values if self.reverse else reverse_values(values)

    def task(self, call: Call, dtype: np.dtype[Any]) -> NearestTask:
        """Return what a method is given: distances are searched from the facilities."""
        graph, k = call.graph, self.k
        return NearestTask(
            graph if self.reverse else graph.transpose(), call.sources, k,
            as_limit(self.limit, graph, dtype, self.hops), dtype,
            self.hops or graph.weight_dtype is None,
            threads_for(k * (graph.n + graph.m), call.ask.where.threads),
        )  # fmt: skip

    def compute(self, call: Call, plan: Plan, report: Report | None) -> tuple[Array, Array]:
        """Return the distances of every vertex, and places in the list of facilities."""
        task = replace(self.task(call, np.dtype(plan.dtype)), progress=report)
        if self.k == 1:
            return self.one(call, task, report)[1:]
        found: tuple[Array, Array] = run_method(plan, replace(task, prepared=self._parts(call)))
        return found

    def one(self, call: Call, task: NearestTask, progress: Progress) -> tuple[Plan, Array, Array]:
        """Search from an extra vertex; its arcs count a hop where arcs are counted."""
        g = task.graph
        extra = 1 if task.unit else 0
        search = check_call(
            "bfs" if task.unit else "sssp", _with_extra_vertex(task, call.graph), source=g.n,
            limit=None if task.limit is None else task.limit + extra, predecessors=False,
            device=self.device, devices=self.devices or None, threads=call.ask.where.threads,
            progress=progress,
        )  # fmt: skip
        result = solve(search._replace(ask=search.ask._replace(keywords=())))
        distances = result.distances[: g.n].astype(task.dtype)
        if task.unit:
            distances = np.where(distances < 0, no_path(task.dtype), distances - extra)
        which = np.full(g.n, -1, dtype=g.id_dtype)
        lengths = lengths_or_none(g, task.dtype, task.unit)
        _native.nearest_owners(g.offsets, g.neighbors, lengths, task.facilities, distances, which)
        return result.plan, distances[:, None], which[:, None]

    def result(
        self, call: Call, plan: Plan, task: NearestTask, stats: Timings, distances: Array,
        which: Array,
    ) -> Nearest:  # fmt: skip
        """Return what the user gets."""
        if self.hops:
            distances[which < 0] = NO_HOPS
        return Nearest(call.graph, plan, stats, task, distances, which, self.hops, self.reverse)

    def prove(self, call: Call, plan: Plan, found: tuple[Array, Array]) -> None:
        """Prove distances and places."""
        distances, which = found[0].copy(), found[1]
        task = self.task(call, np.dtype(plan.dtype))
        self.result(call, plan, task, Timings(), distances, which).verify()


def _with_extra_vertex(task: NearestTask, planned: Graph) -> Graph:
    """Return the graph with one more vertex, joined to the facilities by arcs of length zero."""
    g, ends = task.graph, np.unique(task.facilities)
    weights = None
    if not task.unit:
        assert g.weights is not None
        weights = np.append(g.weights, np.zeros(len(ends), dtype=g.weights.dtype))
    made = Graph(CSR(np.append(g.offsets, g.m + len(ends)), np.append(g.neighbors, ends), weights))
    if not task.unit:  # the type that was planned: paths are as long against the arcs
        made.stats.__dict__["path_bound"] = planned.stats.path_bound
    return made
