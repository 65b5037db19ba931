"""The estimated seconds of a call that prepares its graph, from facts alone.

Until something is known of a graph's elimination, a road-like graph counts as one that suits it:
the call then looks closer before it works (``kleene.prepared.cache``), and plans again.
"""

from __future__ import annotations

from math import ceil, log2
from typing import NamedTuple

import numpy as np

from kleene.graph.checks import holds
from kleene.planning.ask import Ask
from kleene.planning.cost_model import (
    count_sources,
    gpu_cost,
    gpu_methods,
    is_road_like,
    many_sources,
    searched_seconds,
)
from kleene.planning.dtype_choice import choose_dtype
from kleene.planning.facts import Facts

__all__ = [
    "Seconds",
    "StepSeconds",
    "cpu_seconds",
    "elimination_pays",
    "elimination_pays_on_gpu",
    "gpu_seconds",
    "preparation_note",
    "prepared_seconds",
    "step_seconds",
]

# All on one core of a Zen 3, in seconds of its time. Highways have 0.56 M vertices and 1.64 M arcs;
# elimination joins 2.4 M pairs and relaxes 14 M triangles. A grid of 300 x 300 has 0.36 M arcs,
# 2.2 M pairs and 148 M triangles.

#: A look at pieces of a graph of more than so many vertices (highways 0.03, grid 0.09); importing
#: METIS, and ordering, an arc (highways 1.7, grid 0.36, 86,000 arcs of highways 0.06).
_LOOK, _LOOKED_AT, _START, _ORDER = 0.06, 2**14, 0.03, 1.04e-6

#: Counting the pairs, a vertex or arc, and finding them, a pair (highways 0.14, grid 0.02).
_COUNTED, _PAIR = 2.6e-8, 2e-8

#: Finding the arcs of pairs, a vertex or arc, and relaxing triangles in blocks (highways 0.17; on a
#: Zen 5 highways 0.11, the grid 0.028, one of 600 x 600 with 1,496 M triangles 0.16).
_PLACED, _TRIANGLE = 7e-8, 1e-10

#: A row, 64 at once: a vertex, which is written in the order of the graph, and a pair (highways in
#: int64 0.67 ms, grid in int32 0.30, 30,000 vertices of highways 0.04). Floats of 8 bytes are
#: computed as such, integers mostly in 4. With predecessors a row takes so much longer.
_VERTEX, _SWEPT, _PREDECESSORS = 1e-9, 1e-10, 1.6

#: A pair and label of the nearest facilities: highways, 1,000 facilities, 2, 5 and 10 labels take
#: 0.10, 0.18 and 0.58 on two cores.
_LABEL = 4e-8

#: A trip of loads: at least, and for each of the triangles to the power of 2/3, which goes with the
#: pairs that an end climbs (Rome 1.9 us, highways 7, grids of 100 x 100 and 300 x 300 9.5 and 85).
#: Where ends have several trips, joining two climbs, and a part of that (all of Rome, each to each,
#: 0.3 us a trip; 500 zones of the highways 0.7, 300 of the larger grid 4.5). Then what moves flows
#: of pairs to arcs, a pair.
_TRIP, _TRIP_CLIMB, _TRIP_POWER, _TRIP_MOVED = 7e-7, 2.5e-10, 2 / 3, 1e-7
_TRIP_JOINED, _TRIP_SHARED = 3e-7, 0.05

#: What elimination gives on graphs that suit it, a vertex: roads (highways; 4.3 and 26), and meshes
#: of more arcs a vertex than the first number (grids; triangles go with n^1.5).
_MESH_DEGREE, _ROAD_PAIRS, _ROAD_TRIANGLES = 3.5, 4.4, 26.0
_MESH_PAIRS, _MESH_TRIANGLES = 1.7, 5.5

#: Elimination must be faster by this factor, since the estimates are rough.
_PREPARED_MARGIN = 1.5

