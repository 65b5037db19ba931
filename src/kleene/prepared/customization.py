"""Values of the pairs that elimination joined: triangles relaxed from the lowest rank up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Customization"]

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Customization:
    """The weights of a graph, carried over to the pairs of its elimination.

    ``up`` and ``down`` may have a narrower type than the answers, where all path lengths fit; in
    integers, half the largest value of their type stands for "no path".
    """

    semiring: str
    dtype: np.dtype[Any]  # of the answers
    negative: bool  # may a value be below zero?
    up: Array  # by arc of the elimination: the best path from the vertex to its upward neighbor
    down: Array  # and back; the same array for a symmetric graph

    @property
    def symmetric(self) -> bool:
        """Whether paths have the same value in both directions."""
        return self.up is self.down
