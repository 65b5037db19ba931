"""Scaling with threads: everything that is shared among cores, on one, two, four and so on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import kleene as kl
from kleene.lab.experiment import Axis, Experiment, Plan
from kleene.lab.experiments.files import FileOf, same_graph
from kleene.lab.found import Found, times_as
from kleene.lab.graphs import Named, grid, made, rmat, rome
from kleene.lab.searches import searches_of
from kleene.lab.setting import Setting
from kleene.lab.trial import Trial, solve

__all__ = ["EXPERIMENTS"]


class _Work(NamedTuple):
    name: str
    trial: Callable[[Setting, Named, int], Trial]
    graph: Named
    tiny: Named


def _dense(setting: Setting, named: Named, threads: int) -> Trial:
    return solve(
        "apsp", named.get(setting), device="cpu", method="tiled", threads=threads,
        predecessors=False,
    )  # fmt: skip


def _search(problem: str, setting: Setting, named: Named, threads: int) -> Trial:
    searches = searches_of(setting, problem, named, 4)
    return searches.trial(searches.graph, device="cpu", threads=threads)


def _batched(setting: Setting, named: Named, threads: int) -> Trial:
    return solve(
        "apsp", named.get(setting), device="cpu", method="batched", threads=threads,
        predecessors=False,
    )  # fmt: skip


def _generate(scale: int, setting: Setting, named: Named, threads: int) -> Trial:
    right = named.get(setting)
    make: Any = partial(kl.generate.rmat, 6 if setting.quick else scale, 16, seed=1,
                        directed=False, weights=(1, 255), threads=threads)  # fmt: skip
    return Trial(make, partial(same_graph, right), n=right.n, m=right.m)


def _read(setting: Setting, named: Named, threads: int) -> Trial:
    g = named.get(setting)
    file = setting.last("file", ("arcs.mtx", g.n, g.m), lambda: FileOf(g, "arcs.mtx"))
    read = partial(kl.read, file.path, threads=threads)
    return Trial(read, partial(same_graph, g), n=g.n, m=g.m)


def _complete(n: int) -> Named:
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


def _plans(setting: Setting) -> Iterator[Plan]:
    for work in _WORKS:
        named = work.tiny if setting.quick else work.graph
        setup = named.setup(setting)
        for threads in _threads(setting.cores):
            trial = partial(work.trial, setting, named, threads)
            yield Plan(work.name, threads, trial, threads=threads, setup=setup, size=1)


def _learned(found: Found) -> Iterator[str]:
    most = max((point.x for point in found.points), default=1)
    told = []
    for series in found.series:
        points = found.of(series)
        if most > 1 and len(points) > 1 and points[0].x == 1 and points[-1].x == most:
            told.append((found.value(points[-1]), series))
    told.sort(reverse=True)
    if told:
        best, series = told[0]
        yield f"With {most:g} cores the best to scale is {series}, {times_as(best)} as fast."
    if len(told) > 1:
        worst, series = told[-1]
        yield f"The one that gains least is {series}, {times_as(worst)} as fast."


EXPERIMENTS = (
    Experiment(
        "scaling-with-threads",
        "Scaling with threads",
        "How much faster is everything on more cores?",
        Axis("threads"),
        _plans,
        _learned,
        ("ours",),
        y="speedup",
        budget=45,
        notes="Times as fast as on one core of the same processor.",
    ),
)
