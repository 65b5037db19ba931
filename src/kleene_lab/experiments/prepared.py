"""Prepared graphs: what steps and answers cost, how that grows, and whether they are right."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

import kleene as kl
from kleene.calls.programs import Fill, count_fill, eliminate, elimination_order
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.experiment import Axis, Experiment, Plan
from kleene_lab.harness.formatting import duration, size
from kleene_lab.harness.graphs import NamedGraph, delaunay, grid, highways, rome, split_highways
from kleene_lab.harness.measurements import Measurements, finding, times_as
from kleene_lab.harness.prepared import (
    BATCH,
    PAIR,
    PATH,
    TREE,
    answer_trial,
    asked_of,
    plain_rows,
    prepared_of,
    scipy_trial,
    search_trial,
    weights_trial,
)
from kleene_lab.harness.record import Point
from kleene_lab.harness.trial import Trial

__all__ = ["EXPERIMENTS"]

_ROADS, _PLANAR, _GRIDS = "roads", "Delaunay triangulations", "grids"

#: By panel: the number of vertices, and the graph.
_GRAPHS: dict[str, tuple[tuple[int, NamedGraph], ...]] = {
    _ROADS: ((3_353, rome()), (560_282, highways()), (7_960_388, split_highways())),
    _PLANAR: tuple((n, delaunay(n)) for n in (1_000, 10_000, 100_000, 1_000_000)),
    _GRIDS: tuple((side * side, grid(side)) for side in (32, 100, 316, 1000)),
}
_QUICK = {_PLANAR: ((100, delaunay(100)),), _GRIDS: ((64, grid(8)),)}

#: Seconds for a vertex, to prepare a graph and to search it for right answers, about.
_PREPARED, _SEARCHED = 1.5e-5, 4e-6


def _graphs(environment: Environment) -> Iterator[tuple[str, int, NamedGraph]]:
    """Yield panels, vertices and graphs, the largest last."""
    families = _QUICK if environment.quick else _GRAPHS
    every = [(panel, *one) for panel, graphs in families.items() for one in graphs]
    yield from sorted(every, key=lambda one: one[1])


# ---- steps --------------------------------------------------------------------------------------


class _Eliminated(NamedTuple):
    """A graph, its order, and what elimination makes of it."""

    graph: kl.Graph
    order: Any
    fill: Fill


def _eliminated_of(environment: Environment, named: NamedGraph) -> _Eliminated:
    g = named.get(environment)

    def make() -> _Eliminated:
        order = elimination_order(g)
        return _Eliminated(g, order, count_fill(g, order))

    return environment.last("order", (named.name, g.n), make)


def _step_trial(environment: Environment, named: NamedGraph, step: str) -> Trial:
    known = _eliminated_of(environment, named)
    g, fill = known.graph, known.fill
    trial = {"order": _order, "elimination": _elimination, "new weights": _weights}[step]
    made = trial(environment, named, known)
    made.n, made.m, made.facts, made.repeats = g.n, g.m, fill._asdict(), 5
    return made


def _order(environment: Environment, named: NamedGraph, known: _Eliminated) -> Trial:
    def check(order: Any) -> str:
        if count_fill(known.graph, order) != known.fill:  # raises, if it is no order
            raise AssertionError("two orders of one graph differ")
        return "an order of all vertices"

    return Trial(partial(elimination_order, known.graph), check)


def _elimination(environment: Environment, named: NamedGraph, known: _Eliminated) -> Trial:
    def check(made: Any) -> str:
        if made.fill != known.fill:
            raise AssertionError("other pairs were joined than were counted")
        return "as many pairs as were counted"

    return Trial(partial(eliminate, known.graph, known.order), check)


def _weights(environment: Environment, named: NamedGraph, known: _Eliminated) -> Trial:
    return weights_trial(prepared_of(environment, named), asked_of(environment, named))


_STEPS = ("order", "elimination", "new weights")


def _steps(environment: Environment) -> Iterator[Plan]:
    for panel, n, named in _graphs(environment):
        for step in _STEPS:
            setup = n * (_PREPARED + _SEARCHED) if step == "order" else 0.0
            trial = partial(_step_trial, environment, named, step)
            yield Plan(step, n, trial, panel, setup=setup, size=0)


def _findings_steps(results: Measurements) -> Iterator[str]:
    for panel in results.panels:
        largest = max(point.x for point in results.of(panel=panel))
        took = [
            f"{series} {duration(results.time(point))}"
            for series in _STEPS
            if (point := results.at(series, largest, panel)) is not None
        ]
        yield f"{panel.capitalize()}, {largest:,.0f} vertices: {', '.join(took)}."


def _fact(name: str, show: Callable[[Any], str] = lambda value: f"{value:,}") -> Any:
    def column(point: Point) -> str:
        return show(point.facts[name]) if name in point.facts else ""

    return column


# ---- answers ------------------------------------------------------------------------------------

_BATCH = f"{TREE}, {BATCH} at once"
_ONE_CORE = f"{_BATCH}, one core"
_PLAIN, _SCIPY = f"{TREE} by plain search, {BATCH} at once", f"{TREE} by SciPy"


def _answer_trial(environment: Environment, named: NamedGraph, series: str) -> Trial:
    asked = asked_of(environment, named)
    if series == _SCIPY:
        trial = scipy_trial(asked)
    elif series == _PLAIN:
        trial = search_trial(asked)
    else:
        threads = 1 if series == _ONE_CORE else None
        question = TREE if series in (_BATCH, _ONE_CORE) else series
        trial = answer_trial(prepared_of(environment, named), asked, question, threads)
    trial.n, trial.m = asked.graph.n, asked.graph.m
    return trial


def _answers(environment: Environment) -> Iterator[Plan]:
    for panel, n, named in _graphs(environment):
        for series in (PAIR, PATH, _BATCH, _ONE_CORE, _PLAIN, _SCIPY):
            if series == _ONE_CORE and environment.cores == 1:
                continue
            setup = n * (_PREPARED + _SEARCHED) if series == PAIR else 0.0
            trial = partial(_answer_trial, environment, named, series)
            yield Plan(series, n, trial, panel, setup=setup, size=0)


def _findings_answers(results: Measurements) -> Iterator[str]:
    for panel in results.panels:
        for x, ratio in list(results.speedups(_PLAIN, _BATCH, panel))[-1:]:
            took = [
                f"{series} {duration(results.time(point))}"
                for series in (PAIR, PATH, _BATCH)
                if (point := results.at(series, x, panel)) is not None
            ]
            as_fast = f"{times_as(ratio)} as fast as a plain search"
            yield f"{panel.capitalize()}, {x:,.0f} vertices: {', '.join(took)}, {as_fast}."


# ---- a million pairs ----------------------------------------------------------------------------

_MANY, _FROM = 1_000_000, 2_000


def _million_trial(environment: Environment, named: NamedGraph) -> Trial:
    g, p = named.get(environment), prepared_of(environment, named)
    many, sources = (1000, 10) if environment.quick else (_MANY, _FROM)
    rng = np.random.default_rng(3)
    origins = rng.integers(0, g.n, sources)
    pairs = np.column_stack([np.repeat(origins, many // sources), rng.integers(0, g.n, many)])

    @cache
    def right() -> Any:
        lengths = pairs[:, 1].reshape(sources, -1).copy()  # targets, to be replaced
        for batch in np.array_split(np.arange(sources), max(1, sources // 64)):
            rows = plain_rows(g, origins[batch])
            lengths[batch] = np.take_along_axis(rows, lengths[batch], axis=1)
        return lengths.ravel()

    def check(distances: Any) -> str:
        wrong = int((distances != right()).sum())
        if wrong:
            raise AssertionError(f"{wrong:,} of {many:,} pairs differ from plain searches")
        return f"{many:,} pairs from {sources:,} sources, none different from plain searches"

    return Trial(
        partial(p.distances, pairs), check, n=g.n, m=g.m, work=float(many), unit="pairs", repeats=1
    )


def _million(environment: Environment) -> Iterator[Plan]:
    named = grid(8) if environment.quick else highways()
    setup = 0.0 if environment.quick else _FROM * named.arcs * 1e-8
    yield Plan("all cores", 0, partial(_million_trial, environment, named), setup=setup, size=0)


def _findings_million(results: Measurements) -> Iterator[str]:
    for point in results.points:
        yield f"{point.checked.capitalize()}; {results.value(point):,.0f} pairs a second."


_SHARED: dict[str, Any] = {"suites": ("prepared",), "patience": 120}

EXPERIMENTS = (
    Experiment(
        "prepared-steps",
        "Preparing a graph",
        "How long does it take to prepare a graph, and how does that grow?",
        Axis("vertices"),
        _steps,
        _findings_steps,
        budget=420,
        headline=finding("Roads"),
        notes=(
            "Order: nested dissection, on one core. Elimination: which pairs of vertices are "
            "joined. New weights: their values, on all cores, which is all that other weights on "
            "the same graph take. The last roads are the highways with every edge split into ten."
        ),
        columns=(
            ("pairs", _fact("pairs")),
            ("triangles", _fact("triangles")),
            ("depth", _fact("depth")),
            ("prepared graph", _fact("bytes", size)),
        ),
        **_SHARED,
    ),
    Experiment(
        "prepared-answers",
        "Answers of prepared graphs",
        "How long does one answer of a prepared graph take, and how does that grow?",
        Axis("vertices"),
        _answers,
        _findings_answers,
        budget=420,
        headline=finding("Roads"),
        notes=(
            "Seconds for one answer. A pair: one of 10,000 in a call. With its path: a call each "
            "from Python. A tree: all distances from a source, into memory that is in use already."
        ),
        **_SHARED,
    ),
    Experiment(
        "prepared-million-pairs",
        "A million pairs of the world's highways",
        "Are distances of random pairs those that plain searches find?",
        Axis("graph", log=False, labels=("world highways",)),
        _million,
        _findings_million,
        y="rate",
        quantity="seconds",
        kind="bars",
        budget=180,
        headline=finding(),
        **_SHARED,
    ),
)
