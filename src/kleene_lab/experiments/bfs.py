"""Breadth-first search: by size, density and largest degree of dense graphs, and in every form.

The dense graphs are those of Padamata and Raveendran: so many vertices, a share of all arcs, and
at most a share of all vertices as neighbours of one; every vertex can be reached from the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from statistics import fmean

import numpy as np

import kleene as kl
from kleene_lab.experiments.documents import (
    ALL,
    CHAPTER,
    GPU,
    GPU_GRAPHS,
    ONE,
    Entrant,
    SharedCheck,
    as_fast,
    best_of,
    entrants,
    last,
)
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.experiment import Axis, Experiment, Plan, Published, Skipped
from kleene_lab.harness.measurements import Measurements, finding, times_as
from kleene_lab.harness.trial import Trial, search

__all__ = ["EXPERIMENTS"]

_SIZES = (1024, 2048, 4096, 8192, 10240, 16384, 20480, 32768, 40960)
_DENSITIES = (20, 30, 40, 50, 60, 70, 80)  # per cent
_DEGREES = (25, 35, 50, 70, 80, 90, 100)  # per cent of all vertices
_MIDDLE = 10240  # vertices, where these vary

_QUEUE, _NAIVE = "queue, one core", "every arc at every level, GPU"
_LINEAR = "prefix sums, fine gather, GPU"
_OURS = "direction-optimizing"
_LISTED = (
    ("queue", "queue", ONE),
    (_OURS, "direction_optimizing", ONE),
    (_OURS, "direction_optimizing", ALL),
    ("every arc at every level", "edge", GPU),
    ("prefix sums, serial gather", "scan_serial", GPU),
    ("prefix sums, fine gather", "scan_fine", GPU),
    (_OURS, "direction_optimizing", GPU),
)

#: Seconds per arc, on one core, to generate and verify it, and bytes per arc meanwhile.
_MADE, _BYTES = 1e-7, 12

_Case = tuple[float, int, float, float]  # x, vertices, density, share of all vertices


def _plans(environment: Environment, cases: Iterable[_Case]) -> Iterator[Plan]:
    shared_check = SharedCheck()
    for x, n, density, degree in cases:
        arcs = density * n**2
        for entrant in entrants(environment, _LISTED):
            trial = partial(_trial, environment, entrant, shared_check, (n, density, degree))
            yield Plan(
                entrant.series, x, trial, "", entrant.device, entrant.threads,
                guess=entrant.guess(3 * arcs), setup=_MADE * arcs / environment.cores, size=arcs,
                growth=3,
            )  # fmt: skip


def _trial(
    environment: Environment,
    entrant: Entrant,
    shared_check: SharedCheck,
    case: tuple[int, float, float],
) -> Trial:
    n, density, degree = case
    key = ("capped", *case)
    needed = density * n**2 * _BYTES
    if needed > environment.memory:
        raise Skipped(
            f"a graph of {density * n**2:,.0f} arcs takes {needed / 1e9:.2g} GB to search and to "
            f"prove, and {environment.memory / 1e9:.2g} GB are free"
        )
    g = environment.graph(key, partial(kl.generate.capped, n, density, degree, seed=1))
    g = g if entrant.device == "cpu" else environment.placed(g)
    trial = search(
        "bfs", g, [0] * 5, work=float(g.m), method=entrant.method, device=entrant.device,
        threads=entrant.threads, predecessors=False,
    )  # fmt: skip
    trial.check = shared_check.about(key)
    return trial


def _by_size(environment: Environment) -> Iterator[Plan]:
    return _plans(environment, [(n, n, 0.25, 1.0) for n in environment.sizes(_SIZES, (32, 48))])


def _by_density(environment: Environment) -> Iterator[Plan]:
    (n,) = environment.sizes((_MIDDLE,), (32,))
    chosen = environment.sizes(_DENSITIES, _DENSITIES[:2])
    return _plans(environment, [(share, n, share / 100, 1.0) for share in chosen])


def _by_degree(environment: Environment) -> Iterator[Plan]:
    (n,) = environment.sizes((_MIDDLE,), (32,))
    chosen = environment.sizes(_DEGREES, _DEGREES[1:3])
    return _plans(environment, [(share, n, 0.25, share / 100) for share in chosen])


# ---- sentences ----------------------------------------------------------------------------------


def _findings_size(results: Measurements) -> Iterator[str]:
    for what, series, claim, theirs in (
        ("Looking at every arc at every level", _NAIVE, 2, _SIZE[1]),
        ("Linear work by prefix sums", _LINEAR, 4, _SIZE[2]),
    ):
        ratios = [ratio for _, ratio in results.speedups(_QUEUE, series)]
        if ratios:
            table = fmean(slow / fast for slow, fast in zip(_SIZE[0].y, theirs.y, strict=True))
            yield (
                f"{what} on the GPU is {as_fast(fmean(ratios))} a queue on one core, on average "
                f"over {len(ratios)} sizes; the document says {claim} times as fast, and its table "
                f"{times_as(table)}."
            )
    for n, ratio in last(results, _NAIVE, _LINEAR):
        table = _SIZE[1].y[-1] / _SIZE[2].y[-1]
        yield (
            f"At n = {n:,.0f} prefix sums are {as_fast(ratio)} looking at every arc at every "
            f"level; in the document {times_as(table)} as fast, at {_SIZES[-1]:,}."
        )
    ours = best_of(results, _OURS)
    for n, ratio in last(results, _QUEUE, ours):
        yield f"At n = {n:,.0f}, {ours}, is {as_fast(ratio)} the queue."
    for n, ratio in list(results.over_published(_SIZE[0], _QUEUE))[-1:]:
        yield f"This machine's core is {as_fast(ratio)} the document's, at n = {n:,.0f}."


def _findings_share(results: Measurements, what: str, claim: str) -> Iterator[str]:
    """Yield how much times change from the smallest to the largest share."""
    series = [s for s in (_QUEUE, _NAIVE, _LINEAR, best_of(results, _OURS)) if s in results.series]
    shared = results.shared(*series)
    if len(shared) > 1:
        texts = []
        for name in series:
            first, end = results.at(name, shared[0]), results.at(name, shared[-1])
            assert first is not None
            assert end is not None
            texts.append(f"{results.value(end) / max(results.value(first), 1e-12):.2g} ({name})")
        yield (
            f"From {shared[0]:g} to {shared[-1]:g} % {what}, the time of a search changes by a "
            f"factor of {'; '.join(texts)}. {claim}"
        )


def _findings_density(results: Measurements) -> Iterator[str]:
    claim = (
        "In the document, from 20 to 80 %, it is 1.9 for one core, 2.9 for every arc at every "
        "level, and 3.4 for linear work."
    )
    return _findings_share(results, "of all arcs", claim)


def _findings_degree(results: Measurements) -> Iterator[str]:
    claim = "In the document, from 25 to 100 %, it is 1.6 for one core, and 1.1 on its GPU."
    return _findings_share(results, "of all vertices as the largest degree", claim)


# ---- what the document printed ------------------------------------------------------------------

_NAMES = ("one core, 2013", "every arc at every level, 2013", "linear work, 2013")
_MACHINES = ("one core of a Xeon", "Tesla M2090", "Tesla M2090")


def _published(x: tuple[int, ...], *columns: tuple[int, ...]) -> tuple[Published, ...]:
    """Return a table that was printed in microseconds."""
    return tuple(
        Published(name, tuple(map(float, x)), tuple(us / 1e6 for us in column), machine)
        for name, column, machine in zip(_NAMES, columns, _MACHINES, strict=True)
    )


_SIZE = _published(
    _SIZES,
    (1997, 8931, 33472, 86553, 197114, 299541, 467524, 1211611, 1892354),
    (1653, 4327, 16485, 53052, 88398, 211666, 338202, 898731, 1368697),
    (3060, 5879, 12142, 29270, 45412, 95539, 143536, 374758, 574792),
)
_DENSITY = _published(
    _DENSITIES,
    (204521, 160688, 211950, 229761, 274914, 345689, 385518),
    (89628, 99605, 131760, 163117, 195936, 229205, 262268),
    (46254, 53136, 75666, 99436, 118878, 139649, 159321),
)
_DEGREE = _published(
    _DEGREES,
    (133909, 117804, 134931, 134758, 150290, 192377, 213684),
    (83904, 83155, 84341, 84127, 86250, 87083, 89488),
    (42541, 42427, 42992, 42850, 45598, 45158, 46324),
)

_NOTES = (
    "Directed graphs without weights, from vertex 0. On the GPU the graph is there already, and "
    "the time is that of the search, without copies."
)


# ---- every form, on graphs with few levels and on graphs with many -------------------------------


_FEW, _MANY = "few levels: R-MAT", "many levels: grid"
_SCALES, _SIDES = (14, 16, 18, 20, 22), (128, 256, 512, 1024, 4096)
_SEARCHES = 5
_CPU = "CPU"

_FORMS_MADE = 1.5e-7  # seconds for an arc, on one core, to be generated and verified


def _listed(place: str, device: str) -> Iterator[tuple[str, str, str]]:
    for row in kl.methods("bfs", device):
        where = ONE if row.name == "queue" else place
        yield row.name.replace("_", " "), row.name, where


def _panel(family: str, place: str) -> str:
    return f"{family}, {place}"


def _form_plans(environment: Environment) -> Iterator[Plan]:
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
                        e.series, n,
                        partial(_form_trial, environment, e, shared_check, family, size),
                        _panel(family, place), e.device, e.threads, guess=e.guess(arcs * levels),
                        setup=_FORMS_MADE * arcs / environment.cores, growth=4,
                    )  # fmt: skip


def _form_trial(
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


def _findings_forms(results: Measurements) -> Iterator[str]:
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
        "bfs-by-size",
        "Breadth-first search by size",
        "How long does a search take in graphs with a quarter of all arcs, by their size?",
        Axis("vertices"),
        _by_size,
        _findings_size,
        ("documents", "gpu"),
        GPU_GRAPHS,
        _SIZE,
        budget=90,
        headline=finding("Linear work", ""),
        notes=_NOTES,
    ),
    Experiment(
        "bfs-by-density",
        "Breadth-first search by density",
        "Does a search of 10,240 vertices take longer when there are more arcs?",
        Axis("per cent of all arcs", log=False),
        _by_density,
        _findings_density,
        ("documents", "gpu"),
        GPU_GRAPHS,
        _DENSITY,
        budget=40,
        notes=_NOTES,
    ),
    Experiment(
        "bfs-by-degree",
        "Breadth-first search by the largest degree",
        "Does a search of 10,240 vertices take longer when arcs are spread less evenly?",
        Axis("largest degree, per cent of all vertices", log=False),
        _by_degree,
        _findings_degree,
        ("documents", "gpu"),
        GPU_GRAPHS,
        _DEGREE,
        budget=30,
        notes=f"{_NOTES} A quarter of all arcs.",
    ),
    Experiment(
        "bfs-forms",
        "Forms of breadth-first search",
        "Which form of breadth-first search suits graphs with few levels, and which many?",
        Axis("vertices"),
        _form_plans,
        _findings_forms,
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
