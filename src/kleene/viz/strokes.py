"""The lines of a drawing: one per arc with arrows, or one for both directions of an edge.

A line is straight, or follows the street if the graph knows its course. Where arrows are drawn, two
arcs between the same vertices bend away from each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.graph import Graph

__all__ = ["Strokes", "arrowhead"]

Array = NDArray[Any]

_BEND = 0.14  # how far two opposite arcs bend, as a share of their length
_STEPS = np.linspace(0, 1, 11)[:, None]  # along a bent arc


class Strokes:
    """Lines in pixels, with the arc that each of them stands for."""

    def __init__(self, graph: Graph, points: NDArray[np.float64], each_arc: bool) -> None:
        sources, targets, _ = graph.coo
        drawn = np.isfinite(points[sources, 0]) & np.isfinite(points[targets, 0])
        drawn &= sources != targets
        arcs = np.flatnonzero(drawn)
        pairs = np.stack([sources[arcs], targets[arcs]], axis=1).astype(np.int64)
        if not each_arc:
            pairs, first = np.unique(np.sort(pairs), axis=0, return_index=True)
            arcs = arcs[first]
        self.arcs, self.pairs, self.each_arc = arcs, pairs, each_arc
        self.lines: list[Array] = list(points[pairs])
        lengths = np.hypot(*(points[pairs[:, 1]] - points[pairs[:, 0]]).T)
        self.typical_length = float(np.median(lengths)) if len(pairs) else 40.0
        if each_arc:
            self._bend(graph.n)

    def follow(self, courses: Sequence[Array | None]) -> None:
        """Take the course of each line, where it is known."""
        self.lines = [
            line if course is None else course
            for line, course in zip(self.lines, courses, strict=True)
        ]

    def _bend(self, n: int) -> None:
        tails, heads = self.pairs.T
        for i in np.flatnonzero(np.isin(tails * n + heads, heads * n + tails)).tolist():
            start, end = self.lines[i]
            across = (end - start)[::-1] * [1, -1]
            middle = (start + end) / 2 + 2 * _BEND * across
            self.lines[i] = (
                (1 - _STEPS) ** 2 * start + 2 * _STEPS * (1 - _STEPS) * middle + _STEPS**2 * end
            )

    def along(self, route: Sequence[int], points: Array) -> tuple[Array, list[int]]:
        """Return a path as one line, and the strokes on it."""
        number = {(u, v): i for i, (u, v) in enumerate(self.pairs.tolist())}
        parts, used = [points[route[:1]]], []
        for u, v in pairwise(route):
            i = number.get((u, v), number.get((v, u)))
            if i is None:
                parts.append(points[[v]])
                continue
            used.append(i)
            line = self.lines[i]
            backwards = np.hypot(*(line[-1] - points[u])) < np.hypot(*(line[0] - points[u]))
            parts.append((line[::-1] if backwards else line)[1:])
        return np.concatenate(parts), used


def arrowhead(line: Array, clear: float, size: float) -> tuple[Array, Array]:
    """Return a line shortened by an arrowhead, and the head: its tip is ``clear`` from the end."""
    steps = np.hypot(*np.diff(line, axis=0).T)
    to_end = np.concatenate([np.cumsum(steps[::-1])[::-1], [0.0]])

    def at(distance: float) -> Array:
        distance = min(distance, 0.9 * to_end[0])
        return np.array([np.interp(-distance, -to_end, line[:, c]) for c in (0, 1)])

    tip, back = at(clear), at(clear + size)
    length = np.hypot(*(tip - back)) or 1.0
    ahead = (tip - back) / length
    side = ahead[::-1] * [1, -1] * size * 0.42
    kept = line[to_end > clear + 0.8 * size]
    shortened = np.vstack([kept if len(kept) else line[:1], at(clear + 0.8 * size)])
    return shortened, np.array([tip, tip - ahead * size + side, tip - ahead * size - side])
