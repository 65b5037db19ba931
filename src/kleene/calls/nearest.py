"""The nearest of some facilities, for every vertex.

The nearest one follows from a single search, on any device: from an extra vertex that arcs of
length zero join to all facilities. Which facility it is follows from the distances. For several,
the native core keeps so many labels per vertex: in one search (``native/core/sssp/k_nearest.cpp``),
or by elimination where the graph is prepared (``native/core/prepared/near/nearest_labels.cpp``).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.backends.common.limits import as_limit
from kleene.backends.common.native_search import lengths_or_none
from kleene.backends.task import NearestTask
from kleene.calls.arguments import (
    COUNT_ARCS,
    USE_SSSP,
    Devices,
    Progress,
    Vertices,
    as_count,
    as_prepared,
    make_ask,
    plan_lengths,
    require_not_negative,
)
from kleene.calls.execution import runner_for
from kleene.calls.within import one_or_more
from kleene.engine import solve as engine
from kleene.engine.best import Best
from kleene.engine.call import Call, Computation, Timings
from kleene.engine.fit import REFUSED
from kleene.engine.planned import Planned, planned, show
from kleene.engine.value import timed
from kleene.engine.work import run_method
from kleene.errors import Code, RequestError, Text
from kleene.graph import Graph
from kleene.graph.checks import as_flag
from kleene.graph.derive import with_root
from kleene.graph.no_path import NO_HOPS, no_path
from kleene.graph.weight_names import warn_of_numbers_left
from kleene.planning.dtype_choice import choose_dtype
from kleene.planning.facts import graph_facts
from kleene.planning.plan import Plan
from kleene.prepared.known import Known
from kleene.results.nearest import Nearest, NearestRows
from kleene.system.machine import threads_for

if TYPE_CHECKING:
    from kleene.backends.task import Progress as Report
    from kleene.calls.prepared_graph import PreparedGraph
    from kleene.engine.prepared import PreparedForm
    from kleene.prepared.customization import Customization
    from kleene.prepared.elimination import Elimination

__all__ = ["nearest", "nearest_of"]

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
    places = _as_places(graph, facilities)
    k = as_count(k, "k")
    ask = make_ask(
        "nearest", sources=k, limited=limit is not None, device=device, devices=devices,
        threads=threads,
    )  # fmt: skip
    where = ask.where
    if k > 1 and len(where.devices) > 1:
        raise REFUSED["best", "devices"].error
    if k > 1 and where.device not in ("auto", "cpu"):
        raise RequestError(
            Code(f"k={k}"),
            " needs ",
            Code("device='cpu'"),
            f"; {where.devices[0] if where.devices else repr(where.device)} takes ",
            Code("k=1"),
        )
    if k > 1:
        ask = ask._replace(where=where._replace(device="cpu"))
    else:  # of several, the plan makes sure
        if not hops:
            warn_of_numbers_left(graph)
        require_not_negative(graph_facts(graph, hops), "nearest", COUNT_ARCS, USE_SSSP)
    search = _Search(hops, "best" if k > 1 else "nearest", k, limit, reverse)
    call = Call(
        ask, graph, places, None, None, progress, None, False,
        form=form if k > 1 else None, on=on, computes=search,
    )  # fmt: skip
    if k == 1 and on is None:
        (distances, which, plan), stats = timed(lambda _: search.from_root(call))
        return search.result(call, plan, stats, distances, which)
    made, workers = search.plan(call), 1
    if on is not None:
        from kleene.clusters.dask.calls import count_workers

        workers = count_workers(on)
    found, plan, stats, _ = engine.solve(call, Best(k, workers), made, runner_for(call))
    return search.result(call, plan, stats, *found)


def nearest_of(
    prepared: PreparedForm,
    sources: Hashable | Vertices,
    facilities: Hashable | Vertices,
    k: int,
    limit: float | None,
    reverse: bool,
    threads: int | None,
) -> NearestRows:
    """Return the nearest facilities of some vertices of a prepared graph."""
    graph = prepared.graph
    require_not_negative(graph_facts(graph), "nearest", USE_SSSP)
    search = _OfVertices(False, "block", as_count(k, "k"), limit, as_flag(reverse, "reverse"))
    vertices = one_or_more(graph, sources, "sources")
    places = _as_places(graph, facilities)
    ask = make_ask("nearest", sources=len(vertices), threads=threads)
    call = Call(
        ask._replace(keywords=("sources",)), graph, places, vertices, None, None, None, False,
        form=prepared, by_form=True, computes=search,
    )  # fmt: skip
    part, plan, stats, _ = engine.solve(call)
    distances, which = part.answer
    task = NearestTask(
        graph, places, search.k, as_limit(limit, graph, prepared.dtype), prepared.dtype,
        graph.weight_dtype is None, plan.threads,
    )  # fmt: skip
    rows = prepared._rows(search.reverse, threads)
    return NearestRows(
        graph, plan, stats, task, distances, which, search.reverse, vertices, rows
    )  # fmt: skip


def _as_places(graph: Graph, facilities: Hashable | Vertices) -> Array:
    """Return where the facilities are, by position."""
    places = one_or_more(graph, facilities, "facilities")
    if not len(places):
        raise RequestError(Code("facilities"), " is empty: name at least one vertex")
    return places


@dataclass(eq=False)
class _Search(Computation):
    """The search for the nearest of some facilities, which are the sources of its call."""

    k: int
    limit: float | None
    reverse: bool

    def plan(self, call: Call) -> Planned:
        """Plan it, on arcs or what a prepared graph has for its lengths."""
        if self.k == 1:
            made = planned(self._rooted(call))
            show(made.plan)
            return made
        parts = self._parts(call, choose_dtype(graph_facts(call.graph, self.hops), call.ask)[0])
        known = None if parts is None else Known.of(*parts)
        advice = Text("ask for a smaller ", Code("k"))
        ask = call.ask.but(sources=self.k)
        return Planned(plan_lengths(call.graph, ask, self.hops, advice, known))

    def _parts(self, call: Call, dtype: np.dtype[Any]) -> tuple[Elimination, Customization] | None:
        """Return what a prepared graph has for the lengths, in their direction, or None."""
        form: Any = call.form
        if form is None or form._customization.key != ("min_plus", str(dtype)):
            return None
        if self.hops and call.graph.weights is not None:
            return None
        from kleene.prepared.sweeps import reverse_values  # few programs prepare graphs

        elimination, values = form._parts
        return elimination, values if self.reverse else reverse_values(values)

    def task(self, call: Call, plan: Plan) -> NearestTask:
        """Return what a method is given: distances are searched from the facilities."""
        graph, k, dtype = call.graph, self.k, np.dtype(plan.dtype)
        return NearestTask(
            graph if self.reverse else graph.transpose(), call.sources, k,
            as_limit(self.limit, graph, dtype, self.hops), dtype, self._counts(graph),
            threads_for(k * (graph.n + graph.m), call.ask.where.threads),
        )  # fmt: skip

    def _counts(self, graph: Graph) -> bool:
        """Return whether every arc counts one."""
        return self.hops or graph.weight_dtype is None

    def compute(self, call: Call, plan: Plan, report: Report | None) -> tuple[Array, Array]:
        """Return the distances of every vertex, and places in the list of facilities."""
        if self.k == 1:
            return self.from_root(call._replace(progress=report), Planned(plan))[:2]
        parts = self._parts(call, np.dtype(plan.dtype))
        task = replace(self.task(call, plan), progress=report, prepared=parts)
        found: tuple[Array, Array] = run_method(plan, task)
        return found

    def _rooted(self, call: Call) -> Call:
        """Return the search for the nearest one, from a root; hops to the facilities count."""
        graph, limit, counts = call.graph, self.limit, self._counts(call.graph)
        if counts and limit is not None:
            limit = as_limit(limit, graph, np.dtype(np.int64), hops=True)
            limit = None if limit is None else limit + 1
        rooted = with_root(graph, call.sources, counts, reverse=not self.reverse)
        ask = call.ask.but(
            problem="bfs" if counts else "sssp", sources=1, predecessors=False,
            limited=limit is not None,
        )._replace(keywords=())  # fmt: skip
        root = np.array([graph.n], rooted.id_dtype)
        return call._replace(
            ask=ask, graph=rooted, sources=root, limit=limit, single=True, computes=None
        )

    def from_root(self, call: Call, made: Planned | None = None) -> tuple[Array, Array, Plan]:
        """Return the distances of every vertex, places in the list, and the plan."""
        rooted = self._rooted(call)
        part, plan, _, _ = engine.solve(rooted, made=made)
        task = self.task(call, plan)
        g, dtype = task.graph, task.dtype
        distances = part.answer.whole_values[0, : g.n]
        if task.unit:
            distances = np.where(distances < 0, no_path(dtype), distances - 1)
        which = np.full(g.n, -1, dtype=g.id_dtype)
        lengths = lengths_or_none(g, dtype, task.unit)
        _native.nearest_owners(g.offsets, g.neighbors, lengths, task.facilities, distances, which)
        return distances[:, None], which[:, None], plan

    def result(
        self, call: Call, plan: Plan, stats: Timings, distances: Array, which: Array
    ) -> Nearest:
        """Return what the user gets."""
        if self.hops:
            distances[which < 0] = NO_HOPS
        task = self.task(call, plan)
        return Nearest(call.graph, plan, stats, task, distances, which, self.hops, self.reverse)

    def prove(self, call: Call, plan: Plan, found: tuple[Array, Array]) -> None:
        """Prove distances and places."""
        distances, which = found[0].copy(), found[1]
        self.result(call, plan, Timings(), distances, which).verify()


class _OfVertices(_Search):
    """The same for some vertices of a prepared graph, the targets of its call."""

    def plan(self, call: Call) -> Planned:
        """Plan climbs from these vertices."""
        assert call.form is not None
        assert call.targets is not None
        return Planned(call.form._plan(call.ask, 2 * self.k * len(call.targets)))

    def compute(self, call: Call, plan: Plan, report: Report | None) -> tuple[Array, Array]:
        """Return the distances of these vertices, and places in the list of facilities."""
        from kleene.prepared.near import nearest as nearest_of_rows  # few calls need it

        form: Any = call.form
        assert call.targets is not None
        parts, limit = form._parts, as_limit(self.limit, call.graph, form.dtype)
        return nearest_of_rows(
            parts[0], parts[1], call.targets, call.sources, self.k,
            limit=limit, reverse=self.reverse, threads=call.ask.where.threads, progress=report,
        )  # fmt: skip
