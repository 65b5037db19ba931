"""Colours of vertices and arcs: one for all, by distance, or by group; and the legend for them.

Distances have the colour map viridis, perceptually uniform and safe for colour-blind readers,
without the yellow end that vanishes on a light background; groups have Paul Tol's "muted" scheme,
safe as well. The path is vermilion, which is in neither.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kleene.graph import Graph
from kleene.system.formatting import format_number
from kleene.viz.shapes import Box, Dots, Shape, Text, text_width

__all__ = [
    "FADED", "GROUND", "INK", "ROUTE", "Colouring", "Groups", "Plain", "Scale", "amount", "ink_on",
]  # fmt: skip

Array = NDArray[Any]
Chosen = Iterator[tuple[str, Array]]  # colours, and which entries have them

GROUND, INK, FADED, GREY, ROUTE = "#fbfaf7", "#22262b", "#6b7178", "#cfcfca", "#d1380f"
_PLAIN, _LINE = "#3b528b", "#a9b0b8"
_SCALE = ("#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#9bd93c")
_GROUPS = (
    "#332288", "#44aa99", "#ddaa33", "#88ccee", "#117733", "#aa4499", "#999933", "#882255",
)  # fmt: skip
_BUCKETS = 32
_MOST_IN_LEGEND = 8


class Colouring(Protocol):
    """What colours vertices (by position) and arcs (an array of pairs)."""

    def vertices(self, chosen: Array) -> Chosen: ...
    def arcs(self, pairs: Array) -> Chosen: ...
    def legend(self, x: float, y: float, width: float) -> Iterator[Shape]: ...


class Plain:
    """One colour for all vertices, one for all arcs."""

    def vertices(self, chosen: Array) -> Chosen:
        yield _PLAIN, np.arange(len(chosen))

    def arcs(self, pairs: Array) -> Chosen:
        yield _LINE, np.arange(len(pairs))

    def legend(self, x: float, y: float, width: float) -> Iterator[Shape]:
        yield from ()


@dataclass(frozen=True)
class Scale:
    """A shade for the distance of each vertex; grey where ``known`` is False."""

    distances: Array
    known: Array
    unit: str = ""

    def shades(self) -> NDArray[np.float64]:
        """Return 0 (nearest) to 1 (farthest) for each vertex; NaN where nothing is known."""
        shades = np.full(len(self.distances), np.nan)
        shades[self.known] = self.distances[self.known]
        if not self.known.any():
            return shades
        low, high = np.nanmin(shades), np.nanmax(shades)
        scaled: NDArray[np.float64] = (shades - low) / (high - low if high > low else 1.0)
        return scaled

    def vertices(self, chosen: Array) -> Chosen:
        return _by_shade(self.shades()[chosen])

    def arcs(self, pairs: Array) -> Chosen:
        return _by_shade(self.shades()[pairs].mean(axis=1))

    def legend(self, x: float, y: float, width: float) -> Iterator[Shape]:
        """Yield the colour bar, from the smallest to the largest distance."""
        if not self.known.any():
            return
        width, height = min(280.0, width), 10.0
        step = width / _BUCKETS
        for bucket in range(_BUCKETS):  # each overlaps the one before, so there are no seams
            yield Box(x + bucket * step, y, width - bucket * step, height, _shade(bucket))
        distances, below = self.distances[self.known], y + height + 18
        yield Text(x, below, amount(distances.min(), self.unit), 13, FADED)
        yield Text(x + width, below, amount(distances.max(), self.unit), 13, FADED, "end")


@dataclass(frozen=True)
class Groups:
    """A colour for the group of each vertex, in the order of ``names``; grey for group -1.

    Colours repeat after eight groups. An arc between two groups is grey, or belongs to the later
    one of bands, which have an order.
    """

    group: Array
    names: Sequence[str]
    colours: Sequence[str] = ()  # of each group
    ordered: bool = False

    @classmethod
    def bands(cls, group: Array, names: Sequence[str]) -> Groups:
        """Return groups that follow each other, in colours of the colour map."""
        steps = np.linspace(0, _BUCKETS - 1, max(2, len(names)))[: len(names)]
        return cls(group, names, [_shade(round(step)) for step in steps], ordered=True)

    @classmethod
    def of_regions(cls, graph: Graph, group: Array, names: Sequence[str]) -> Groups:
        """Return groups in which neighbouring regions differ in colour, if eight are enough."""
        sources, targets, _ = graph.coo
        pairs = np.stack([group[sources], group[targets]], axis=1)
        pairs = np.unique(pairs[(pairs[:, 0] != pairs[:, 1]) & (pairs >= 0).all(axis=1)], axis=0)
        near: dict[int, set[int]] = {}
        for one, other in pairs.tolist():
            near.setdefault(one, set()).add(other)
            near.setdefault(other, set()).add(one)
        chosen: list[int] = []
        for number in range(len(names)):
            around = [chosen[other] for other in near.get(number, ()) if other < number]
            first = number % len(_GROUPS)
            order = [(first + i) % len(_GROUPS) for i in range(len(_GROUPS))]
            chosen.append(min(order, key=around.count))
        return cls(group, names, list(map(cls.palette, chosen)))

    @staticmethod
    def palette(number: int) -> str:
        """Return one of the colours of groups."""
        return _GROUPS[number % len(_GROUPS)]

    def colour(self, group: int) -> str:
        """Return the colour of a group."""
        if group < 0:
            return GREY
        return self.colours[group] if self.colours else self.palette(group)

    def vertices(self, chosen: Array) -> Chosen:
        return self._by_group(self.group[chosen])

    def arcs(self, pairs: Array) -> Chosen:
        tails, heads = self.group[pairs].T
        joined = (np.minimum(tails, heads) >= 0) if self.ordered else tails == heads
        return self._by_group(np.where(joined, np.maximum(tails, heads), -1))

    def _by_group(self, groups: Array) -> Chosen:
        for number in np.unique(groups).tolist():
            yield self.colour(number), np.flatnonzero(groups == number)

    def legend(self, x: float, y: float, width: float) -> Iterator[Shape]:
        """Yield a dot and a name for each group, as many as fit."""
        end = x + width
        for group, name in enumerate(self.names):
            room = 0.0 if group + 1 == len(self.names) else text_width("and 99 more", 13)
            if group == _MOST_IN_LEGEND or x + 30 + text_width(name, 13) + room > end:
                yield Text(x, y + 11, f"and {len(self.names) - group:,} more", 13, FADED)
                return
            yield Dots(np.array([[x + 6.0, y + 6.0]]), self.colour(group), 6)
            yield Text(x + 18, y + 11, name, 13, FADED)
            x += 38 + text_width(name, 13)


def amount(distance: Any, unit: str) -> str:
    """Return a distance with its unit."""
    return f"{format_number(distance)} {unit}".rstrip()


def ink_on(ground: str) -> str:
    """Return the colour of text that is readable on this one."""
    red, green, blue = _channels(ground)
    return INK if 0.3 * red + 0.59 * green + 0.11 * blue > 140 else "#ffffff"


def _by_shade(shades: Array) -> Chosen:
    """Yield each colour with its indices: grey for NaN first, then far before near."""
    bucket = np.full(len(shades), _BUCKETS)
    known = ~np.isnan(shades)
    bucket[known] = np.minimum((shades[known] * _BUCKETS).astype(int), _BUCKETS - 1)
    for number in np.unique(bucket)[::-1].tolist():
        yield GREY if number == _BUCKETS else _shade(number), np.flatnonzero(bucket == number)


def _shade(bucket: int) -> str:
    """Return a colour of the colour map, interpolated between its anchors."""
    anchors = np.array([_channels(anchor) for anchor in _SCALE])
    at = bucket / (_BUCKETS - 1) * (len(anchors) - 1)
    mixed = [round(np.interp(at, range(len(anchors)), anchors[:, c])) for c in range(3)]
    return "#{:02x}{:02x}{:02x}".format(*mixed)


def _channels(code: str) -> list[int]:
    return [int(code[i : i + 2], 16) for i in (1, 3, 5)]
