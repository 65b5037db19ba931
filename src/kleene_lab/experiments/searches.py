"""Searches from one source: hops and lengths, by size and on graphs of every kind."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from functools import partial

from kleene_lab.harness.environment import Environment
from kleene_lab.harness.experiment import Axis, Experiment, Plan
from kleene_lab.harness.formatting import amount, three
from kleene_lab.harness.graphs import (
    NamedGraph,
    enron,
    facebook,
    grid,
    highways,
    rmat,
    rome,
    uniform,
)
from kleene_lab.harness.measurements import Measurements, finding, times_as
from kleene_lab.harness.record import Point
from kleene_lab.harness.searches import PROVED, proofs_of, searches_of
from kleene_lab.harness.trial import Trial

__all__ = ["EXPERIMENTS", "patience_for", "places"]

_MANY = 100  # levels

#: Seconds for an arc of a search on one core, in a first guess, and on a GPU by device.
_ARC = {"bfs": 4e-9, "sssp": 4e-8}
_GPU_ARC = {"cuda": 2e-10, "emulated": 1e-5}


def patience_for(environment: Environment, device: str) -> float:
    """Return a guess that keeps the emulator from what would take it minutes."""
    return 1e3 if device == "emulated" and not environment.quick else 0.0


#: A series of a search: name, device, threads.
Place = tuple[str, str, int | None]


def places(environment: Environment) -> Iterator[Place]:
    """Yield the series of a search, the fastest first, if time is short."""
    if environment.gpu:
        yield "GPU", environment.gpu, None
    if environment.cores > 1:
        yield "all cores", "cpu", environment.cores
    yield "one core", "cpu", 1


def _search_plans(
    environment: Environment, problem: str, named: NamedGraph, x: float, panel: str = ""
) -> Iterator[Plan]:
    """Yield a point for each place; the graph is there before the clock starts."""
    proofs = PROVED * proofs_of(named.arcs) * named.arcs
    setup = named.setup(environment) + 8 * _ARC[problem] / environment.cores * named.arcs + proofs
    for series, device, threads in places(environment):
        arc = _ARC[problem] / (threads or 1) if device == "cpu" else _GPU_ARC[device]
        yield Plan(
            series, x, partial(_trial, environment, problem, named, device, threads), panel, device,
            threads, named.arcs * arc, setup, named.arcs, named.family, growth=3,
        )  # fmt: skip
        setup = 0.0  # shared with the next


def _trial(
    environment: Environment, problem: str, named: NamedGraph, device: str, threads: int | None
) -> Trial:
    searches = searches_of(environment, problem, named)
    graph = searches.graph if device == "cpu" else environment.placed(searches.graph)
    return searches.trial(graph, device=device, threads=threads)


# ---- tables and findings ------------------------------------------------------------------------


def _microseconds_a_level(point: Point) -> str:
    """Say how long a level takes, where there are many."""
    levels = point.facts.get("levels", 0)
    return three(1e6 * point.median / levels) if levels > _MANY else ""


def _call(point: Point) -> str:
    return three(1e3 * statistics.median(point.seconds)) if point.seconds else ""


_COLUMNS = (("µs a level", _microseconds_a_level), ("whole call, ms", _call))
_NOTES = (
    "Medians over eight random sources of the largest component, distances without paths. A rate "
    "is arcs that leave reached vertices, a second; an edge of an undirected graph counts twice. "
    "On a GPU the graph is there, and its clock counts from a cleared answer to all distances; "
    "whole calls bring them to the host."
)


def _gteps(point: Point) -> str:
    return amount(point.rate or 0, "arcs a second")


# ---- by scale -----------------------------------------------------------------------------------


def _by_scale(problem: str, scales: range, environment: Environment) -> Iterator[Plan]:
    for scale in environment.sizes(tuple(scales), (6,)):
        named = rmat(scale, weighted=True if problem == "sssp" else None)
        yield from _search_plans(environment, problem, named, scale)


def _findings_by_scale(results: Measurements) -> Iterator[str]:
    for place in ("GPU", "all cores", "one core"):
        points = [point for point in results.of(place) if point.rate]
        if points:
            best = max(points, key=lambda point: point.rate or 0)
            where = "the GPU's" if place == "GPU" else f"that of {place}"
            yield f"The highest rate, {_gteps(best)}, is {where} at scale {best.x:g}."
            break
    for scale, ratio in list(results.speedups("one core", "all cores"))[-1:]:
        cores = results.run.machine.get("cores")
        yield f"At scale {scale:g}, {cores} cores are {times_as(ratio)} as fast as one."
    ratios = list(results.speedups("all cores", "GPU"))
    faster = [scale for scale, ratio in ratios if ratio > 1]
    if ratios:
        scale, ratio = ratios[-1]
        since = f"; it is ahead from scale {faster[0]:g} on" if faster == _tail(ratios) else ""
        yield f"At scale {scale:g} the GPU is {times_as(ratio)} as fast as all cores{since}."


def _tail(ratios: list[tuple[float, float]]) -> list[float]:
    """Return the x from which on all ratios are above one."""
    results: list[float] = []
    for x, ratio in reversed(ratios):
        if ratio <= 1:
            break
        results.insert(0, x)
    return results or [-1.0]


# ---- by family ----------------------------------------------------------------------------------


def _families(problem: str, quick: bool) -> tuple[NamedGraph, ...]:
    """Return graphs of every kind, small ones first."""
    if quick:
        return (rome(), rmat(6), uniform(6), grid(8))
    made = (rmat(20), uniform(20), uniform(22), grid(2048), grid(4096))
    if problem == "sssp":
        return (rome(), highways(), *made)
    return (rome(), facebook(), enron(), highways(), *made, rmat(21, 48, weighted=False))


def _labels(problem: str) -> tuple[str, ...]:
    return tuple(
        f"{named.name.removesuffix(', no weights')}" for named in _families(problem, False)
    )


def _by_family(problem: str, environment: Environment) -> Iterator[Plan]:
    for x, named in enumerate(_families(problem, environment.quick)):
        yield from _search_plans(environment, problem, named, x)


def _findings_by_family(problem: str, results: Measurements) -> Iterator[str]:
    labels = _labels(problem)
    for place in ("GPU", "all cores", "one core"):
        points = [point for point in results.of(place) if point.rate]
        where = "the GPU" if place == "GPU" else place
        if len(points) > 1:
            best = max(points, key=lambda point: point.rate or 0)
            worst = min(points, key=lambda point: point.rate or 0)
            yield (
                f"On {where}, the rate is highest on {labels[int(best.x)]} ({_gteps(best)}) and "
                f"lowest on {labels[int(worst.x)]} ({_gteps(worst)})."
            )
        for point in [p for p in points if _microseconds_a_level(p)][-1:]:
            yield (
                f"On {labels[int(point.x)]}, which has {point.facts['levels']:,.0f} levels, a "
                f"level takes {_microseconds_a_level(point)} µs on {where}."
            )
    ratios = list(results.speedups("all cores", "GPU"))
    slower = [labels[int(x)] for x, ratio in ratios if ratio < 1]
    if slower:
        yield f"The GPU is slower than all cores on {', '.join(slower)}."


def _experiment(problem: str, what: str, name: str, scales: range) -> Iterator[Experiment]:
    yield Experiment(
        f"{problem}-by-scale",
        f"{name} by scale",
        f"How many arcs a second does {what} look at, by the size of a graph with hubs?",
        Axis("scale of R-MAT, 2^scale vertices", log=False),
        partial(_by_scale, problem, scales),
        _findings_by_scale,
        ("ours", "gpu"),
        y="rate",
        budget=45,
        headline=finding(),
        notes=f"R-MAT, 16 edges a vertex, undirected. {_NOTES}",
        columns=_COLUMNS,
    )
    yield Experiment(
        f"{problem}-by-family",
        f"{name} by kind of graph",
        f"How many arcs a second does {what} look at, on roads, grids, networks and at random?",
        Axis("graph", log=False, labels=_labels(problem)),
        partial(_by_family, problem),
        partial(_findings_by_family, problem),
        ("ours", "gpu"),
        y="rate",
        kind="bars",
        budget=50,
        notes=_NOTES,
        columns=_COLUMNS,
    )


EXPERIMENTS = (
    *_experiment("bfs", "a breadth-first search", "Breadth-first search", range(16, 26)),
    *_experiment("sssp", "a weighted search", "Shortest paths from one source", range(16, 25, 2)),
)
