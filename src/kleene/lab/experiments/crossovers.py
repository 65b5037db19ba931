"""Whole calls by size on the CPU and on a GPU: from where on is a GPU the better place?

What the planner's estimates (`kleene.estimates`) come from; ``benchmarks/gpu_estimates.py`` holds
them against a record.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import kleene as kl
from kleene.lab.experiment import Axis, Experiment, Plan
from kleene.lab.found import Found, times_as
from kleene.lab.graphs import WEIGHTS, Named, grid, made, rmat
from kleene.lab.searches import PROVED, searches_of
from kleene.lab.setting import Setting
from kleene.lab.trial import Trial, solve

__all__ = ["CPU", "EXPERIMENTS", "GPU", "PLACED"]

#: Series: the call on the CPU, on a GPU, and on a GPU that has the graph already.
CPU, GPU, PLACED = "CPU", "GPU", "GPU, graph there"


def _series(setting: Setting) -> Iterator[tuple[str, str]]:
    yield CPU, "cpu"
    if setting.gpu:
        yield GPU, setting.gpu
        yield PLACED, setting.gpu


def _graph(setting: Setting, series: str, g: kl.Graph) -> kl.Graph:
    return setting.placed(g) if series == PLACED else g


# ---- one source ---------------------------------------------------------------------------------

_SCALES, _SIDES = range(10, 23, 2), (64, 128, 256, 512, 1024, 2048)


def _searches(setting: Setting) -> Iterator[Plan]:
    rmats = [(2.0**scale, rmat(scale)) for scale in setting.sizes(tuple(_SCALES), (6,))]
    grids = [(float(side) ** 2, grid(side)) for side in setting.sizes(_SIDES, (8,))]
    for family, graphs in (("R-MAT", rmats), ("grid", grids)):
        for n, named in graphs:
            for problem in ("bfs", "sssp"):
                setup = named.setup(setting) + 2 * PROVED * named.arcs
                for series, device in _series(setting):
                    yield Plan(
                        series, n, partial(_search, setting, problem, named, series, device),
                        f"{problem.upper()}, {family}", device, setup=setup, size=named.arcs,
                        growth=3,
                    )  # fmt: skip


def _search(setting: Setting, problem: str, named: Named, series: str, device: str) -> Trial:
    searches = searches_of(setting, problem, named, 1)
    trial = searches.trial(_graph(setting, series, searches.graph), paths=True, device=device)
    trial.repeats = 5
    return trial


# ---- all pairs ----------------------------------------------------------------------------------


def _all_pairs(setting: Setting) -> Iterator[Plan]:
    for n in setting.sizes((500, 1000, 2000, 4000, 8000, 16000), (40,)):
        for panel, weights in (("without weights", None), ("with weights", WEIGHTS)):
            make = partial(kl.generate.uniform, n, 8 * n, seed=1, weights=weights)
            named = made(f"uniform, {n}, {panel}", 8.0 * n, make)
            for series, device in _series(setting):
                trial = partial(_pairs, setting, named, series, device)
                yield Plan(series, n, trial, panel, device, growth=4.5)


def _pairs(setting: Setting, named: Named, series: str, device: str) -> Trial:
    options: dict[str, Any] = {} if device == "cpu" else {"method": "batched"}
    graph = _graph(setting, series, named.get(setting))
    trial = solve("apsp", graph, device=device, predecessors=False, **options)
    trial.repeats = 5
    return trial


def _dense(setting: Setting) -> Iterator[Plan]:
    for n in setting.sizes((256, 512, 1024, 2048, 4096, 8192), (32,)):
        make = partial(kl.generate.dense, n, seed=1, weights=(0.001, 1.0, "float32"))
        named = made(f"complete, {n}, float32", float(n) ** 2, make)
        for panel in ("lengths", "paths"):
            for series, device in list(_series(setting))[:2]:
                trial = partial(_matrix, setting, named, device, panel == "paths")
                yield Plan(series, n, trial, panel, device, setup=n**2 / 5e7)


def _matrix(setting: Setting, named: Named, device: str, paths: bool) -> Trial:
    trial = solve(
        "apsp", named.get(setting), method="tiled", device=device, predecessors=paths,
        work=named.arcs**1.5, unit="relaxations",
    )  # fmt: skip
    trial.repeats = 5
    return trial


# ---- sentences ----------------------------------------------------------------------------------


def _learned(found: Found) -> Iterator[str]:
    for panel in found.panels:
        for series in (GPU, PLACED):
            ratios = list(found.speedups(CPU, series, panel))
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
        _learned,
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
