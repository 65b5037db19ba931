"""The forms of breadth-first search, on graphs with few levels and on graphs with many."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

import kleene as kl
from kleene_lab.experiments.documents import CHAPTER
from kleene_lab.experiments.entrants import ALL, GPU, ONE, Entrant, as_fast, entrants
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.experiment import Axis, Experiment, Plan
from kleene_lab.harness.measurements import Measurements
from kleene_lab.harness.shared_check import SharedCheck
from kleene_lab.harness.trial import Trial, search

__all__ = ["EXPERIMENTS"]

_FEW, _MANY = "few levels: R-MAT", "many levels: grid"
_SCALES, _SIDES = (14, 16, 18, 20, 22), (128, 256, 512, 1024, 4096)
_SEARCHES = 5
_CPU = "CPU"

_MADE = 1.5e-7  # seconds for an arc, on one core, to be generated and verified


def _listed(place: str, device: str) -> Iterator[tuple[str, str, str]]:
    for row in kl.methods("bfs", device):
        where = ONE if row.name == "queue" else place
        yield row.name.replace("_", " "), row.name, where


def _panel(family: str, place: str) -> str:
    return f"{family}, {place}"


def _plans(environment: Environment) -> Iterator[Plan]:
    shared_check = SharedCheck()
    everywhere = ONE if environment.cores == 1 else ALL
    for sizes in zip(
        environment.sizes(_SCALES, (5,)), environment.sizes(_SIDES, (5,)), strict=True
    ):
        for family, size in zip((_FEW, _MANY), sizes, strict=True):
            n = 2**size if family == _FEW else size**2
            arcs = n * (32 if family == _FEW else 4)
            levels = 8 if family == _FEW else 2 * size
            for place, listed in ((_CPU, _listed(everywhere, "cpu")), (GPU, _listed(GPU, "cuda"))):
                for e in entrants(environment, listed):
                    yield Plan(
                        e.series, n, partial(_trial, environment, e, shared_check, family, size),
                        _panel(family, place), e.device, e.threads, guess=e.guess(arcs * levels),
                        setup=_MADE * arcs / environment.cores, growth=4,
                    )  # fmt: skip


def _trial(
    environment: Environment, entrant: Entrant, shared_check: SharedCheck, family: str, size: int
) -> Trial:
    key = (family, size)
    g = environment.graph(key, partial(_graph, family, size))
    sources = _sources(family, g)
    g = g if entrant.device == "cpu" else environment.placed(g)
    trial = search(
        "bfs", g, sources, work=float(g.m), method=entrant.method, device=entrant.device,
        threads=entrant.threads, predecessors=False,
    )  # fmt: skip
    trial.check = shared_check.about(key)
    return trial


def _graph(family: str, size: int) -> kl.Graph:
    if family == _FEW:
        return kl.generate.rmat(size, 16, seed=1, directed=False)
    return kl.generate.grid(size, size)


def _sources(family: str, g: kl.Graph) -> list[int]:
    """A corner of the grid; else vertices, at random, that have arcs."""
    if family == _MANY:
        return [0] * _SEARCHES
    candidates = np.flatnonzero(g.stats.degrees > 0)
    chosen: list[int] = np.random.default_rng(1).choice(candidates, _SEARCHES).tolist()
    return chosen


# ---- sentences ----------------------------------------------------------------------------------


def _findings(results: Measurements) -> Iterator[str]:
    for family in (_FEW, _MANY):
        texts = []
        for place in (_CPU, GPU):
            best = _best(results, family, place)
            if best is not None:
                texts.append(best)
        if texts:
            yield f"With {family.replace(': ', ' (')}), {'; '.join(texts)}."
    for fast, slow, idea in _STEPS:
        texts = []
        for family, name in ((_FEW, "few"), (_MANY, "many")):
            panel = _panel(family, GPU)
            for _, ratio in list(results.speedups(f"{slow}, {GPU}", f"{fast}, {GPU}", panel))[-1:]:
                texts.append(f"{as_fast(ratio)} {slow} with {name} levels")
        if texts:
            yield f"{idea}: on the GPU, {fast} is {' and '.join(texts)}."


#: Ideas of the chapter, one after the other: what has it, what has not, and what it is.
_STEPS = (
    ("edge", "vertex push", "A thread for each arc, not for each vertex"),
    ("vertex pull", "vertex push", "Unvisited vertices look for a parent"),
    ("frontier", "vertex push", "Frontiers leave idle threads out"),
    ("privatized", "frontier", "Blocks fill queues of their own"),
    ("single block", "privatized", "Many small levels in one launch"),
    ("direction optimizing", "single block", "Pushes, pulls, and all levels in one launch"),
)


def _best(results: Measurements, family: str, place: str) -> str | None:
    """Return the fastest form and the slowest, where most of them were measured."""
    panel = _panel(family, place)
    counts: dict[float, int] = {}
    for point in results.of(panel=panel):
        counts[point.x] = counts.get(point.x, 0) + 1
    if not counts or max(counts.values()) < 2:
        return None
    n = max(x for x, count in counts.items() if count == max(counts.values()))
    points = sorted((p for p in results.of(panel=panel) if p.x == n), key=results.value)
    ratio = results.value(points[-1]) / max(results.value(points[0]), 1e-12)
    return f"{points[0].series}, is {as_fast(ratio)} {points[-1].series}, at {n:,.0f} vertices"


EXPERIMENTS = (
    Experiment(
        "bfs-forms",
        "Forms of breadth-first search",
        "Which form of breadth-first search suits graphs with few levels, and which many?",
        Axis("vertices"),
        _plans,
        _findings,
        ("documents", "gpu"),
        CHAPTER,
        budget=90,
        patience=2,
        notes=(
            "Undirected graphs: R-MAT with 16 edges drawn for each vertex, searched from vertices "
            "at random, and square grids from a corner. On the GPU the graph is there already, "
            "and the time is that of the search, without copies."
        ),
    ),
)
