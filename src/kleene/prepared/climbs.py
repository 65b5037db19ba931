"""Lengths and paths of pairs on a prepared graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.common.walks import Walks
from kleene.backends.task import Progress
from kleene.graph import Graph
from kleene.graph.forms import arcs_between
from kleene.prepared import pairs
from kleene.prepared.customization import Customization
from kleene.prepared.elimination import Elimination

__all__ = ["answer_by_climbs"]

Array = NDArray[Any]


def answer_by_climbs(
    graph: Graph,
    parts: tuple[Elimination, Customization],
    ends: tuple[Array, ...],
    paths: bool,
    threads: int | None,
    progress: Progress | None,
) -> tuple[Array, Walks | None]:
    """Return the value of each pair and, where they are asked for, its path.

    Where weights are negative floats, a value may come from a path around a cycle of about zero,
    which rounds to less than the path that is left when the cycle is cut out. So the lengths are
    then those of the paths.
    """
    values = pairs.distances(*parts, *ends, threads=threads, progress=progress)
    if not paths:
        return values, None
    walks = pairs.paths(*parts, *ends, threads=threads, progress=progress)
    if values.dtype.kind == "f" and graph.stats.negative:
        values = np.where(np.isfinite(values), _lengths(graph, walks, values.dtype), values)
    return values, walks


def _lengths(graph: Graph, walks: Walks, dtype: np.dtype[Any]) -> Array:
    """Return the sum of the weights along each walk, added in float64."""
    positions, offsets = walks
    walk = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    inside = np.flatnonzero(walk[:-1] == walk[1:])
    assert graph.weights is not None
    weights = graph.weights[arcs_between(graph, positions[inside], positions[inside + 1])]
    sums = np.bincount(walk[inside], weights.astype(dtype), minlength=len(offsets) - 1)
    return sums.astype(dtype)
