"""A picture of lines, dots, boxes and texts, written as SVG or by matplotlib.

Coordinates are pixels from the top left corner. SVG is written here; matplotlib draws the same
shapes for all other formats. Lines and dots of one colour are one shape, which keeps files small.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import RequestError
from kleene.system.atomic_file import atomic_path

__all__ = ["Box", "Dots", "Lines", "Picture", "Text"]

Array = NDArray[Any]
_FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"


@dataclass(frozen=True)
class Lines:
    """Polylines of one colour: an array of points each."""

    strokes: Sequence[Array]
    colour: str
    width: float
    dashes: tuple[float, float] | None = None  # lengths of dash and gap in pixels


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


Shape = Lines | Dots | Box | Text


@dataclass
class Picture:
    """Shapes on a canvas, drawn in order."""

    width: int
    height: int
    title: str
    description: str
    shapes: list[Shape] = field(default_factory=list)

    def write(self, path: str | Path) -> None:
        """Write the picture in the format of the suffix."""
        path = Path(path)
        if not path.suffix:
            raise RequestError(f"{path}: the file name needs a suffix, such as .svg or .png")
        if path.suffix.lower() == ".svg":
            with atomic_path(path) as temporary:
                temporary.write_text("\n".join([*_svg(self), ""]), encoding="utf-8")
        else:
            _write_matplotlib(self, path)


# ---- SVG ----------------------------------------------------------------------------------------


def _svg(picture: Picture) -> Iterator[str]:
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {picture.width} {picture.height}" '
        f'width="{picture.width}" height="{picture.height}" role="img" font-family="{_FONT}" '
        'stroke-linecap="round" stroke-linejoin="round">'
    )
    yield from _svg_content(picture)
    yield "</svg>"


def _svg_content(picture: Picture) -> Iterator[str]:
    yield f"<title>{escape(picture.title)}</title>"
    yield f"<desc>{escape(picture.description)}</desc>"
    for shape in picture.shapes:
        yield _svg_shape(shape)


def _svg_shape(shape: Shape) -> str:
    match shape:
        case Lines(strokes, colour, width, dashes):
            data = "".join(map(_svg_stroke, strokes))
            rest = "" if dashes is None else f' stroke-dasharray="{dashes[0]:g} {dashes[1]:g}"'
            return (
                f'<path d="{data}" fill="none" stroke="{colour}" stroke-width="{width:g}"{rest}/>'
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
            return _svg_text(shape)
    raise AssertionError(shape)


def _svg_text(text: Text) -> str:
    weight = ' font-weight="bold"' if text.bold else ""
    rest = (
        f'x="{text.x:g}" y="{text.y:g}" font-size="{text.size:g}" '
        f'text-anchor="{text.anchor}"{weight}>{escape(text.content)}</text>'
    )
    # The halo is a second text underneath: not all viewers support paint-order.
    halo = f'<text fill="none" stroke="{text.halo}" stroke-width="4" {rest}' if text.halo else ""
    return f'{halo}<text fill="{text.colour}" {rest}'


def _svg_stroke(points: Array) -> str:
    """Return an SVG path in tenths of a pixel, each point relative to the one before it."""
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
            "an .svg picture does not"
        ) from error
    figure = Figure(figsize=(picture.width / 96, picture.height / 96), dpi=192)
    supported = figure.canvas.get_supported_filetypes()
    if path.suffix.lower().lstrip(".") not in supported:
        known = ", ".join(f".{name}" for name in sorted(supported))
        raise RequestError(f"{path}: no picture format {path.suffix!r}; choose one of {known}")
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, picture.width), ylim=(picture.height, 0))
    axes.axis("off")
    for order, shape in enumerate(picture.shapes):
        _matplotlib_shape(axes, shape, order)
    with atomic_path(path) as temporary:
        figure.savefig(temporary, metadata={"Title": picture.title})


_POINTS = 72 / 96  # points per pixel


def _matplotlib_shape(axes: Any, shape: Shape, order: int) -> None:
    from matplotlib.collections import LineCollection
    from matplotlib.patches import Rectangle

    pt = _POINTS
    match shape:
        case Lines(strokes, colour, width, dashes):
            style = "solid" if dashes is None else (0, tuple(length / width for length in dashes))
            lines = LineCollection(
                strokes,
                colors=colour,
                linewidths=width * pt,
                linestyles=[style],
                capstyle="round" if dashes is None else "butt",
                zorder=order,
            )
            axes.add_collection(lines, autolim=False)
        case Dots(at, colour, radius, rim):
            edge = {"edgecolors": rim or "none", "linewidths": 2 * pt if rim else 0}
            size = (2 * radius * pt) ** 2
            axes.scatter(*at.T, s=size, zorder=order, c=colour, **edge)
        case Box(x, y, width, height, colour):
            axes.add_patch(Rectangle((x, y), width, height, color=colour, lw=0, zorder=order))
        case Text():
            _matplotlib_text(axes, shape, order)


def _matplotlib_text(axes: Any, text: Text, order: int) -> None:
    from matplotlib.patheffects import withStroke

    axes.text(
        text.x,
        text.y,
        text.content.replace("$", r"\$"),  # no math mode
        fontsize=text.size * _POINTS,
        color=text.colour,
        ha={"start": "left", "middle": "center", "end": "right"}[text.anchor],
        fontweight="bold" if text.bold else "normal",
        path_effects=[withStroke(linewidth=4 * _POINTS, foreground=text.halo)] if text.halo else [],
        zorder=order,
    )
