"""Betweenness of few sources beside `bc` of the GAP Benchmark Suite, in one run.

A trial takes four sources, as GAP's does. Both programs draw them anew for every trial, so means
are compared.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from itertools import cycle
from typing import Any, NamedTuple

import numpy as np

import kleene as kl
from kleene_lab.experiments.gap import gap_places, hop_file, require_idle
from kleene_lab.experiments.peers import findings_beside
from kleene_lab.harness import gap
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.experiment import Axis, Experiment, Plan
from kleene_lab.harness.graphs import NamedGraph, grid, rmat, sources_in, uniform
from kleene_lab.harness.measurements import Measurements, finding
from kleene_lab.harness.trial import Trial

__all__ = ["EXPERIMENTS"]

_GRAPHS = (rmat(18), rmat(20), uniform(20))
_LABELS = tuple(named.name for named in _GRAPHS)
_QUICK = (grid(8),)

#: Sources of a trial; trials with other sources, before the first ones come again.
_SOURCES, _DRAWS = 4, 8

#: Seconds for an arc and a source on one core, and to write an arc to a file.
_LOOK, _SETUP = 8e-9, 2e-7


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


def _plans(environment: Environment) -> Iterator[Plan]:
    gap.programs("bc")  # raises Skipped
    load = os.getloadavg()[0]
    for x, named in enumerate(_QUICK if environment.quick else _GRAPHS):
        setup = named.setup(environment) + named.arcs * _SETUP
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
        program.run, _check, n=g.n, m=g.m, method="GAP", threads=threads,
        timed=lambda trials: float(np.mean(trials.seconds)),
    )  # fmt: skip


def _check(trials: gap.Searches) -> str:
    """Raise AssertionError if GAP says that it is wrong."""
    if trials.verified is False:
        raise AssertionError("GAP's own verification failed")
    return "GAP's own verification"


def _findings(results: Measurements) -> Iterator[str]:
    others = [series for series in results.series if series.startswith("GAP, ")]
    for place in (series.removeprefix("GAP, ") for series in others):
        yield from findings_beside(_LABELS, ("",), (f"GAP, {place}",), place, results)


EXPERIMENTS = (
    Experiment(
        "betweenness-gap",
        "Betweenness of four sources beside the GAP Benchmark Suite",
        "How fast is betweenness of few sources beside the GAP Benchmark Suite in C++?",
        Axis("graph", log=False, labels=_LABELS),
        _plans,
        _findings,
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
