"""R-MAT graphs by scale: a search from a start to a goal, and all pairs by quadrants."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import kleene as kl
from kleene_lab.experiments.documents import (
    ALL,
    CS205,
    GPU,
    ONE,
    Entrant,
    SharedCheck,
    ahead_of,
    as_fast,
    best_of,
    entrants,
    last,
)
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.experiment import Axis, Experiment, Plan
from kleene_lab.harness.measurements import Measurements
from kleene_lab.harness.trial import Trial, solve

__all__ = ["EXPERIMENTS"]

_REPEATS = 5
_MADE = 1.5e-7  # seconds for an arc, on one core, to be generated and verified

# ---- a start and a goal -------------------------------------------------------------------------

_SCALES = (10, 12, 14, 16, 18, 20, 22)
_PRODUCTS = "matrix-vector products"
_SEARCHES = (
    (_PRODUCTS, "spmv", ONE),
    (_PRODUCTS, "spmv", ALL),
    (_PRODUCTS, "spmv", GPU),
    ("direction-optimizing", "direction_optimizing", ONE),
    ("direction-optimizing", "direction_optimizing", ALL),
    ("direction-optimizing", "direction_optimizing", GPU),
)


def _search_plans(environment: Environment) -> Iterator[Plan]:
    shared_check = SharedCheck()
    for scale in environment.sizes(_SCALES, (4, 5)):
        arcs = 16 * 2**scale
        for e in entrants(environment, _SEARCHES):
            yield Plan(
                e.series, scale, partial(_search, environment, e, shared_check, scale), "",
                e.device, e.threads, guess=e.guess(8 * arcs),
                setup=_MADE * arcs / environment.cores, size=2.0**scale, growth=4,
            )  # fmt: skip


def _search(
    environment: Environment, entrant: Entrant, shared_check: SharedCheck, scale: int
) -> Trial:
    g = environment.graph(("rmat", scale), partial(kl.generate.rmat, scale, 16, seed=1))
    start = int(g.stats.degrees.argmax())
    hops = kl.bfs(g, start, device="cpu", predecessors=False).distances
    goal = int(hops.argmax())  # as far away as any
    g = g if entrant.device == "cpu" else environment.placed(g)
    trial = solve(
        "bfs", g, start, targets=[goal], method=entrant.method, device=entrant.device,
        threads=entrant.threads, predecessors=False, work=float(g.m), unit="arcs",
        facts={"hops": int(hops[goal])},
    )  # fmt: skip
    trial.check, trial.repeats = shared_check.about(("rmat", scale)), _REPEATS
    return trial


def _search_findings(results: Measurements) -> Iterator[str]:
    one = f"{_PRODUCTS}, {ONE}"
    for place in (ALL, GPU):
        ratios = list(results.speedups(one, f"{_PRODUCTS}, {place}"))
        if ratios:
            scale, ratio = ratios[-1]
            yield (
                f"By scale, the search by {_PRODUCTS}, {place}, {ahead_of(ONE, ratios)}; at scale "
                f"{scale:g} it is {as_fast(ratio)} that. In the document, parallel products were "
                "not faster at any."
            )
    ours = best_of(results, "direction-optimizing")
    for scale, ratio in last(results, best_of(results, _PRODUCTS), ours):
        yield (
            f"At scale {scale:g}, {ours}, is {as_fast(ratio)} {best_of(results, _PRODUCTS)}: it "
            "need not look at every arc."
        )


# ---- all pairs ----------------------------------------------------------------------------------

_SMALL_SCALES = (6, 7, 8, 9, 10, 11, 12, 13)
_FLOYD, _ROWS, _TREE = "Floyd-Warshall", "quadrants, row-major", "quadrants, quadtree"
_PAIRS = (
    (_FLOYD, "floyd_warshall", ONE),
    (_ROWS, "rkleene", ONE),
    (_ROWS, "rkleene", ALL),
    (_TREE, "rkleene_quadtree", ONE),
    (_TREE, "rkleene_quadtree", ALL),
    ("tiled", "tiled", ALL),
    ("a search from each vertex", "batched", ALL),
    (_ROWS, "rkleene", GPU),
    (_TREE, "rkleene_quadtree", GPU),
    ("tiled", "tiled", GPU),
    ("a search from each vertex", "batched", GPU),
)


def _pairs_plans(environment: Environment) -> Iterator[Plan]:
    shared_check = SharedCheck()
    for scale in environment.sizes(_SMALL_SCALES, (3, 4)):
        steps = 8.0**scale
        for e in entrants(environment, _PAIRS):
            yield Plan(
                e.series, scale, partial(_pairs, environment, e, shared_check, scale), "", e.device,
                e.threads, guess=e.guess(steps), size=2.0**scale,
            )  # fmt: skip


def _pairs(
    environment: Environment, entrant: Entrant, shared_check: SharedCheck, scale: int
) -> Trial:
    make = partial(kl.generate.rmat, scale, 16, seed=1, weights=(1, 255))
    g = environment.graph(("weighted rmat", scale), make)
    trial = solve(
        "apsp", g, method=entrant.method, device=entrant.device, threads=entrant.threads,
        predecessors=False, work=float(g.n) ** 3, unit="relaxations",
    )  # fmt: skip
    trial.check, trial.repeats = shared_check.about(("weighted rmat", scale)), _REPEATS
    return trial


def _pairs_findings(results: Measurements) -> Iterator[str]:
    for place in (GPU, ALL):
        ratios = list(results.speedups(f"{_FLOYD}, {ONE}", f"{_ROWS}, {place}"))
        if ratios:
            scale, ratio = ratios[-1]
            theirs = " The document's was slower at first and over 10 times as fast in the end."
            yield (
                f"By scale, {_ROWS}, {place}, {ahead_of('Floyd-Warshall on one core', ratios)}; "
                f"at scale {scale:g} it is {as_fast(ratio)} that.{theirs if place == GPU else ''}"
            )
    for place in (GPU, ONE):
        for scale, ratio in last(results, f"{_ROWS}, {place}", f"{_TREE}, {place}"):
            yield (
                f"At scale {scale:g} the quadtree order, {place}, is {as_fast(ratio)} row-major; "
                "in the document slightly slower."
            )
    for label in ("tiled", "a search from each vertex"):
        ours = best_of(results, label, (GPU, ALL))
        for scale, ratio in last(results, f"{_FLOYD}, {ONE}", ours):
            yield (f"At scale {scale:g}, {ours}, is {as_fast(ratio)} Floyd-Warshall on one core.")


EXPERIMENTS = (
    Experiment(
        "search-by-scale",
        "From a start to a goal in R-MAT graphs",
        "When does a search by matrix-vector products gain from being parallel?",
        Axis("scale", log=False),
        _search_plans,
        _search_findings,
        ("documents", "gpu"),
        CS205,
        budget=40,
        patience=3,
        notes=(
            "2^scale vertices and 16 arcs drawn for each. The start is the vertex with most arcs, "
            "the goal one of those that are farthest from it; a search stops there. On the GPU "
            "the graph is there already."
        ),
    ),
    Experiment(
        "apsp-by-scale",
        "All pairs of R-MAT graphs by quadrants",
        "Is a matrix whose quadrants are contiguous faster than one in row-major order?",
        Axis("scale", log=False),
        _pairs_plans,
        _pairs_findings,
        ("documents", "gpu"),
        CS205,
        quantity="seconds",
        budget=60,
        patience=5,
        notes=(
            "2^scale vertices, 16 arcs drawn for each, lengths 1 to 255 as int32; distances "
            "without paths. Whole calls, copies to the GPU and back included, as in the document. "
            "A search from each vertex makes use of missing arcs; the others do not."
        ),
    ),
)
