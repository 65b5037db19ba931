"""Colours and markers: each series has both, so that a reader may do without either.

Eight hues that colour-blind readers can tell apart, dark enough for a light ground and light
enough for a dark one. Markers change at another rhythm, so that 56 pairs differ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["DARK", "HUES", "LIGHT", "MARKERS", "marker", "series_style"]

HUES = 8
_LIGHT = ("#1c4482", "#a83a12", "#107645", "#c22fb0", "#a8801f", "#3d91ec", "#4c4d50", "#d66f87")
_DARK = ("#69a3f0", "#e8602a", "#41d8a2", "#dd55bd", "#eccf79", "#caeffa", "#84878b", "#d67965")

#: Names that shapes of charts are coloured with, and what they are on a light and a dark page.
LIGHT: Mapping[str, str] = {
    "ground": "#fffefa",
    "ink": "#22262b",
    "faded": "#666c74",
    "rule": "#e4e2da",
    "published": "#7b7f86",
    **{f"s{index}": colour for index, colour in enumerate(_LIGHT)},
}
DARK: Mapping[str, str] = {
    "ground": "#16181c",
    "ink": "#e3e4e6",
    "faded": "#9aa0a8",
    "rule": "#2e3238",
    "published": "#9ba1a9",
    **{f"s{index}": colour for index, colour in enumerate(_DARK)},
}

Array = NDArray[Any]


def _regular(corners: int, turn: float, radius: float) -> Array:
    angles = turn + np.arange(corners) * 2 * math.pi / corners
    return radius * np.column_stack([np.cos(angles), np.sin(angles)])


def _star(points: int, radius: float) -> Array:
    angles = -math.pi / 2 + np.arange(2 * points) * math.pi / points
    radii = np.where(np.arange(2 * points) % 2, radius * 0.45, radius)
    return np.column_stack([radii * np.cos(angles), radii * np.sin(angles)])


_UP = -math.pi / 2
_PLUS = np.repeat([[1, 1], [1, -1], [-1, -1], [-1, 1]], 3, axis=0) * np.array(
    [[1, 3], [1, 1], [3, 1], [3, 1], [1, 1], [1, 3]] * 2
)

#: Outlines around a centre, of about the same area.
MARKERS: tuple[Array, ...] = (
    _regular(12, 0, 3.7),  # disc
    _regular(4, math.pi / 4, 4.5),  # square
    _regular(3, _UP, 5.0),  # triangle
    _regular(4, 0, 4.9),  # diamond
    _regular(3, -_UP, 5.0),  # triangle on its head
    _PLUS * 1.45,
    _star(5, 5.6),
)


def marker(index: int, x: float, y: float, grown: float = 1.0) -> Array:
    """Return the outline of a marker at a place."""
    return MARKERS[index % len(MARKERS)] * grown + (x, y)


def series_style(index: int) -> tuple[str, int]:
    """Return a series' colour and marker."""
    return f"s{index % HUES}", index + index // HUES
