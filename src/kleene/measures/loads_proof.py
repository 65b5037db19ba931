"""Checks of traffic loads: flow is conserved, and trips of a sample of origins cost the least.

Flow that leaves one origin, is nowhere negative and is conserved at every vertex goes along paths
to its destinations. If it costs no more than these destinations are away, all of these paths are
the shortest. So conservation and a plain search prove the trips of an origin, whichever of several
shortest paths they take.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.reference.loads import plain
from kleene.backends.task import LoadsAnswer, LoadsTask
from kleene.engine.work import run_method
from kleene.errors import VerificationError
from kleene.proofs.claim import require_numbers
from kleene.proofs.paths import Proof, choose_rows

if TYPE_CHECKING:
    from kleene.measures.loads import Loads

__all__ = ["add_up", "cost", "verify_loads"]

Array = NDArray[Any]

#: By default, check as many origins as this many arcs and vertices of plain searches allow (some
#: seconds), and at least one.
_WORK = 2_000_000

#: What rounding may change, as a part of the whole: sums of float64, and lengths in float32.
_ROUNDING = {"f8": 1e-9, "f4": 1e-4}


def add_up(places: Array, flows: Array, count: int) -> Array:
    """Return the sum of the flows at each of so many places: float64, also where there are none."""
    return np.bincount(places, flows, minlength=count).astype(np.float64, copy=False)


def cost(task: LoadsTask, arcs: Array, magnitudes: bool = False) -> float:
    """Return the sum of flows times lengths, or their magnitudes; inf if it is too large."""
    weights = task.graph.weights
    if task.hops or weights is None:
        return float(arcs.sum())
    with np.errstate(over="ignore"):
        return float((arcs * (np.abs(weights) if magnitudes else weights)).sum())


def verify_loads(loads: Loads, sample: int | None, seed: int) -> Proof:
    """Check a whole answer, and some of its origins; raise VerificationError at the first fault."""
    began = time.perf_counter()
    task, graph = loads._task, loads.graph
    require_numbers(loads.arcs, "flows", (graph.m,))
    _require_conserved(task, LoadsAnswer(loads.arcs, loads._assigned), "the answer")
    origins = np.unique(task.origins)
    # untestable (second 1 to 2): one vertex is always affordable
    affordable = max(1, _WORK // max(1, graph.n + graph.m))
    chosen = origins[choose_rows(len(origins), affordable, sample, seed)]
    total = np.zeros(graph.m)
    for origin in chosen:
        total += _check_origin(loads, int(origin))
    slack = _rounding(task) * loads.volume
    if (loads.arcs < total - slack).any():
        _refuse_arc(loads, int(np.argmin(loads.arcs - total)), "carries less than its trips")
    if len(chosen) == len(origins) and (np.abs(loads.arcs - total) > slack).any():
        worst = int(np.argmax(np.abs(loads.arcs - total)))
        _refuse_arc(loads, worst, "does not carry the sum of its trips")
    seconds = time.perf_counter() - began
    return Proof(len(chosen), len(origins), graph.m, "flow conserved at every vertex", seconds)


def _check_origin(loads: Loads, origin: int) -> Array:
    """Load the trips of one origin again, check them, and return them."""
    task, label = loads._task, loads.graph.label(origin)
    trips = np.flatnonzero(task.origins == origin)
    own = replace(
        task, origins=task.origins[trips], destinations=task.destinations[trips],
        volumes=task.volumes[trips],
    )  # fmt: skip
    found: LoadsAnswer = run_method(loads.plan, own)
    right = plain(own)
    which = np.flatnonzero(found.assigned != loads._assigned[trips])
    which = np.append(which, np.flatnonzero(right.assigned != loads._assigned[trips]))
    if len(which):
        end = loads.graph.label(int(own.destinations[which[0]]))
        raise VerificationError(
            f"the answer is wrong about whether {end!r} can be reached from {label!r}"
        )
    _require_conserved(own, found, f"what leaves {label!r}")
    slack = _rounding(task)
    if task.split:
        # untestable (<= to <): off by exactly what rounding allows
        close = np.abs(found.arcs - right.arcs) <= slack * own.volumes.sum()
        if not close.all():
            _refuse_arc(loads, int(np.argmin(close)), f"has a wrong share of what leaves {label!r}")
    costs = [cost(own, answer.arcs) for answer in (found, right)]
    if abs(costs[0] - costs[1]) > slack * cost(own, right.arcs, magnitudes=True):
        raise VerificationError(
            f"trips from {label!r} cost {costs[0]:g}, but {costs[1]:g} on shortest paths"
        )
    return found.arcs


def _require_conserved(task: LoadsTask, answer: LoadsAnswer, what: str) -> None:
    """Raise unless what enters each vertex or begins there leaves it or ends there."""
    graph, trips = task.graph, np.flatnonzero(answer.assigned)
    arcs, volumes = answer.arcs, task.volumes[trips]
    if not (arcs >= 0).all():  # NaN is not, either
        raise VerificationError(f"{what} has a flow that is negative or NaN")

    def at(vertices: Array, flows: Array) -> Array:
        return add_up(vertices, flows, graph.n)

    left = at(graph.neighbors, arcs) - at(graph.coo.sources, arcs)
    left += at(task.origins[trips], volumes) - at(task.destinations[trips], volumes)
    throughput = at(graph.neighbors, arcs) + at(task.origins[trips], volumes)
    wrong = np.abs(left) > _ROUNDING["f8"] * throughput
    if wrong.any():
        v = int(np.argmax(wrong))
        raise VerificationError(
            f"{what} does not conserve flow: at {graph.label(v)!r}, {abs(left[v]):g} "
            f"{'stays' if left[v] > 0 else 'comes from nowhere'}"
        )


def _rounding(task: LoadsTask) -> float:
    return _ROUNDING.get(task.dtype.str[1:], _ROUNDING["f8"])


def _refuse_arc(loads: Loads, arc: int, what: str) -> None:
    tail, head = (loads.graph.label(int(end[arc])) for end in loads.graph.coo[:2])
    raise VerificationError(f"the arc from {tail!r} to {head!r} {what}")
