"""A picture made of lines, dots, boxes and words, and two ways to write it.

Shapes are in pixels from the top left corner. SVG is written here, by a few lines that any browser
reads; all other formats are matplotlib's, which draws the same shapes at the same places. Lines
and dots of one colour are one shape, which keeps files small.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.atomic import atomic_path
from kleene.errors import RequestError

__all__ = ["Box", "Dots", "Lines", "Picture", "Text"]

Array = NDArray[Any]
_FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"


@dataclass(frozen=True)
class Lines:
    """Polylines of one colour: an array of points each."""

    strokes: list[Array]
    colour: str
    width: float


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
    """One line of words; ``anchor`` says which end of it stands at x."""

    x: float
    y: float
    words: str
    size: float
    colour: str
    anchor: str = "start"  # or "middle" or "end"
    bold: bool = False
    halo: str | None = None


@dataclass
class Picture:
    """Shapes on a canvas, drawn in order."""

    width: int
    height: int
    title: str
    description: str
    shapes: list[Lines | Dots | Box | Text] = field(default_factory=list)

    def write(self, path: str | Path) -> None:
        """Write the picture in the format that the suffix names."""
        path = Path(path)
        if not path.suffix:
            raise RequestError(f"{path}: name the picture with a suffix, such as .svg or .png")
        if path.suffix.lower() == ".svg":
            with atomic_path(path) as beside:
                beside.write_text("\n".join([*_svg(self), ""]), encoding="utf-8")
        else:
            _write_matplotlib(self, path)


# ---- SVG ----------------------------------------------------------------------------------------


def _svg(picture: Picture) -> Iterator[str]:
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {picture.width} {picture.height}" '
        f'width="{picture.width}" height="{picture.height}" role="img" font-family="{_FONT}" '
        'stroke-linecap="round" stroke-linejoin="round">'
    )
    yield f"<title>{escape(picture.title)}</title>"
    yield f"<desc>{escape(picture.description)}</desc>"
    for shape in picture.shapes:
        yield _svg_shape(shape)
    yield "</svg>"


def _svg_shape(shape: Lines | Dots | Box | Text) -> str:
    match shape:
        case Lines(strokes, colour, width):
            data = "".join(map(_svg_stroke, strokes))
            return f'<path d="{data}" fill="none" stroke="{colour}" stroke-width="{width:g}"/>'
        case Dots(at, colour, radius, None):  # a stroke of no length with round ends is a dot
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
            weight = ' font-weight="bold"' if shape.bold else ""
            rest = (
                f'x="{shape.x:g}" y="{shape.y:g}" font-size="{shape.size:g}" '
                f'text-anchor="{shape.anchor}"{weight}>{escape(shape.words)}</text>'
            )
            # The halo is the same words under the words: not all readers know paint-order.
            halo = (
                f'<text fill="none" stroke="{shape.halo}" stroke-width="4" {rest}'
                if shape.halo
                else ""
            )
            return f'{halo}<text fill="{shape.colour}" {rest}'
    raise AssertionError(shape)


def _svg_stroke(points: Array) -> str:
    """Return a polyline in tenths of a pixel, each point relative to the one before it."""
    tenths = np.round(10 * points).astype(int)
    steps = np.diff(tenths, axis=0, prepend=[[0, 0]])
    first, *rest = (f"{x / 10:g} {y / 10:g}" for x, y in steps.tolist())
    return f"M{first}" + "".join(f"l{step}" for step in rest)


# ---- matplotlib ---------------------------------------------------------------------------------


def _write_matplotlib(picture: Picture, path: Path) -> None:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise RequestError(
            f'a {path.suffix} picture needs matplotlib: pip install "kleene[plot]"; '
            "an .svg picture needs nothing"
        ) from error
    points = 72 / 96  # of which matplotlib counts 72 to the inch, and SVG 96 pixels
    figure = Figure(figsize=(picture.width / 96, picture.height / 96), dpi=192)
    supported = figure.canvas.get_supported_filetypes()
    if path.suffix.lower().lstrip(".") not in supported:
        known = ", ".join(f".{name}" for name in sorted(supported))
        raise RequestError(f"{path}: no picture format {path.suffix!r}; there are {known}")
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, picture.width), ylim=(picture.height, 0))
    axes.axis("off")
    for order, shape in enumerate(picture.shapes):
        _matplotlib_shape(axes, shape, order, points)
    with atomic_path(path) as beside:
        figure.savefig(beside, metadata={"Title": picture.title})


def _matplotlib_shape(axes: Any, shape: Lines | Dots | Box | Text, order: int, pt: float) -> None:
    from matplotlib.collections import LineCollection
    from matplotlib.patches import Rectangle
    from matplotlib.patheffects import withStroke

    match shape:
        case Lines(strokes, colour, width):
            lines = LineCollection(
                strokes, colors=colour, linewidths=width * pt, capstyle="round", zorder=order
            )
            axes.add_collection(lines, autolim=False)
        case Dots(at, colour, radius, rim):
            style = {"c": colour, "edgecolors": rim or "none", "linewidths": 2 * pt if rim else 0}
            axes.scatter(*at.T, s=(2 * radius * pt) ** 2, zorder=order, **style)
        case Box(x, y, width, height, colour):
            axes.add_patch(Rectangle((x, y), width, height, color=colour, lw=0, zorder=order))
        case Text():
            effects = [withStroke(linewidth=4 * pt, foreground=shape.halo)] if shape.halo else []
            axes.text(
                shape.x,
                shape.y,
                shape.words,
                fontsize=shape.size * pt,
                color=shape.colour,
                ha={"start": "left", "middle": "center", "end": "right"}[shape.anchor],
                fontweight="bold" if shape.bold else "normal",
                path_effects=effects,
                zorder=order,
            )
