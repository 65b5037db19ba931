"""All pairs by size: one core, products, one thread a pair, blocks, and what Kleene does."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import kleene as kl
from kleene.lab.documents import GPU_GRAPHS
from kleene.lab.experiment import Axis, Experiment, Plan, Published
from kleene.lab.found import Found, times_as
from kleene.lab.setting import Setting
from kleene.lab.trial import Trial, solve

__all__ = ["EXPERIMENTS"]

_SIZES = (512, 1024, 2048, 3072, 4096)
_CARD, _CORE = "Tesla M2090", "one core of a Xeon"

#: Names in the legend, by method and device; threads None is all cores.
_CPU = (
    ("Floyd-Warshall, one core", "floyd_warshall", 1),
    ("tiled, one core", "tiled", 1),
    ("tiled, all cores", "tiled", None),
)
_GPU = (
    ("matrix product, GPU", "min_plus"),
    ("a thread a pair, GPU", "naive"),
    ("blocked, 4 x 2 a thread, GPU", "blocked_multi"),
    ("tiled, GPU", "tiled"),
)


def complete(n: int) -> kl.Graph:
    """Return a complete graph with whole numbers for lengths."""
    return kl.generate.dense(n, seed=1, weights=(1, 1000))


def _plans(setting: Setting) -> Iterator[Plan]:
    for n in setting.sizes(_SIZES, (24, 48)):
        graph = partial(setting.graph, ("complete", n), partial(complete, n))
        for series, method, threads in _CPU:
            if series != "tiled, all cores" or setting.cores > 1:
                trial = partial(_trial, graph, method, "cpu", threads)
                yield Plan(series, n, trial, threads=threads)
        for series, method in _GPU if setting.gpu else ():
            assert setting.gpu is not None
            trial = partial(_trial, graph, method, setting.gpu, None)
            yield Plan(series, n, trial, device=setting.gpu)


def _trial(graph: partial[kl.Graph], method: str, device: str, threads: int | None) -> Trial:
    g = graph()
    return solve(
        "apsp", g, method=method, device=device, threads=threads, predecessors=False,
        work=float(g.n) ** 3, unit="relaxations",
    )  # fmt: skip


def _learned(found: Found) -> Iterator[str]:
    best = "tiled, GPU" if "tiled, GPU" in found.series else "tiled, all cores"
    best = best if best in found.series else "tiled, one core"
    for n, ratio in list(found.speedups("Floyd-Warshall, one core", best))[-1:]:
        yield (
            f"At n = {n:,.0f}, {best} is {times_as(ratio)} as fast as Floyd-Warshall on one core."
        )
    blocked = "blocked, 4 x 2 a thread, GPU"
    for n, ratio in list(found.speedups("Floyd-Warshall, one core", blocked))[-1:]:
        yield (
            f"The document found blocks 200 times as fast as one core of its day; here it is "
            f"{times_as(ratio)} at n = {n:,.0f}."
        )
    for n, ratio in list(found.speedups("a thread a pair, GPU", blocked))[-1:]:
        yield (
            f"Blocks are {times_as(ratio)} as fast as a thread a pair at n = {n:,.0f}; "
            "the document found 2 times."
        )
    for n, ratio in list(found.over_published(_PUBLISHED[3], best))[-1:]:
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
        _learned,
        ("documents", "gpu"),
        ("S0a", "S0b", "S0c", "S0f"),
        GPU_GRAPHS,
        _PUBLISHED,
        patience=10,
        notes="Complete graphs, lengths 1 to 1000 as int32; distances without paths.",
    ),
)
