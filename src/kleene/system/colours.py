"""Colours that differ for colour-blind readers, too: a scale, one that diverges, and groups.

The scale is viridis, perceptually uniform, without the yellow end that vanishes on a light ground.
Differences go from blue to brown around a pale yellow. Groups have twelve colours, found by a
search for the largest distance in CIELAB between any two of them, and to ground, grey and route, as
seen with normal eyes, protanopia, deuteranopia and tritanopia (G. Machado, M. Oliveira and L.
Fernandes, "A physiologically-based model for simulation of color vision deficiency", 2009).
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = [
    "FADED", "GREY", "GROUND", "GROUPS", "INK", "ROUTE", "band_colours", "diverging",
    "group_colour", "ink_on", "shade",
]  # fmt: skip

GROUND, INK, FADED, GREY, ROUTE = "#fbfaf7", "#22262b", "#6b7178", "#cfcfca", "#d1380f"
GROUPS = (
    "#2d2a8b", "#dda639", "#27a4b4", "#861e00", "#f1a5fb", "#675a9e",
    "#bf6749", "#6f0060", "#b89d86", "#a272df", "#564536", "#c93b7a",
)  # fmt: skip
_SCALE = ("#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#9bd93c")
_DIVERGING = ("#0b3c78", "#2f74b0", "#7fb0cc", "#d9cf9a", "#e0974f", "#bf5a26", "#7d240d")


def shade(part: float) -> str:
    """Return a colour of the scale: 0 is its dark end and 1 its light one.

    >>> shade(0), shade(1)
    ('#440154', '#9bd93c')
    """
    return _between(_SCALE, part)


def band_colours(count: int) -> list[str]:
    """Return colours of the scale for a number of bands, the first one dark.

    >>> band_colours(2), band_colours(1)
    (['#440154', '#9bd93c'], ['#440154'])
    """
    return [shade(i / max(1, count - 1)) for i in range(count)]


def diverging(part: float) -> str:
    """Return a colour for a difference from -1 to 1; that of 0 is pale.

    >>> diverging(-1), diverging(0), diverging(1)
    ('#0b3c78', '#d9cf9a', '#7d240d')
    """
    return _between(_DIVERGING, (part + 1) / 2)


def group_colour(number: int) -> str:
    """Return one of the colours of groups, which repeat after twelve.

    >>> len({group_colour(number) for number in range(100)})
    12
    """
    return GROUPS[number % len(GROUPS)]


def ink_on(ground: str) -> str:
    """Return the colour of text that is readable on this one.

    >>> ink_on("#ffffff"), ink_on("#000000")
    ('#22262b', '#ffffff')
    """
    red, green, blue = _channels(ground)
    return INK if 0.3 * red + 0.59 * green + 0.11 * blue > 140 else "#ffffff"


def _between(anchors: Sequence[str], part: float) -> str:
    """Return the colour at a part of the way through the anchors."""
    place = min(1.0, max(0.0, part)) * (len(anchors) - 1)
    first = min(int(place), len(anchors) - 2)
    ends = _channels(anchors[first]), _channels(anchors[first + 1])
    mixed = [round(a + (place - first) * (b - a)) for a, b in zip(*ends, strict=True)]
    return "#{:02x}{:02x}{:02x}".format(*mixed)


def _channels(code: str) -> list[int]:
    return [int(code[i : i + 2], 16) for i in (1, 3, 5)]
