"""Bellman-Ford and LLP by size, on three graphs a point, with 99 % intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from math import sqrt
from statistics import fmean, stdev
from typing import Any

import kleene as kl
from kleene_lab.experiments.documents import (
    ALL,
    GPU,
    ONE,
    SSSP,
    Entrant,
    SharedCheck,
    as_fast,
    entrants,
    last,
)
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.experiment import Axis, Experiment, Plan
from kleene_lab.harness.measurements import Measurements, finding
from kleene_lab.harness.record import Point
from kleene_lab.harness.trial import Parts, Trial, parts_of, solve

__all__ = ["EXPERIMENTS"]

#: The document's sizes end at 2^15.
_SIZES = tuple(2**k for k in (10, 11, 12, 13, 14, 15, 17, 20, 22))
_THEIRS = 2**15
_SEEDS = (1, 2, 3)

_BELLMAN_FORD, _LLP = "Bellman-Ford", "LLP"
_OURS = (
    ("delta-stepping", "delta_stepping", ONE),
    ("delta-stepping", "delta_stepping", ALL),
    ("near-far", "near_far", GPU),
)
_LISTED = {
    _BELLMAN_FORD: (
        (_BELLMAN_FORD, "bellman_ford", ONE),
        (_BELLMAN_FORD, "bellman_ford", ALL),
        (f"{_BELLMAN_FORD}, every arc in every round", "bellman_ford_plain", GPU),
        (_BELLMAN_FORD, "bellman_ford", GPU),
        *_OURS,
    ),
    _LLP: ((_LLP, "llp", ONE), (_LLP, "llp", ALL), (_LLP, "llp", GPU), *_OURS),
}

#: Student's t for two degrees of freedom: 99 % of a distribution is within so many deviations.
_STUDENT = 9.925

_MADE = 4e-7  # seconds for an arc, on one core, to be generated and verified


def _plans(environment: Environment) -> Iterator[Plan]:
    shared_check = SharedCheck()
    for n in environment.sizes(_SIZES, (64, 96)):
        for panel, listed in _LISTED.items():
            for e in entrants(environment, listed):
                yield Plan(
                    e.series, n, partial(_trial, environment, e, shared_check, n), panel, e.device,
                    e.threads, guess=e.guess(300 * n), setup=9 * n * _MADE / environment.cores,
                    growth=4,
                )  # fmt: skip


def _trial(environment: Environment, entrant: Entrant, shared_check: SharedCheck, n: int) -> Trial:
    graphs = []
    for seed in _SEEDS:
        make = partial(kl.generate.path_plus, n, seed=seed)
        g = environment.graph(("path_plus", n, seed), make)
        graphs.append(g if entrant.device == "cpu" else g.to(entrant.device))
    options: dict[str, Any] = {
        "method": entrant.method, "device": entrant.device, "threads": entrant.threads,
        "predecessors": False,
    }  # fmt: skip
    trial = solve("sssp", graphs[0], 0, **options)
    return _InTurns(
        trial, [partial(kl.sssp, g, 0, **options) for g in graphs], shared_check, n
    ).trial


class _InTurns:
    """Runs on one graph after the other: the next one's turn is when a run has been timed."""

    def __init__(self, trial: Trial, calls: list[Any], shared_check: SharedCheck, n: int) -> None:
        self._calls, self._now = calls, 0
        self._checks = [shared_check.about(n, seed) for seed in _SEEDS]
        for call, check in zip(calls[1:], self._checks[1:], strict=True):
            check(call())  # the first graph's is checked like any other trial
        trial.run, trial.check, trial.parts = self._run, self._check, self._parts
        trial.summary, trial.repeats = interval, 2 * len(calls)
        trial.unit, trial.work = "arcs", 3.0 * n
        self.trial = trial

    def _run(self) -> tuple[int, kl.Result]:
        return self._now, self._calls[self._now]()

    def _check(self, answer: tuple[int, kl.Result]) -> str:
        return self._checks[answer[0]](answer[1])

    def _parts(self, answer: tuple[int, kl.Result]) -> Parts:
        self._now = (answer[0] + 1) % len(self._calls)
        return parts_of(answer[1])


def interval(times: Sequence[float]) -> dict[str, Any]:
    """Return the mean over three graphs that took turns, and half of its interval of 99 %.

    >>> interval([2.0, 3.0, 4.0, 2.0, 3.0, 4.0])
    {'graphs': 3, 'mean': 3.0, 'interval': 5.73...}
    >>> interval([2.0])
    {'graphs': 1, 'mean': 2.0}
    """
    count = len(_SEEDS)
    means = [fmean(times[graph::count]) for graph in range(min(count, len(times)))]
    facts: dict[str, Any] = {"graphs": len(means), "mean": fmean(means)}
    if len(means) == count:
        facts["interval"] = _STUDENT * stdev(means) / sqrt(count)
    return facts


# ---- sentences ----------------------------------------------------------------------------------


def _findings(results: Measurements) -> Iterator[str]:
    for label in (_LLP, _BELLMAN_FORD):
        slow, fast = f"{label}, {ONE}", f"{label}, {GPU}"
        ratios = dict(results.speedups(slow, fast, label))
        if _THEIRS in ratios:
            claim = "10 times as fast" if label == _LLP else "a huge difference, in a figure"
            yield (
                f"At {_THEIRS:,} vertices {fast} is {as_fast(ratios[_THEIRS])} {slow}; the "
                f"document found {claim}."
            )
        for n, ratio in list(ratios.items())[-1:]:
            if n > _THEIRS:
                yield f"At {n:,.0f} vertices it is {as_fast(ratio)} one core."
        if GPU not in " ".join(results.series):
            for n, ratio in last(results, slow, f"{label}, {ALL}", label):
                yield f"{label}, all cores, is {as_fast(ratio)} one core at {n:,.0f} vertices."
    for slow, fast in (
        (f"{_LLP}, {GPU}", f"near-far, {GPU}"),
        (f"{_LLP}, {ALL}", f"delta-stepping, {ALL}"),
        (f"{_LLP}, {ONE}", f"delta-stepping, {ONE}"),
    ):
        for n, ratio in last(results, slow, fast, _LLP):
            yield f"At {n:,.0f} vertices, {fast}, is {as_fast(ratio)} {slow}."
    wide = [p.facts["interval"] / p.facts["mean"] for p in results.points if "interval" in p.facts]
    if wide:
        share = sum(width < 0.25 for width in wide) / len(wide)
        yield (
            f"At {share * 100:.0f} % of the points, three graphs each, the mean is known within "
            "25 % with 99 % confidence."
        )


def _plus_minus(point: Point) -> str:
    """Return half of the interval as a share of the mean."""
    if "interval" not in point.facts:
        return ""
    return f"± {point.facts['interval'] / point.facts['mean']:.0%}"


EXPERIMENTS = (
    Experiment(
        "paths-by-size",
        "Bellman-Ford and LLP by size",
        "How much faster than one core does a GPU find shortest paths, and does it last?",
        Axis("vertices"),
        _plans,
        _findings,
        ("documents", "gpu"),
        SSSP,
        budget=70,
        patience=4,
        headline=finding("LLP, GPU", ""),
        notes=(
            "A path through all vertices and two more arcs into each, lengths 1 to 3, from the "
            "first vertex. Three graphs of different seeds take turns; the interval is that of "
            "Student's t with two degrees of freedom, which is 3.9 times as wide as the "
            "document's for a normal distribution. Every method stops when nothing changes, and "
            "all but one relax only what changed. On the GPU the graph is there already."
        ),
        columns=(("99 % interval", _plus_minus),),
    ),
)
