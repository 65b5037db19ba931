"""Searches along arcs, and chains of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["follow_chains", "search_along"]

Array = NDArray[Any]


def search_along(tails: Array, heads: Array, starts: Array, n: int) -> tuple[Array, Array]:
    """Return the vertices that arcs lead to from some vertices, and the tail of the arc to each.

    There is no tail where the search starts: it starts at an extra vertex, ``n``.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    starts = np.unique(starts)
    ends = np.append(tails, np.full(len(starts), n)), np.append(heads, starts)
    # untestable (0 to 1): both ends are equally many
    links = csr_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(n + 1, n + 1))
    order, before = breadth_first_order(links, n)
    return order[1:], before[:n]


def follow_chains(vertices: Array, before: Array, source: int, n: int) -> tuple[int, int | None]:
    """Follow all chains of predecessors at once, doubling the stride.

    Returns the number of arcs on the longest, and a vertex whose chain does not end at the source,
    None if there is none.
    """
    ancestor = np.arange(n)
    ancestor[vertices] = before
    steps = np.zeros(n, dtype=np.int64)
    steps[vertices] = 1
    for _ in range(n.bit_length()):
        steps += steps[ancestor]
        ancestor = ancestor[ancestor]
        if (ancestor[vertices] == source).all():
            return int(steps.max(initial=0)), None
    return 0, int(vertices[ancestor[vertices] != source][0])
