"""Betweenness where every arc counts one: ``native/core/measures``."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.backends.common.native_search import (
    comparable_lengths,
    largest_length,
    swallowed_weights,
)
from kleene.backends.common.sample_limits import most_samples, stop_limits
from kleene.backends.task import BetweennessTask, Progress
from kleene.graph import Graph
from kleene.graph.forms import CSR

__all__ = [
    "dijkstra",
    "lanes",
    "longest_path",
    "sampled",
]

Array = NDArray[Any]
Sums = tuple[Array, Array | None]


def lanes(task: BetweennessTask, width: int = 0, level: int = -1) -> Sums:
    """Return the sums of vertices and arcs: many sources share each search, a vector lane each.

    Where all pairs of an undirected graph count, trees that hang on it are folded first. The number
    of lanes (0: chosen) and the level of vector instructions (-1: the best) are for tests.
    """
    graph = task.graph
    sums = np.zeros(graph.n), np.zeros(graph.m) if task.arcs else None
    all_pairs = len(task.sources) == graph.n and task.targets is None and task.limit is None
    if graph.directed or not all_pairs:
        incoming = graph.csc if graph.directed else graph.csr
        targets = np.ones(graph.n) if task.targets is None else np.zeros(graph.n)
        if task.targets is not None:
            targets[task.targets] = 1
        weights = np.ones(len(task.sources))
        _add(task, graph.csr, incoming, task.sources, weights, targets, sums, width, level)
        return sums
    through, along = sums
    vertices, weights, offsets, neighbors, arcs = _native.fold_trees(
        graph.offsets, graph.neighbors, task.endpoints, through, along
    )
    core = CSR(offsets, neighbors, None)
    found = np.zeros(len(vertices)), None if along is None else np.zeros(len(arcs))
    everyone = np.arange(len(vertices), dtype=vertices.dtype)
    _add(task, core, core, everyone, weights, weights, found, width, level, ends=False)
    through[vertices] += found[0]
    if along is not None and found[1] is not None:
        along[arcs] += found[1]
    return sums


def _add(
    task: BetweennessTask,
    outgoing: CSR,
    incoming: Any,
    sources: Array,
    source_weights: Array,
    target_weights: Array,
    sums: Sums,
    width: int,
    level: int,
    ends: bool | None = None,
) -> None:
    """Add the sums of some sources; ``ends`` says whether ends count, unless the task does."""
    limit = None if task.limit is None else int(task.limit)
    _native.betweenness_by_lanes(
        outgoing.offsets, outgoing.neighbors, incoming.offsets, incoming.neighbors, sources,
        source_weights, target_weights, limit, task.endpoints if ends is None else ends, *sums,
        width, task.threads, level, task.progress,
    )  # fmt: skip


# ---- Betweenness within an error, by random shortest paths --------------------------------------
# ``native/core/measures/kadabra.cpp``.
#
# Each sample is a random pair of vertices and a random shortest path between them; the part of the
# samples that pass a vertex estimates the probability p of that, which is its betweenness. With
# probability ``confidence`` all estimates must be within ``error``, after as few samples as
# possible. As in KADABRA (Borassi and Natale 2016, "KADABRA is an ADaptive Algorithm for
# Betweenness via Random Approximation"):
#
# 1. There is a number of samples, *most*, that is enough whatever the graph.
# 2. A few first samples, not used otherwise, say which vertices have a large p. What may go wrong
#    (the probability 1 - confidence) is divided among the vertices such that all are within the
#   error
#    after about as many samples: nearly all of it goes to the few vertices with a large p.
# 3. Samples are then taken up to fixed numbers, and the counts of all vertices are compared with
#    limits: the largest count that, after so many samples, proves the vertex within the error.
#
# ``backends/common/sample_limits.py`` computes the numbers and proves them.

#: The part of what may go wrong that is left for the largest number of samples.
_LAST = 0.1

#: First samples: a part of the most, between bounds. On Enron as good as 800 or 1,500 of 44,000.
_FIRST_PART, _FEWEST_FIRST, _MOST_FIRST = 40, 200, 20_000

#: Larger errors take so few samples that a smaller one costs nothing.
_LARGEST_ERROR = 0.2

#: Components of which an eccentricity is looked for.
_SEARCHES = 8


def sampled(
    task: BetweennessTask, error: float, confidence: float, seed: int
) -> tuple[tuple[Array, Array | None], int]:
    """Return estimates of betweenness, and the number of samples that they took.

    The estimates are sums over all ordered pairs, as methods return them. With probability
    ``confidence``, all of them are within ``error`` when they are normalized. In an undirected
    graph the number of an edge is that of one of its arcs, and the other has zero.
    """
    graph, n = task.graph, task.graph.n
    items = n + (graph.m if task.arcs else 0)
    if n < 2:
        return (np.zeros(n), np.zeros(graph.m) if task.arcs else None), 0
    # Normalized by (n - 1) (n - 2) without ends, but there are n (n - 1) pairs.
    distance = min(error if task.endpoints else error * max(1, n - 2) / n, _LARGEST_ERROR)
    failure = 1 - confidence
    inner = longest_path(graph, task.hops, task.threads) - 2
    total = inner + 2 * task.endpoints + (inner + 1) * task.arcs
    most = most_samples(items, max(1, total), distance, _LAST * failure)
    first = min(most, max(_FEWEST_FIRST, min(most // _FIRST_PART, _MOST_FIRST)))
    sample = _Sampler(task, seed % 2**64, first + most)
    guess = sample(0, np.array([first]))[0]
    ends, limits = stop_limits(guess, first, most, distance, (1 - _LAST) * failure)
    counts, taken = sample(first, ends, limits, guess)
    sums = counts * (n * (n - 1) / taken)
    return (sums[:n], sums[n:] if task.arcs else None), first + taken


class _Sampler(NamedTuple):
    """Samples of a task's graph."""

    task: BetweennessTask
    seed: int
    most: int  # in all calls, for the report of progress

    def __call__(
        self, first: int, ends: Array, limits: Array | None = None, classes: Array | None = None
    ) -> tuple[Array, int]:
        """Return what the samples from the first one on pass, and how many were taken."""
        task, graph = self.task, self.task.graph
        plain = task.hops or graph.weights is None
        outgoing, incoming = (
            (*form[:2], None if plain else form[2]) for form in (graph.csr, graph.csc)
        )
        counts = np.zeros(graph.n + (graph.m if task.arcs else 0), np.int64)
        taken, cycle = _native.sample_paths(
            *outgoing, *incoming, task.endpoints, task.arcs, not graph.directed, self.seed, first,
            ends.astype(np.int64), np.empty(0, np.int64) if limits is None else limits, classes,
            counts, task.threads, self._report(first),
        )  # fmt: skip
        if cycle is not None:
            raise swallowed_weights(graph, *cycle)
        return counts, taken

    def _report(self, first: int) -> Progress | None:
        progress = self.task.progress
        return None if progress is None else lambda done, _: progress(first + done, self.most)


