"""What is near, on a prepared graph: facilities of some vertices, and all within a limit."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from kleene.api.arguments import Vertices, make_ask
from kleene.api.length_plans import USE_SSSP, require_not_negative
from kleene.api.number_arguments import as_count
from kleene.api.within import one_or_more
from kleene.backends.common.limits import as_limit
from kleene.backends.task import NearestTask, WithinAnswer
from kleene.engine.planned import show
from kleene.engine.prepared import PreparedForm
from kleene.engine.value import timed
from kleene.errors import Code, RequestError, Text
from kleene.graph.checks import as_flag
from kleene.planning.facts import graph_facts
from kleene.prepared.nearest import nearest
from kleene.prepared.within import within
from kleene.results.nearest_rows import NearestRows
from kleene.results.reach import Reach
from kleene.system.machine import available_memory

__all__ = ["prepared_nearest", "prepared_within"]


def prepared_nearest(
    prepared: PreparedForm,
    sources: Hashable | Vertices,
    facilities: Hashable | Vertices,
    k: int,
    limit: float | None,
    reverse: bool,
    threads: int | None,
) -> NearestRows:
    """Check the arguments of ``PreparedGraph.nearest``, and answer."""
    graph, dtype = prepared.graph, prepared.dtype
    require_not_negative(graph_facts(graph), "nearest", USE_SSSP)
    reverse, k = as_flag(reverse, "reverse"), as_count(k, "k")
    vertices = one_or_more(graph, sources, "sources")
    places = one_or_more(graph, facilities, "facilities")
    if not len(places):
        raise RequestError(Code("facilities"), " is empty: name at least one vertex")
    ask = make_ask("nearest", sources=len(vertices), threads=threads)
    ask = ask._replace(keywords=("sources",))
    bound = as_limit(limit, graph, dtype)
    plan = show(prepared._plan(ask, 2 * k * len(vertices)))
    (distances, which), stats = timed(
        lambda _: nearest(
            *prepared._parts, vertices, places, k, limit=bound, reverse=reverse, threads=threads
        )
    )
    task = NearestTask(graph, places, k, bound, dtype, graph.weight_dtype is None, plan.threads)
    rows = prepared._rows(reverse, threads)
    return NearestRows(graph, plan, stats, task, distances, which, reverse, vertices, rows)


def prepared_within(
    prepared: PreparedForm,
    sources: Hashable | Vertices | None,
    limit: Any,
    reverse: bool,
    predecessors: bool,
    threads: int | None,
) -> Reach:
    """Check the arguments of ``PreparedGraph.within``, and answer."""
    graph, dtype = prepared.graph, prepared.dtype
    require_not_negative(graph_facts(graph), "within", USE_SSSP)
    reverse = as_flag(reverse, "reverse")
    if limit is None:
        raise RequestError(
            "within needs a ",
            Code("limit"),
            advice=[Text(Code("limit=math.inf"), " returns all that is reached")],
        )
    rows = (
        np.arange(graph.n, dtype=graph.id_dtype)
        if sources is None
        else one_or_more(graph, sources, "sources")
    )
    ask = make_ask(
        "within", sources=len(rows), predecessors=as_flag(predecessors, "predecessors"),
        threads=threads, device="cpu",
    )  # fmt: skip
    plan = show(prepared._plan(ask, 0))
    bound = as_limit(limit, graph, dtype)

    def search(_: object) -> WithinAnswer:
        return within(
            *prepared._parts, rows, bound, predecessors=ask.what.predecessors, reverse=reverse,
            threads=threads, available=available_memory(),
        )  # fmt: skip

    answer, stats = timed(search)
    return Reach(graph, plan, stats, answer, rows, bound, None, False, reverse)
