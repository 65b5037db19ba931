"""Deterministic predecessors: one tree that follows from the graph and the values alone.

Several best paths may lead to a vertex, and which of them a parallel search keeps depends on which
thread came first. Here the choice is made afterwards, by a rule: among the best paths to a vertex
those with the fewest arcs, and among their last arcs the one from the smallest vertex.

An arc is *tight* when the value of its tail, extended by its weight, equals the value of its
head. A search along tight arcs gives every vertex its depth, the fewest arcs of a best path; its
predecessor is the smallest vertex one level up that has a tight arc to it. Levels rise along the
chosen arcs, so that cycles of weight zero cannot close.

Hop counts, integers, booleans and widths are exact, and so are floating-point sums made arc by arc
from the source. Methods that add in another order, as those on matrices do, may leave a vertex
without any arc that is tight to the last bit. A row with such a vertex keeps the predecessors of
its method: to call nearly tight arcs tight could close a cycle, or choose a longer path.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.backends.answer import Answer
from kleene.backends.task import Task

__all__ = ["choose_predecessors", "workspace"]

Array = NDArray[Any]


def workspace(arcs: int, item: int) -> int:
    """Bytes that the choice takes: ends, values and places of all arcs, for one row at a time."""
    return (32 + 4 * item) * arcs


def choose_predecessors(task: Task, answer: Answer) -> None:
    """Replace the predecessors that the method found by those of the rule."""
    if answer.predecessors is None:
        return
    g, none = task.graph, task.no_path
    tails, heads, weights = g.coo
    unit = task.hops or weights is None
    if unit or task.dtype.kind == "b":
        weights = np.ones(g.m, dtype=task.dtype)
    assert weights is not None
    weights = weights.astype(task.dtype, copy=False)
    degrees = np.diff(g.offsets)
    for values, tree, source in zip(
        answer.values, answer.predecessors, task.sources.tolist(), strict=True
    ):
        before, after = np.repeat(values, degrees), values[heads]
        fits = task.semiring.times(before, weights) == after
        tight = np.flatnonzero(fits & (before != none) & (after != none))
        if not (unit and task.semiring.name == "min_plus"):  # else values are depths
            depths = _depths(task, tight, source)
            if (depths[values != none] < 0).any():
                continue
            tight = tight[depths[tails[tight]] + 1 == depths[heads[tight]]]
        # Arcs are in order of their tails; of several to one head, the last written stays.
        tight = tight[::-1]
        tree[...] = -1
        tree[heads[tight]] = tails[tight]


def _depths(task: Task, arcs: Array, source: int) -> Array:
    """Count the fewest of these arcs from the source to every vertex; -1 where none lead."""
    g = task.graph
    ids = g.neighbors.dtype
    depths = np.empty((1, g.n), dtype=ids)
    _native.bfs(
        "queue",
        np.searchsorted(arcs, g.offsets),
        g.neighbors[arcs],
        None,
        None,
        None,
        np.array([source], dtype=ids),
        None,
        int(np.iinfo(ids).max),
        -1,
        depths,
        None,
        np.empty(1, dtype=ids),
        1,
        None,
    )
    found: Array = depths[0]
    return found
