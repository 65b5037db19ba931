"""The steps of preparing a graph, what they took, and what they would take.

Steps that a call took by itself before are not repeated: the graph keeps them
(``kleene.prepared.cache``). Later calls on the graph use what is prepared here, unless the user
chose the order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.calls.arguments import as_devices, as_vertices
from kleene.engine.solve import cycle_by_label
from kleene.engine.value import timed
from kleene.errors import NegativeCycleError, RequestError
from kleene.graph import Graph
from kleene.planning.ask import Ask
from kleene.planning.dtype_choice import choose_dtype
from kleene.planning.facts import graph_facts
from kleene.planning.machine import live_machine
from kleene.planning.plan import Plan, check_semantics
from kleene.planning.prepared_cost import step_seconds
from kleene.prepared.cache import Preparation
from kleene.prepared.customization import Customization, customize
from kleene.prepared.elimination import Elimination, eliminate, expect
from kleene.prepared.known import DEVICES, Known
from kleene.system.suggestions import no_such

__all__ = [
    "Report", "Steps", "customize_graph", "eliminate_graph", "explain_prepared", "foresee",
    "value_dtype",
]  # fmt: skip

Array = NDArray[Any]
Report = Callable[[int, int], object]


class Steps(NamedTuple):
    """How many seconds each step of preparing took; None for one that was not done here."""

    order: float | None = None
    elimination: float | None = None
    weights: float | None = None

    def __str__(self) -> str:
        done = (f"{name} {s:.2g} s" for name, s in self._asdict().items() if s is not None)
        return ", ".join(done)


def value_dtype(graph: Graph, semiring: str, dtype: Any) -> np.dtype[Any]:
    """Return the type of the path values: that asked for, or one that holds all of them."""
    facts, ask = graph_facts(graph), Ask.of("closure", semiring=semiring, dtype=dtype)
    check_semantics(facts, ask)
    return choose_dtype(facts, ask)[0]


def eliminate_graph(
    graph: Graph, order: Any, threads: int | None, report: Report | None
) -> tuple[Elimination, Steps]:
    """Eliminate all vertices, in the order given or in one by nested dissection."""
    kept = Preparation.of(graph)
    if order is None and kept.eliminated:
        return kept.eliminate(graph), Steps()
    if order is None:
        (positions, known), ordering = timed(lambda _: kept.order(graph, report))
        ordered = None if known else ordering.total
    else:
        positions, ordering = timed(lambda _: as_vertices(graph, order, "order"))
        ordered = ordering.total
    made, eliminating = timed(lambda _: eliminate(graph, positions, threads=threads))
    if order is None:  # later calls do not depend on an order that was chosen for this one
        kept.keep(graph, made)
    return made, Steps(ordered, eliminating.total)


def customize_graph(
    elimination: Elimination,
    graph: Graph,
    semiring: str,
    dtype: np.dtype[Any],
    threads: int | None,
    steps: Steps,
    device: str = "cpu",
) -> tuple[Customization, Steps]:
    """Give the pairs of an elimination the weights of a graph."""
    by = _customizer(device)
    give = partial(
        Preparation.of(graph).customize, graph, elimination, semiring, dtype, threads=threads, by=by
    )
    try:
        made, stats = timed(lambda _: give())
    except NegativeCycleError as error:
        raise cycle_by_label(error, graph) from None
    return made, steps._replace(weights=stats.total)


def _customizer(device: str) -> Callable[..., Customization]:
    """Return what computes the values of pairs on a device, which must be there."""
    kind = as_devices(device, None)[0]
    if kind not in DEVICES:
        raise RequestError(no_such("device", device, DEVICES), option="device")
    if kind == "cpu":
        return customize
    from kleene.backends.cuda.prepared import customize as prepared_customize
    from kleene.backends.cuda.runtime.device import open_device

    open_device(device)  # also where the values are kept
    return partial(prepared_customize.customize, device=device)


# ---- explanations -------------------------------------------------------------------------------


def explain_prepared(
    graph: Graph, elimination: Elimination, values: Customization, steps: Steps
) -> Plan:
    """Return what was prepared as a plan, which prints as an explanation."""
    fill = elimination.fill
    threads = live_machine().cores
    reasons = [
        f"{fill.pairs:,} pairs of vertices are joined, from {graph.m:,} arcs; the tree is "
        f"{fill.depth:,} deep",
        f"new weights relax {fill.triangles:,} triangles",
    ]
    if values.up.dtype != values.dtype and values.dtype.kind == "i":
        reasons.append(f"all path lengths fit in {values.up.dtype}, which is faster")
    reasons.append(str(steps) or "read from a file")
    return _plan(values.semiring, values.dtype, threads, fill.bytes, reasons)


def foresee(graph: Graph, semiring: str, dtype: Any, threads: int | None) -> Plan:
    """Return what ``prepare`` would do, without ordering the vertices."""
    kind = value_dtype(graph, semiring, dtype)
    found = expect(graph)
    fill, about = found.fill, "" if found.exact else "about "
    used = threads or live_machine().cores
    facts = replace(graph_facts(graph), prepared=Known(fill.pairs, fill.triangles, "expected"))
    ask = Ask.of("closure", semiring=semiring, dtype=dtype, sources=1, predecessors=False)
    takes = step_seconds(facts, ask, used)
    reasons = [
        f"{about}{fill.pairs:,} pairs of vertices would be joined, from {graph.m:,} arcs; the tree "
        f"would be {about}{fill.depth:,} deep",
        f"new weights would relax {about}{fill.triangles:,} triangles",
        f"prepared in about {takes.prepare:.2g} s, new weights in {takes.weights:.2g} s, a tree in "
        f"{takes.row:.2g} s",
    ]
    if found.refusal:
        reasons[-1] = f"it would be refused: {found.refusal}"
    return _plan(semiring, kind, used, fill.bytes, reasons)


def _plan(
    semiring: str, dtype: np.dtype[Any], threads: int, memory: int, reasons: list[str]
) -> Plan:
    available = live_machine().free_memory()
    return Plan(
        "prepare", "elimination", "cpu", semiring, str(dtype), threads, memory, available,
        tuple(reasons),
    )  # fmt: skip
