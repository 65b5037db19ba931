"""Shapes of a picture. Coordinates are pixels from the top left corner.

Lines and dots of one colour are one shape, which keeps files small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

__all__ = ["Areas", "Box", "Dots", "Lines", "Region", "Shape", "Text", "text_width"]

Array = NDArray[Any]


@dataclass(frozen=True)
class Lines:
    """Polylines of one colour: an array of points each."""

    strokes: Sequence[Array]
    colour: str
    width: float
    dashes: tuple[float, float] | None = None  # lengths of dash and gap in pixels


@dataclass(frozen=True)
class Areas:
    """Filled polygons of one colour: an array of corners each."""

    polygons: Sequence[Array]
    colour: str


@dataclass(frozen=True)
class Region:
    """An area with an outline, through which what lies under it shows; rings inside are holes."""

    rings: Sequence[Array]
    colour: str
    opacity: float
    width: float  # of the outline


@dataclass(frozen=True)
class Dots:
    """Filled circles of one colour, with an optional rim."""

    at: Array
    colour: str
    radius: float
    rim: str | None = None


@dataclass(frozen=True)
class Box:
    """A filled rectangle."""

    x: float
    y: float
    width: float
    height: float
    colour: str


@dataclass(frozen=True)
class Text:
    """One line of text; ``anchor`` says which part of it is at x."""

    x: float
    y: float
    content: str
    size: float
    colour: str
    anchor: str = "start"  # or "middle" or "end"
    bold: bool = False
    halo: str | None = None


Shape = Lines | Areas | Region | Dots | Box | Text


def text_width(text: str, size: float) -> float:
    """Return an estimate of the width of bold text, in pixels.

    >>> text_width("Rome", 10)
    24.8
    """
    return 0.62 * size * max(1, len(text))
