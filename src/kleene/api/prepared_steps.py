"""The steps of preparing a graph: order, elimination, weights; how long they took, and what is left.

What they make, and what they would make of a graph, is told by a Plan, as for every call.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.api.execution import cycle_by_label
from kleene.errors import GraphError, NegativeCycleError
from kleene.graph import Graph
from kleene.planning.dtype_choice import choose_dtype
from kleene.planning.machine import live_machine
from kleene.planning.plan import Plan, check_semantics
from kleene.planning.request import Request, graph_facts
from kleene.prepared.customization import Customization, customize
from kleene.prepared.elimination import Elimination, eliminate
from kleene.prepared.order import elimination_order
from kleene.system.machine import as_threads

__all__ = ["Steps", "customize_graph", "eliminate_graph", "steps_plan", "value_dtype"]

Array = NDArray[Any]
Report = Callable[[int, int], object]


class Steps(NamedTuple):
    """How many seconds each step of preparing took; None for one that was not done here."""

    order: float | None = None
    elimination: float | None = None
    weights: float | None = None

    def __str__(self) -> str:
        done = (f"{name} {seconds:.2g} s" for name, seconds in self._asdict().items() if seconds)
        return ", ".join(done)


def value_dtype(graph: Graph, semiring: str, dtype: Any) -> np.dtype[Any]:
    """Return the type of the path values: that asked for, or one that holds all of them."""
    facts = graph_facts(graph)
    request = Request("closure", semiring, dtype=dtype)
    check_semantics(facts, request)
    return choose_dtype(facts, request)[0]


def eliminate_graph(
    graph: Graph, order: Any, threads: int | None, report: Report | None
) -> tuple[Elimination, Steps]:
    """Eliminate all vertices, in the order given or in one of small separators."""
    began = time.perf_counter()
    if order is None:
        order = elimination_order(graph, progress=report)
    else:
        order = graph.index(order if isinstance(order, np.ndarray) else list(order))
    ordered = time.perf_counter()
    made = eliminate(graph, order, threads=threads)
    return made, Steps(ordered - began, time.perf_counter() - ordered)


def customize_graph(
    elimination: Elimination,
    graph: Graph,
    semiring: str,
    dtype: np.dtype[Any],
    threads: int | None,
    steps: Steps,
) -> tuple[Customization, Steps]:
    """Give the pairs of an elimination the weights of a graph."""
    began = time.perf_counter()
    try:
        made = customize(elimination, graph, semiring, dtype=dtype, threads=as_threads(threads))
    except NegativeCycleError as error:
        raise cycle_by_label(error, graph) from None
    return made, steps._replace(weights=time.perf_counter() - began)
