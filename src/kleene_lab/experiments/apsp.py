"""All pairs by size: one core, products, one thread a pair, blocks, and what Kleene does."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import kleene as kl
from kleene_lab.experiments.documents import GPU_GRAPHS
from kleene_lab.experiments.entrants import ALL, GPU, ONE, Entrant, as_fast, best_of, entrants, last
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.experiment import Axis, Experiment, Plan, Published
from kleene_lab.harness.measurements import Measurements, finding, times_as
from kleene_lab.harness.shared_check import SharedCheck
from kleene_lab.harness.trial import Trial, solve

__all__ = ["EXPERIMENTS", "complete"]

_SIZES = (512, 1024, 2048, 3072, 4096)
_CARD, _CORE = "Tesla M2090", "one core of a Xeon"

_LISTED = (
    ("Floyd-Warshall", "floyd_warshall", ONE),
    ("tiled", "tiled", ONE),
    ("tiled", "tiled", ALL),
    ("matrix product", "min_plus", GPU),
    ("a thread a pair", "naive", GPU),
    ("blocked, 4 x 2 a thread", "blocked_multi", GPU),
    ("tiled", "tiled", GPU),
)
_FLOYD, _NAIVE = f"Floyd-Warshall, {ONE}", f"a thread a pair, {GPU}"
_BLOCKED = f"blocked, 4 x 2 a thread, {GPU}"


def complete(n: int) -> kl.Graph:
    """Return a complete graph with whole numbers for lengths."""
    return kl.generate.dense(n, seed=1, weights=(1, 1000))


def _plans(environment: Environment) -> Iterator[Plan]:
    shared_check = SharedCheck()
    for n in environment.sizes(_SIZES, (24, 48)):
        for e in entrants(environment, _LISTED):
            yield Plan(
                e.series, n, partial(_trial, environment, e, shared_check, n), "", e.device,
                e.threads, guess=e.guess(float(n) ** 3), setup=2e-7 * n**2 / environment.cores,
            )  # fmt: skip


def _trial(environment: Environment, entrant: Entrant, shared_check: SharedCheck, n: int) -> Trial:
    g = environment.graph(("complete", n), partial(complete, n))
    trial = solve(
        "apsp", g, method=entrant.method, device=entrant.device, threads=entrant.threads,
        predecessors=False, work=float(n) ** 3, unit="relaxations",
    )  # fmt: skip
    trial.check, trial.repeats = shared_check.about(("complete", n)), 5
    return trial


def _findings(results: Measurements) -> Iterator[str]:
    best = best_of(results, "tiled")
    for n, ratio in last(results, _FLOYD, best):
        yield f"At n = {n:,.0f}, {best}, is {as_fast(ratio)} Floyd-Warshall on one core."
    for n, ratio in last(results, _FLOYD, _BLOCKED):
        yield (
            "The document found blocks 200 times as fast as one core of its day; here they are "
            f"{as_fast(ratio)} one core at n = {n:,.0f}."
        )
    for n, ratio in last(results, _NAIVE, _BLOCKED):
        yield (
            f"Blocks are {as_fast(ratio)} a thread a pair at n = {n:,.0f}; the document found 2 "
            "times as fast."
        )
    for n, ratio in last(results, _NAIVE, f"matrix product, {GPU}"):
        yield (
            f"Products of matrices are {as_fast(ratio)} a thread a pair at n = {n:,.0f}; in the "
            f"document {times_as(_PUBLISHED[1].y[-1] / _PUBLISHED[2].y[-1])} as slow, at 4,096. "
            "Ours stop as soon as nothing improves."
        )
    for n, ratio in list(results.over_published(_PUBLISHED[3], best))[-1:]:
        yield f"The document's fastest, at n = {n:,.0f}, took {times_as(ratio)} as long as {best}."


def _published(series: str, machine: str, *microseconds: int) -> Published:
    return Published(series, _SIZES, tuple(us / 1e6 for us in microseconds), machine)


_PUBLISHED = (
    _published("one core, 2013", _CORE, 1473223, 7735819, 55289564, 184187355, 434447112),
    _published("matrix product, 2013", _CARD, 10199, 77701, 653967, 2404276, 5666254),
    _published("a thread a pair, 2013", _CARD, 8510, 62850, 481968, 1618168, 3892459),
    _published("blocked, 2013", _CARD, 6558, 33225, 227238, 736571, 1756861),
)

EXPERIMENTS = (
    Experiment(
        "apsp-by-size",
        "All pairs by size",
        "How long do all pairs of a dense graph take, by one core, by products and by blocks?",
        Axis("vertices"),
        _plans,
        _findings,
        ("documents", "gpu"),
        GPU_GRAPHS,
        _PUBLISHED,
        patience=10,
        headline=finding("The document found blocks", ""),
        notes=(
            "Complete graphs, lengths 1 to 1000 as int32; distances without paths. On the GPU the "
            "time is that of the algorithm, without copies."
        ),
    ),
)
