"""Plans of searches along lengths, which must not be negative, or along hops."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kleene.engine.planned import plan_value
from kleene.errors import Code, MemoryBudgetError, RequestError, Text, in_words_of
from kleene.graph import Graph
from kleene.graph.weight_names import warn_of_numbers_left
from kleene.planning.ask import Ask
from kleene.planning.facts import Facts, graph_facts
from kleene.planning.plan import Plan
from kleene.prepared.known import Known

__all__ = ["COUNT_ARCS", "USE_SSSP", "plan_lengths", "require_not_negative", "wide_dtype"]

#: What to do about negative weights: of any call, and of one that returns distances.
COUNT_ARCS = Text("count arcs by ", Code("hops=True"))
USE_SSSP = Text("use ", Code("kleene.sssp"), ", which allows them")


def plan_lengths(
    graph: Graph, ask: Ask, hops: bool, advice: str, prepared: Known | None = None
) -> Plan:
    """Plan a search along lengths, which must not be negative, or hops.

    ``advice`` says what to do where memory does not suffice, ``prepared`` what the graph was
    prepared for by the user.
    """
    if not hops:
        warn_of_numbers_left(graph)
    facts = graph_facts(graph, hops)
    searched = ask.what.problem in ("within", "nearest")
    require_not_negative(facts, ask.what.problem, *([COUNT_ARCS, USE_SSSP] if searched else []))
    if prepared is not None:
        facts = replace(facts, prepared=prepared)
    try:
        return plan_value(facts, ask, graph if prepared is None else None, hops)
    except MemoryBudgetError as error:
        raise in_words_of(error, advice=[advice], lead="; ") from None


def wide_dtype(graph: Graph, hops: bool) -> np.dtype[Any]:
    """Return the type in which equal lengths compare equal: int64 for integers, else float64."""
    own = None if hops else graph.weight_dtype
    return np.dtype(np.float64 if own is not None and own.kind == "f" else np.int64)


def require_not_negative(facts: Facts, call: str, *advice: str) -> None:
    """Refuse negative weights; ``advice`` says what the user can do instead, by default hops."""
    if facts.min_weight < 0:
        raise RequestError(
            f"{call} needs weights that are not negative, and the smallest is {facts.min_weight:g}",
            advice=advice or [COUNT_ARCS],
        )
