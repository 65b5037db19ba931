"""Generators: how fast graphs of every family are made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import kleene as kl
from kleene_lab.experiments.files import beside_ours, best_of, ours, same_graph
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.experiment import Axis, Experiment, Plan, Skipped
from kleene_lab.harness.formatting import three
from kleene_lab.harness.measurements import Measurements
from kleene_lab.harness.peers import NOT_INSTALLED
from kleene_lab.harness.trial import Trial

__all__ = ["EXPERIMENTS"]


class _Other(NamedTuple):
    """Another library's way to make such a graph; the number of its arcs."""

    name: str
    module: str
    make: Callable[[Any], Any]
    arcs: Callable[[Any], int]


class _Family(NamedTuple):
    name: str
    make: Callable[[int], kl.Graph]  # by the number of threads
    others: tuple[_Other, ...] = ()


def _families(quick: bool) -> tuple[_Family, ...]:
    generate = kl.generate
    scale = 6 if quick else 18
    n, m = 2**scale, 16 * 2**scale
    side, dense, capped = (8, 24, 32) if quick else (2048, 4096, 5120)
    few, few_m, few_side = max(n // 16, 16), max(m // 16, 16), max(side // 8, 3)  # in plain Python
    return (
        _Family("rmat", lambda t: generate.rmat(scale, threads=t), (
            _Other("NetworKit", "networkit", lambda nk: nk.generators.RmatGenerator(
                scale, 16, 0.57, 0.19, 0.19, 0.05).generate(), lambda g: 2 * g.numberOfEdges()),
        )),
        _Family("rmat, undirected", lambda t: generate.rmat(scale, directed=False, threads=t)),
        _Family("rmat, weights", lambda t: generate.rmat(scale, weights=(1, 255), threads=t)),
        _Family("uniform", lambda t: generate.uniform(n, m, threads=t), (
            _Other("igraph", "igraph", lambda ig: ig.Graph.Erdos_Renyi(n=n, m=m, directed=True),
                   lambda g: g.ecount()),
            _Other("SciPy", "scipy.sparse", lambda sp: sp.random(
                few // 8, few // 8, min(1.0, 128 / few), format="csr"), lambda a: a.nnz),
            _Other("NetworkX", "networkx", lambda nx: nx.gnm_random_graph(
                few, few_m, directed=True), lambda g: g.number_of_edges()),
        )),
        _Family("uniform, undirected", lambda t: generate.uniform(n, m, directed=False, threads=t)),
        _Family("dense", lambda t: generate.dense(dense, threads=t)),
        _Family("capped", lambda t: generate.capped(capped, 0.25, threads=t)),
        _Family("path_plus", lambda t: generate.path_plus(n, threads=t)),
        _Family("grid", lambda t: generate.grid(side, side, threads=t), (
            _Other("igraph", "igraph", lambda ig: ig.Graph.Lattice([side, side], circular=False),
                   lambda g: 2 * g.ecount()),
            _Other("NetworkX", "networkx", lambda nx: nx.grid_2d_graph(few_side, few_side),
                   lambda g: 2 * g.number_of_edges()),
        )),
        _Family("small_world", lambda t: generate.small_world(n, 10, threads=t), (
            _Other("igraph", "igraph", lambda ig: ig.Graph.Watts_Strogatz(1, n, 5, 0.1),
                   lambda g: 2 * g.ecount()),
            _Other("NetworKit", "networkit", lambda nk: nk.generators.WattsStrogatzGenerator(
                n, 5, 0.1).generate(), lambda g: 2 * g.numberOfEdges()),
            _Other("NetworkX", "networkx", lambda nx: nx.watts_strogatz_graph(few, 10, 0.1),
                   lambda g: 2 * g.number_of_edges()),
        )),
    )  # fmt: skip


_FAMILIES = tuple(family.name for family in _families(True))


def _making(environment: Environment, x: int, family: _Family, threads: int) -> Trial:
    right = environment.last("family", (x, environment.quick), lambda: family.make(1))
    check = partial(same_graph, right)
    make = partial(family.make, threads)
    m = float(right.m)
    return Trial(make, check, n=right.n, m=right.m, work=m, unit="arcs", repeats=3)


def _other_making(other: _Other) -> Trial:
    if not find_spec(other.module.partition(".")[0]):
        raise Skipped(NOT_INSTALLED)

    def check(results: Any) -> str:
        arcs = other.arcs(results)
        if trial.m is None:  # what is random has about as many arcs each time
            trial.m, trial.work = arcs, float(arcs)
        if not 0 < 0.9 * trial.m <= arcs <= 1.1 * trial.m:
            raise AssertionError(f"{arcs} arcs, and {trial.m} before")
        return "as many arcs each time, about"

    trial = Trial(partial(other.make, import_module(other.module)), check, unit="arcs", repeats=2)
    return trial


def _generators(environment: Environment) -> Iterator[Plan]:
    guess = 0.0 if environment.quick else 1.0
    for x, family in enumerate(_families(environment.quick)):
        for series, threads in ours(environment):
            trial = partial(_making, environment, x, family, threads)
            yield Plan(series, x, trial, threads=threads, guess=guess, size=0)
        for other in family.others:
            yield Plan(other.name, x, partial(_other_making, other), guess=guess, size=0)


def _findings_generators(results: Measurements) -> Iterator[str]:
    points = results.of(best_of(results))
    if points:
        best = max(points, key=results.value)
        yield (
            f"The fastest family is {_FAMILIES[int(best.x)]}: {three(results.value(best) / 1e6)} "
            "million arcs a second, ready to search."
        )
    yield from beside_ours(results, _FAMILIES)


EXPERIMENTS = (
    Experiment(
        "generators",
        "Graph generators",
        "How many arcs a second do the generators make?",
        Axis("family", log=False, labels=_FAMILIES),
        _generators,
        _findings_generators,
        ("ours", "peers"),
        y="rate",
        kind="bars",
        budget=30,
        notes=(
            "Arcs a second, the finished graph included. Libraries in plain Python make smaller "
            "graphs. Every graph is the same on one thread and on all."
        ),
    ),
)
