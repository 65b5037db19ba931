"""Walks: the vertices along many paths, one path after the other, read off the links of trees.

Each vertex of a search tree links to the next vertex towards the root.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import VerificationError

__all__ = ["Walks", "cyclic", "follow_links", "select_walks"]

Array = NDArray[Any]

#: Positions along many paths, and where each path begins.
Walks = tuple[Array, NDArray[np.int64]]


def follow_links(links: Array, rows: Array, starts: Array, to_root: bool) -> Walks:
    """Return the vertices from each start along the links of its row, up to the root.

    Parameters
    ----------
    links : array of shape (rows, n)
        The next vertex towards the root of each row's tree; -1 at the root.
    rows, starts : array
        The row and the first vertex of each walk; -1 for an empty one.
    to_root : bool
        Whether paths run towards the root, as the links do, or away from it.
    """
    n = links.shape[1]
    at = starts.astype(np.int64)
    steps: list[Array] = []
    walks: list[Array] = []
    walking = np.arange(len(starts))
    while len(walking := walking[at[walking] != -1]):
        if len(steps) == n:
            raise cyclic()
        steps.append(at[walking])
        walks.append(walking)
        at[walking] = links[rows[walking], at[walking]]
    lengths = np.zeros(len(starts), dtype=np.int64)
    for walk in walks:
        lengths[walk] += 1
    offsets = np.zeros(len(starts) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    positions = np.empty(offsets[-1], dtype=links.dtype)
    for k, (step, walk) in enumerate(zip(steps, walks, strict=True)):
        place = offsets[walk] + k if to_root else offsets[walk + 1] - 1 - k
        positions[place] = step
    return positions, offsets


def select_walks(walks: Walks, chosen: Array) -> Walks:
    """Return some of many walks, in this order."""
    positions, offsets = walks
    lengths = np.diff(offsets)[chosen]
    starts = np.zeros(len(chosen) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    places = np.repeat(offsets[chosen] - starts[:-1], lengths) + np.arange(starts[-1])
    return positions[places], starts


def cyclic() -> VerificationError:
    """Return the error for links that never come to a root."""
    return VerificationError(
        "the predecessors form a cycle: verify() would have refused this result"
    )
