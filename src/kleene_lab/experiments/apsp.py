"""All pairs by size and by method, and the versions of blocked Floyd-Warshall."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import product
from statistics import geometric_mean

import kleene as kl
from kleene_lab.experiments.documents import (
    ALL,
    BLOCKED,
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
from kleene_lab.harness.record import Point
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


# ---- blocked Floyd-Warshall: its versions, the size of blocks, the elements of a thread ----------


_VERSION_SIZES, _TRIED = (80, 160, 240, 320, 480, 640, 720, 1200), (48, 72)
_BLOCKS = (8, 16, 24, 32)
_REPEATS = 3  # there are many points
_LARGER = (48, 64)  # than the document's blocks, which have a thread a cell
_VERSIONS = ("1.0", "1.1", "1.2", "2.0", "2.1", "3.0", "4.0", "4.1", "4.2")


def _blocked_trial(
    environment: Environment,
    entrant: Entrant,
    shared_check: SharedCheck,
    n: int,
    options: dict[str, int],
) -> Trial:
    g = environment.graph(("complete", n), partial(complete, n))
    trial = solve(
        "apsp", g, method=entrant.method, device=entrant.device, threads=entrant.threads,
        predecessors=False, options=options, work=float(n) ** 3, unit="relaxations",
    )  # fmt: skip
    trial.check, trial.repeats = shared_check.about(("complete", n)), _REPEATS
    return trial


def _plan(
    environment: Environment,
    entrant: Entrant,
    shared_check: SharedCheck,
    n: int,
    block: int,
    series: str,
    panel: str,
) -> Plan:
    trial = partial(_blocked_trial, environment, entrant, shared_check, n, {"block": block})
    return Plan(
        series, n, trial, panel, entrant.device, entrant.threads, entrant.guess(float(n) ** 3)
    )


# ---- versions -----------------------------------------------------------------------------------


def _version(number: str) -> str:
    return f"version {number}, {GPU}"


def _versions(environment: Environment) -> Iterator[Plan]:
    shared_check = SharedCheck()
    numbered = [(f"version {v}", f"blocked_{v.replace('.', '_')}", GPU) for v in _VERSIONS]
    listed = [("blocked", "blocked", ONE), ("blocked", "blocked", ALL), *numbered]
    for n, block in product(
        environment.sizes(_VERSION_SIZES, _TRIED), environment.sizes(_BLOCKS, (24,))
    ):
        if n % block == 0:  # as in the document
            for e in entrants(environment, listed):
                yield _plan(environment, e, shared_check, n, block, e.series, f"B = {block}")


def _versions_findings(results: Measurements) -> Iterator[str]:
    yield from _worst(results)
    yield from _graphs(results)
    wins = _wins(results, {_version(v) for v in _VERSIONS})
    if wins:
        (best, count), total = wins.most_common(1)[0], wins.total()
        yield (
            f"Of the versions, {best.removesuffix(f', {GPU}')} is the fastest most often: at "
            f"{count} of {total} pairs of n and B. The document found none best everywhere among "
            "2.0, 2.1 and 3.0."
        )
    for panel in reversed(results.panels):
        ratios = list(results.speedups(_version("2.0"), _version("2.1"), panel))
        if ratios:
            n, ratio = ratios[-1]
            yield (
                f"Without bank conflicts, version 2.1 is {as_fast(ratio)} 2.0 with {panel}, at n = "
                f"{n:,.0f}; the document saw that with B = 32 above all."
            )
            break
    if not wins:
        for panel in results.panels[-1:]:
            for n, ratio in list(results.speedups(f"blocked, {ONE}", f"blocked, {ALL}", panel))[
                -1:
            ]:
                yield (
                    f"There is no GPU here: all cores are {as_fast(ratio)} one with {panel}, at "
                    f"n = {n:,.0f}."
                )


def _by_place(results: Measurements, wanted: set[str]) -> Iterator[list[Point]]:
    """Yield the points of some series at each n of each chart, the fastest first."""
    for panel in results.panels:
        for x in sorted({point.x for point in results.of(panel=panel)}):
            here = [p for p in results.of(panel=panel) if p.x == x and p.series in wanted]
            if len(here) > 1:
                yield sorted(here, key=results.value)


def _wins(results: Measurements, wanted: set[str]) -> Counter[str]:
    return Counter(points[0].series for points in _by_place(results, wanted))


def _worst(results: Measurements) -> Iterator[str]:
    charted = {_version(v) for v in _VERSIONS[1:]}  # the document leaves 1.0 out
    losses = Counter(points[-1].series for points in _by_place(results, charted))
    if losses:
        (worst, count), total = losses.most_common(1)[0], losses.total()
        yield (
            f"Of the versions after 1.0, {worst.removesuffix(f', {GPU}')} is most often the "
            f"slowest: for {count} of {total} pairs of n and B. In the document, it is 1.1."
        )
    ratios = [
        ratio
        for panel in results.panels
        for _, ratio in results.speedups(_version("1.0"), _version("1.2"), panel)
    ]
    if ratios:
        yield (
            f"A launch for each block (1.0) takes {times_as(geometric_mean(ratios))} as long, on "
            "average, as one for each phase (1.2)."
        )


def _graphs(results: Measurements) -> Iterator[str]:
    texts = []
    for version in ("4.0", "4.1", "4.2"):
        ratios = [
            ratio
            for panel in results.panels
            for _, ratio in results.speedups(_version("2.1"), _version(version), panel)
        ]
        if ratios:
            texts.append(f"{version} takes {times_as(1 / geometric_mean(ratios))} as long")
    if texts:
        yield (
            f"Beside version 2.1, on average, {', '.join(texts)}. The document found 4.0 and 4.1 "
            "very slow, since it takes long to build their graphs; 4.2 is ours."
        )


# ---- the best size of a block -------------------------------------------------------------------

_BEST_ON = {GPU: ("version 2.1", "blocked_2_1"), ALL: ("blocked", "blocked")}


def _blocks_panel(place: str) -> str:
    return f"{_BEST_ON[place][0]}, {place}"


def _blocks(environment: Environment) -> Iterator[Plan]:
    shared_check = SharedCheck()
    sides = environment.sizes((*_BLOCKS, *_LARGER), (8, 16, 24))
    for place in (GPU, ALL):
        for e in entrants(environment, [(*_BEST_ON[place], place)]):
            for n in environment.sizes(_VERSION_SIZES, _TRIED):
                for block in sides:
                    if n % block == 0:
                        series = f"B = {block}, {place}"
                        yield _plan(
                            environment, e, shared_check, n, block, series, _blocks_panel(place)
                        )


def _blocks_findings(results: Measurements) -> Iterator[str]:
    for place in (GPU, ALL):
        panel = _blocks_panel(place)
        best = {
            points[0].x: points[0].series.split(",")[0]
            for points in _by_place(results, set(results.series))
            if points[0].panel == panel
        }
        if len(best) < 2:
            continue
        texts = ", ".join(f"{n:,.0f}: {series}" for n, series in sorted(best.items()))
        different = set(best.values())
        which = "one" if len(different) == 1 else "no size"
        yield f"The best blocks by n, for {panel}, are {texts}: {which} is the best everywhere."
        eight = sum(series == "B = 8" for series in best.values())
        if place == GPU:
            yield (
                f"B = 8 is the best at {eight} of {len(best)} sizes; the document says never, and "
                "that none is universally the best."
            )


# ---- elements of a thread -----------------------------------------------------------------------

_TABLE = (512, 1024, 2048, 3072, 4096)
_COUNTS = (1, 2, 4, 8)
_SHAPES = tuple(product(_COUNTS, _COUNTS))  # across, down
_WORDS = tuple(f"{across} x {down}" for across, down in _SHAPES)
_MULTI = f"blocked, several elements a thread, {GPU}"


def _elements(environment: Environment) -> Iterator[Plan]:
    if environment.gpu is None:
        raise Skipped("elements of a thread are about GPUs, and there is none; see best-block-size")
    shared_check = SharedCheck()
    for n in environment.sizes(_TABLE, (64,)):
        for place, (across, down) in enumerate(_SHAPES):
            e = Entrant(_MULTI, "blocked_multi", environment.gpu, None)
            options = {"across": across, "down": down}
            yield Plan(
                _MULTI, place, partial(_blocked_trial, environment, e, shared_check, n, options),
                f"n = {n}", e.device, guess=e.guess(float(n) ** 3), size=n,
            )  # fmt: skip


def _elements_findings(results: Measurements) -> Iterator[str]:
    theirs = _WORDS.index("4 x 2")
    for panel in results.panels[-1:]:
        points = results.of(panel=panel)
        if len(points) < 2:
            return
        best = min(points, key=results.value)
        yield (
            f"At {panel}, {_WORDS[int(best.x)]} elements a thread are the fastest; the document "
            "found 4 x 2 (across x down)."
        )
        one, four = results.at(_MULTI, 0, panel), results.at(_MULTI, theirs, panel)
        if one is not None:
            ratio = results.value(one) / max(results.value(best), 1e-12)
            yield f"That is {as_fast(ratio)} one element a thread."
        if four is not None and best.x != theirs:
            ratio = results.value(four) / max(results.value(best), 1e-12)
            yield f"The document's 4 x 2 takes {times_as(ratio)} as long."


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
    Experiment(
        "elements-per-thread",
        "Blocked Floyd-Warshall by elements of a thread",
        "How many cells of a block should one thread look after?",
        Axis("elements across x down", log=False, labels=_WORDS),
        _elements,
        _elements_findings,
        ("documents", "gpu"),
        GPU_GRAPHS,
        budget=30,
        kind="bars",
        notes=(
            "Complete graphs, lengths 1 to 1000 as int32; distances without paths; blocks of 32 x "
            "32. The time is that of all rounds, without copies. The document shows a figure, and "
            "no table."
        ),
    ),
    Experiment(
        "blocked-versions",
        "Versions of blocked Floyd-Warshall",
        "What do shared memory, streams and CUDA graphs bring to blocked Floyd-Warshall?",
        Axis("vertices"),
        _versions,
        _versions_findings,
        ("documents", "gpu"),
        BLOCKED,
        quantity="seconds",
        budget=60,
        patience=2,
        notes=(
            "Complete graphs, lengths 1 to 1000 as int32; distances without paths; n is a multiple "
            "of B as in the document, though it need not be. Whole calls, copies and the building "
            "of graphs included, since that is what versions 4 are about. Version 4.2 is ours."
        ),
    ),
    Experiment(
        "best-block-size",
        "The best size of a block",
        "Is there a size of blocks that is the best for every matrix?",
        Axis("vertices"),
        _blocks,
        _blocks_findings,
        ("documents", "gpu"),
        BLOCKED,
        budget=25,
        patience=2,
        notes=(
            "As for the versions, without copies. Blocks of more than 32 x 32 cells, which the "
            "document could not have, give several cells to a thread."
        ),
    ),
)
