"""Searches of one graph from several sources, on any device, compared with verified distances.

Distances from each source are computed once, on the CPU, and verified for the first ones. Answers
of all devices must equal them: they are integers, so that there is one right answer.
"""

from __future__ import annotations

import hashlib
from functools import partial
from itertools import cycle
from typing import Any

import numpy as np

import kleene as kl
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.graphs import NamedGraph, sources_in
from kleene_lab.harness.trial import Trial, solve

__all__ = ["PROVED", "Searches", "proofs_of", "searches_of"]

#: Seconds per arc of one verification.
PROVED = 3e-8

_SOURCES = 8


class Searches:
    """Sources of searches in a graph, and the right distances from them."""

    def __init__(self, problem: str, graph: kl.Graph, count: int) -> None:
        self.problem, self.graph = problem, graph
        self.sources = [int(source) for source in sources_in(graph, count)]
        self._right: dict[int, bytes] = {}
        self._proved = 0
        arcs, levels = [], []
        for source in self.sources:
            results = getattr(kl, problem)(graph, source, device="cpu", predecessors=False)
            if self._proved < proofs_of(graph.m):
                results.verify()
                self._proved += 1
            self._right[source] = _digest(results)
            arcs.append(float(graph.stats.degrees[results.reached].sum()))
            levels.append(1 + int(results.distances.max(where=results.reached, initial=0)))
        self.arcs = float(np.median(arcs))  # that leave reached vertices
        self.levels = float(np.median(levels)) if problem == "bfs" else None

    def trial(self, graph: kl.Graph, paths: bool = False, **options: Any) -> Trial:
        """Return the trial of searches from one source after the other."""
        options = {"predecessors": paths, **options}
        facts = {} if self.levels is None else {"levels": self.levels}
        trial = solve(
            self.problem, graph, self.sources[0],
            work=self.arcs, unit="arcs", facts=facts, **options,
        )  # fmt: skip
        call, turn = partial(getattr(kl, self.problem), graph, **options), cycle(self.sources)
        trial.run = lambda: call(next(turn))
        trial.check = partial(self._check, [_tree_proofs(graph) if paths else 0])
        trial.repeats = len(self.sources)
        return trial

    def _check(self, trees: list[int], result: kl.Result) -> str:
        """Compare distances with the right ones; ``trees`` is how many are still to be verified."""
        source = int(result.sources[0])
        if _digest(result) != self._right[source]:
            raise AssertionError(f"other distances from {source} than the CPU computed: {result!r}")
        if trees[0]:
            trees[0] -= 1
            result.verify()
        text = f"verified, {self._proved} of {len(self.sources)} searches; the others equal"
        return text if result.predecessors is None else f"{text}, and the paths of some"


def searches_of(
    environment: Environment, problem: str, named: NamedGraph, count: int = _SOURCES
) -> Searches:
    """Return the searches of a graph, shared by all series."""
    g = named.get(environment)
    count = min(count, 2) if environment.quick else count
    key = (problem, named.name, g.n, count)
    return environment.last("searches", key, lambda: Searches(problem, g, count))


def proofs_of(arcs: float) -> int:
    """Return how many answers are verified: all, unless the graph is large."""
    return 8 if arcs < 2e7 else 2 if arcs < 2e8 else 1


def _tree_proofs(graph: kl.Graph) -> int:
    return 2 if graph.m < 2e7 else 1


def _digest(result: kl.Result) -> bytes:
    return hashlib.blake2b(np.ascontiguousarray(result.distances).data).digest()
