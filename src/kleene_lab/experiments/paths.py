"""What paths cost beside lengths."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import kleene as kl
from kleene_lab.experiments.searches import patience_for, places
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.experiment import Axis, Experiment, Plan
from kleene_lab.harness.graphs import NamedGraph, facebook, grid, made, rmat, rome
from kleene_lab.harness.measurements import Measurements, times_as
from kleene_lab.harness.searches import PROVED, searches_of
from kleene_lab.harness.trial import Trial, solve

__all__ = ["EXPERIMENTS"]

_CPU, _GPU = "on the CPU", "on the GPU"


class _Work(NamedTuple):
    label: str
    problem: str
    named: NamedGraph
    tiny: NamedGraph


def _dense(n: int) -> NamedGraph:
    make = partial(kl.generate.dense, n, seed=1, weights=(1, 1000))
    return made(f"complete, {n}", float(n) ** 2, make)


_WORKS = (
    _Work("BFS, R-MAT 20", "bfs", rmat(20), rmat(6)),
    _Work("BFS, grid 2048", "bfs", grid(2048), grid(8)),
    _Work("SSSP, R-MAT 20", "sssp", rmat(20), rmat(6)),
    _Work("SSSP, grid 2048", "sssp", grid(2048), grid(8)),
    _Work("all pairs, complete 2048", "apsp", _dense(2048), _dense(24)),
    _Work("all pairs, Rome", "apsp", rome(), _dense(8)),
    _Work("all pairs, Facebook", "apsp", facebook(), _dense(12)),
)


def _plans(environment: Environment) -> Iterator[Plan]:
    for x, work in enumerate(_WORKS):
        named = work.tiny if environment.quick else work.named
        setup = named.setup(environment) + 4 * PROVED * named.arcs
        guess = 0.0 if environment.quick else 1.0 if work.problem == "apsp" else 2e-8 * named.arcs
        for place, device, threads in places(environment):
            if place == "one core" and environment.cores > 1:
                continue
            for series in ("lengths", "paths"):
                trial = partial(_trial, environment, work.problem, named, series == "paths", device)
                panel = _CPU if device == "cpu" else _GPU
                guess = max(guess, patience_for(environment, device))
                yield Plan(series, x, trial, panel, device, threads, guess, setup, size=0)
                setup = 0.0


def _trial(
    environment: Environment, problem: str, named: NamedGraph, paths: bool, device: str
) -> Trial:
    if problem != "apsp":
        searches = searches_of(environment, problem, named, 4)
        graph = searches.graph if device == "cpu" else environment.placed(searches.graph)
        return searches.trial(graph, paths, device=device)
    g = named.get(environment)
    graph = g if device == "cpu" else environment.placed(g)
    return solve(problem, graph, device=device, predecessors=paths)


def _findings(results: Measurements) -> Iterator[str]:
    for panel in (_CPU, _GPU):
        ratios = dict(results.speedups("paths", "lengths", panel))
        if ratios:
            low, high = min(ratios, key=ratios.__getitem__), max(ratios, key=ratios.__getitem__)
            text = f"{_WORKS[int(high)].label} ({times_as(ratios[high])} as long as lengths alone)"
            if low != high:
                text += f", and the least for {_WORKS[int(low)].label} ({times_as(ratios[low])})"
            yield f"Paths cost the most {panel} for {text}."


EXPERIMENTS = (
    Experiment(
        "paths-cost",
        "What paths cost",
        "How much longer does a call take that keeps paths, not only lengths?",
        Axis("work", log=False, labels=tuple(work.label for work in _WORKS)),
        _plans,
        _findings,
        ("ours", "gpu"),
        quantity="seconds",
        kind="bars",
        budget=30,
        notes=(
            "Whole calls, answers on the host: distances, or distances and predecessors. On a GPU "
            "the graph is there."
        ),
    ),
)
