"""Betweenness where every arc counts one: ``native/core/measures``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.backends.task import BetweennessTask
from kleene.graph.forms import CSR

__all__ = ["lanes"]

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