#: Problems that have the method.
_PROBLEMS = ("sssp", "apsp", "closure", "loads", "nearest")

#: Weights whose sums do not depend on the order of addition.
_EXACT = (None, "int32", "int64")

#: On a GPU: sources of a batch, the seconds that the top of the tree takes in each, and bytes a
#: second: on an H200, highways, 32 sources take 1.8 ms and 1024 take 6.4.
_GPU_BATCH, _GPU_TOP, _GPU_BYTES = 1024, 1.5e-3, 6.8e12


class Seconds(NamedTuple):
    """Where the seconds of a call go that prepares its graph."""

    prepare: float  # once for a graph and its weights
    rows: float

    @property
    def total(self) -> float:
        """Their sum."""
        return self.prepare + self.rows


class StepSeconds(NamedTuple):
    """The seconds of each step of preparing a graph, and of a row."""

    order: float
    elimination: float
    weights: float
    row: float  # one of 64 on one core, without predecessors

    @property
    def prepare(self) -> float:
        """What comes before the first row."""
        return self.order + self.elimination + self.weights


def step_seconds(facts: Facts, ask: Ask, threads: int) -> StepSeconds:
    """Estimate every step, whether it was taken before or not."""
    size, (pairs, triangles) = facts.n + facts.m, _joined(facts)
    return StepSeconds(
        _START + facts.m * _ORDER + size * _COUNTED,
        size * _COUNTED + pairs * _PAIR,
        (size * _PLACED + triangles * _TRIANGLE) / threads,
        facts.n * _VERTEX + pairs * _SWEPT * (2 if _computed(facts, ask) == "float64" else 1),
    )


def prepared_seconds(facts: Facts, ask: Ask, threads: int) -> Seconds:
    """Estimate a call by elimination; steps that were taken before count nothing."""
    known, (pairs, triangles) = facts.prepared, _joined(facts)
    steps, sources = step_seconds(facts, ask, threads), count_sources(facts, ask)
    if ask.what.problem == "loads":
        rows = _trips_seconds(ask, sources, triangles) + pairs * _TRIP_MOVED
    elif ask.what.problem == "nearest":
        rows = sources * pairs * _LABEL
    else:
        rows = sources * steps.row * (_PREDECESSORS if ask.what.predecessors else 1)
    prepare = 0.0
    if known is None and facts.n > _LOOKED_AT:
        prepare += _LOOK
    if known is None or known.step == "expected":
        prepare += steps.order
    if known is None or known.step != "eliminated":
        prepare += steps.elimination
    if known is None or (ask.what.semiring, _computed(facts, ask)) not in known.customized:
        prepare += steps.weights
    return Seconds(prepare, rows / threads)


def _trips_seconds(ask: Ask, roots: int, triangles: float) -> float:
    """Estimate the climbs of trips; ends that have several trips climb once in a block."""
    trip = float(_TRIP + _TRIP_CLIMB * triangles**_TRIP_POWER)
    if ask.what.trips > 4 * roots:
        trip = min(trip, _TRIP_JOINED + _TRIP_SHARED * trip)
    return ask.what.trips * trip


def _computed(facts: Facts, ask: Ask) -> str:
    """Return the type of the values of pairs: see ``backends.cpu.prepared``."""
    dtype = choose_dtype(facts, ask)[0]
    short = facts.weight_dtype in _EXACT and holds(np.dtype(np.int32), facts.path_bound)
    return "int32" if short and dtype == np.float64 else str(dtype)


def _joined(facts: Facts) -> tuple[float, float]:
    """Return the pairs and triangles of a graph: what is known, or those of one that suits."""
    n, known = facts.n, facts.prepared
    if known is not None:
        return known.pairs, known.triangles
    if facts.m <= _MESH_DEGREE * n:
        return _ROAD_PAIRS * n, _ROAD_TRIANGLES * n
    return _MESH_PAIRS * n * log2(n + 2), _MESH_TRIANGLES * n**1.5


