"""A small map for the card of an answer, in SVG: streets in the colour of the text, shapes on them.

Shapes have colours of middle lightness, which can be seen on light and dark pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kleene.graph.positions import narrowing
from kleene.system.colours import shade
from kleene.system.html import Html, tag

if TYPE_CHECKING:
    from kleene.graph.core import Graph

__all__ = ["MARK", "Sketch", "band_colour", "can_be_sketched", "swatch"]

Array = NDArray[Any]

MARK = "#e4572e"  # of what a map is about

_MOST_ARCS = 500_000  # of a graph: a card is made in milliseconds
_MOST_STREETS = 3000  # that are drawn
_EDGE = 6.0  # pixels around the map


def can_be_sketched(graph: Graph) -> bool:
    """Return whether a graph has positions, and is small enough for a map beside a table.

    >>> import kleene as kl
    >>> can_be_sketched(kl.generate.path(3))
    False
    """
    return graph.positions is not None and 0 < graph.m <= _MOST_ARCS


def band_colour(number: int, count: int) -> str:
    """Return the colour of one of some bands.

    >>> band_colour(0, 2), band_colour(1, 2)
    ('#365c8c', '#9bd93c')
    """
    return shade(0.33 + 0.67 * number / max(1, count - 1))


def swatch(colour: str) -> Html:
    """Return a small square of a colour."""
    box = tag("rect", width=10, height=10, rx=2, fill=colour)
    return tag(
        "svg", box, width=10, height=10, viewBox="0 0 10 10", style="margin-right:.45em",
        aria_hidden="true",
    )  # fmt: skip


class Sketch:
    """A map of the part of a graph around some points, or of all, as wide or high as ``side``."""

    def __init__(self, graph: Graph, around: Array | None = None, side: int = 150) -> None:
        assert graph.positions is not None
        self._positions = graph.positions
        self._scale = np.array([narrowing(graph.positions), -1.0])
        points = (graph.positions if around is None or not len(around) else around) * self._scale
        low, high = points.min(axis=0), points.max(axis=0)
        margin = 0.0 if around is None else 0.06 * float((high - low).max())
        self._low = low - margin
        span = high - low + 2 * margin
        self._zoom = side / (float(span.max()) or 1.0)
        self._size = np.round(span * self._zoom).astype(int).tolist()
        self._graph = graph
        self._parts: list[Html] = []

    def pixels(self, points: Array) -> Array:
        """Return where points of the plane are on the map."""
        found: Array = np.round((points * self._scale - self._low) * self._zoom, 1)
        return found

    def inside(self) -> Array:
        """Return whether each vertex is on the map."""
        points = self.pixels(self._positions)
        within: Array = ((points >= 0) & (points <= self._size)).all(axis=1)
        return within

    def streets(self) -> Sketch:
        """Draw streets that begin or end on the map, each once; none if they are very many."""
        tails, heads, _ = self._graph.coo
        shown = self.inside()
        near = (shown[tails] | shown[heads]) & (tails != heads)
        pairs = np.sort(np.stack([tails[near], heads[near]], axis=1), axis=1)
        pairs = np.unique(pairs, axis=0)
        if len(pairs) <= _MOST_STREETS:
            self.lines(self._positions[pairs], "currentColor", 0.8, opacity=0.6)
        return self

    def lines(
        self, lines: Iterable[Array], colour: str, width: float, opacity: float = 1.0
    ) -> None:
        """Draw lines."""
        data = "".join(map(self._path, lines))
        if data:
            style = {"stroke_opacity": f"{opacity:g}"} if opacity < 1 else {}
            self._parts.append(
                tag(
                    "path", d=data, fill="none", stroke=colour, stroke_width=f"{width:g}",
                    stroke_linejoin="round", stroke_linecap="round", **style,
                )
            )  # fmt: skip

    def area(self, polygons: Sequence[Sequence[Array]], colour: str) -> None:
        """Draw polygons of rings, through which the streets show."""
        data = "".join(f"{self._path(ring)}z" for rings in polygons for ring in rings)
        if data:
            self._parts.append(
                tag(
                    "path", d=data, fill=colour, fill_opacity="0.3", fill_rule="evenodd",
                    stroke=colour, stroke_width="1.5",
                )
            )  # fmt: skip

    def dots(self, points: Array, colour: str, radius: float) -> None:
        """Draw dots."""
        data = "".join(f"M{x:g} {y:g}h0" for x, y in self.pixels(points).tolist())
        if data:
            self._parts.append(
                tag("path", d=data, stroke=colour, stroke_width=f"{2 * radius:g}",
                    stroke_linecap="round")
            )  # fmt: skip

    def html(self, label: str) -> Html:
        """Return the map as an image with a description."""
        width, height = (side + 2 * _EDGE for side in self._size)
        return tag(
            "svg", *self._parts, width=f"{width:g}", height=f"{height:g}",
            viewBox=f"{-_EDGE:g} {-_EDGE:g} {width:g} {height:g}",
            style="max-width:100%;height:auto", role="img", aria_label=label,
        )  # fmt: skip

    def _path(self, line: Array) -> str:
        points = self.pixels(line)
        kept = np.append(True, (np.diff(points, axis=0) != 0).any(axis=1))
        first, *rest = (f"{x:g} {y:g}" for x, y in points[kept].tolist())
        return f"M{first}" + "".join(f"L{point}" for point in rest)
