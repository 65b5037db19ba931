"""Pictures as SVG."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kleene.viz.shapes import Areas, Box, Dots, Lines, Region, Shape, Text

if TYPE_CHECKING:
    from kleene.viz.picture import Picture

__all__ = ["write_svg"]

Array = NDArray[Any]
_FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"


def write_svg(picture: Picture) -> str:
    """Return a picture as SVG."""
    return "\n".join(_lines(picture))


def _lines(picture: Picture) -> Iterator[str]:
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {picture.width} {picture.height}" '
        f'width="{picture.width}" height="{picture.height}" role="img" font-family="{_FONT}" '
        'stroke-linecap="round" stroke-linejoin="round">'
    )
    yield from _content(picture)
    yield "</svg>"


def _content(picture: Picture) -> Iterator[str]:
    yield f"<title>{escape(picture.title)}</title>"
    yield f"<desc>{escape(picture.description)}</desc>"
    for shape in picture.shapes:
        yield _shape(shape)


def _shape(shape: Shape) -> str:
    match shape:
        case Lines(strokes, colour, width, dashes):
            data = "".join(map(_stroke, strokes))
            rest = "" if dashes is None else f' stroke-dasharray="{dashes[0]:g} {dashes[1]:g}"'
            return (
                f'<path d="{data}" fill="none" stroke="{colour}" stroke-width="{width:g}"{rest}/>'
            )
        case Areas(polygons, colour):
            data = "".join(f"{_stroke(polygon)}z" for polygon in polygons)
            return f'<path d="{data}" fill="{colour}"/>'
        case Region(rings, colour, opacity, width):
            data = "".join(f"{_stroke(ring)}z" for ring in rings)
            return (
                f'<path d="{data}" fill="{colour}" fill-rule="evenodd" fill-opacity="{opacity:g}" '
                f'stroke="{colour}" stroke-width="{width:g}"/>'
            )
        case Dots(at, colour, radius, None):  # a zero-length stroke with round caps is a dot
            data = "".join(f"M{x:g} {y:g}h0" for x, y in np.round(at, 1).tolist())
            return f'<path d="{data}" stroke="{colour}" stroke-width="{2 * radius:g}"/>'
        case Dots(at, colour, radius, rim):
            style = f'r="{radius:g}" fill="{colour}" stroke="{rim}" stroke-width="2"'
            return "".join(
                f'<circle cx="{x:g}" cy="{y:g}" {style}/>' for x, y in np.round(at, 1).tolist()
            )
        case Box(x, y, width, height, colour):
            return (
                f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{colour}"/>'
            )
        case Text():
            return _text(shape)
    raise AssertionError(shape)


def _text(text: Text) -> str:
    weight = ' font-weight="bold"' if text.bold else ""
    rest = (
        f'x="{text.x:g}" y="{text.y:g}" font-size="{text.size:g}" '
        f'text-anchor="{text.anchor}"{weight}>{escape(text.content)}</text>'
    )
    # The halo is a second text underneath: not all viewers support paint-order.
    halo = f'<text fill="none" stroke="{text.halo}" stroke-width="4" {rest}' if text.halo else ""
    return f'{halo}<text fill="{text.colour}" {rest}'


def _stroke(points: Array) -> str:
    """Return an SVG path in tenths of a pixel, each point relative to the one before it."""
    tenths = np.round(10 * points).astype(int)
    steps = np.diff(tenths, axis=0, prepend=[[0, 0]])
    first, *rest = (f"{x / 10:g} {y / 10:g}" for x, y in steps.tolist())
    return f"M{first}" + "".join(f"l{step}" for step in rest)
