"""Scaling with threads: everything that is shared among cores, on one, two, four and so on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import kleene as kl
from kleene_lab.experiments.inputs import FileOf, same_graph
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.experiment import Axis, Experiment, Plan
from kleene_lab.harness.graphs import NamedGraph, grid, made, rmat, rome
from kleene_lab.harness.measurements import Measurements, times_as
from kleene_lab.harness.searches import searches_of
from kleene_lab.harness.trial import Trial, solve

__all__ = ["EXPERIMENTS"]


class _Work(NamedTuple):
    name: str
    trial: Callable[[Environment, NamedGraph, int], Trial]
    graph: NamedGraph
    tiny: NamedGraph


def _dense(environment: Environment, named: NamedGraph, threads: int) -> Trial:
    return solve(
        "apsp", named.get(environment), device="cpu", method="tiled", threads=threads,
        predecessors=False,
    )  # fmt: skip


def _search(problem: str, environment: Environment, named: NamedGraph, threads: int) -> Trial:
    searches = searches_of(environment, problem, named, 4)
    return searches.trial(searches.graph, device="cpu", threads=threads)


def _batched(environment: Environment, named: NamedGraph, threads: int) -> Trial:
    return solve(
        "apsp", named.get(environment), device="cpu", method="batched", threads=threads,
        predecessors=False,
    )  # fmt: skip


def _generate(scale: int, environment: Environment, named: NamedGraph, threads: int) -> Trial:
    right = named.get(environment)
    make: Any = partial(kl.generate.rmat, 6 if environment.quick else scale, 16, seed=1,
                        directed=False, weights=(1, 255), threads=threads)  # fmt: skip
    return Trial(make, partial(same_graph, right), n=right.n, m=right.m)


def _read(environment: Environment, named: NamedGraph, threads: int) -> Trial:
    g = named.get(environment)
    file = environment.last("file", ("arcs.mtx", g.n, g.m), lambda: FileOf(g, "arcs.mtx"))
    read = partial(kl.read, file.path, threads=threads)
    return Trial(read, lambda results: same_graph(g, results.unlabelled()), n=g.n, m=g.m)


def _complete(n: int) -> NamedGraph:
    make = partial(kl.generate.dense, n, seed=1, weights=(0.0, 1.0, "float32"))
    return made(f"complete, {n}", float(n) ** 2, make)


_WORKS = (
    _Work("dense all pairs, n = 2048", _dense, _complete(2048), _complete(24)),
    _Work("BFS, R-MAT 20", partial(_search, "bfs"), rmat(20), rmat(6)),
    _Work("SSSP, R-MAT 20", partial(_search, "sssp"), rmat(20), rmat(6)),
    _Work("BFS, grid 2048", partial(_search, "bfs"), grid(2048), grid(8)),
    _Work("SSSP, grid 2048", partial(_search, "sssp"), grid(2048), grid(8)),
    _Work("sparse all pairs, Rome", _batched, rome(), grid(8)),
    _Work("making R-MAT 18", partial(_generate, 18), rmat(18), rmat(6)),
    _Work("reading R-MAT 18, text", _read, rmat(18), rmat(6)),
)


def _threads(cores: int) -> list[int]:
    """List one, two, four and so on, and all.

    >>> _threads(1), _threads(6), _threads(8)
    ([1], [1, 2, 4, 6], [1, 2, 4, 8])
    """
    return sorted({2**k for k in range(cores.bit_length()) if 2**k < cores} | {cores})


def _plans(environment: Environment) -> Iterator[Plan]:
    for work in _WORKS:
        named = work.tiny if environment.quick else work.graph
        setup = named.setup(environment)
        for threads in _threads(environment.cores):
            trial = partial(work.trial, environment, named, threads)
            yield Plan(work.name, threads, trial, threads=threads, setup=setup, size=1)


def _findings(results: Measurements) -> Iterator[str]:
    most = max((point.x for point in results.points), default=1)
    texts = []
    for series in results.series:
        points = results.of(series)
        if most > 1 and len(points) > 1 and points[0].x == 1 and points[-1].x == most:
            texts.append((results.value(points[-1]), series))
    texts.sort(reverse=True)
    if texts:
        best, series = texts[0]
        yield f"With {most:g} cores the best to scale is {series}, {times_as(best)} as fast."
    if len(texts) > 1:
        worst, series = texts[-1]
        yield f"The one that gains least is {series}, {times_as(worst)} as fast."


EXPERIMENTS = (
    Experiment(
        "scaling-with-threads",
        "Scaling with threads",
        "How much faster is everything on more cores?",
        Axis("threads"),
        _plans,
        _findings,
        ("ours",),
        y="speedup",
        budget=45,
        notes="Times as fast as on one core of the same processor.",
    ),
)
