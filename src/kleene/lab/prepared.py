"""What prepared graphs are asked in experiments, and the right answers.

Plain searches from some sources are verified; distances of pairs, rows and matrices must be theirs.
Lengths are integers, so that there is one right answer. What is timed is one answer: a call for
many is divided by their number.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import kleene as kl
from kleene.lab.environment import Environment
from kleene.lab.experiment import Skipped
from kleene.lab.graphs import NamedGraph, sources_in
from kleene.lab.peers import SciPy
from kleene.lab.trial import Parts, Trial

__all__ = [
    "BATCH",
    "PAIR",
    "PATH",
    "TREE",
    "Asked",
    "answer_trial",
    "asked_of",
    "peer_trial",
    "plain_rows",
    "prepared_of",
    "scipy_trial",
    "search_trial",
    "weights_trial",
]

Array = NDArray[Any]

#: Trees that are asked for at once: as many as there are lanes.
BATCH = 16

#: Entries of the rows that are kept for comparison, at most.
_KEPT = 2**25

#: Pairs of one call, and pairs whose paths are asked for, a call each.
_PAIRS, _PATHS = 10_000, 200

PAIR, PATH, TREE = "a pair", "a pair with its path", "a tree"


class _Timed(NamedTuple):
    """An answer, and the seconds of each of its parts."""

    answer: Any
    seconds: float


def plain_rows(graph: kl.Graph, sources: Array) -> Array:
    """Return the distances from each source by searches, whether the graph is prepared or not."""
    result = kl.sssp(
        graph, sources=sources.tolist(), method="delta_stepping", device="cpu", predecessors=False
    )
    return np.atleast_2d(result.distances)


class Asked:
    """A graph, what it is asked, and right answers from plain searches."""

    def __init__(self, graph: kl.Graph) -> None:
        self.graph = graph
        self.sources = sources_in(graph, BATCH)
        known = max(2, min(BATCH, _KEPT // graph.n))
        self.rows = plain_rows(graph, self.sources[:known])
        kl.sssp(graph, int(self.sources[0]), method="dijkstra", device="cpu").verify()
        rng = np.random.default_rng(2)
        self.from_row = rng.integers(0, len(self.rows), _PAIRS)
        self.targets = rng.integers(0, graph.n, _PAIRS)
        self.pairs = np.column_stack([self.sources[self.from_row], self.targets])
        self.lengths = self.rows[self.from_row, self.targets]

    def check_pairs(self, distances: Array) -> str:
        """Raise AssertionError unless these are the distances of the pairs."""
        if not np.array_equal(distances, self.lengths):
            raise AssertionError("pairs have other distances than plain searches found")
        return f"{len(distances):,} pairs as plain searches"

    def check_rows(self, rows: Any) -> str:
        """Raise AssertionError unless these are rows of plain searches, as far as these went."""
        rows = np.atleast_2d(rows)[: len(self.rows)]
        if not np.array_equal(rows, self.rows[: len(rows)]):
            raise AssertionError("a row has other distances than a plain search found")
        return f"{len(rows)} rows as plain searches"

    def check_paths(self, paths: list[list[int]]) -> str:
        """Raise AssertionError unless path i is a shortest one of pair i."""
        for path, length in zip(paths, self.lengths, strict=False):
            if self.length_of(path) != length:
                raise AssertionError("a path is longer than a plain search found")
        return f"{len(paths)} paths as long as by plain searches"

    def length_of(self, path: list[int]) -> int:
        """Return the length of a path along arcs; the largest integer for no path."""
        if not path:
            return int(np.iinfo(self.rows.dtype).max)
        return sum(self._weight(tail, head) for tail, head in pairwise(path))

    def _weight(self, tail: int, head: int) -> int:
        begin, end = map(int, self.graph.offsets[tail : tail + 2])
        at = begin + int(np.searchsorted(self.graph.neighbors[begin:end], head))
        if at == end or self.graph.neighbors[at] != head:
            raise AssertionError(f"a path uses an arc from {tail} to {head}, which is not there")
        assert self.graph.weights is not None
        return int(self.graph.weights[at])


def asked_of(environment: Environment, named: NamedGraph) -> Asked:
    """Return the questions to a graph, shared by all series."""
    g = named.get(environment)
    return environment.last("asked", (named.name, g.n), partial(Asked, g))


def prepared_of(environment: Environment, named: NamedGraph) -> Any:
    """Return a graph prepared, shared by all series; graphs that are refused are skipped."""
    g = named.get(environment)
    try:
        return environment.last("prepared", (named.name, g.n), partial(kl.prepare, g))
    except kl.KleeneError as error:
        raise Skipped(str(error)) from None


# ---- trials -------------------------------------------------------------------------------------


def _each(count: int, run: Callable[[], Any], check: Callable[[Any], str], **known: Any) -> Trial:
    """Return the trial of a call for so many answers, of which the time of one is shown."""

    def timed() -> _Timed:
        began = time.perf_counter()
        answer = run()
        return _Timed(answer, (time.perf_counter() - began) / count)

    return Trial(
        timed, lambda done: check(done.answer), lambda done: Parts(compute=done.seconds), **known
    )


def answer_trial(p: Any, asked: Asked, question: str, threads: int | None = None) -> Trial:
    """Return the trial of one of the three questions to a prepared graph."""
    if question == PAIR:
        run = partial(p.distances, asked.pairs, threads=threads)
        return _each(_PAIRS, run, asked.check_pairs)
    if question == PATH:
        pairs = asked.pairs[:_PATHS].tolist()
        return _each(_PATHS, lambda: [p.path(s, t) for s, t in pairs], asked.check_paths)
    return _each(
        len(asked.sources), partial(p.trees, asked.sources, threads=threads),
        lambda result: asked.check_rows(result.distances),
    )  # fmt: skip


def weights_trial(p: Any, asked: Asked, threads: int | None = None) -> Trial:
    """Return the trial of new weights; those of the graph itself, which are checked."""
    return Trial(
        partial(p.customize, asked.graph, threads=threads),
        lambda made: asked.check_pairs(made.distances(asked.pairs)),
    )


def search_trial(asked: Asked) -> Trial:
    """Return the trial of trees by plain searches in one call."""
    sources = asked.sources[: len(asked.rows)]
    return _each(len(sources), partial(plain_rows, asked.graph, sources), asked.check_rows)


def scipy_trial(asked: Asked) -> Trial:
    """Return the trial of a tree by SciPy's Dijkstra."""
    call = SciPy(asked.graph).sssp_lengths(int(asked.sources[0]))

    def check(answer: Any) -> str:
        row = call.distances(answer)
        dtype = asked.rows.dtype
        found = np.where(np.isinf(row), 0, row).astype(dtype)
        found[np.isinf(row)] = np.iinfo(dtype).max
        return asked.check_rows(found)

    return Trial(call.run, check, repeats=3)


def peer_trial(peer: Any, asked: Asked, question: str) -> Trial:
    """Return the trial of pairs, or of their paths, asked of another library."""
    if question == PAIR:
        run = partial(peer.distances, asked.pairs)
        return _each(_PAIRS, run, asked.check_pairs, repeats=3)
    return _each(_PATHS, partial(peer.paths, asked.pairs[:_PATHS]), asked.check_paths, repeats=3)