def longest_path(graph: Graph, hops: bool, threads: int) -> int:
    """Return a number of vertices that no shortest path exceeds, from a few searches.

    An undirected path by hops has at most twice as many arcs as any vertex is away from the others.
    Other paths are bounded by the size of their component alone: the number of samples depends
    on the logarithm only, and the number at which sampling stops hardly at all.
    """
    component, sizes = _native.weak_components(
        graph.offsets, graph.neighbors, not graph.directed, threads
    )
    if graph.directed or not (hops or graph.weights is None):
        return int(sizes[0])
    longest = 1
    degrees = np.diff(graph.offsets)
    for number, size in enumerate(sizes[:_SEARCHES].tolist()):
        if size <= longest:
            return longest
        hub = np.where(component == number, degrees, -1).argmax()
        depth, _, _ = _native.bfs_eccentricity(graph.offsets, graph.neighbors, int(hub))
        longest = max(longest, min(size, 2 * depth + 1))
    return max(longest, int(sizes[_SEARCHES])) if len(sizes) > _SEARCHES else longest


# ---- Betweenness with weights: ``native/core/measures/weighted_brandes.cpp`` --------------------


def dijkstra(task: BetweennessTask) -> tuple[Array, Array | None]:
    """Return the sums of each vertex and arc: a search from each source, and a pass backward."""
    g = task.graph
    lengths = comparable_lengths(g, task.hops)
    is_target = None
    if task.targets is not None:
        is_target = np.zeros(g.n, np.uint8)
        is_target[task.targets] = 1
    through, along = np.zeros(g.n), np.zeros(g.m) if task.arcs else None
    farthest = largest_length(lengths.dtype)
    cycle = _native.weighted_brandes(
        g.offsets, g.neighbors, lengths, task.sources, is_target,
        farthest if task.limit is None else min(task.limit, farthest), task.endpoints,
        through, along, task.threads, task.progress,
    )  # fmt: skip
    if cycle is not None:
        raise swallowed_weights(g, *cycle)
    return through, along
