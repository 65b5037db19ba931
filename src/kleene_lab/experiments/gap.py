"""Searches beside those of the GAP Benchmark Suite, which is C++ with OpenMP, in one run.

GAP returns predecessors of a breadth-first search, and lengths of shortest paths; Kleene is asked
for as much (its predecessors come with distances).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial

import kleene as kl
from kleene_lab.experiments.files import FileOf
from kleene_lab.experiments.peers import Entry, entry_of, findings_beside, our_plans
from kleene_lab.experiments.searches import Place
from kleene_lab.harness import gap
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.experiment import Axis, Experiment, Plan, Skipped
from kleene_lab.harness.graphs import NamedGraph, grid, highways, rmat, uniform
from kleene_lab.harness.measurements import Measurements, finding
from kleene_lab.harness.record import Point
from kleene_lab.harness.trial import Trial

__all__ = ["EXPERIMENTS", "gap_places", "hop_file", "require_idle"]

_GRAPHS = (rmat(18), rmat(20), highways(), grid(2048), uniform(20))
_LABELS = tuple(named.name for named in _GRAPHS)
_QUICK = (grid(8),)

#: By panel: the problem, and whether predecessors are asked for.
_PANELS = {"breadth-first search": ("bfs", True), "shortest paths": ("sssp", False)}

#: Threads that get a series beside one and all, where there are more cores.
_THREADS = (8, 2)

#: Seconds for an arc to be written, and to be searched with each delta that is tried.
_SETUP = 2e-7

#: The load for each core, as the experiment begins, that is more than what the lab itself causes.
_BUSY = 1.5


def gap_places(environment: Environment) -> Iterator[Place]:
    """Yield the numbers of threads, most first."""
    if environment.cores > 1:
        yield "all cores", "cpu", environment.cores
    yield from ((f"{k} cores", "cpu", k) for k in _THREADS if k < environment.cores)
    yield "one core", "cpu", 1


def _plans(environment: Environment) -> Iterator[Plan]:
    gap.programs("bfs", "sssp")  # raises Skipped
    load = os.getloadavg()[0]
    for x, named in enumerate(_QUICK if environment.quick else _GRAPHS):
        for panel, (problem, paths) in _PANELS.items():
            where = tuple(gap_places(environment))
            yield from our_plans(environment, problem, named, x, panel, paths, where)
            for place, device, threads in where:
                assert threads is not None
                trial = partial(_theirs, environment, problem, named, threads, load)
                setup = named.arcs * _SETUP
                yield Plan(f"GAP, {place}", x, trial, panel, device, threads, setup=setup, size=0)


def _theirs(
    environment: Environment, problem: str, named: NamedGraph, threads: int, load: float
) -> Trial:
    require_idle(environment, threads, load)
    entry = entry_of(environment, problem, named)
    g = entry.graph
    file = environment.last("GAP", (problem, named.name, g.n), lambda: _file(problem, g))
    program = gap.Program(problem, file.path, threads, "-a", "-r", str(entry.start[0]))
    if problem == "sssp":
        assert g.weights is not None
        program.tune(int(g.weights.mean()))
    return Trial(
        program.run, partial(_check, entry), n=g.n, m=g.m, method="GAP",
        facts={} if program.delta is None else {"delta": program.delta},
        timed=lambda searches: searches.seconds[-1],
    )  # fmt: skip


def require_idle(environment: Environment, threads: int, load: float) -> None:
    """Raise Skipped where a busy machine would slow several threads of GAP."""
    if threads > 1 and load > _BUSY * environment.cores:
        raise Skipped(
            f"the load is {load:.1f} on {environment.cores} cores: GAP's threads wait for each "
            "other, so that a busy machine would slow it many times over; measure it when idle"
        )


def _file(problem: str, g: kl.Graph) -> FileOf:
    return FileOf(g, "graph.wsg") if problem == "sssp" else hop_file(g)


def hop_file(g: kl.Graph) -> FileOf:
    """Return a file of the arcs without weights."""
    return FileOf(kl.Graph.from_csr(g.offsets, g.neighbors, directed=g.directed), "graph.sg")


def _check(entry: Entry, searches: gap.Searches) -> str:
    """Raise AssertionError if GAP says that it is wrong, or reached another number of vertices."""
    if searches.verified is False:
        raise AssertionError("GAP's own verification failed")
    if searches.reached != entry.reached:
        raise AssertionError(f"GAP reached {searches.reached} vertices, not {entry.reached}")
    return "GAP's own verification; as many vertices reached as by Kleene, which was verified"


def _findings(results: Measurements) -> Iterator[str]:
    others = [series for series in results.series if series.startswith("GAP, ")]
    for place in (series.removeprefix("GAP, ") for series in others):
        yield from findings_beside(_LABELS, tuple(_PANELS), (f"GAP, {place}",), place, results)


def _delta(point: Point) -> str:
    return str(point.facts.get("delta", ""))


EXPERIMENTS = (
    Experiment(
        "peers-gap",
        "Searches beside the GAP Benchmark Suite",
        "How fast are searches beside the GAP Benchmark Suite in C++?",
        Axis("graph", log=False, labels=_LABELS),
        _plans,
        _findings,
        ("peers", "gap"),
        quantity="seconds",
        kind="bars",
        budget=360,
        headline=finding(),
        columns=(("delta", _delta),),
        notes=(
            "Whole calls from the graph in memory, from a hub of the largest part. GAP's times "
            "are those that it prints: each turn starts it anew, and the last of three searches "
            "counts. Its delta is the fastest on each graph, found before. A breadth-first search "
            "returns predecessors, in Kleene with the distances; shortest paths are lengths."
        ),
    ),
)
