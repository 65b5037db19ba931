"""Whole calls by size on the CPU and on a GPU: the size from which on a GPU is faster.

The planner's cost model (`kleene.planning.cost_model`) is fitted to these;
``benchmarks/cost_model.py`` compares it with a record.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import kleene as kl
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.experiment import Axis, Experiment, Plan
from kleene_lab.harness.graphs import WEIGHTS, NamedGraph, grid, made, rmat
from kleene_lab.harness.measurements import Measurements, times_as
from kleene_lab.harness.searches import PROVED, searches_of
from kleene_lab.harness.trial import Trial, solve

__all__ = ["CPU", "EXPERIMENTS", "GPU", "PLACED"]

#: Series: the call on the CPU, on a GPU, and on a GPU that has the graph already.
CPU, GPU, PLACED = "CPU", "GPU", "GPU, graph there"


def _series(environment: Environment) -> Iterator[tuple[str, str]]:
    yield CPU, "cpu"
    if environment.gpu:
        yield GPU, environment.gpu
        yield PLACED, environment.gpu


def _graph(environment: Environment, series: str, g: kl.Graph) -> kl.Graph:
    return environment.placed(g) if series == PLACED else g


# ---- one source ---------------------------------------------------------------------------------

_SCALES, _SIDES = range(10, 23, 2), (64, 128, 256, 512, 1024, 2048)


def _searches(environment: Environment) -> Iterator[Plan]:
    rmats = [(2.0**scale, rmat(scale)) for scale in environment.sizes(tuple(_SCALES), (6,))]
    grids = [(float(side) ** 2, grid(side)) for side in environment.sizes(_SIDES, (8,))]
    for family, graphs in (("R-MAT", rmats), ("grid", grids)):
        for n, named in graphs:
            for problem in ("bfs", "sssp"):
                setup = named.setup(environment) + 2 * PROVED * named.arcs
                for series, device in _series(environment):
                    yield Plan(
                        series, n, partial(_search, environment, problem, named, series, device),
                        f"{problem.upper()}, {family}", device, setup=setup, size=named.arcs,
                        growth=3,
                    )  # fmt: skip


def _search(
    environment: Environment, problem: str, named: NamedGraph, series: str, device: str
) -> Trial:
    searches = searches_of(environment, problem, named, 1)
    trial = searches.trial(_graph(environment, series, searches.graph), paths=True, device=device)
    trial.repeats = 5
    return trial


# ---- all pairs ----------------------------------------------------------------------------------


def _all_pairs(environment: Environment) -> Iterator[Plan]:
    for n in environment.sizes((500, 1000, 2000, 4000, 8000, 16000), (40,)):
        for panel, weights in (("without weights", None), ("with weights", WEIGHTS)):
            make = partial(kl.generate.uniform, n, 8 * n, seed=1, weights=weights)
            named = made(f"uniform, {n}, {panel}", 8.0 * n, make)
            for series, device in _series(environment):
                trial = partial(_pairs, environment, named, series, device)
                yield Plan(series, n, trial, panel, device, growth=4.5)


def _pairs(environment: Environment, named: NamedGraph, series: str, device: str) -> Trial:
    options: dict[str, Any] = {} if device == "cpu" else {"method": "batched"}
    graph = _graph(environment, series, named.get(environment))
    trial = solve("apsp", graph, device=device, predecessors=False, **options)
    trial.repeats = 5
    return trial


def _dense(environment: Environment) -> Iterator[Plan]:
    for n in environment.sizes((256, 512, 1024, 2048, 4096, 8192), (32,)):
        make = partial(kl.generate.dense, n, seed=1, weights=(0.001, 1.0, "float32"))
        named = made(f"complete, {n}, float32", float(n) ** 2, make)
        for panel in ("lengths", "paths"):
            for series, device in list(_series(environment))[:2]:
                trial = partial(_matrix, environment, named, device, panel == "paths")
                yield Plan(series, n, trial, panel, device, setup=n**2 / 5e7)


def _matrix(environment: Environment, named: NamedGraph, device: str, paths: bool) -> Trial:
    trial = solve(
        "apsp", named.get(environment), method="tiled", device=device, predecessors=paths,
        work=named.arcs**1.5, unit="relaxations",
    )  # fmt: skip
    trial.repeats = 5
    return trial


# ---- sentences ----------------------------------------------------------------------------------


def _findings(results: Measurements) -> Iterator[str]:
    for panel in results.panels:
        for series in (GPU, PLACED):
            ratios = list(results.speedups(CPU, series, panel))
            if not ratios:
                continue
            where = "the GPU" if series == GPU else "a GPU that has the graph"
            ahead = next((n for n, _ in ratios if all(r > 1 for m, r in ratios if m >= n)), None)
            n, ratio = ratios[-1]
            if ahead is None:
                yield f"{panel}: the CPU is faster than {where} up to n = {n:,.0f}, at least."
            else:
                yield (
                    f"{panel}: {where} is faster from n = {ahead:,.0f} on; at n = {n:,.0f} it is "
                    f"{times_as(ratio)} as fast."
                )


def _experiment(id: str, what: str, plans: Any, notes: str) -> Experiment:
    return Experiment(
        f"crossover-{id}",
        f"CPU or GPU: {what}",
        f"From which size on is a GPU the better place for {what}?",
        Axis("vertices"),
        plans,
        _findings,
        ("ours", "gpu"),
        quantity="seconds",
        budget=25,
        notes=f"Whole calls from arrays on the host to arrays on the host. {notes}",
        columns=(("method", lambda point: point.method),),
    )


EXPERIMENTS = (
    _experiment(
        "searches", "one search", _searches,
        "With paths. R-MAT with 16 edges a vertex, and square grids; weights 1 to 255.",
    ),
    _experiment(
        "all-pairs", "all pairs of sparse graphs", _all_pairs,
        "Lengths alone; uniform graphs, 8 arcs a vertex, weights 1 to 255.",
    ),
    _experiment("dense", "all pairs of dense graphs", _dense, "Complete graphs, float32."),
)  # fmt: skip