def elimination_pays(facts: Facts, ask: Ask, threads: int) -> bool:
    """Return whether preparing the graph is clearly faster than searching it unprepared."""
    if not _may_be_prepared(facts, ask) or (facts.prepared and facts.prepared.refused):
        return False
    prepared = prepared_seconds(facts, ask, threads).total
    return prepared * _PREPARED_MARGIN < searched_seconds(facts, ask, threads)


def _may_be_prepared(facts: Facts, ask: Ask) -> bool:
    """Return whether elimination is worth a look.

    Not where searches stop early, or where floats must be added in the order of searches.
    """
    if ask.what.problem not in _PROBLEMS or not is_road_like(facts) or ask.what.limited:
        return False
    exact = facts.weight_dtype in _EXACT
    if ask.what.problem == "nearest":  # its sources are labels
        return exact and count_sources(facts, ask) > 1
    if ask.what.problem == "loads" and (ask.what.split or facts.min_weight <= 0):
        return False  # paths may make detours of length zero, and are then unpacked one by one
    whole = ask.what.problem == "closure"  # a matrix has all rows
    return (whole or many_sources(facts, ask)) and (exact or ask.decided("order") is None)


def preparation_note(facts: Facts, ask: Ask, threads: int, method: str) -> str:
    """Return why the graph is prepared, or why not where something is known; else nothing."""
    known = facts.prepared
    if method != "prepared" and (
        known is None or ask.where.method != "auto" or not _may_be_prepared(facts, ask)
    ):
        return ""
    chosen = "prepared" if method == "prepared" else "not prepared"
    if known is not None and known.refused and method != "prepared":
        return f"{chosen}: {known.refused}"
    prepare, rows = prepared_seconds(facts, ask, threads)
    joined = "" if known is None else f"{known.pairs:,} pairs {known.step}, "
    first = f"{prepare:.2g} s to prepare and " if prepare else ""
    searched = searched_seconds(facts, ask, threads)
    return f"{chosen}: {joined}about {first}{rows:.2g} s for the rows, {searched:.2g} s without"


def cpu_seconds(facts: Facts, ask: Ask, threads: int) -> float:
    """Estimate the fastest method of the CPU, or that which was asked for."""
    asked = ask.where.method == "prepared"
    if asked or (ask.where.method == "auto" and elimination_pays(facts, ask, threads)):
        return prepared_seconds(facts, ask, threads).total
    return searched_seconds(facts, ask, threads)


# ---- on a GPU -----------------------------------------------------------------------------------


def gpu_seconds(facts: Facts, ask: Ask, method: str, threads: int) -> float:
    """Estimate a method on a GPU; to prepare a graph takes its time on the host."""
    if method != "prepared":
        return gpu_cost(facts, ask, method).total
    pairs = _joined(facts)[0]
    sources = count_sources(facts, ask)
    item = choose_dtype(facts, ask)[0].itemsize + (4 if ask.what.predecessors else 0)
    rows = sources * item * (pairs + 3 * facts.n) / _GPU_BYTES
    rows += ceil(sources / _GPU_BATCH) * _GPU_TOP
    start, call, copies, _ = gpu_cost(facts, ask, "batched")  # of as many rows
    return start + call + copies + prepared_seconds(facts, ask, threads).prepare + rows


def elimination_pays_on_gpu(facts: Facts, ask: Ask, threads: int) -> bool:
    """Return whether preparing the graph is clearly faster than other methods on a GPU."""
    if not _may_be_prepared(facts, ask) or (facts.prepared and facts.prepared.refused):
        return False
    takes_negative = ("bellman_ford", "tiled")
    others = (
        gpu_cost(facts, ask, method).total
        for method in gpu_methods(ask.what.problem)
        if method != "prepared" and (facts.min_weight >= 0 or method in takes_negative)
    )
    prepared = gpu_seconds(facts, ask, "prepared", threads)
    return prepared * _PREPARED_MARGIN < min(others)
