"""The parts of streets that lie within a limit.

A street joins two vertices. Each of its arcs covers a part of it, from the end that a search came
to: as much as remains of the limit, in proportion to the weight of the arc. What two arcs cover
from both ends is put together. A street has the geometry of its table row, or is a straight line.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.graph import Graph

__all__ = ["Streets", "streets_of"]

Array = NDArray[Any]


class Streets(NamedTuple):
    """Streets that a search came to: ends, the arcs from each end, and a line for each."""

    graph: Graph  # as it was searched
    low: Array
    high: Array
    from_low: Array  # arcs; -1 for none
    from_high: Array

    def covered(self, distances: Array, lengths: Array, limit: float) -> list[Array]:
        """Return the parts within a limit, each as points (x, y)."""
        low, high = (self._share(distances, lengths, arcs, limit) for arcs in self[3:])
        none, all_of_it = np.zeros(len(low)), np.ones(len(low))
        whole = low + high >= 1
        pieces = (
            (whole, none, all_of_it),
            (~whole & (low > 0), none, low),
            (~whole & (high > 0), 1 - high, all_of_it),
        )
        lines: list[Array] = []
        for which, begins, ends in pieces:
            chosen = np.flatnonzero(which)
            lines += self._lines(chosen, begins[chosen], ends[chosen])
        return lines

    def _share(self, distances: Array, lengths: Array, arcs: Array, limit: float) -> Array:
        """Return which part of each street an arc covers, from where it starts."""
        share = np.zeros(len(arcs))
        there = np.flatnonzero(arcs >= 0)
        tails = self.graph.coo.sources[arcs[there]]
        left, length = limit - distances[tails], lengths[arcs[there]]
        with np.errstate(divide="ignore", invalid="ignore"):
            part = np.clip(left / length, 0, 1)
        share[there] = np.where(left < 0, 0.0, np.where(length == 0, 1.0, part))
        return share

    def _lines(self, chosen: Array, begins: Array, ends: Array) -> list[Array]:
        """Return the parts of some streets from one fraction to another."""
        positions = self.graph.positions
        assert positions is not None
        a, b = positions[self.low[chosen]], positions[self.high[chosen]]
        straight = np.stack([a + begins[:, None] * (b - a), a + ends[:, None] * (b - a)], axis=1)
        rows = self.graph.rows
        if rows is None or rows.lines is None:
            return list(straight)
        arc = np.maximum(self.from_low, self.from_high)[chosen]  # any of the two: the same row
        at_low = self.graph.coo.sources[arc] == self.low[chosen]
        row, against = (values[arc] for values in self.graph.arc_rows)
        lines = []
        for i, line in enumerate(straight):
            first, last = rows.lines.offsets[row[i] : row[i] + 2] if row[i] >= 0 else (0, 0)
            points = rows.lines.coordinates[first:last]
            if len(points) > 1:
                line = _part(
                    points[::-1] if against[i] == at_low[i] else points, begins[i], ends[i]
                )
            lines.append(line)
        return lines


def _part(points: Array, begin: float, end: float) -> Array:
    """Return a polyline from one fraction of its length to another."""
    along = np.append(0, np.cumsum(np.hypot(*np.diff(points, axis=0).T)))
    if along[-1] == 0:
        return points
    cuts = np.array([begin, end]) * along[-1]
    inside = points[(along > cuts[0]) & (along < cuts[1])]
    first, last = (np.array([np.interp(cut, along, points[:, i]) for i in (0, 1)]) for cut in cuts)
    return np.vstack([first, inside, last])


def streets_of(graph: Graph, reached: Array) -> Streets:
    """Return the streets of the arcs that leave some vertices.

    Arcs in opposite directions are one street, unless they come from rows of a table with a
    geometry each.
    """
    degrees = np.diff(graph.offsets)[reached]
    shift = graph.offsets[reached] - np.append(0, np.cumsum(degrees))[: len(degrees)]
    arcs = np.arange(degrees.sum()) + np.repeat(shift, degrees)
    tails, heads = np.repeat(reached, degrees).astype(np.int64), graph.neighbors[arcs]
    low, high = np.minimum(tails, heads), np.maximum(tails, heads).astype(np.int64)
    drawn = graph.rows is not None and graph.rows.lines is not None
    row = graph.arc_rows.rows[arcs] if drawn else np.full(len(arcs), -1)
    order = np.lexsort((row, high, low))
    keys = np.stack([low, high, row], axis=1)[order]
    new = np.append(True, (keys[1:] != keys[:-1]).any(axis=1))[: len(keys)]
    street = np.cumsum(new) - 1
    ends = np.full((2, int(new.sum())), -1)
    upward = tails[order] == keys[:, 0]
    for side, chosen in enumerate((upward, ~upward)):
        ends[side][street[chosen]] = arcs[order][chosen]
    return Streets(graph, keys[new, 0], keys[new, 1], ends[0], ends[1])
