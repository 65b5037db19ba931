"""Calls to SciPy's csgraph that take microseconds: does anyone lose by the drop-in?

Such a call is mostly conversion, checks and memory; the drop-in answers it on SciPy's arrays.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from math import inf
from typing import Any, NamedTuple

import numpy as np

import kleene as kl
from kleene_lab.experiments.dropins import CSGRAPH, SCIPY, scipy_trial
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.experiment import Axis, Experiment, Plan
from kleene_lab.harness.formatting import three
from kleene_lab.harness.measurements import Measurements, finding, times_as
from kleene_lab.harness.trial import Trial

__all__ = ["EXPERIMENTS"]

_GRAPHS = ("34 vertices", "Rome", "grid 100", "R-MAT 12")
_QUICK = ("34 vertices",)

_PATHS = {"return_predecessors": True}

_TURNS = 50  # calls, of which the fastest counts: others wait for something else on the machine

#: What is called, the function, and how; from the vertex of highest degree.
_CALLS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("BFS order", "breadth_first_order", {}),
    ("BFS order, undirected", "breadth_first_order", {"directed": False}),
    ("BFS tree", "breadth_first_tree", {}),
    ("weak components", "connected_components", {}),
    ("strong components", "connected_components", {"connection": "strong"}),
    ("Dijkstra", "dijkstra", {}),
    ("Dijkstra, paths", "dijkstra", _PATHS),
    ("Dijkstra, undirected", "dijkstra", {"directed": False}),
    ("Dijkstra, hops", "dijkstra", {"unweighted": True}),
    ("Dijkstra, a limit", "dijkstra", {"limit": 3.0}),
    ("shortest_path", "shortest_path", {}),
)
_START = {"breadth_first_order": "i_start", "breadth_first_tree": "i_start"}
_NO_START = ("connected_components",)


@cache
def _matrix(name: str) -> Any:
    options: dict[str, Any] = {"seed": 1, "weights": (1, 255)}
    makers: dict[str, Callable[[], kl.Graph]] = {
        "34 vertices": partial(kl.generate.uniform, 34, 78, directed=False, **options),
        "Rome": kl.datasets.rome,
        "grid 100": partial(kl.generate.grid, 100, 100, **options),
        "R-MAT 12": partial(kl.generate.rmat, 12, 16, directed=False, **options),
    }
    return makers[name]().to_scipy().astype(np.float64)


def _trial(graph: str, call: tuple[str, str, dict[str, Any]], ours: bool) -> Trial:
    name, function, how = call
    matrix = _matrix(graph)
    if function not in _NO_START:
        how = {**how, _START.get(function, "indices"): int(np.diff(matrix.indptr).argmax())}
    once = scipy_trial(matrix, function, how, ("small", graph, name), ours)
    return Trial(
        partial(_fastest, once.run), lambda timed: once.check(timed.answer), repeats=5,
        timed=lambda timed: timed.seconds,
    )  # fmt: skip


class _Timed(NamedTuple):
    answer: Any
    seconds: float


def _fastest(run: Callable[[], Any]) -> _Timed:
    """Return the last answer of many calls, and the time of the fastest."""
    best = inf
    for _ in range(_TURNS):
        began = time.perf_counter()
        answer = run()
        best = min(best, time.perf_counter() - began)
    return _Timed(answer, best)


def _plans(environment: Environment) -> Iterator[Plan]:
    for graph in environment.sizes(_GRAPHS, _QUICK):
        for x, call in enumerate(_CALLS):
            for series in (SCIPY, CSGRAPH):
                yield Plan(
                    series, x, partial(_trial, graph, call, series == CSGRAPH), graph, size=0
                )


def _findings(results: Measurements) -> Iterator[str]:
    behind = []
    for graph in results.panels:
        ratios = list(results.speedups(SCIPY, CSGRAPH, graph))
        behind += [(_CALLS[int(x)][0], graph, ratio) for x, ratio in ratios if ratio < 1]
        if ratios:
            low, high = (pick(ratio for _, ratio in ratios) for pick in (min, max))
            yield f"{graph}: {three(low)} to {times_as(high)} as fast as SciPy."
    for call, graph, ratio in behind:
        yield f"{call}, {graph}: slower than SciPy, {ratio:.2g} of its speed."


EXPERIMENTS = (
    Experiment(
        "dropin-scipy-small",
        "In the place of SciPy, on small graphs",
        "Does any small call get slower with kleene.csgraph?",
        Axis("call", log=False, labels=tuple(name for name, *_ in _CALLS)),
        _plans,
        _findings,
        ("ours", "peers"),
        quantity="seconds",
        kind="bars",
        budget=35,
        headline=finding(),
        baseline=SCIPY,
        notes=(
            "Whole calls on SciPy's arrays of float64, from the vertex of highest degree; the "
            "fastest of fifty."
        ),
    ),
)
