"""What prepared graphs are asked in experiments, and the right answers.

Plain searches from some sources are verified; distances of pairs, rows and matrices must be theirs.
Lengths are integers, so that there is one right answer. What is timed is one answer: a call for
many is divided by their number.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import kleene as kl
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.experiment import Skipped
from kleene_lab.harness.graphs import NamedGraph, sources_in
from kleene_lab.harness.peers import SciPy
from kleene_lab.harness.trial import Parts, Trial

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
    "prepare_trial",
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


def plain_rows(graph: kl.Graph, sources: Array, out: Array | None = None) -> Array:
    """Return the distances from each source by searches, whether the graph is prepared or not.

    On roads Dijkstra's algorithm is the fastest, on all cores, one source after the other on each.
    """
    result = kl.sssp(
        graph, sources=sources.tolist(), method="dijkstra", device="cpu", predecessors=False,
        out=out,
    )  # fmt: skip
    return np.atleast_2d(result.distances)


class Asked:
    """A graph, what it is asked, and right answers from plain searches."""

    def __init__(self, graph: kl.Graph) -> None:
        self.graph = graph
        self.sources = sources_in(graph, BATCH)
        known = max(2, min(BATCH, _KEPT // graph.n))
        self.rows = plain_rows(graph, self.sources[:known])
        kl.sssp(graph, int(self.sources[0]), method="dijkstra", device="cpu").verify()
        rng, count = np.random.default_rng(2), min(_PAIRS, 4 * graph.n)
        row, target = rng.integers(0, len(self.rows), count), rng.integers(0, graph.n, count)
        self.pairs = np.column_stack([self.sources[row], target])
        self.lengths = self.rows[row, target]

    @property
    def arrays(self) -> tuple[Array, Array, Array]:
        """The arcs of the graph, with lengths."""
        offsets, neighbors, weights = self.graph.csr
        assert weights is not None
        return offsets, neighbors, weights

    def memory(self, rows: int) -> Array:
        """Return memory for rows, in use already: else the system gives it page by page."""
        return np.ones((min(rows, len(self.sources)), self.graph.n), dtype=self.rows.dtype)

    def check_pairs(self, distances: Array) -> str:
        """Raise AssertionError unless these are the distances of the pairs."""
        if not np.array_equal(distances, self.lengths):
            raise AssertionError("pairs have other distances than plain searches found")
        return f"{len(distances):,} pairs as plain searches"

    def check_prepared(self, p: Any) -> str:
        """Raise AssertionError unless a prepared graph finds the distances of the pairs."""
        return self.check_pairs(p.distances(self.pairs))

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
        offsets, neighbors, weights = self.arrays
        begin, end = map(int, offsets[tail : tail + 2])
        at = begin + int(np.searchsorted(neighbors[begin:end], head))
        if at == end or neighbors[at] != head:
            raise AssertionError(f"a path uses an arc from {tail} to {head}, which is not there")
        return int(weights[at])


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


def _each(
    count: int,
    run: Callable[..., Any],
    check: Callable[[Any], str],
    before: Callable[[], tuple[Any, ...]] = tuple,
    **known: Any,
) -> Trial:
    """Return the trial of a call for so many answers, of which the time of one is shown.

    ``before`` makes arguments of each call, untimed.
    """

    def timed() -> _Timed:
        given = before()
        began = time.perf_counter()
        answer = run(*given)
        return _Timed(answer, (time.perf_counter() - began) / count)

    return Trial(
        timed, lambda done: check(done.answer), lambda done: Parts(compute=done.seconds), **known
    )


def answer_trial(p: Any, asked: Asked, question: str, threads: int | None = None) -> Trial:
    """Return the trial of one of the three questions to a prepared graph."""
    if question == PAIR:
        run = partial(p.distances, asked.pairs, threads=threads)
        return _each(len(asked.pairs), run, asked.check_pairs)
    if question == PATH:
        pairs = asked.pairs[:_PATHS].tolist()
        return _each(len(pairs), lambda: [p.path(s, t) for s, t in pairs], asked.check_paths)
    run = partial(p.trees, asked.sources, out=asked.memory(BATCH), threads=threads)
    return _each(len(asked.sources), run, lambda result: asked.check_rows(result.distances))


def prepare_trial(asked: Asked, threads: int | None = None) -> Trial:
    """Return the trial of preparing a graph: another one each time, since graphs keep much."""

    def copied() -> tuple[kl.Graph]:
        return (deepcopy(asked.graph),)

    run = partial(kl.prepare, threads=threads)
    return _each(1, run, asked.check_prepared, copied, repeats=3)


def weights_trial(p: Any, asked: Asked, threads: int | None = None) -> Trial:
    """Return the trial of new weights: equal to the old ones, so that answers are known."""

    def reweighted() -> tuple[kl.Graph]:
        return (asked.graph.reweight(arcs=asked.arrays[2].copy()),)

    run = partial(p.customize, threads=threads)
    return _each(1, run, asked.check_prepared, reweighted)


def search_trial(asked: Asked) -> Trial:
    """Return the trial of trees by plain searches in one call."""
    sources = asked.sources[: len(asked.rows)]
    run = partial(plain_rows, asked.graph, sources, asked.memory(len(sources)))
    return _each(len(sources), run, asked.check_rows)


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
        return _each(len(asked.pairs), run, asked.check_pairs, repeats=3)
    pairs = asked.pairs[:_PATHS]
    return _each(len(pairs), partial(peer.paths, pairs), asked.check_paths, repeats=3)
