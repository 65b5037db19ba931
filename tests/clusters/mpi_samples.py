"""Graphs and files for the tests of MPI, and how a graph in parts compares with a whole one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import kleene as kl

__all__ = ["RANKS", "SAMPLES", "arcs_of", "assert_same_graph"]

RANKS = (1, 2, 3, 4, 7)

#: Graphs with isolated vertices, fewer vertices than ranks, hubs, zero weights, and none at all.
SAMPLES: dict[str, Any] = {
    "rmat": lambda: kl.generate.rmat(6, 4, seed=3, weights=(1, 9)),
    "undirected": lambda: kl.generate.rmat(5, 3, seed=1, directed=False, weights=(0.5, 2.0)),
    "grid": lambda: kl.generate.grid(5, 6),
    "zeros": lambda: kl.generate.rmat(5, 4, seed=2, weights=(0, 2)),
    "pair": lambda: kl.Graph.from_edges([0], [1], [7]),
    "isolated": lambda: kl.Graph.from_edges([2], [4], n=9),
    "empty": lambda: kl.Graph.from_edges([], [], n=0),
    "no arcs": lambda: kl.Graph.from_edges([], [], n=3),
}


def arcs_of(graph: Any) -> list[tuple[Any, ...]]:
    """Return the arcs of a graph, or of a rank's part, sorted."""
    if isinstance(graph, kl.Graph):
        tails, heads, weights = graph.coo
    else:
        tails, heads, weights = graph.tails, graph.neighbors, graph.weights
    lists = [tails.tolist(), heads.tolist()]
    if weights is not None:
        lists.append(weights.tolist())
    return sorted(zip(*lists, strict=True))


def assert_same_graph(parts: list[Any], whole: kl.Graph) -> None:
    """Assert that parts (n, m, directed, arcs, weight type, labels) are those of a graph."""
    for n, m, directed, _, dtype, _ in parts:
        expected = None if whole.weights is None else whole.weights.dtype
        assert (n, m, directed, dtype) == (whole.n, whole.m, whole.directed, expected)
    assert [arc for part in parts for arc in part[3]] == arcs_of(whole)
    labels = [part[5] for part in parts]
    if whole.labels is None:
        assert labels == [None] * len(parts)
    else:
        assert np.concatenate(labels).tolist() == whole.labels.tolist()


def described(graph: Any) -> tuple[Any, ...]:
    """Return what :func:`assert_same_graph` compares, of one rank."""
    dtype = None if graph.weights is None else graph.weights.dtype
    return graph.n, graph.m, graph.directed, arcs_of(graph), dtype, graph.labels


def spoiled(path: Path, content: bytes) -> Path:
    """Write a file and return its path."""
    path.write_bytes(content)
    return path
