"""Searches and betweenness beside the GAP Benchmark Suite, which is C++ with OpenMP, in one run.

GAP returns predecessors of a breadth-first search, and lengths of shortest paths; Kleene is asked
for as much (its predecessors come with distances).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from itertools import cycle
from typing import Any, NamedTuple

import numpy as np

import kleene as kl
from kleene_lab.experiments.inputs import FileOf
from kleene_lab.experiments.peers import Entry, entry_of, findings_beside, our_plans
from kleene_lab.experiments.searches import Place
from kleene_lab.harness import gap
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.experiment import Axis, Experiment, Plan, Skipped
from kleene_lab.harness.graphs import NamedGraph, grid, highways, rmat, sources_in, uniform
from kleene_lab.harness.measurements import Measurements, finding
from kleene_lab.harness.record import Point
from kleene_lab.harness.trial import Trial

__all__ = ["EXPERIMENTS"]

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


# ---- betweenness of few sources, beside `bc` -----------------------------------------------------
# A trial takes four sources, as GAP's does. Both programs draw them anew for every trial, so means
# are compared.


_SUM_GRAPHS = (rmat(18), rmat(20), uniform(20))
_SUM_LABELS = tuple(named.name for named in _SUM_GRAPHS)

#: Sources of a trial; trials with other sources, before the first ones come again.
_SOURCES, _DRAWS = 4, 8

#: Seconds for an arc and a source on one core, and to write an arc to a file.
_LOOK, _SUM_SETUP = 8e-9, 2e-7


class _Answer(NamedTuple):
    sources: list[int]
    values: Any


class _Ours:
    """Calls with other sources each time."""

    def __init__(self, g: kl.Graph, threads: int) -> None:
        self.g, self.threads = g, threads
        found = sources_in(g, _SOURCES * _DRAWS).reshape(_DRAWS, _SOURCES)
        self._draws = cycle(found.tolist())

    def run(self) -> _Answer:
        """Return the betweenness by paths from the next sources."""
        sources = next(self._draws)
        found = kl.betweenness(
            self.g, sources=sources, hops=True, normalized=False, threads=self.threads, device="cpu"
        )
        return _Answer(sources, found)

    def check(self, answer: _Answer) -> str:
        """Compare the sum of all numbers with the distances: a path of d arcs passes d - 1."""
        rows = kl.bfs(self.g, sources=answer.sources, predecessors=False, device="cpu")
        inner = float((rows.distances[rows.distances > 0] - 1).sum())
        pairs = 1 if self.g.directed else 2
        np.testing.assert_allclose(answer.values.values.sum() * pairs, inner, rtol=1e-6)
        return "the sum of all numbers, by the distances of the sources"


def _sum_plans(environment: Environment) -> Iterator[Plan]:
    gap.programs("bc")  # raises Skipped
    load = os.getloadavg()[0]
    for x, named in enumerate(_QUICK if environment.quick else _SUM_GRAPHS):
        setup = named.setup(environment) + named.arcs * _SUM_SETUP
        guess = named.arcs * _SOURCES * _LOOK
        for place, device, threads in gap_places(environment):
            assert threads is not None
            for name, make in (("Kleene", _our_trial), ("GAP", _their_trial)):
                trial = partial(make, environment, named, threads, load)
                yield Plan(
                    f"{name}, {place}", x, trial, "", device, threads, guess / threads, setup,
                    size=named.arcs, family=named.family,
                )  # fmt: skip


def _our_trial(environment: Environment, named: NamedGraph, threads: int, load: float) -> Trial:
    g = named.get(environment)
    ours = _Ours(g, threads)
    return Trial(
        ours.run, ours.check, n=g.n, m=g.m, method="brandes", threads=threads, repeats=_DRAWS
    )


def _their_trial(environment: Environment, named: NamedGraph, threads: int, load: float) -> Trial:
    require_idle(environment, threads, load)
    g = named.get(environment)
    file = environment.last("GAP", ("bc", named.name, g.n), lambda: hop_file(g))
    program = gap.Program("bc", file.path, threads, "-i", str(_SOURCES))
    return Trial(
        program.run, _check_sums, n=g.n, m=g.m, method="GAP", threads=threads,
        timed=lambda trials: float(np.mean(trials.seconds)),
    )  # fmt: skip


def _check_sums(trials: gap.Searches) -> str:
    """Raise AssertionError if GAP says that it is wrong."""
    if trials.verified is False:
        raise AssertionError("GAP's own verification failed")
    return "GAP's own verification"


def _findings_sums(results: Measurements) -> Iterator[str]:
    others = [series for series in results.series if series.startswith("GAP, ")]
    for place in (series.removeprefix("GAP, ") for series in others):
        yield from findings_beside(_SUM_LABELS, ("",), (f"GAP, {place}",), place, results)


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
    Experiment(
        "betweenness-gap",
        "Betweenness of four sources beside the GAP Benchmark Suite",
        "How fast is betweenness of few sources beside the GAP Benchmark Suite in C++?",
        Axis("graph", log=False, labels=_SUM_LABELS),
        _sum_plans,
        _findings_sums,
        ("peers", "gap"),
        quantity="seconds",
        kind="bars",
        budget=240,
        patience=60,
        headline=finding(),
        notes=(
            "Four random sources a trial, by hops; whole calls from the graph in memory. GAP's "
            "times are means of the three trials that it prints. Its numbers are float32, Kleene's "
            "float64."
        ),
    ),
)
