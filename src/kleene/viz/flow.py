"""Numbers of arcs as bands along their streets: as wide as the number, each direction on its right.

A band of flow beside the middle of a street says which way it goes without an arrow (traffic keeps
to the right). Widths are proportional to the numbers, so that areas of ink can be compared.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.graph import Graph
from kleene.system.colours import FADED, diverging
from kleene.viz.colouring import Chosen, amount, change, dark
from kleene.viz.legend import Entry, band, entries
from kleene.viz.shapes import Shape

__all__ = ["Band", "Flow", "beside", "round_numbers"]

Array = NDArray[Any]

_STREET = "#d9d7d0"  # of streets, under the bands
_THINNEST, _STEP = 0.75, 0.25  # pixels: of a band, and from width to width
_SAMPLE = 34.0  # pixels of a band in the legend


class Band(NamedTuple):
    """One band: a line in pixels, its colour, its width, and the number that it shows."""

    line: Array
    colour: str
    width: float
    number: float


@dataclass(frozen=True)
class Flow:
    """What goes along each arc, or how much more or less; it colours bands, and vertices grey."""

    #: Graphs with the same vertices, and a number for each of their arcs; NaN is not drawn.
    parts: Sequence[tuple[Graph, Array]]
    unit: str = ""
    signed: bool = False  # numbers are differences
    beside: bool = True  # two directions of a street are two bands

    @property
    def most(self) -> float:
        """The largest number, whatever its sign."""
        found = (
            np.abs(numbers[np.isfinite(numbers)]).max(initial=0.0) for _, numbers in self.parts
        )
        return float(max(found, default=0.0))

    def colour(self, number: float) -> str:
        """Return the colour of a number."""
        part = number / (self.most or 1.0)
        return diverging(0.25 * np.sign(part) + 0.75 * part) if self.signed else dark(part)

    def text(self, number: float) -> str:
        """Return a number as the picture writes it."""
        return change(number, self.unit) if self.signed else amount(number, self.unit)

    def bands(
        self, pairs: Array, lines: Sequence[Array], numbers: Array, widest: float
    ) -> list[Band]:
        """Return the bands of some arcs, the thinnest first, so that wide ones are on top."""
        tails, heads = pairs.T
        n = int(pairs.max(initial=0)) + 1
        both = np.isin(tails * n + heads, heads * n + tails)
        found = []
        for i in np.argsort(np.abs(numbers), kind="stable").tolist():
            number = float(numbers[i])
            width = self.width(number, widest)
            line = beside(lines[i], width / 2 + 0.4) if self.beside and both[i] else lines[i]
            found.append(Band(line, self.colour(number), width, number))
        return found

    def width(self, number: float, widest: float) -> float:
        """Return the width of the band of a number, in pixels."""
        return max(_THINNEST, round(widest * abs(number) / (self.most or 1.0) / _STEP) * _STEP)

    # ---- as a colouring ---------------------------------------------------------------------

    def vertices(self, chosen: Array) -> Chosen:
        yield FADED, np.arange(len(chosen))

    def arcs(self, pairs: Array) -> Chosen:
        yield _STREET, np.arange(len(pairs))

    def legend(self, x: float, y: float, width: float, widest: float = 12.0) -> Iterator[Shape]:
        numbers = [self.most, *round_numbers(self.most)] if self.most else []
        if self.signed and numbers:
            numbers = [-numbers[0], -numbers[1], numbers[1], numbers[0]]
        samples = [
            Entry(self.text(n), band(self.colour(n), self.width(n, widest), _SAMPLE), _SAMPLE)
            for n in numbers
        ]
        yield from entries(x, y, width, samples)


def round_numbers(most: float) -> list[float]:
    """Return two round numbers that are clearly smaller than the largest.

    >>> round_numbers(730.0), round_numbers(0.2)
    ([200.0, 100.0], [0.1, 0.05])
    """
    power = math.floor(math.log10(most)) + 1
    steps = [float(f"{digit}e{power - i}") for i in range(4) for digit in (5, 2, 1)]
    return [step for step in steps if step <= 0.6 * most][:2]


def beside(line: Array, offset: float) -> Array:
    """Return a line moved to its right by some pixels; y points down.

    >>> beside(np.array([[0.0, 0.0], [9.0, 0.0]]), 2.0).tolist()
    [[0.0, 2.0], [9.0, 2.0]]
    """
    line = line[np.append(True, (np.diff(line, axis=0) != 0).any(axis=1))]
    if len(line) < 2:
        return line
    ways = np.diff(line, axis=0)
    ways /= np.hypot(*ways.T)[:, None]
    right = np.stack([-ways[:, 1], ways[:, 0]], axis=1)
    corners = right[:-1] + right[1:]  # of length 2 cos(a / 2), where the line turns by a
    corners *= 2 / np.maximum((corners**2).sum(axis=1, keepdims=True), 1.0)
    moved: Array = line + offset * np.vstack([right[:1], corners, right[-1:]])
    return moved
