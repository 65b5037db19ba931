"""Colours of vertices and arcs: one for all, by a number, by a difference, or by group.

A colouring knows its legend, too. Colours themselves are in ``kleene.system.colours``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kleene.graph import Graph
from kleene.system.colours import (
    GREY,
    GROUPS,
    band_colours,
    diverging,
    group_colour,
    shade,
)
from kleene.system.formatting import format_number
from kleene.viz.legend import Entry, bar, dot, entries
from kleene.viz.shapes import Shape

__all__ = [
    "Chosen", "Colouring", "Differences", "Groups", "Magnitudes", "Plain", "Scale",
    "amount", "change", "dark",
]  # fmt: skip

Array = NDArray[Any]
Chosen = Iterator[tuple[str, Array]]  # colours, and which entries have them

_PLAIN, _LINE = "#3b528b", "#a9b0b8"
_BUCKETS = 33  # an odd number: one of them is the middle


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

    @property
    def parts(self) -> NDArray[np.float64]:
        """From 0 (nearest) to 1 (farthest) for each vertex; NaN where nothing is known."""
        return _spread(self.distances, self.known)

    def vertices(self, chosen: Array) -> Chosen:
        return _by_part(self.parts[chosen], shade)

    def arcs(self, pairs: Array) -> Chosen:
        return _by_part(self.parts[pairs].mean(axis=1), shade)

    def legend(self, x: float, y: float, width: float) -> Iterator[Shape]:
        if self.known.any():
            distances = self.distances[self.known]
            texts = [amount(end, self.unit) for end in (distances.min(), distances.max())]
            yield from bar(x, y, width, shade, texts)


@dataclass(frozen=True)
class Magnitudes:
    """A shade for the number of each vertex, the largest dark; grey where ``known`` is False.

    ``logarithms`` take the place of numbers that grow by factors.
    """

    numbers: Array
    known: Array
    texts: Sequence[str]  # of the smallest and the largest
    logarithms: Array | None = None

    @property
    def parts(self) -> NDArray[np.float64]:
        """From 0 (smallest) to 1 (largest) for each vertex; NaN where nothing is known."""
        numbers = self.numbers if self.logarithms is None else self.logarithms
        return _spread(numbers, self.known, alike=1.0)

    def vertices(self, chosen: Array) -> Chosen:
        parts = self.parts[chosen]
        yield from reversed(list(_by_part(parts, dark)))  # the largest on top

    def arcs(self, pairs: Array) -> Chosen:
        yield GREY, np.arange(len(pairs))

    def legend(self, x: float, y: float, width: float) -> Iterator[Shape]:
        if self.known.any():
            middle = [] if self.logarithms is None else ["logarithmic"]
            yield from bar(x, y, width, dark, [self.texts[0], *middle, self.texts[1]])


@dataclass(frozen=True)
class Differences:
    """Diverging colours around zero for the differences of two numbers of each vertex.

    Grey where a vertex has neither of them; those that have one are drawn as rings and crosses.
    """

    numbers: Array
    known: Array  # which vertices have both
    unit: str = ""
    only: Sequence[Entry] = ()  # what rings and crosses stand for, where there are any

    @property
    def parts(self) -> NDArray[np.float64]:
        """From -1 to 1 for each vertex, 0 where nothing differs; NaN where it is not known."""
        parts = np.full(len(self.numbers), np.nan)
        parts[self.known] = self.numbers[self.known] / (self.most or 1.0)
        return parts

    @property
    def most(self) -> float:
        """The largest difference, whatever its sign."""
        return float(np.abs(self.numbers[self.known]).max(initial=0.0))

    def vertices(self, chosen: Array) -> Chosen:
        return self._coloured(self.parts[chosen])

    def arcs(self, pairs: Array) -> Chosen:
        return self._coloured(self.parts[pairs].mean(axis=1))

    @staticmethod
    def _coloured(parts: Array) -> Chosen:
        """Yield small differences first, so that large ones are on top."""
        found = list(_by_part((parts + 1) / 2, _from_middle))
        sizes = [-1 if colour == GREY else abs(parts[some[0]]) for colour, some in found]
        return iter([found[i] for i in np.argsort(sizes, kind="stable")])

    def legend(self, x: float, y: float, width: float) -> Iterator[Shape]:
        if self.known.any():
            texts = [change(end, self.unit) for end in (-self.most, 0.0, self.most)]
            yield from bar(x, y, width, _from_middle, texts)
        yield from entries(x, y + 40 * self.known.any(), width, self.only)


@dataclass(frozen=True)
class Groups:
    """A colour for the group of each vertex, in the order of ``names``; grey for group -1.

    Colours repeat after twelve groups. An arc between two groups is grey, or belongs to the later
    one of bands, which have an order.
    """

    group: Array
    names: Sequence[str]
    colours: Sequence[str] = ()  # of each group
    ordered: bool = False

    @classmethod
    def bands(cls, group: Array, names: Sequence[str]) -> Groups:
        """Return groups that follow each other, in colours of the scale."""
        return cls(group, names, band_colours(len(names)), ordered=True)

    @classmethod
    def of_regions(cls, graph: Graph, group: Array, names: Sequence[str]) -> Groups:
        """Return groups in which neighbouring regions differ in colour, if twelve are enough."""
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
            first = number % len(GROUPS)
            order = [(first + i) % len(GROUPS) for i in range(len(GROUPS))]
            chosen.append(min(order, key=around.count))
        return cls(group, names, list(map(group_colour, chosen)))

    def colour(self, group: int) -> str:
        """Return the colour of a group."""
        if group < 0:
            return GREY
        return self.colours[group] if self.colours else group_colour(group)

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
        samples = [Entry(name, dot(self.colour(i))) for i, name in enumerate(self.names)]
        yield from entries(x, y, width, samples)


def amount(number: Any, unit: str) -> str:
    """Return a number with its unit.

    >>> amount(1200, "m"), amount(2.0, "")
    ('1,200 m', '2')
    """
    return f"{format_number(number)} {unit}".rstrip()


def change(number: float, unit: str) -> str:
    """Return a difference with its sign and unit.

    >>> change(-3.0, "min"), change(0.25, ""), change(0.0, "")
    ('-3 min', '+0.25', '0')
    """
    sign = "-" if number < 0 else "+" if number > 0 else ""
    return sign + amount(abs(number), unit)


def dark(part: float) -> str:
    """Return a colour of the scale, dark for what is large."""
    return shade(1 - part)


def _from_middle(part: float) -> str:
    return diverging(2 * part - 1)


def _spread(numbers: Array, known: Array, alike: float = 0.0) -> NDArray[np.float64]:
    """Return 0 for the smallest known number to 1 for the largest; NaN for the others."""
    parts = np.full(len(numbers), np.nan)
    if known.any():
        found = numbers[known].astype(np.float64)
        low, high = found.min(), found.max()
        parts[known] = (found - low) / (high - low) if high > low else alike
    return parts


def _by_part(parts: Array, colour: Callable[[float], str]) -> Chosen:
    """Yield each colour with its indices: grey for NaN first, then large parts before small."""
    bucket = np.full(len(parts), _BUCKETS)
    known = ~np.isnan(parts)
    bucket[known] = np.rint(parts[known] * (_BUCKETS - 1)).astype(int)
    for number in np.unique(bucket)[::-1].tolist():
        chosen = np.flatnonzero(bucket == number)
        yield GREY if number == _BUCKETS else colour(number / (_BUCKETS - 1)), chosen
