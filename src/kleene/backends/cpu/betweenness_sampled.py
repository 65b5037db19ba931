"""Betweenness within an error, by random shortest paths: ``native/core/measures/kadabra.cpp``.

Each sample is a random pair of vertices and a random shortest path between them; the part of the
samples that pass a vertex estimates the probability p of that, which is its betweenness. With
probability ``confidence`` all estimates must be within ``error``, after as few samples as possible.
As in KADABRA (Borassi and Natale 2016, "KADABRA is an ADaptive Algorithm for Betweenness via Random
Approximation"):

1. There is a number of samples, *most*, that is enough whatever the graph.
2. A few first samples, not used otherwise, say which vertices have a large p. What may go wrong
   (the probability 1 - confidence) is divided among the vertices such that all are within the error
   after about as many samples: nearly all of it goes to the few vertices with a large p.
3. Samples are then taken up to fixed numbers, and the counts of all vertices are compared with
   limits: the largest count that, after so many samples, proves the vertex within the error.

``backends/common/sample_limits.py`` computes the numbers and proves them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.backends.common.path_lengths import swallowed_weights
from kleene.backends.common.sample_limits import most_samples, stop_limits
from kleene.backends.task import BetweennessTask, Progress
from kleene.graph import Graph

__all__ = ["longest_path", "sampled"]

Array = NDArray[Any]

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
