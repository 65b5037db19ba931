"""What is timed: a call, how its answer is checked, and what is known about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from typing import Any, NamedTuple

import numpy as np

import kleene as kl

__all__ = ["Parts", "Trial", "parts_of", "search", "solve"]

#: Rows of an answer that are verified, where it has many, and that must be equal in all others.
_PROVED, _COMPARED = 4, 64


class Parts(NamedTuple):
    """Seconds of the parts of a call; on a GPU by its clock."""

    compute: float
    copy_in: float = 0.0
    copy_out: float = 0.0


def parts_of(result: kl.Result) -> Parts:
    """Return the parts of one of Kleene's own calls."""
    return Parts(result.stats.compute, result.stats.copy_in, result.stats.copy_out)


@dataclass
class Trial:
    """One thing to time. Making it is not timed: graphs, forms and copies on a GPU belong there."""

    run: Callable[[], Any]
    check: Callable[[Any], str]  # raises if an answer is wrong; returns how it was checked
    parts: Callable[[Any], Parts | None] = lambda answer: None
    n: int | None = None
    m: int | None = None
    method: str = ""
    dtype: str = ""
    threads: int | None = None
    work: float | None = None
    unit: str = ""
    ceiling: float | None = None
    repeats: int = 9
    facts: dict[str, Any] = field(default_factory=dict)
    #: Seconds of a call, where another program ran it and measured them.
    timed: Callable[[Any], float] | None = None
    summary: Callable[[Sequence[float]], dict[str, Any]] = lambda times: {}  # facts from its times


def solve(
    problem: str,
    graph: kl.Graph,
    *given: Any,
    work: float | None = None,
    unit: str = "",
    proved: int = _PROVED,
    facts: dict[str, Any] | None = None,
    **options: Any,
) -> Trial:
    """Return the trial of one of Kleene's own calls; its first answer is verified.

    Later answers must have the same distances.
    """
    call = partial(getattr(kl, problem), graph, *given, **options)
    plan = kl.explain(graph, problem, *given, **options)
    return Trial(
        call, _Proof(proved), parts_of,
        graph.n, graph.m, plan.method, plan.dtype, plan.threads if plan.device == "cpu" else None,
        work, unit, facts=facts or {},
    )  # fmt: skip


def search(
    problem: str,
    graph: kl.Graph,
    sources: Iterable[int],
    proved: int = 2,
    work: float | None = None,
    **options: Any,
) -> Trial:
    """Return the trial of searches from one source after the other, each once.

    Its work is the arcs that leave reached vertices, at the median over the sources, if not given.
    """
    every = [int(source) for source in sources]
    trial = solve(problem, graph, every[0], **options)
    call = partial(getattr(kl, problem), graph, **options)
    turn = cycle(every)
    trial.run = lambda: call(next(turn))
    trial.check = _EachProof(proved)
    trial.work = _arcs_searched(graph, every) if work is None else work
    trial.unit, trial.repeats = "arcs", len(every)
    return trial


def _arcs_searched(graph: kl.Graph, sources: list[int]) -> float:
    degrees, arcs = graph.stats.degrees, {}
    for source in set(sources):
        reached = kl.bfs(graph, source, device="cpu", predecessors=False).reached
        arcs[source] = float(degrees[reached].sum())
    return float(np.median([arcs[source] for source in sources]))


class _Proof:
    """Verifies the first answer, and compares some rows of all others with it."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._right: Any = None  # a copy: a whole answer may take gigabytes

    def __call__(self, result: kl.Result) -> str:
        count = len(result.sources)
        distances = np.atleast_2d(result.distances)
        some = distances[:: -(-count // _COMPARED)]
        if self._right is None:
            result.verify(sample=min(self._rows, count))
            self._right = some.copy()
        elif not np.array_equal(some, self._right):
            raise AssertionError(f"two answers of one call differ: {result!r}")
        return f"verified, {min(self._rows, count)} of {count} rows"


class _EachProof:
    """Verifies so many answers."""

    def __init__(self, count: int) -> None:
        self._left = count
        self._proved = 0

    def __call__(self, result: kl.Result) -> str:
        if self._left:
            self._left -= 1
            self._proved += 1
            result.verify()
        return f"verified, {self._proved} of the searches"
