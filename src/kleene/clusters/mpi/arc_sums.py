"""Sums over all arcs that do not depend on their order or on the ranks: one number for a graph.

Every arc (tail, head, weight) becomes 64 random-looking bits, by the finalizer of SplitMix64; their
sum modulo 2^64 is the same however the arcs are distributed. Two graphs with equal sums are the
same, except with a probability of 2^-64; with that exception, a graph is symmetric if its sum is
that of the graph with all arcs reversed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.clusters.mpi.graph import DistributedGraph

__all__ = ["graph_digest", "reversed_sums_differ"]

Array = NDArray[Any]

_CHUNK = 1 << 18  # arcs at a time, whose bits stay in the cache
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def graph_digest(graph: DistributedGraph) -> str:
    """Return a text that is the same for the same graph on any number of ranks; collective."""
    (total,) = _sums(graph, (False,))
    weights = "none" if graph.weights is None else graph.weights.dtype.name
    return f"{graph.n} {graph.m} {'arcs' if graph.directed else 'edges'} {weights} {total:016x}"


def reversed_sums_differ(graph: DistributedGraph) -> bool:
    """Return whether some arc has no opposite of the same weight; collective."""
    ahead, back = _sums(graph, (False, True))
    return ahead != back


def _sums(graph: DistributedGraph, directions: tuple[bool, ...]) -> list[int]:
    sums = [np.uint64(0)] * len(directions)
    tails = graph.tails
    for begin in range(0, len(graph.slots), _CHUNK):
        piece = slice(begin, begin + _CHUNK)
        tail = tails[piece].astype(np.uint64)
        head = graph.vertices_of(graph.slots[piece]).astype(np.uint64)
        weight = None if graph.weights is None else _bits(graph.weights[piece])
        for i, reverse in enumerate(directions):
            ends = (head, tail) if reverse else (tail, head)
            mixed = _mix(_mix(ends[0] + _GOLDEN) + ends[1])
            bits = mixed if weight is None else _mix(mixed + weight)
            sums[i] = np.add(sums[i], bits.sum(dtype=np.uint64))
    with np.errstate(over="ignore"):
        return [sum(graph.communicator.gather_all(int(own))) % 2**64 for own in sums]


def _mix(bits: Array) -> Array:
    bits = (bits ^ (bits >> np.uint64(30))) * _MIX[0]
    bits = (bits ^ (bits >> np.uint64(27))) * _MIX[1]
    mixed: Array = bits ^ (bits >> np.uint64(31))
    return mixed


def _bits(weights: Array) -> Array:
    """Return the bits of numbers; -0.0 has those of 0.0."""
    if weights.dtype.kind != "f":
        return weights.astype(np.int64).view(np.uint64)
    return (weights.astype(np.float64) + 0.0).view(np.uint64)
