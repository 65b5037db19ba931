"""Legends: a bar of colours with its ends named, and samples with names, in lines that wrap."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.system.colours import FADED, GROUND, INK
from kleene.viz.shapes import Box, Dots, Lines, Shape, Text, text_width

__all__ = ["Entry", "Sample", "band", "bar", "cross", "crosses", "dot", "entries", "height", "ring"]

Sample = Callable[[float, float], Shape]  # where its left end is, and its middle line

_SIZE, _LINE = 13.0, 22.0  # of the text, and from line to line
_STEPS = 33
_MOST_LINES, _LONGEST = 3, 40  # lines of entries, and characters of a name


class Entry(NamedTuple):
    """A sample, and what it stands for."""

    text: str
    sample: Sample
    width: float = 12.0


def dot(colour: str) -> Sample:
    """Return a sample of the vertices of one colour."""
    return lambda x, y: Dots(np.array([[x + 6.0, y]]), colour, 6)


def ring(x: float, y: float) -> Dots:
    """Return the sample of vertices that only the first of two answers has."""
    return Dots(np.array([[x + 6.0, y]]), GROUND, 5, INK)


def cross(x: float, y: float) -> Lines:
    """Return the sample of vertices that only the second of two answers has."""
    return crosses(np.array([[x + 6.0, y]]), 5)


def crosses(points: NDArray[np.float64], size: float) -> Lines:
    """Return a cross at each point."""
    arms = np.array([[[-1, -1], [1, 1]], [[-1, 1], [1, -1]]]) * size
    return Lines([point + arm for point in points for arm in arms], INK, 2)


def band(colour: str, width: float, length: float) -> Sample:
    """Return a sample of the lines of one colour and width."""
    ends = np.array([width / 2, length - width / 2])
    return lambda x, y: Lines([np.stack([x + ends, [y, y]], axis=1)], colour, width)


def bar(
    x: float, y: float, width: float, colour: Callable[[float], str], texts: Sequence[str]
) -> Iterator[Shape]:
    """Yield a bar of colours from 0 to 1, with texts under its ends, or ends and middle."""
    width, high = min(280.0, width), 10.0
    step = width / _STEPS
    for i in range(_STEPS):  # each overlaps the one before, so there are no seams
        yield Box(x + i * step, y, width - i * step, high, colour(i / (_STEPS - 1)))
    anchors = ("start", "end") if len(texts) == 2 else ("start", "middle", "end")
    for i, (text, anchor) in enumerate(zip(texts, anchors, strict=True)):
        at = x + width * i / (len(texts) - 1)
        yield Text(at, y + high + 18, text, _SIZE, FADED, anchor)


def entries(x: float, y: float, width: float, samples: Sequence[Entry]) -> Iterator[Shape]:
    """Yield samples with their names, as many as fit into a few lines, and how many are left."""
    left, end, line = x, x + width, 0
    for i, (text, sample, wide) in enumerate(samples):
        shown = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
        needed = wide + 6 + text_width(shown, _SIZE)
        last = i + 1 == len(samples)
        more = f"and {len(samples) - i:,} more"
        reserved = 0.0 if last or line + 1 < _MOST_LINES else 20 + text_width(more, _SIZE)
        if left > x and left + needed + reserved > end:
            if line + 1 == _MOST_LINES:
                yield Text(left, y + line * _LINE + 11, more, _SIZE, FADED)
                return
            left, line = x, line + 1
        middle = y + line * _LINE + 6
        yield sample(left, middle)
        yield Text(left + wide + 6, middle + 5, shown, _SIZE, FADED)
        left += needed + 20


def height(shapes: Iterator[Shape]) -> float:
    """Return how far down a legend that begins at 0 reaches.

    >>> height(entries(0, 0, 100, [Entry("Rome", dot("#000000"))]))
    11.0
    """
    return max((shape.y for shape in shapes if isinstance(shape, Text)), default=0.0)
