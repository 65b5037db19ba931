"""NetworkX's normalization of betweenness: from sums over ordered pairs to the numbers returned.

A vertex, its own pairs left out, is passed by the paths of at most (n - 1) (n - 2) ordered pairs,
and where ends of paths count, as they always do for arcs, by those of n (n - 1). Without
normalization an undirected graph counts a pair once. A sample of k sources stands for all: a vertex
that is a source itself was seen by k - 1 of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["vertex_scale", "whole_scale"]


def whole_scale(
    n: int, normalized: bool, directed: bool, ends: bool, samples: int | None = None
) -> float:
    """Return the factor of vertices, or with ``ends`` of arcs, unless sources are left out."""
    others = n if ends else n - 1
    if others < 2:
        return 1.0
    sources = others if samples is None else samples
    if normalized:
        return 1 / (sources * (others - 1))
    return others / (sources * (1 if directed else 2))


def vertex_scale(
    n: int, normalized: bool, directed: bool, endpoints: bool, sampled: NDArray[Any] | None
) -> float | NDArray[np.float64]:
    """Return the factor of each vertex; ``sampled`` are the random sources, if there are some."""
    if sampled is None or endpoints or n < 3:
        count = None if sampled is None else len(sampled)
        return whole_scale(n, normalized, directed, endpoints, count)
    count = len(sampled)
    scale = np.full(n, whole_scale(n, normalized, directed, False, count))
    # The only sample says nothing of itself: its sum is zero.
    scale[sampled] = whole_scale(n, normalized, directed, False, max(1, count - 1))
    return scale
