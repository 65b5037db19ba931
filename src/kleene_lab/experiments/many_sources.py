"""Many sources at once: all pairs of sparse graphs, and searches in batches."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import kleene as kl
from kleene_lab.experiments.searches import patience_for, places
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.experiment import Axis, Experiment, Plan, Skipped
from kleene_lab.harness.formatting import duration, size
from kleene_lab.harness.graphs import NamedGraph, enron, facebook, made, rmat, rome, sources_in
from kleene_lab.harness.measurements import Measurements, finding, times_as
from kleene_lab.harness.record import Point
from kleene_lab.harness.trial import Trial, solve

__all__ = ["EXPERIMENTS"]

#: Seconds for an arc and a source on one core, without and with weights, to guess by.
_BIT, _LENGTH = 5e-10, 2e-8

#: A user of another library reported two hours for all pairs of such a graph.
_REPORTED = made(
    "uniform, 44,000 vertices", 1e6,
    partial(kl.generate.uniform, 44_000, 500_000, seed=1, directed=False),
)  # fmt: skip
_GRAPHS = ((rome(), 3_353), (facebook(), 4_039), (enron(), 36_691), (_REPORTED, 44_000))


# ---- all pairs ----------------------------------------------------------------------------------


def _all_pairs(environment: Environment) -> Iterator[Plan]:
    graphs: tuple[tuple[NamedGraph, int], ...] = _GRAPHS
    if environment.quick:
        graphs = ((made("tiny", 200, partial(kl.generate.uniform, 40, 200, seed=1)), 40),)
    for x, (named, n) in enumerate(graphs):
        each = _LENGTH if named.name == "Rome" else _BIT
        size = n * (named.arcs + n)
        for place, device, threads in places(environment):
            if place == "one core" and environment.cores > 1:
                continue
            for at_hand in (False, True) if device != "cpu" else (False,):
                series = f"{place}, memory at hand" if at_hand else place
                guess = size * (each / (threads or 1) if device == "cpu" else 1e-10)
                guess = max(guess, patience_for(environment, device))
                trial = partial(_pairs, environment, named, device, threads, at_hand)
                yield Plan(
                    series, x, trial, device=device, threads=threads, guess=guess,
                    setup=0.0 if environment.quick else 2.0, size=0,
                )  # fmt: skip


def _pairs(
    environment: Environment, named: NamedGraph, device: str, threads: int | None, at_hand: bool
) -> Trial:
    g = named.get(environment)
    needed = 4 * g.n * g.n * (2 if at_hand else 1)
    if needed * 1.2 > environment.memory:
        raise Skipped(f"needs {size(needed)}; {size(environment.memory)} are free")
    options: dict[str, Any] = {"method": "batched"} if device != "cpu" else {}
    if at_hand:
        dtype = kl.apsp(g, sources=[0], device="cpu", predecessors=False).distances.dtype
        options["out"] = np.ones((g.n, g.n), dtype)  # touched: not to be given page by page
    return solve(
        "apsp", g, device=device, threads=threads, predecessors=False,
        work=float(g.n) * g.m, unit="sources x arcs", **options,
    )  # fmt: skip


def _findings_all_pairs(results: Measurements) -> Iterator[str]:
    for x, (named, _) in enumerate(_GRAPHS):
        best = results.fastest(x)
        if best is not None:
            text = duration(results.value(best))
            other = (
                "; with another library, a user reported two hours" if named is _REPORTED else ""
            )
            yield f"All pairs of {named.name} take {text} ({best.series}){other}."


# ---- batches ------------------------------------------------------------------------------------

_COUNTS = (1, 8, 64, 512)


def _batches(environment: Environment) -> Iterator[Plan]:
    jobs = [("bfs", "BFS, R-MAT 18", rmat(18)), ("sssp", "SSSP, R-MAT 16", rmat(16))]
    if environment.quick:
        jobs = [("bfs", "BFS, R-MAT 18", rmat(6))]
    for problem, panel, named in jobs:
        for count in environment.sizes(_COUNTS, (4,)):
            for place, device, threads in places(environment):
                if place == "one core" and environment.cores > 1:
                    continue
                trial = partial(_batch, environment, problem, named, count, device, threads)
                yield Plan(
                    place, count, trial, panel, device, threads, patience_for(environment, device),
                    setup=named.setup(environment), growth=2.5,
                )  # fmt: skip


def _batch(
    environment: Environment,
    problem: str,
    named: NamedGraph,
    count: int,
    device: str,
    threads: int | None,
) -> Trial:
    g = named.get(environment)
    sources = sources_in(g, count).tolist()
    graph = g if device == "cpu" else environment.placed(g)
    dtype = getattr(kl, problem)(g, sources=sources[:1], device="cpu").distances.dtype
    return solve(
        problem, graph, sources=sources, device=device, threads=threads, predecessors=False,
        out=np.ones((len(sources), g.n), dtype), work=float(len(sources)) * g.m,
        unit="sources x arcs",
    )  # fmt: skip


def _findings_batches(results: Measurements) -> Iterator[str]:
    for panel in results.panels:
        for series in ("GPU", "all cores", "one core"):
            points = results.of(series, panel)
            if len(points) > 1:
                few, many = points[0], points[-1]
                ratio = results.value(many) / results.value(few)
                yield (
                    f"{panel}, {series}: a source takes {times_as(1 / ratio)} as long in a batch "
                    f"of {many.x:,.0f} as in one of {few.x:,.0f}."
                )


def _method(point: Point) -> str:
    return point.method


EXPERIMENTS = (
    Experiment(
        "all-pairs-sparse",
        "All pairs of sparse graphs",
        "How long do all pairs of sparse graphs take, lengths in memory?",
        Axis("graph", log=False, labels=tuple(named.name for named, _ in _GRAPHS)),
        _all_pairs,
        _findings_all_pairs,
        ("ours", "gpu"),
        quantity="seconds",
        kind="bars",
        budget=50,
        patience=20,
        headline=finding("a user of another library", ""),
        notes=(
            "Whole calls from arcs on the host to all lengths on the host. Memory at hand: into "
            "an array that is in use already; else the system gives it page by page."
        ),
        columns=(("method", _method),),
    ),
    Experiment(
        "searches-in-batches",
        "Searches in batches",
        "How much faster are many searches of one graph in one call?",
        Axis("sources"),
        _batches,
        _findings_batches,
        ("ours", "gpu"),
        y="rate",
        quantity="seconds",
        budget=20,
        notes=(
            "Whole calls, distances to an array on the host that is in use already; on a GPU the "
            "graph is there. The rate counts every arc once for each source."
        ),
        columns=(("method", _method),),
    ),
)
